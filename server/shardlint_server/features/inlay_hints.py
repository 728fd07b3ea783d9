"""Inlay hints: each device's share after a spec; the shards in the body of a shard_map; what lines of a
compiled program send.

A hint is short. What else is known of it, and a link to its mesh, are computed when the client resolves it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.workspace import PositionCodec

from shardlint.api import compiling, media
from shardlint.model.spans import Span
from shardlint_server.documents.conversion import from_position, split_lines, to_position
from shardlint_server.documents.texts import location_of
from shardlint_server.features.fixture_commands import compiled_lines
from shardlint_server.presentation.markdown import known_text
from shardlint_server.session import ShardlintServer

if TYPE_CHECKING:
    from shardlint.api import Hint


def register(server: ShardlintServer) -> None:
    """Answer requests for inlay hints."""
    options = types.InlayHintOptions(resolve_provider=True)
    server.feature(types.TEXT_DOCUMENT_INLAY_HINT, options)(inlay_hints)
    server.feature(types.INLAY_HINT_RESOLVE)(resolve)


async def inlay_hints(server: ShardlintServer, params: types.InlayHintParams) -> list[types.InlayHint]:
    """Return the hints in a range of a document, of the enabled kinds."""
    uri = params.text_document.uri
    insight = await server.insights.settled(uri)
    part = None if insight is None else insight.part(uri)
    if insight is None or part is None:
        return []
    lines, codec = split_lines(part.text), server.workspace.position_codec
    first, last = (from_position(end, lines, codec) for end in (params.range.start, params.range.end))
    enabled = server.configuration.options_of(insight.target.path).inlayHints
    shown = [
        to_hint(hint, lines, codec, uri, enabled.get("devices", False))
        for hint in insight.knowledge.hints
        if hint.span.cell == part.cell
        and first <= (hint.span.end_line, hint.span.end_column) <= last
        and enabled.get("localShapes" if hint.local else "shards", True)
    ]
    compiled, stale = compiled_lines(server, insight.target)
    return shown + [
        _collectives(one, stale, lines, codec)
        for one in compiled
        if one.cell == part.cell
        and first[0] <= one.line <= last[0]
        and one.line <= len(lines)
        and enabled.get("collectives", True)
    ]


def _collectives(
    one: compiling.CompiledLine, stale: bool, lines: Sequence[str], codec: PositionCodec
) -> types.InlayHint:
    """Return a hint at the end of a line for which collectives run."""
    end = len(lines[one.line - 1].rstrip("\r\n")) + 1
    text = f"{one.text} (before an edit)" if stale else one.text
    return types.InlayHint(
        position=to_position(one.line, end, lines, codec),
        label=media.plain(text),
        padding_left=True,
        tooltip=_SENT,
    )


def to_hint(
    hint: Hint, lines: Sequence[str], codec: PositionCodec, uri: str, devices: bool
) -> types.InlayHint:
    """Convert a hint, which is shown after its span; with ``devices``, it tells their number."""
    span = hint.span
    return types.InlayHint(
        position=to_position(span.end_line, span.end_column, lines, codec),
        label=[types.InlayHintLabelPart(value=media.plain(hint.text if devices else hint.short))],
        kind=types.InlayHintKind.Type,
        padding_left=not hint.local,
        tooltip=_LOCAL if hint.local else _SHARD,
        data={"uri": uri, "span": [span.line, span.column, span.end_line, span.end_column]},
    )


_LOCAL = "What each device has of it inside `shard_map`"
_SENT = "What each device sends for this line each time, as XLA compiles it"
_SHARD = "What each device holds of the array that this spec places"


async def resolve(server: ShardlintServer, hint: types.InlayHint) -> types.InlayHint:
    """Add all that is known of what a hint is about, and a link to the mesh."""
    data = hint.data if isinstance(hint.data, dict) else {}
    insight = await server.insights.known(str(data.get("uri")))
    part = None if insight is None else insight.part(str(data.get("uri")))
    place = data.get("span")
    if insight is None or part is None or not isinstance(place, list | tuple) or len(place) != 4:
        return hint
    line, column, end_line, end_column = map(int, place)
    span = Span(insight.target.path, line, column, end_line, end_column, part.cell)
    values = insight.knowledge.of(span)
    if not values:
        return hint
    text = "\n\n---\n\n".join(known_text(known, _names) for known in values[:2])
    hint.tooltip = types.MarkupContent(kind=types.MarkupKind.Markdown, value=text)
    codec = server.workspace.position_codec
    meshes = [location_of(server.workspace, at, codec) for at in insight.knowledge.meshes_of(values)]
    if isinstance(hint.label, Sequence) and not isinstance(hint.label, str) and len(meshes) == 1:
        for label in hint.label:
            label.location = meshes[0]
    return hint


def _names(spans: Sequence[Span]) -> str:
    """Return places in words."""
    places = dict.fromkeys(f"{os.path.basename(span.path)}:{span.line}" for span in spans)
    return ", ".join(map(media.code, places))
