"""Edits as protocol types: of open documents, and of files on disk."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from lsprotocol import types
from pygls.workspace import PositionCodec

from shardlint.model.findings import Edit
from shardlint_server.documents.conversion import split_lines, to_position, to_range
from shardlint_server.documents.documents import Part, Target

_NEWLINE = re.compile(r"\r\n|\n|\r")
#: Lines with their ends.
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
Change = types.TextEdit | types.SnippetTextEdit


def text_edits(
    target: Target, edits: Iterable[Edit], codec: PositionCodec
) -> dict[str, list[types.TextEdit]] | None:
    """Return edits by the URI of their document, with its line ends.

    None where one belongs to another file than the target.
    """
    found: dict[str, list[types.TextEdit]] = {}
    for edit in edits:
        part = target.part_of(edit.span)
        if part is None:
            return None
        place = to_range(edit.span, split_lines(part.text), codec)
        text = _NEWLINE.sub(newline_of(part.text), edit.text)
        found.setdefault(part.uri, []).append(types.TextEdit(range=place, new_text=text))
    return found


def newline_of(text: str) -> str:
    """Return the line ending of a text."""
    first = _NEWLINE.search(text)
    return first[0] if first else "\n"


def difference(part: Part, text: str, codec: PositionCodec) -> list[types.TextEdit]:
    """Return the edits, of whole lines, that turn a part's text into another."""
    before, after = _LINES.findall(part.text), _LINES.findall(text)
    lines = split_lines(part.text)

    def place(index: int) -> types.Position:
        """Return the start of a line; after a last line without a line ending, the end of that line."""
        at_end = index == len(before) and len(lines) == len(before)
        return (
            to_position(len(lines), len(lines[-1]) + 1, lines, codec)
            if at_end
            else to_position(index + 1, 1, lines, codec)
        )

    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return [
        types.TextEdit(range=types.Range(place(a), place(b)), new_text="".join(after[c:d]))
        for what, a, b, c, d in matcher.get_opcodes()
        if what != "equal"
    ]


def workspace_edit(
    target: Target,
    changes: dict[str, list[types.TextEdit]],
    capabilities: types.ClientCapabilities,
    snippets: bool = False,
) -> types.WorkspaceEdit:
    """Return changes of a target's documents, with their versions if the client accepts them.

    With ``snippets``, the texts are snippets, for a client that accepts those.
    """
    if not takes_versions(capabilities):
        return types.WorkspaceEdit(changes=changes)
    versions = {part.uri: part.version for part in target.parts}
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                text_document=types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=versions[uri]),
                edits=[_snippet(edit) if snippets else edit for edit in edits],
            )
            for uri, edits in changes.items()
        ]
    )


def _snippet(edit: types.TextEdit) -> types.SnippetTextEdit:
    return types.SnippetTextEdit(range=edit.range, snippet=types.StringValue(value=edit.new_text))


def takes_versions(capabilities: types.ClientCapabilities) -> bool:
    """Return whether a client accepts edits with the versions of the documents."""
    workspace = capabilities.workspace
    return bool(workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes)


def takes_snippets(capabilities: types.ClientCapabilities) -> bool:
    """Return whether a client accepts snippets as edits."""
    workspace = capabilities.workspace
    edit = workspace and workspace.workspace_edit
    return bool(edit and edit.document_changes and edit.snippet_edit_support)
