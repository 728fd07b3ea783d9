"""What the features share: the server, which knows what is open and how to report on it."""

from __future__ import annotations

import asyncio
import traceback

from lsprotocol import types
from pygls.lsp.server import LanguageServer

import shardlint
from shardlint_server.analyses import Analyses, Report
from shardlint_server.documents import Documents, Target, target_of
from shardlint_server.linting import TargetLinter
from shardlint_server.options import parse_options
from shardlint_server.publish import Publisher

NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithCells(
            notebook="*", cells=[types.NotebookCellLanguage(language="python")]
        )
    ]
)


class ShardlintServer(LanguageServer):
    """One editor's session.

    ``linter`` is set when the client says what it wants; ``publisher`` is None for a client that pulls.
    """

    linter: TargetLinter
    publisher: Publisher | None = None

    def __init__(self) -> None:
        super().__init__("shardlint", shardlint.__version__, notebook_document_sync=NOTEBOOKS)
        self.analyses = Analyses(self._current, self._analyse, self._failed)

    def begin(self, params: types.InitializeParams) -> None:
        """Take the client's options; publish diagnostics unless it pulls them."""
        self.protocol._workspace = Documents(
            self.workspace.root_uri,
            self._text_document_sync_kind,
            params.workspace_folders,
            self.workspace.position_encoding,
        )
        options, problems = parse_options(params.initialization_options)
        for problem in problems:
            self.warn(problem)
        loop = asyncio.get_running_loop()

        def warn_from_thread(problem: str) -> None:
            loop.call_soon_threadsafe(self.warn, problem)

        self.linter = TargetLinter(options, self.workspace.position_codec, warn_from_thread)
        if not self.client_pulls:
            self.publisher = Publisher(self.analyses, self.text_document_publish_diagnostics)

    @property
    def client_pulls(self) -> bool:
        """Whether the client asks for diagnostics, rather than being sent them."""
        features = self.client_capabilities.text_document
        return features is not None and features.diagnostic is not None

    def opened(self, uri: str) -> None:
        """A file or notebook was opened."""
        if self.publisher is not None:
            self.publisher.schedule(uri)

    def changed(self, uri: str) -> None:
        """An open file or notebook was edited."""
        self.analyses.changed(uri)
        self.opened(uri)

    def saved(self) -> None:
        """A file was saved, which others may import: their reports are asked for anew."""
        workspace = self.client_capabilities.workspace
        if self.publisher is not None:
            self.publisher.schedule_all()
        elif workspace and workspace.diagnostics and workspace.diagnostics.refresh_support:
            self.workspace_diagnostic_refresh(None)

    def closed(self, uri: str) -> None:
        """A file or notebook was closed."""
        self.analyses.closed(uri)
        if self.publisher is not None:
            self.publisher.clear(uri)

    def warn(self, message: str) -> None:
        """Show the user a problem that shardlint goes on without."""
        self.window_show_message(
            types.ShowMessageParams(type=types.MessageType.Warning, message=f"shardlint: {message}")
        )

    def shutdown(self) -> None:
        """End the session."""
        self.analyses.shutdown()
        super().shutdown()

    def _current(self, uri: str) -> Target | None:
        return target_of(self.workspace, uri)

    def _analyse(self, target: Target) -> Report:
        return self.linter.report(target)

    def _failed(self, target: Target, error: BaseException) -> None:
        trace = "".join(traceback.format_exception(error))
        self.window_log_message(
            types.LogMessageParams(
                type=types.MessageType.Error, message=f"shardlint failed on {target.path}:\n{trace}"
            )
        )
