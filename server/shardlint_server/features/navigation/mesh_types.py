"""Type definition: from an array, a spec, a sharding or an axis to the mesh it belongs to."""

from __future__ import annotations

from lsprotocol import types

from shardlint_server.analysis.insights import position_in
from shardlint_server.documents.texts import location_of
from shardlint_server.session import ShardlintServer


def register(server: ShardlintServer) -> None:
    """Register the handler for type definitions."""
    server.feature(types.TEXT_DOCUMENT_TYPE_DEFINITION)(type_definition)


async def type_definition(
    server: ShardlintServer, params: types.TypeDefinitionParams
) -> list[types.Location] | None:
    """Return the calls that build the meshes of what is at a position."""
    uri, codec = params.text_document.uri, server.workspace.position_codec
    insight = await server.insights.settled(uri, asked=True)
    at = None if insight is None else position_in(codec, insight, uri, params.position)
    if insight is None or at is None:
        return None
    spans = insight.knowledge.meshes_at(at.line, at.column, at.part.cell)
    if not spans and (axis := insight.axes.at(at.path, at.line, at.column, at.part.cell)) is not None:
        spans = axis[1].definitions
    found = (location_of(server.workspace, span, codec) for span in spans)
    return [place for place in found if place is not None] or None
