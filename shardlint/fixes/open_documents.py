"""A text open in an editor, as a document to fix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from shardlint.fixes.documents import CannotChange, Document
from shardlint.fixes.text_edits import OutOfPlace, changed, changes
from shardlint.model.findings import Edit
from shardlint.source.sources import Source, source_from_cells, source_from_text
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class OpenDocument(Document):
    """The text of each cell by its index, None for a file's; it has no bytes."""

    cells: tuple[tuple[int | None, str], ...] = ()

    @property
    def source(self) -> Source:
        """Return the text as a source."""
        if self.cells and self.cells[0][0] is None:
            return source_from_text(self.path, self.cells[0][1])
        return source_from_cells(self.path, [(i, text) for i, text in self.cells if i is not None])

    def edited(self, edits: Iterable[Edit]) -> OpenDocument:
        """Return the document after edits that do not overlap. Raises CannotChange."""
        by_cell: dict[int | None, list[Edit]] = {}
        for edit in edits:
            by_cell.setdefault(edit.span.cell, []).append(edit)
        try:
            cells = tuple(
                (index, changed(text, changes(text, by_cell.pop(index, ())))) for index, text in self.cells
            )
        except OutOfPlace:
            raise CannotChange(f"{self.path} is another text by now") from None
        if by_cell:
            raise CannotChange(f"{self.path} has no such cell")
        return replace(self, cells=cells)


def open_document(source: Source) -> OpenDocument:
    """Return a source as a document to fix."""
    return OpenDocument(source.path, b"", tuple((cell.index, cell.written) for cell in source.cells))
