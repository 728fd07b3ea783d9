"""Completion: names of axes in strings, words of comments to shardlint, keys of configuration files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lsprotocol import types

from shardlint.api import editing, media
from shardlint_server.documents.conversion import from_position, split_lines, to_position
from shardlint_server.documents.documents import path_of, target_of
from shardlint_server.session import ShardlintServer

if TYPE_CHECKING:
    from shardlint.api import Word
    from shardlint_server.analysis.insights import Insight

#: The rest of a name after the cursor.
_REST = re.compile(r"\w*")
_REST_OF_WORD = re.compile(r"[\w.-]*")


def register(server: ShardlintServer) -> None:
    """Complete the names of axes from the quote on, and codes from the bracket on."""
    options = types.CompletionOptions(trigger_characters=['"', "'", "[", ":", "=", ","])
    server.feature(types.TEXT_DOCUMENT_COMPLETION, options)(complete)


async def complete(server: ShardlintServer, params: types.CompletionParams) -> types.CompletionList | None:
    """Return what may stand under the cursor, from the current text and the last analysis."""
    uri, codec = params.text_document.uri, server.workspace.position_codec
    document = server.workspace.text_documents.get(unquote(uri))
    if document is not None and path_of(uri).endswith(".toml"):
        lines = split_lines(document.source)
        line, column = from_position(params.position, lines, codec)
        words = editing.configuration_words(lines, line, column, path_of(uri))
        return _list([_of_word(server, word, lines, line, column) for word in words])
    insight, target = await server.insights.known(uri), target_of(server.workspace, uri)
    part = None if target is None else next((part for part in target.parts if part.uri == uri), None)
    if insight is None or part is None:
        return None
    lines = split_lines(part.text)
    line, column = from_position(params.position, lines, codec)
    findings = [finding for finding in insight.analysis.findings if finding.span.cell == part.cell]
    off = [(abs(finding.span.line - line), finding.code) for finding in findings]
    near = {code: lines_off for lines_off, code in sorted(off, reverse=True)}
    said = editing.comment_words(lines, line, column, near, insight.settings)
    if said is not None:
        return _list([_of_word(server, word, lines, line, column) for word in said])
    return _list(_of_axes(server, insight, lines, line, column))


def _list(items: list[types.CompletionItem]) -> types.CompletionList | None:
    return types.CompletionList(is_incomplete=False, items=items) if items else None


def _of_word(
    server: ShardlintServer, word: Word, lines: Sequence[str], line: int, column: int
) -> types.CompletionItem:
    rest = _REST_OF_WORD.match(lines[line - 1], column - 1)
    end = column if rest is None else rest.end() + 1
    codec = server.workspace.position_codec
    place = types.Range(
        start=to_position(line, word.column, lines, codec), end=to_position(line, end, lines, codec)
    )
    return types.CompletionItem(
        label=media.plain(word.label),
        kind=types.CompletionItemKind.Keyword,
        documentation=media.plain(word.detail) or None,
        sort_text=f"{word.rank}{word.label}",
        filter_text=word.label,
        text_edit=types.TextEdit(range=place, new_text=word.text),
    )


def _of_axes(
    server: ShardlintServer, insight: Insight, lines: Sequence[str], line: int, column: int
) -> list[types.CompletionItem]:
    """Return the axes that a string may name."""
    axes, codec = server.projects.known(insight), server.workspace.position_codec
    others = () if axes is None else [mesh for axis in axes.axes for mesh in axis.meshes]
    found = insight.analysis.completions(lines, line, column, others)
    if found is None:
        return []
    rest = _REST.match(lines[line - 1], column - 1)
    end = column if rest is None else rest.end() + 1
    place = types.Range(
        start=to_position(line, found[0], lines, codec), end=to_position(line, end, lines, codec)
    )
    return [
        types.CompletionItem(
            label=media.plain(candidate.name),
            kind=types.CompletionItemKind.EnumMember,
            detail=_detail(candidate.size, None if candidate.mesh is None else str(candidate.mesh)),
            sort_text=f"{number:03}",
            text_edit=types.TextEdit(range=place, new_text=candidate.name),
        )
        for number, candidate in enumerate(found[1])
    ]


def _detail(size: object, mesh: str | None) -> str:
    if mesh is not None:
        return media.plain(
            (f"{size} device{'s' * (size != 1)} of " if isinstance(size, int) else "of ") + mesh
        )
    return "a mapped axis" + (f" of size {size}" if isinstance(size, int) else "")
