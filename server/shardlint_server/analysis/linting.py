"""Reports of targets: the settings for their paths, the linter, and the conversion."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

from lsprotocol import types
from pygls import uris
from pygls.workspace import PositionCodec

from shardlint.api import (
    Analysis,
    Linter,
    Settings,
    editing,
    source_from_cells,
    source_from_text,
)
from shardlint.model.findings import Finding
from shardlint.model.spans import Span
from shardlint_server.analysis.analyses import Report
from shardlint_server.documents.conversion import to_diagnostic
from shardlint_server.documents.documents import Part, Target
from shardlint_server.settings.configuration import Configuration


class TargetLinter:
    """Lints targets, each under the configuration nearest to its path; for the thread that analyses.

    Args:
        configuration: tells the settings.
        codec: how the client counts columns.
        marked: adds to a finding what JAX said of it.
        disagreements: what is found by running a target, if it was run as it is.
        asking: asks JAX about functions, None if it is not to be asked.
    """

    def __init__(
        self,
        configuration: Configuration,
        codec: PositionCodec,
        marked: Callable[[Finding], Finding],
        disagreements: Callable[[Target], Sequence[Finding]],
        asking: editing.LaterAsking | None = None,
    ) -> None:
        self._configuration = configuration
        self._codec = codec
        self._marked = marked
        self._disagreements = disagreements
        self._asks = asking is not None
        self._analyzer = editing.staying(asking)

    def report(self, target: Target, opened: Mapping[str, bytes]) -> Report:
        """Lint a target beside the texts that are open."""
        with editing.opened(opened), editing.recorded() as record:
            if not self._configuration.options_of(target.path).enable:
                return Report({part.uri: [] for part in target.parts}, record=record)
            settings = self._configuration.settings_of(target.path)
            ours = dataclasses.replace(settings, editing=True, ask_jax=self._asks)
            linter = Linter(ours, analyzer=self._analyzer)
            analysis = linter.analysis(source_of(target))
            new = editing.without_known(analysis.source, analysis.findings, settings)
        findings = (*map(self._marked, new), *self._disagreements(target))
        analysis = dataclasses.replace(analysis, findings=findings)
        diagnostics = self._diagnostics(target, analysis.findings, settings, opened)
        return Report(diagnostics, analysis, settings, record)

    def on_disk(self, analysis: Analysis, opened: Mapping[str, bytes]) -> Sequence[types.Diagnostic]:
        """Return the findings in a file that is not open.

        What is in the cells of a notebook is shown where they stand in its file.
        """
        path = analysis.source.path
        settings = self._configuration.settings_of(path)
        new = editing.without_known(analysis.source, analysis.findings, settings)
        placed = editing.placed(analysis.source, new)
        uri = uris.from_fs_path(path) or path
        target = Target(uri, path, (Part(uri, None, placed.text),))
        ours = [finding.span for finding in new if finding.span.path == path]
        findings = [
            _told_cell(self._marked(finding), span)
            for finding, span in zip(placed.findings, ours, strict=True)
        ]
        return self._diagnostics(target, findings, settings, opened)[uri]

    def _diagnostics(
        self, target: Target, findings: Iterable[Finding], settings: Settings, opened: Mapping[str, bytes]
    ) -> dict[str, list[types.Diagnostic]]:
        """Return the findings in a target as diagnostics, by part and in order."""
        diagnostics: dict[str, list[types.Diagnostic]] = {part.uri: [] for part in target.parts}
        for finding in findings:
            part = target.part_of(finding.span)
            if part is not None:
                page = editing.page_of(finding, settings)
                diagnostic = to_diagnostic(
                    finding, lambda span: target.locate(span, opened), self._codec, page
                )
                diagnostics[part.uri].append(diagnostic)
        return diagnostics


def _told_cell(finding: Finding, span: Span) -> Finding:
    """Return a finding that tells the cell of a closed notebook, whose file shows none."""
    if span.cell is None:
        return finding
    return dataclasses.replace(finding, message=f"{finding.message} (cell {span.cell + 1}, line {span.line})")


def source_of(target: Target) -> editing.Source:
    """Return a target as a source."""
    if target.is_notebook:
        return source_from_cells(target.path, _cells(target))
    return source_from_text(target.path, target.parts[0].text)


def _cells(target: Target) -> list[tuple[int, str]]:
    return [(part.cell, part.text) for part in target.parts if part.cell is not None]
