"""An editor for tests: it talks to the real server in a subprocess, and remembers all that it was sent."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from forked_servers import forking_command
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

PATIENCE = 60.0
"""Seconds until a test that waits in vain fails."""

PRELUDE = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
"""


class Editor(LanguageClient):
    """A client that keeps every published report, in order."""

    def __init__(self) -> None:
        super().__init__(converter_factory=default_converter)
        self.published: list[types.PublishDiagnosticsParams] = []
        self.registered: list[types.Registration] = []
        self.code_lens_refreshes = 0
        self.parts: list[dict[str, Any]] = []
        self.inlay_hint_refreshes = 0
        self.closing: dict[str, Callable[[], None]] = {}
        ours = {
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: _remember,
            types.CLIENT_REGISTER_CAPABILITY: _register,
            types.WORKSPACE_CODE_LENS_REFRESH: _refresh_code_lens,
            types.PROGRESS: _progress,
            types.WORKSPACE_INLAY_HINT_REFRESH: _refresh_inlay_hints,
        }
        register_lsp_features(self, {**DEFAULT_CLIENT_FEATURES, **ours})

    async def start_io(self, cmd: str, *args: str, **options: Any) -> None:
        """Start the server, by a fork."""
        assert cmd == sys.executable
        await super().start_io(*forking_command(args), **options)

    async def start(
        self,
        *,
        pulls: bool = False,
        options: object = None,
        modern: bool = False,
        folders: Iterable[Path] = (),
        encodings: Sequence[types.PositionEncodingKind] | None = None,
        snippets: bool = False,
    ) -> types.InitializeResult:
        """Say hello as an editor that pulls diagnostics, or as one that is sent them.

        A ``modern`` one watches files, tells its settings when asked, shows progress, resolves code actions.
        """
        features = types.TextDocumentClientCapabilities(
            publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
                related_information=True, version_support=True
            ),
            diagnostic=types.DiagnosticClientCapabilities() if pulls else None,
        )
        workspace = types.WorkspaceClientCapabilities(
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=pulls)
        )
        window = None
        if modern:
            features.code_action = types.CodeActionClientCapabilities(
                code_action_literal_support=types.ClientCodeActionLiteralOptions(
                    code_action_kind=types.ClientCodeActionKindOptions(value_set=[])
                ),
                is_preferred_support=True,
                data_support=True,
                resolve_support=types.ClientCodeActionResolveOptions(properties=["edit"]),
            )
            workspace.workspace_edit = types.WorkspaceEditClientCapabilities(
                document_changes=True,
                change_annotation_support=types.ChangeAnnotationsSupportOptions(),
                snippet_edit_support=snippets,
            )
            workspace.inlay_hint = types.InlayHintWorkspaceClientCapabilities(refresh_support=True)
            workspace.configuration = True
            workspace.workspace_folders = True
            workspace.did_change_watched_files = types.DidChangeWatchedFilesClientCapabilities(
                dynamic_registration=True
            )
            workspace.did_change_configuration = types.DidChangeConfigurationClientCapabilities(
                dynamic_registration=True
            )
            workspace.code_lens = types.CodeLensWorkspaceClientCapabilities(refresh_support=True)
            window = types.WindowClientCapabilities(work_done_progress=True)
        capabilities = types.ClientCapabilities(
            text_document=features,
            workspace=workspace,
            window=window,
            general=types.GeneralClientCapabilities(position_encodings=encodings),
        )
        answer = await self.initialize_session(
            types.InitializeParams(
                capabilities=capabilities,
                initialization_options=options,
                workspace_folders=[folder_of(path) for path in folders] or None,
            )
        )
        if modern:
            await eventually(lambda: self.registered)
        return answer

    def open(self, path: Path, text: str) -> str:
        """Open a file that need not exist; return its URI."""
        return self.open_document(path.as_uri(), text)

    def open_document(self, uri: str, text: str) -> str:
        item = types.TextDocumentItem(uri=uri, language_id="python", version=1, text=text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
        self.closing[uri] = lambda: self.close(uri)
        return uri

    def change(self, uri: str, version: int, text: str) -> None:
        """Replace the whole text."""
        self._change(uri, version, types.TextDocumentContentChangeWholeDocument(text=text))

    def edit(self, uri: str, version: int, place: types.Range, text: str) -> None:
        """Replace a part of the text."""
        self._change(uri, version, types.TextDocumentContentChangePartial(range=place, text=text))

    def _change(self, uri: str, version: int, change: types.TextDocumentContentChangeEvent) -> None:
        document = types.VersionedTextDocumentIdentifier(uri=uri, version=version)
        self.text_document_did_change(
            types.DidChangeTextDocumentParams(text_document=document, content_changes=[change])
        )

    def files_changed(self, *paths: Path, kind: types.FileChangeType = types.FileChangeType.Changed) -> None:
        """Tell that files were changed by somebody, made or deleted."""
        changes = [types.FileEvent(uri=path.as_uri(), type=kind) for path in paths]
        self.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes=changes))

    def close(self, uri: str) -> None:
        del self.closing[uri]
        self.text_document_did_close(
            types.DidCloseTextDocumentParams(text_document=types.TextDocumentIdentifier(uri=uri))
        )

    async def close_all(self) -> None:
        """Close what is open, and forget all that was sent: the server may be another test's now."""
        for close in list(self.closing.values()):
            close()
        # Once this is answered, nothing that was asked of the server before is left to be said.
        nothing = types.TextDocumentIdentifier(uri="untitled:nothing")
        await self.text_document_hover_async(types.HoverParams(nothing, types.Position(0, 0)))
        self.published.clear()
        self.messages.clear()
        self.parts.clear()

    async def report(self, uri: str, version: int | None = 1) -> tuple[types.Diagnostic, ...]:
        """Wait for the report on a version of a document; None is what a closed one has."""

        def matching() -> list[types.PublishDiagnosticsParams]:
            return [sent for sent in self.published if (sent.uri, sent.version) == (uri, version)]

        await eventually(matching)
        return tuple(matching()[-1].diagnostics)

    async def pull(self, uri: str) -> tuple[types.Diagnostic, ...]:
        """Ask for the report on a document."""
        report = await self.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(text_document=types.TextDocumentIdentifier(uri=uri))
        )
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        return tuple(report.items)


def _remember(client: Editor, params: types.PublishDiagnosticsParams) -> None:
    client.published.append(params)


def _register(client: Editor, params: types.RegistrationParams) -> None:
    client.registered += params.registrations


async def _progress(client: Editor, params: types.ProgressParams) -> None:
    """Keep parts of answers as they are; what else there is are bars."""
    if params.token == "parts":
        client.parts.append(json.loads(json.dumps(params.value, default=vars)))
    else:
        DEFAULT_CLIENT_FEATURES[types.PROGRESS](client, params)


def _refresh_code_lens(client: Editor, params: None) -> None:
    client.code_lens_refreshes += 1


def _refresh_inlay_hints(client: Editor, params: None) -> None:
    client.inlay_hint_refreshes += 1


def folder_of(path: Path) -> types.WorkspaceFolder:
    return types.WorkspaceFolder(uri=path.as_uri(), name=path.name)


async def eventually(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.02)


def marked(text: str) -> tuple[str, types.Range]:
    """Take the marks « and » out of a text; return it and the range between them, in UTF-16."""
    before, _, rest = text.partition("«")
    inside, _, after = rest.partition("»")
    return before + inside + after, types.Range(start=_end(before), end=_end(before + inside))


def _end(text: str) -> types.Position:
    lines = text.split("\n")
    return types.Position(line=len(lines) - 1, character=len(lines[-1].encode("utf-16-le")) // 2)


def codes(diagnostics: Iterable[types.Diagnostic]) -> list[str]:
    return [str(diagnostic.code) for diagnostic in diagnostics]


SERVER = ClientServerConfig(server_command=[sys.executable, "-m", "shardlint_server"], client_factory=Editor)
