"""The source text around a finding as written, and its position in the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from shardlint.model.spans import Span

if TYPE_CHECKING:
    from shardlint.source.notebooks.json_positions import NotebookPlaces


class Excerpts:
    """Reads lines from files, or from ``unsaved``: contents by path that are not (so) on disk."""

    def __init__(self, unsaved: Mapping[str, bytes] | None = None) -> None:
        self._unsaved = unsaved or {}
        # Findings are grouped by file.
        self._cells = lru_cache(maxsize=16)(self._read_cells)
        self._places = lru_cache(maxsize=4)(self._read_places)

    def lines(self, span: Span) -> Sequence[str]:
        """Return the lines of the file or cell of a span, as written; none if it cannot be read."""
        return self._cells(span.path).get(span.cell, ())

    def in_file(self, span: Span) -> Span:
        """Return the position of a span in its file; it differs from the span in notebook cells only."""
        return span if span.cell is None else self._places(span.path).span(span)

    def _read_cells(self, path: str) -> dict[int | None, Sequence[str]]:
        from shardlint.source.lexing import split_lines
        from shardlint.source.sources import read_source

        return {
            cell.index: split_lines(cell.written) for cell in read_source(path, self._unsaved.get(path)).cells
        }

    def _read_places(self, path: str) -> NotebookPlaces:
        from shardlint.source.notebooks.json_positions import NotebookPlaces
        from shardlint.source.sources import MAX_NOTEBOOK_BYTES
        from shardlint.source.workspace.file_access import read

        try:
            data = self._unsaved[path] if path in self._unsaved else read(path, MAX_NOTEBOOK_BYTES)
        except OSError:
            data = b""
        return NotebookPlaces(data)
