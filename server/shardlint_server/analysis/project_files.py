"""The files of the project around a document: as open in the editor, else as on disk, and their axes.

Their analyses are kept while nothing that they read has changed, and on disk where the command line keeps its
own, so that a large project is analysed once.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from pygls import uris
from pygls.workspace import Workspace

from shardlint.api import Analysis, Linter, Settings, axes_of, editing, read_source
from shardlint.support.lazy_dataclass import dataclass
from shardlint_server.analysis.analyses import Report as TargetReport
from shardlint_server.analysis.linting import source_of
from shardlint_server.analysis.worker import Urgency
from shardlint_server.documents.documents import Target, target_of
from shardlint_server.settings.configuration import Configuration

if TYPE_CHECKING:
    from shardlint.api import AxisIndex
    from shardlint_server.analysis.insights import Insight

T = TypeVar("T")
#: Says how far the work is, by a name, a number and the total; returns whether it is to stop.
Report = Callable[[str, int, int], bool]
#: A folder with more files that matter is not analysed as a whole, unless its user asks for that.
FEW = 200


class Submit(Protocol):
    """Runs work in the analysis thread, with the open texts at that time."""

    def __call__(self, work: Callable[[dict[str, bytes]], T], urgency: Urgency) -> Awaitable[T]: ...


@dataclass(frozen=True, slots=True)
class FileAnalysis:
    """The analysis of one file, and the files read for it."""

    source: editing.Source
    analysis: Analysis
    record: editing.Record


class ProjectFiles:
    """The analyses of a project's files; one is renewed when its file, or one of its imports, has changed.

    Args:
        workspace: has the open documents.
        configuration: tells the settings.
        submit: runs work in the analysis thread.
        generation: returns the number of changes so far.
        settled: returns the report on an open document.
    """

    def __init__(
        self,
        workspace: Workspace,
        configuration: Configuration,
        submit: Submit,
        generation: Callable[[], int],
        settled: Callable[[str], Awaitable[tuple[Target, TargetReport] | None]],
    ) -> None:
        self._workspace, self._configuration, self._submit = workspace, configuration, submit
        self._generation, self._settled = generation, settled
        self._stores: dict[str, tuple[editing.Analyzer, Callable[[], None]]] = {}
        #: The axes of a folder's files, and the generation that they are of.
        self._axes: dict[str, tuple[int, AxisIndex]] = {}
        #: Folders with many files.
        self._large: set[str] = set()
        self._kept: dict[tuple[str, bool], dict[str, FileAnalysis]] = {}

    def known(self, insight: Insight) -> AxisIndex | None:
        """Return the axes of the project as last computed, None before the first request."""
        axes = self._axes.get(self._folder(insight))
        return None if axes is None else axes[1]

    def present(self, insight: Insight) -> AxisIndex | None:
        """Return the axes of the project, None if something may have changed since they were computed."""
        axes = self._axes.get(self._folder(insight))
        return None if axes is None or axes[0] != self._generation() else axes[1]

    async def around(self, insight: Insight, report: Report, stored: bool = True) -> AxisIndex | None:
        """Return the axes of the project that contains a target; None if ``report`` says to stop.

        Results on disk count unless ``stored`` is false: who can write them must not decide what is edited.
        """
        return await self._axes_of(self._folder(insight), insight.target, report, stored=stored)

    async def everywhere(self, folders: Sequence[str], report: Report) -> dict[str, Analysis] | None:
        """Return the analyses of the files in folders, by path; None if ``report`` says to stop.

        Of a folder with many files, those that were asked for before.
        """
        found: dict[str, Analysis] = {}
        for folder in folders:
            kept = {} if folder in self._large else await self._analysed(folder, [], report, most=FEW)
            if kept is None:
                return None
            if folder in self._large:
                kept = await self._submit(partial(self._valid, folder), Urgency.PROJECT)
            found.update({path: one.analysis for path, one in kept.items()})
        return found

    async def count(self, folder: str) -> None:
        """Compute the axes of a folder that has few files."""
        await self._axes_of(folder, None, lambda *_: False, most=FEW)

    async def _axes_of(
        self, folder: str, asked: Target | None, report: Report, most: int | None = None, stored: bool = True
    ) -> AxisIndex | None:
        generation = self._generation()
        notebooks = [target_of(self._workspace, uri) for uri in self._workspace.notebook_documents]
        beside = [target for target in (asked, *notebooks) if target is not None]
        kept = await self._analysed(folder, beside, report, most, stored)
        if not kept:
            return None
        axes = await self._submit(lambda _: axes_of(one.analysis for one in kept.values()), Urgency.PROJECT)
        self._axes[folder] = (generation, axes)
        return axes

    async def _analysed(
        self,
        folder: str,
        beside: Sequence[Target],
        report: Report,
        most: int | None = None,
        stored: bool = True,
    ) -> dict[str, FileAnalysis] | None:
        """Return the analyses of a folder's files; None if ``report`` says to stop.

        Each file is work of its own, so that what a user types is never behind more than one of them. There
        are none in a folder with more than ``most`` files.
        """
        linter, sources = await self._submit(
            lambda opened: self._read(folder, beside, stored, opened), Urgency.PROJECT
        )
        if most is not None and len(sources) > most:
            self._large.add(folder)
            return {}
        kept = self._kept.setdefault((folder, stored), {})
        try:
            for number, (path, source) in enumerate(sources.items()):
                if report(os.path.basename(path), number, len(sources)):
                    return None
                known = await self._open(source)
                if known is None:
                    work = partial(self._analysis, linter, source, kept.get(path))
                    known = await self._submit(work, Urgency.PROJECT)
                kept[path] = known
        finally:
            self.save_soon()
        self._kept[folder, stored] = kept = {path: kept[path] for path in sources}
        return kept

    def save_soon(self) -> None:
        """Have results written that are to be kept on disk, also those of work that was cancelled."""
        self._submit(lambda _: self._save(), Urgency.PROJECT)

    async def _open(self, source: editing.Source) -> FileAnalysis | None:
        """Return the analysis of a file that is open: it is at hand, or will be."""
        uri = uris.from_fs_path(source.path) or source.path
        if target_of(self._workspace, uri) is None:
            return None
        latest = await self._settled(uri)
        if latest is None or latest[1].analysis is None or latest[1].record is None:
            return None
        return FileAnalysis(source, latest[1].analysis, latest[1].record)

    def _folder(self, insight: Insight) -> str:
        """Return the folder of a project: that of the workspace, else that of the configuration."""
        path = insight.target.path
        around = self._configuration.folder_of(path)
        if around is not None:
            return around
        root, beside = os.path.abspath(insight.settings.root), os.path.dirname(os.path.abspath(path))
        # The default root is the server's working directory, which is unrelated to the file.
        inside = os.path.join(beside, "").startswith(os.path.join(root, ""))
        too_wide = root in (os.path.abspath(os.sep), os.path.expanduser("~"))
        return root if inside and not too_wide else beside

    # -- in the thread that analyses --------------------------------------------------------------

    def on_disk(self, folder: str, path: str, opened: dict[str, bytes]) -> FileAnalysis:
        """Return the analysis of a file that is not open, in a folder of the workspace."""
        kept = self._kept.get((folder, True), {}).get(path)
        with editing.opened(opened), editing.recorded() as record:
            linter = Linter(self._settings(folder), self._settings, self._analyzer(folder))
            source = read_source(path)
            if kept is not None and kept.source == source and kept.record.holds():
                kept.record.include()
                analysis = kept.analysis
            else:
                analysis = linter.analysis(source)
        return FileAnalysis(source, analysis, record)

    def keep(self, folder: str, found: FileAnalysis) -> None:
        """Keep the analysis of a file for all that ask."""
        self._kept.setdefault((folder, True), {})[found.source.path] = found

    def _valid(self, folder: str, opened: dict[str, bytes]) -> dict[str, FileAnalysis]:
        """Return the analyses of a folder's files that are at hand and still hold."""
        with editing.opened(opened):
            return {
                path: one for path, one in self._kept.get((folder, True), {}).items() if one.record.holds()
            }

    def _save(self) -> None:
        for _, save in self._stores.values():
            save()

    def _analyzer(self, folder: str) -> editing.Analyzer:
        if folder not in self._stores:
            self._stores[folder] = editing.storing(folder)
        return self._stores[folder][0]

    def _read(
        self, folder: str, targets: Sequence[Target], stored: bool, opened: dict[str, bytes]
    ) -> tuple[Linter, dict[str, editing.Source]]:
        """Return the sources of a folder, and of open documents, by path."""
        with editing.opened(opened):
            analyzer = self._analyzer(folder) if stored else None
            linter = Linter(self._settings(folder), self._settings, analyzer)
            read = linter.read_paths([folder], lambda *_: editing.look())[1]
        sources = {source.path: source for source in read}
        for target in targets:
            if not os.path.isabs(target.path) or target.path.startswith(os.path.join(folder, "")):
                sources[target.path] = source_of(target)
        return linter, sources

    def _settings(self, folder: str) -> Settings:
        return dataclasses.replace(self._configuration.settings_of_folder(folder), editing=True)

    def _analysis(
        self, linter: Linter, source: editing.Source, kept: FileAnalysis | None, opened: dict[str, bytes]
    ) -> FileAnalysis:
        with editing.opened(opened):
            if kept is not None and kept.source == source and kept.record.holds():
                return kept
            with editing.recorded() as record:
                analysis = linter.analysis(source)
        return FileAnalysis(source, analysis, record)
