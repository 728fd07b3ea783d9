"""The axes of the project around a document: its files as open in the editor, else as on disk."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from pygls.workspace import Workspace

from shardlint.api import Analysis, Linter, Settings, axes_of, editing
from shardlint.support.lazy_dataclass import dataclass
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


class Submit(Protocol):
    """Runs work in the analysis thread, with the open texts at that time."""

    def __call__(self, work: Callable[[dict[str, bytes]], T], urgency: Urgency) -> Awaitable[T]: ...


@dataclass(frozen=True, slots=True)
class _FileAnalysis:
    """The analysis of one file, and the files read for it."""

    source: editing.Source
    analysis: Analysis
    record: editing.Record


class ProjectAxes:
    """The axes of projects; a file is analysed again when it, or one of its imports, has changed."""

    def __init__(self, workspace: Workspace, configuration: Configuration, submit: Submit) -> None:
        self._workspace, self._configuration, self._submit = workspace, configuration, submit
        self._axes: dict[str, AxisIndex] = {}
        self._analyses: dict[str, dict[str, _FileAnalysis]] = {}

    def known(self, insight: Insight) -> AxisIndex | None:
        """Return the axes of the project as last computed, None before the first request."""
        return self._axes.get(self._folder(insight))

    async def around(self, insight: Insight, report: Report) -> AxisIndex | None:
        """Return the axes of the project that contains a target; None if ``report`` says to stop.

        Each file is work of its own, so that what a user types is never behind more than one of them.
        """
        workspace, folder, asked = self._workspace, self._folder(insight), insight.target
        notebooks = [target_of(workspace, uri) for uri in workspace.notebook_documents]
        beside = [asked, *(target for target in notebooks if target is not None)]
        linter, sources = await self._submit(
            lambda opened: self._read(folder, beside, opened), Urgency.PROJECT
        )
        analyses = self._analyses.setdefault(folder, {})
        for number, (path, source) in enumerate(sources.items()):
            if report(os.path.basename(path), number, len(sources)):
                return None
            work = partial(_analysed, linter, source, analyses.get(path))
            analyses[path] = await self._submit(work, Urgency.PROJECT)
        self._analyses[folder] = kept = {path: analyses[path] for path in sources}
        self._axes[folder] = await self._submit(
            lambda _: axes_of(one.analysis for one in kept.values()), Urgency.PROJECT
        )
        return self._axes[folder]

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

    def _read(
        self, folder: str, targets: Sequence[Target], opened: dict[str, bytes]
    ) -> tuple[Linter, dict[str, editing.Source]]:
        """Return the sources of a folder, and of open documents, by path; runs in the analysis thread."""
        with editing.opened(opened):
            linter = Linter(self._settings(folder), self._settings)
            read = linter.read_paths([folder], lambda *_: editing.look())[1]
        sources = {source.path: source for source in read}
        for target in targets:
            if not os.path.isabs(target.path) or target.path.startswith(os.path.join(folder, "")):
                sources[target.path] = source_of(target)
        return linter, sources

    def _settings(self, folder: str) -> Settings:
        return dataclasses.replace(self._configuration.settings_of_folder(folder), editing=True)


def _analysed(
    linter: Linter, source: editing.Source, kept: _FileAnalysis | None, opened: dict[str, bytes]
) -> _FileAnalysis:
    with editing.opened(opened):
        if kept is not None and kept.source == source and kept.record.holds():
            return kept
        with editing.recorded() as record:
            analysis = linter.analysis(source)
    return _FileAnalysis(source, analysis, record)
