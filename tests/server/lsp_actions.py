"""Code actions in tests: asking for them, choosing one, and what the document is then."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from lsp_editor import Editor
from lsprotocol import types


async def actions_at(
    editor: Editor, uri: str, place: types.Range, only: Sequence[str] | None = None
) -> list[types.CodeAction]:
    """Ask for the actions at a place; lsprotocol takes one that has a command for a bare command."""
    found = await editor.text_document_code_action_async(
        types.CodeActionParams(
            text_document=types.TextDocumentIdentifier(uri=uri),
            range=place,
            context=types.CodeActionContext(diagnostics=[], only=only),
        )
    )
    return [_action(one) for one in found or ()]


def _action(found: types.Command | types.CodeAction) -> types.CodeAction:
    if isinstance(found, types.CodeAction):
        return found
    command: dict[str, Any] = ast.literal_eval(found.command)
    return types.CodeAction(
        title=found.title,
        kind=types.CodeActionKind.QuickFix,
        command=types.Command(command["title"], command["command"], arguments=command["arguments"]),
    )


async def chosen(editor: Editor, actions: Sequence[types.CodeAction], title: str) -> types.CodeAction:
    """Choose the one action whose title has this in it."""
    (action,) = [action for action in actions if title in action.title]
    if action.edit is None and action.data is not None:
        action = await editor.code_action_resolve_async(action)
    return action


def after(action: types.CodeAction, uri: str, text: str, version: int | None = 1) -> str:
    """A document's text after the edits of an action, as a client applies them: in UTF-16."""
    assert action.edit is not None
    edits: list[types.TextEdit] = []
    if action.edit.document_changes is not None:
        for change in action.edit.document_changes:
            assert isinstance(change, types.TextDocumentEdit)
            if change.text_document.uri == uri:
                assert change.text_document.version == version
                edits += [
                    edit
                    if isinstance(edit, types.TextEdit)
                    else types.TextEdit(edit.range, edit.snippet.value)  # type: ignore[union-attr]
                    for edit in change.edits
                ]
    else:
        edits += (action.edit.changes or {}).get(uri, ())
    return applied(text, edits)


def applied(text: str, edits: Sequence[types.TextEdit]) -> str:
    """Apply edits that do not overlap; all of them are of the text as it is now."""
    data = text.encode("utf-16-le")
    placed = [
        (_offset(text, edit.range.start), number, _offset(text, edit.range.end), edit.new_text)
        for number, edit in enumerate(edits)
    ]
    for start, _, end, new in sorted(placed, reverse=True):
        assert start <= end
        data = data[:start] + new.encode("utf-16-le") + data[end:]
    return data.decode("utf-16-le")


def _offset(text: str, position: types.Position) -> int:
    """The byte of UTF-16 that a position is at."""
    at = 0
    for _ in range(position.line):
        ends = [
            (found, size)
            for end, size in (("\r\n", 2), ("\n", 1), ("\r", 1))
            if (found := text.find(end, at)) >= 0
        ]
        first = min(found for found, _ in ends)
        at = first + max(size for found, size in ends if found == first)
    return len(text[:at].encode("utf-16-le")) + 2 * position.character
