"""Diagnostics of Python files, and the pull of diagnostics for files and cells alike."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from lsprotocol import types

from shardlint_server.session import ShardlintServer


def register(server: ShardlintServer) -> None:
    """Register the handlers for files that the client opens."""
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(did_open)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(did_change)
    server.feature(types.TEXT_DOCUMENT_DID_SAVE)(did_save)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(did_close)


def register_pull(server: ShardlintServer) -> None:
    """Answer a client that pulls. Imports are followed: an edit may change another file's report."""
    options = types.DiagnosticOptions(
        inter_file_dependencies=True, workspace_diagnostics=False, identifier="shardlint"
    )
    server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)(pull)


def did_open(server: ShardlintServer, params: types.DidOpenTextDocumentParams) -> None:
    """Handle an opened file."""
    server.opened(params.text_document.uri)


def did_change(server: ShardlintServer, params: types.DidChangeTextDocumentParams) -> None:
    """Handle an edit of a file."""
    server.changed(params.text_document.uri)


def did_save(server: ShardlintServer, params: types.DidSaveTextDocumentParams) -> None:
    """Handle a saved file."""
    server.saved(params.text_document.uri)


def did_close(server: ShardlintServer, params: types.DidCloseTextDocumentParams) -> None:
    """Handle a closed file."""
    server.closed(params.text_document.uri)


async def pull(
    server: ShardlintServer, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
    """Report on a file or cell; the report on one that was closed meanwhile is empty."""
    uri = params.text_document.uri
    latest = await server.analyses.latest(uri)
    items = latest[1].diagnostics.get(uri, ()) if latest else ()
    result = result_id(items)
    if result == params.previous_result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result)
    return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result)


def result_id(items: Sequence[types.Diagnostic]) -> str:
    """Return an id that is equal for equal reports."""
    return blake2b(repr(list(items)).encode(errors="surrogatepass"), digest_size=12).hexdigest()
