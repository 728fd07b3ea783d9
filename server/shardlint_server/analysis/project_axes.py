"""The axes of the project around a document: its files as open in the editor, else as on disk."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

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

#: Runs work in the analysis thread, with the open texts at that time.
Submit = Callable[["Callable[[dict[str, bytes]], AxisIndex]", Urgency], "Awaitable[AxisIndex]"]


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

    async def around(self, insight: Insight) -> AxisIndex:
        """Return the axes of the project that contains a target."""
        workspace, folder, asked = self._workspace, self._folder(insight), insight.target
        notebooks = [target_of(workspace, uri) for uri in workspace.notebook_documents]
        beside = [asked, *(target for target in notebooks if target is not None)]

        def make(opened: dict[str, bytes]) -> AxisIndex:
            with editing.opened(opened):
                return self._made(folder, beside)

        self._axes[folder] = await self._submit(make, Urgency.TYPED)
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

    def _made(self, folder: str, targets: Sequence[Target]) -> AxisIndex:
        """Return the axes of the files in a folder, and of open documents; runs in the analysis thread."""
        linter = Linter(self._settings(folder), self._settings)
        sources = {source.path: source for source in linter.read_paths([folder])[1]}
        for target in targets:
            if not os.path.isabs(target.path) or target.path.startswith(os.path.join(folder, "")):
                sources[target.path] = source_of(target)
        before = self._analyses.get(folder, {})
        analyses = {path: _analysed(linter, source, before.get(path)) for path, source in sources.items()}
        self._analyses[folder] = analyses
        return axes_of(one.analysis for one in analyses.values())

    def _settings(self, folder: str) -> Settings:
        return dataclasses.replace(self._configuration.settings_of_folder(folder), editing=True)


def _analysed(linter: Linter, source: editing.Source, kept: _FileAnalysis | None) -> _FileAnalysis:
    if kept is not None and kept.source == source and kept.record.holds():
        return kept
    with editing.recorded() as record:
        analysis = linter.analysis(source)
    return _FileAnalysis(source, analysis, record)
