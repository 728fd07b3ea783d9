"""Semantic tokens: names of axes in strings, and names that hold meshes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types
from pygls.workspace import PositionCodec

from shardlint.model.spans import Span
from shardlint_server.analysis.insights import Insight
from shardlint_server.documents.conversion import from_position, split_lines, to_range
from shardlint_server.documents.documents import Part
from shardlint_server.session import ShardlintServer

#: Types of tokens that themes know: axes are members of their mesh.
LEGEND = types.SemanticTokensLegend(token_types=["enumMember", "struct"], token_modifiers=["definition"])
_AXIS, _MESH = 0, 1
_DEFINITION = 1


def register(server: ShardlintServer) -> None:
    """Register the handlers for tokens."""
    server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)(full)
    server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)(in_range)


async def full(server: ShardlintServer, params: types.SemanticTokensParams) -> types.SemanticTokens | None:
    """Return the tokens of a file or cell."""
    insight = await server.insights.settled(params.text_document.uri)
    part = None if insight is None else insight.part(params.text_document.uri)
    if insight is None or part is None:
        return None
    return _encoded(_tokens(insight, part), part, server.workspace.position_codec)


async def in_range(
    server: ShardlintServer, params: types.SemanticTokensRangeParams
) -> types.SemanticTokens | None:
    """Return the tokens on the lines of a range of a file or cell."""
    insight = await server.insights.settled(params.text_document.uri)
    part = None if insight is None else insight.part(params.text_document.uri)
    if insight is None or part is None:
        return None
    lines, codec = split_lines(part.text), server.workspace.position_codec
    first, last = (from_position(end, lines, codec)[0] for end in (params.range.start, params.range.end))
    ours = [one for one in _tokens(insight, part) if first <= one[0].line <= last]
    return _encoded(ours, part, codec)


_Token = tuple[Span, int, int]


def _tokens(insight: Insight, part: Part) -> Iterator[_Token]:
    """Yield the places of tokens, with their type and modifiers."""
    path, lines = insight.target.path, split_lines(part.text)
    for axis in insight.axes.in_file(path):
        definitions = set(axis.definitions)
        for one in axis.occurrences:
            span = one.span
            if (span.path, span.cell) != (path, part.cell) or span.line > len(lines):
                continue
            literal = lines[span.line - 1][span.column - 1 : span.end_column - 1]
            if span.line == span.end_line and (inside := axis.inside(literal)) is not None:
                start, end = inside
                name = Span(path, span.line, span.column + start, span.line, span.column + end, span.cell)
                yield name, _AXIS, _DEFINITION if span in definitions else 0
    for span in insight.knowledge.mesh_names:
        if span.cell == part.cell:
            yield span, _MESH, 0


def _encoded(tokens: Iterable[_Token], part: Part, codec: PositionCodec) -> types.SemanticTokens:
    """Return tokens as the protocol packs them: relative to the one before, none inside another."""
    data: list[int] = []
    line = start = end = 0
    placed = _placed(tokens, split_lines(part.text), codec)
    for place, kind, modifiers in sorted(placed, key=lambda one: (one[0].start.line, one[0].start.character)):
        at, length = place.start, place.end.character - place.start.character
        if at.line != line:
            start = end = 0
        if length > 0 and at.character >= end:
            data += [at.line - line, at.character - start, length, kind, modifiers]
            line, start, end = at.line, at.character, place.end.character
    return types.SemanticTokens(data=data)


def _placed(
    tokens: Iterable[_Token], lines: Sequence[str], codec: PositionCodec
) -> Iterator[tuple[types.Range, int, int]]:
    for span, kind, modifiers in tokens:
        if span.line == span.end_line:
            yield to_range(span, lines, codec), kind, modifiers
