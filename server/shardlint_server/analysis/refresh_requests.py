"""Requests to the client to refresh diagnostics, and other data derived from reports."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from shardlint.api import media
from shardlint.model.spans import Span
from shardlint_server.analysis.analyses import Analyses
from shardlint_server.documents.conversion import to_range
from shardlint_server.documents.texts import text_of
from shardlint_server.settings.configuration import Problem


def pulls(client: LanguageServer) -> bool:
    """Return whether a client pulls diagnostics, rather than having them pushed."""
    features = client.client_capabilities.text_document
    return features is not None and features.diagnostic is not None


class Refresher:
    """Asks the client to refresh, once for simultaneous changes, if it supports that."""

    def __init__(self, client: LanguageServer, analyses: Analyses) -> None:
        self._client, self._analyses = client, analyses
        self._timer: asyncio.TimerHandle | None = None

    def soon(self) -> None:
        """Ask after the pause in typing."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self._analyses.pause, self.now)

    def now(self) -> None:
        """Ask at once."""
        self._timer = None
        for refresh in self._refreshes():
            refresh(None)

    def _refreshes(self) -> list[Callable[[None], object]]:
        client, workspace = self._client, self._client.client_capabilities.workspace
        if workspace is None:
            return []
        able = [
            (pulls(client) and workspace.diagnostics, client.workspace_diagnostic_refresh),
            (workspace.code_lens, client.workspace_code_lens_refresh),
            (workspace.inlay_hint, client.workspace_inlay_hint_refresh),
        ]
        return [refresh for feature, refresh in able if feature and feature.refresh_support]

    def publish_configuration(self, file: str, problems: Sequence[Problem]) -> None:
        """Publish the errors in a configuration file, in the file itself, for which no client pulls."""
        workspace = self._client.workspace
        text = text_of(workspace, Span(file, 1, 1, 1, 1))
        lines = ("",) if text is None else text.lines
        diagnostics = [
            types.Diagnostic(
                range=to_range(_span_of(problem, file, lines), lines, workspace.position_codec),
                message=media.messages(problem.brief),
                severity=types.DiagnosticSeverity.Error,
                source="shardlint",
            )
            for problem in problems
        ]
        uri = uris.from_fs_path(file)
        assert uri is not None
        self._client.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics)
        )


def _span_of(problem: Problem, file: str, lines: Sequence[str]) -> Span:
    """Return the wrong word of a configuration, or the whole of its line."""
    number = min(problem.line or 1, len(lines))
    line = lines[number - 1]
    start = line.find(problem.word) if problem.word else -1
    length = len(problem.word) if problem.word else 0
    if start < 0:
        start, length = len(line) - len(line.lstrip()), len(line.strip())
    return Span(file, number, start + 1, number, start + 1 + length)
