"""Symbols: the meshes and axes that a document, or the files of the workspace, define."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled
from pygls.workspace import PositionCodec

from shardlint.api import media
from shardlint.model.spans import Span
from shardlint_server.documents.conversion import split_lines, to_range
from shardlint_server.documents.documents import Part, target_of
from shardlint_server.documents.texts import location_of
from shardlint_server.presentation.progress import late_progress
from shardlint_server.session import ShardlintServer

if TYPE_CHECKING:
    from shardlint.api import Symbol

_KINDS = {True: types.SymbolKind.Struct, False: types.SymbolKind.EnumMember}
#: The most symbols of the workspace that are listed.
_MOST = 500


def register(server: ShardlintServer) -> None:
    """Register the handlers for symbols."""
    options = types.DocumentSymbolOptions(label="shardlint")
    server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, options)(document_symbols)
    server.feature(types.WORKSPACE_SYMBOL)(workspace_symbols)


async def document_symbols(
    server: ShardlintServer, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
    """Return the meshes and axes of a file or cell; a flat list for a client that knows no other."""
    uri, codec = params.text_document.uri, server.workspace.position_codec
    insight = await server.insights.settled(uri)
    part = None if insight is None else insight.part(uri)
    if insight is None or part is None:
        return []
    ours = [symbol for symbol in insight.analysis.symbols if symbol.span.cell == part.cell]
    if _nests(server):
        return [_nested(symbol, split_lines(part.text), codec) for symbol in ours]
    return [_flat(symbol, _in_part(symbol, part, codec), around) for symbol, around in _all(ours)]


def _nests(server: ShardlintServer) -> bool:
    features = server.client_capabilities.text_document
    able = features and features.document_symbol
    return bool(able and able.hierarchical_document_symbol_support)


def _nested(symbol: Symbol, lines: Sequence[str], codec: PositionCodec) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=media.plain(symbol.name),
        detail=media.plain(symbol.detail),
        kind=_KINDS[symbol.is_mesh],
        range=to_range(symbol.span, lines, codec),
        selection_range=to_range(symbol.name_span, lines, codec),
        children=[_nested(child, lines, codec) for child in symbol.children],
    )


def _in_part(symbol: Symbol, part: Part, codec: PositionCodec) -> types.Location:
    return types.Location(part.uri, to_range(symbol.name_span, split_lines(part.text), codec))


def _all(symbols: Sequence[Symbol]) -> Iterator[tuple[Symbol, str | None]]:
    """Yield symbols and those inside them, each with what is around it."""
    for symbol in symbols:
        yield symbol, None
        yield from ((child, f"{symbol.name} {symbol.detail}") for child in symbol.children)


def _flat(symbol: Symbol, place: types.Location, around: str | None) -> types.SymbolInformation:
    name = f"{symbol.name} {symbol.detail}" if symbol.is_mesh else symbol.name
    return types.SymbolInformation(
        location=place,
        name=media.plain(name),
        kind=_KINDS[symbol.is_mesh],
        container_name=media.plain(around or ("" if symbol.is_mesh else symbol.detail)) or None,
    )


async def workspace_symbols(
    server: ShardlintServer, params: types.WorkspaceSymbolParams
) -> list[types.SymbolInformation]:
    """Return the meshes and axes whose names have the letters of a query in their order.

    All files of small folders are looked through, and those of larger ones that are open, or were looked
    through before. Raises JsonRpcRequestCancelled when the user cancels.
    """
    try:
        async with late_progress(server, "Looking through the project") as bar:

            def report(message: str, done: int, of: int) -> bool:
                bar.report(message, done, of)
                return bar.cancelled.is_set()

            analyses = await server.projects.everywhere(server.folders(), report)
    except asyncio.CancelledError:
        server.worker.look()
        raise
    if analyses is None:
        raise JsonRpcRequestCancelled("cancelled by the user")
    for uri in (*server.workspace.notebook_documents, *server.workspace.text_documents):
        known = server.analyses.known(uri)
        if known is None or known[1].analysis is None or known[0] != target_of(server.workspace, uri):
            continue
        analyses[known[0].path] = known[1].analysis
    found: dict[tuple[str, Span], tuple[Symbol, str | None]] = {}
    for analysis in analyses.values():
        for symbol, around in _all(analysis.symbols):
            if _fits(params.query, symbol.name):
                found.setdefault((symbol.name, symbol.name_span), (symbol, around))
    codec, listed = server.workspace.position_codec, []
    for symbol, around in list(found.values())[:_MOST]:
        place = location_of(server.workspace, symbol.name_span, codec)
        if place is not None:
            listed.append(_flat(symbol, place, around))
    return listed


def _fits(query: str, name: str) -> bool:
    """Return whether a name has the letters of a query in their order, in either case."""
    letters = iter(name.lower())
    return all(letter in letters for letter in query.lower())
