"""The names of axes as symbols: where one is defined, and who uses it, in the document and the project."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled

from shardlint.model.spans import Span
from shardlint_server.analysis.insights import position_in
from shardlint_server.documents.conversion import to_range
from shardlint_server.documents.texts import location_of, text_of
from shardlint_server.presentation.progress import late_progress
from shardlint_server.session import ShardlintServer

if TYPE_CHECKING:
    from shardlint.api import Axis, AxisIndex


def register(server: ShardlintServer) -> None:
    """Register the handlers for symbols."""
    server.feature(types.TEXT_DOCUMENT_DEFINITION)(definition)
    server.feature(types.TEXT_DOCUMENT_REFERENCES)(references)
    server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)(highlight)


async def definition(server: ShardlintServer, params: types.DefinitionParams) -> list[types.Location] | None:
    """Return the definitions of an axis, in meshes or transforms."""
    found = await axis_at(server, params.text_document.uri, params.position)
    return None if found is None else _locations(server, found[1].definitions) or None


async def references(server: ShardlintServer, params: types.ReferenceParams) -> list[types.Location] | None:
    """Return the occurrences of an axis name in the project's files."""
    found = await project_axis_at(server, params.text_document.uri, params.position)
    if found is None:
        return None
    axis = found[1]
    left_out = [] if params.context.include_declaration else axis.definitions
    return _locations(server, (one.span for one in axis.occurrences if one.span not in left_out))


async def highlight(
    server: ShardlintServer, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight] | None:
    """Return the occurrences of an axis name in the document."""
    uri = params.text_document.uri
    found = await axis_at(server, uri, params.position)
    if found is None:
        return None
    definitions, highlights = found[1].definitions, []
    for one in found[1].occurrences:
        text = text_of(server.workspace, one.span)
        if text is not None and text.uri == uri:
            defines = one.span in definitions
            kind = types.DocumentHighlightKind.Write if defines else types.DocumentHighlightKind.Read
            place = to_range(one.span, text.lines, server.workspace.position_codec)
            highlights.append(types.DocumentHighlight(range=place, kind=kind))
    return highlights


async def axis_at(server: ShardlintServer, uri: str, position: types.Position) -> tuple[Span, Axis] | None:
    """Return the literal at a position that names an axis, and the axis as known in the document."""
    insight = await server.insights.settled(uri, asked=True)
    at = None if insight is None else position_in(server.workspace.position_codec, insight, uri, position)
    if insight is None or at is None:
        return None
    return insight.axes.at(at.path, at.line, at.column, at.part.cell)


async def project_axis_at(
    server: ShardlintServer, uri: str, position: types.Position, stored: bool = True
) -> tuple[Span, Axis, AxisIndex] | None:
    """Return the same as `axis_at`, with the axis as known in the project, and all axes of the project.

    With ``stored`` false, results on disk do not count. Raises JsonRpcRequestCancelled when the user cancels.
    """
    insight = await server.insights.settled(uri, asked=True)
    at = None if insight is None else position_in(server.workspace.position_codec, insight, uri, position)
    if insight is None or at is None or insight.axes.at(at.path, at.line, at.column, at.part.cell) is None:
        return None
    try:
        async with late_progress(server, "Looking through the project") as bar:

            def report(message: str, done: int, of: int) -> bool:
                bar.report(message, done, of)
                return bar.cancelled.is_set()

            axes = await server.projects.around(insight, report, stored)
    except asyncio.CancelledError:
        server.worker.look()
        raise
    if axes is None:
        raise JsonRpcRequestCancelled("cancelled by the user")
    found = axes.at(at.path, at.line, at.column, at.part.cell)
    return None if found is None else (*found, axes)


def _locations(server: ShardlintServer, spans: Iterable[Span]) -> list[types.Location]:
    codec = server.workspace.position_codec
    found = (location_of(server.workspace, span, codec) for span in spans)
    return [location for location in found if location is not None]
