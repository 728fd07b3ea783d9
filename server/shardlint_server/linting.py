"""From a target to its report: the settings for its path, the linter, and the conversion."""

from __future__ import annotations

import os
from collections.abc import Callable

from lsprotocol import types
from pygls.workspace import PositionCodec

from shardlint.api import ConfigError, Linter, Settings, load_settings, source_from_cells, source_from_text
from shardlint_server.analyses import Report
from shardlint_server.convert import to_diagnostic
from shardlint_server.documents import Target
from shardlint_server.options import Options


class TargetLinter:
    """Lints targets, each under the configuration nearest to its path.

    Args:
        options: the client's.
        codec: how the client counts columns.
        complain: told once of each bad configuration; the defaults then hold.
    """

    def __init__(self, options: Options, codec: PositionCodec, complain: Callable[[str], None]) -> None:
        self._options = options
        self._codec = codec
        self._complain = complain
        self._complaints: set[str] = set()

    def report(self, target: Target) -> Report:
        """Lint a target."""
        if target.is_notebook:
            source = source_from_cells(target.path, _cells(target))
        else:
            source = source_from_text(target.path, target.parts[0].text)
        diagnostics: dict[str, list[types.Diagnostic]] = {part.uri: [] for part in target.parts}
        settings = self._settings(target.path)
        analysis = Linter(settings).analysis(source)
        for finding in analysis.findings:
            part = target.part_of(finding.span)
            if part is not None:
                page = settings.page_of(finding.name)
                diagnostics[part.uri].append(to_diagnostic(finding, target.locate, self._codec, page))
        return Report(diagnostics, analysis)

    def _settings(self, path: str) -> Settings:
        try:
            return load_settings(path, devices=self._options.devices)
        except ConfigError as error:
            if str(error) not in self._complaints:
                self._complaints.add(str(error))
                self._complain(str(error))
            return Settings(root=os.path.dirname(path) or ".", devices=self._options.devices)


def _cells(target: Target) -> list[tuple[int, str]]:
    return [(part.cell, part.text) for part in target.parts if part.cell is not None]
