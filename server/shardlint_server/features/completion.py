"""Completion of axis names inside strings: those of the mesh in scope first, then the project's others."""

from __future__ import annotations

import re

from lsprotocol import types

from shardlint.api import media
from shardlint_server.documents.conversion import from_position, split_lines, to_position
from shardlint_server.documents.documents import target_of
from shardlint_server.session import ShardlintServer

#: The rest of a name after the cursor.
_REST = re.compile(r"\w*")


def register(server: ShardlintServer) -> None:
    """Complete the names of axes, from the quote on."""
    options = types.CompletionOptions(trigger_characters=['"', "'"])
    server.feature(types.TEXT_DOCUMENT_COMPLETION, options)(complete)


async def complete(server: ShardlintServer, params: types.CompletionParams) -> types.CompletionList | None:
    """Return the axes that a string may name, from the current text and the last analysis."""
    uri = params.text_document.uri
    insight, target = await server.insights.known(uri), target_of(server.workspace, uri)
    part = None if target is None else next((part for part in target.parts if part.uri == uri), None)
    if insight is None or target is None or part is None:
        return None
    lines, codec = split_lines(part.text), server.workspace.position_codec
    line, column = from_position(params.position, lines, codec)
    axes = server.projects.known(insight)
    others = () if axes is None else [mesh for axis in axes.axes for mesh in axis.meshes]
    found = insight.analysis.completions(lines, line, column, others)
    if found is None or not found[1]:
        return None
    rest = _REST.match(lines[line - 1], column - 1)
    end = column if rest is None else rest.end() + 1
    place = types.Range(
        start=to_position(line, found[0], lines, codec), end=to_position(line, end, lines, codec)
    )
    return types.CompletionList(
        is_incomplete=False,
        items=[
            types.CompletionItem(
                label=media.plain(candidate.name),
                kind=types.CompletionItemKind.EnumMember,
                detail=_detail(candidate.size, None if candidate.mesh is None else str(candidate.mesh)),
                sort_text=f"{number:03}",
                text_edit=types.TextEdit(range=place, new_text=candidate.name),
            )
            for number, candidate in enumerate(found[1])
        ],
    )


def _detail(size: object, mesh: str | None) -> str:
    if mesh is not None:
        return media.plain(
            (f"{size} device{'s' * (size != 1)} of " if isinstance(size, int) else "of ") + mesh
        )
    return "a mapped axis" + (f" of size {size}" if isinstance(size, int) else "")
