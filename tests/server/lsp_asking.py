"""What tests ask of a place in a text, where the marks « and » stand in it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from typing import TypeVar

from lsp_editor import PATIENCE, Editor, marked
from lsprotocol import types

T = TypeVar("T")

ENCODINGS = {"utf-16": types.PositionEncodingKind.Utf16, "utf-8": types.PositionEncodingKind.Utf8}


class Asking:
    """Asks about one place in an open document; a request that is not answered fails the test."""

    def __init__(self, editor: Editor, uri: str, position: types.Position) -> None:
        self.editor, self.position = editor, position
        self.document = types.TextDocumentIdentifier(uri=uri)

    async def hover(self) -> str:
        """The text of the hover, empty where there is none."""
        found = await self._answer(
            self.editor.text_document_hover_async(types.HoverParams(self.document, self.position))
        )
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    async def hints(self, last: int = 1_000) -> list[types.InlayHint]:
        """The inlay hints from the place on, up to a line."""
        place = types.Range(start=self.position, end=types.Position(line=last, character=0))
        found = await self._answer(
            self.editor.text_document_inlay_hint_async(types.InlayHintParams(self.document, place))
        )
        return list(found or ())

    async def definition(self) -> list[types.Location]:
        found = await self._answer(
            self.editor.text_document_definition_async(types.DefinitionParams(self.document, self.position))
        )
        places = [found] if isinstance(found, types.Location) else found or ()
        return [place for place in places if isinstance(place, types.Location)]

    async def references(self, declaration: bool = True) -> list[types.Location]:
        context = types.ReferenceContext(include_declaration=declaration)
        found = await self._answer(
            self.editor.text_document_references_async(
                types.ReferenceParams(context, self.document, self.position)
            )
        )
        return list(found or ())

    async def highlights(self) -> list[types.DocumentHighlight]:
        found = await self._answer(
            self.editor.text_document_document_highlight_async(
                types.DocumentHighlightParams(self.document, self.position)
            )
        )
        return list(found or ())

    async def prepared(self) -> types.PrepareRenamePlaceholder | None:
        found = await self._answer(
            self.editor.text_document_prepare_rename_async(
                types.PrepareRenameParams(self.document, self.position)
            )
        )
        assert found is None or isinstance(found, types.PrepareRenamePlaceholder)
        return found

    async def renamed(self, name: str) -> types.WorkspaceEdit:
        found = await self._answer(
            self.editor.text_document_rename_async(types.RenameParams(self.document, self.position, name))
        )
        assert found is not None
        return found

    async def completions(self) -> list[types.CompletionItem]:
        found = await self._answer(
            self.editor.text_document_completion_async(types.CompletionParams(self.document, self.position))
        )
        return list(found.items) if isinstance(found, types.CompletionList) else list(found or ())

    async def _answer(self, request: Awaitable[T]) -> T:
        return await asyncio.wait_for(request, PATIENCE)


def placed(text: str, encoding: str = "utf-16") -> tuple[str, types.Range]:
    """As `marked`, with columns in another encoding."""
    plain, place = marked(text)
    if encoding == "utf-16":
        return plain, place
    lines = plain.encode("utf-8").split(b"\n")

    def converted(position: types.Position) -> types.Position:
        line = lines[position.line].decode("utf-8")
        before = line.encode("utf-16-le")[: 2 * position.character].decode("utf-16-le")
        return types.Position(line=position.line, character=len(before.encode("utf-8")))

    return plain, types.Range(start=converted(place.start), end=converted(place.end))


def applied(text: str, edits: Iterable[types.TextEdit], encoding: str = "utf-16") -> str:
    """A text after edits that do not overlap."""
    codec = "utf-16-le" if encoding == "utf-16" else "utf-8"
    unit = 2 if encoding == "utf-16" else 1
    lines = [line.encode(codec) for line in text.split("\n")]
    ordered = sorted(edits, key=lambda edit: (edit.range.start.line, edit.range.start.character))
    for edit in reversed(ordered):
        assert edit.range.start.line == edit.range.end.line
        line = lines[edit.range.start.line]
        start, end = edit.range.start.character * unit, edit.range.end.character * unit
        lines[edit.range.start.line] = line[:start] + edit.new_text.encode(codec) + line[end:]
    return "\n".join(line.decode(codec) for line in lines)


def edits_of(edit: types.WorkspaceEdit) -> dict[str, Sequence[types.TextEdit]]:
    """The edits by document, in whichever form they came."""
    if edit.document_changes is None:
        return dict(edit.changes or {})
    found: dict[str, Sequence[types.TextEdit]] = {}
    for change in edit.document_changes:
        assert isinstance(change, types.TextDocumentEdit)
        found[change.text_document.uri] = [
            types.TextEdit(range=one.range, new_text=one.new_text)
            for one in change.edits
            if isinstance(one, types.TextEdit | types.AnnotatedTextEdit)
        ]
    return found
