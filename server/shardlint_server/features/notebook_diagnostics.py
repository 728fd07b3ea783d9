"""Diagnostics of notebooks: analysed as a whole, shown on the cell of the finding."""

from __future__ import annotations

from lsprotocol import types

from shardlint_server.session import ShardlintServer


def register(server: ShardlintServer) -> None:
    """Follow the notebooks that the client opens."""
    server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)(did_open)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)(did_change)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)(did_close)


def did_open(server: ShardlintServer, params: types.DidOpenNotebookDocumentParams) -> None:
    """Handle an opened notebook."""
    server.opened(params.notebook_document.uri)


def did_change(server: ShardlintServer, params: types.DidChangeNotebookDocumentParams) -> None:
    """Handle edits of cells, and cells that were added, moved or deleted."""
    server.changed(params.notebook_document.uri)


def did_close(server: ShardlintServer, params: types.DidCloseNotebookDocumentParams) -> None:
    """Handle a closed notebook."""
    server.closed(params.notebook_document.uri)
