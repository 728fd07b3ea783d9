"""Positions of cell texts in a notebook's file, for outputs that show files and know no cells."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any

from shardlint.model.spans import Span
from shardlint.source.lexing import NEWLINE
from shardlint.source.notebooks.cells import BrokenNotebook, cells_of, text_of

#: One character of a JSON string; a surrogate pair is one code point.
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2} | \\u[0-9a-fA-F]{4} | \\. | [^\\]",
    re.VERBOSE | re.DOTALL,
)


class _Placed(str):
    """A string of the JSON with its start and end in the document, between the quotes."""

    start: int
    stop: int


class _Decoder(JSONDecoder):
    """A JSON decoder that records the places of strings: Python's own, in its pure-Python form."""

    def __init__(self) -> None:
        super().__init__()
        self.parse_string: Any = _placed
        self.scan_once: Any = py_make_scanner(self)


def _placed(document: str, start: int, strict: bool = True) -> tuple[_Placed, int]:
    text, stop = scanstring(document, start, strict)
    placed = _Placed(text)
    placed.start, placed.stop = start, stop - 1
    return placed, stop


class NotebookPlaces:
    """The places in a notebook, given its bytes. An invalid notebook has none."""

    def __init__(self, data: bytes) -> None:
        self._document = data.decode("utf-8-sig", "replace")
        self._lines = _line_starts(self._document)
        self._characters = lru_cache(maxsize=4)(self._characters_of)
        self._cells: Sequence[object] = ()
        with suppress(ValueError, RecursionError, BrokenNotebook):
            self._cells = cells_of(_Decoder().decode(self._document))

    def span(self, span: Span) -> Span:
        """Return the position of a cell's span in the file: lines and columns of its JSON.

        The cell's index is kept. A span that is not there is placed at the beginning of the file.
        """
        characters = self._characters(span.cell or 0)
        starts = _line_starts("".join(text for text, _, _ in characters))
        if not characters or not 1 <= span.line <= span.end_line <= len(starts):
            return replace(span, line=1, column=1, end_line=1, end_column=1)
        first = starts[span.line - 1] + span.column - 1
        last = starts[span.end_line - 1] + span.end_column - 2
        begin = characters[first][1] if first < len(characters) else characters[-1][2]
        end = characters[min(last, len(characters) - 1)][2] if last >= first else begin
        line, column = self._place(begin)
        end_line, end_column = self._place(end)
        return replace(span, line=line, column=column, end_line=end_line, end_column=end_column)

    def _characters_of(self, cell: int) -> list[tuple[str, int, int]]:
        """Return each character of a cell's text, with its start and end in the document."""
        text = text_of(self._cells[cell]) if cell < len(self._cells) else None
        return [
            (char, match.start(), match.end())
            for part in ([text] if isinstance(text, _Placed) else text if isinstance(text, list) else ())
            if isinstance(part, _Placed)
            for char, match in zip(
                part, _CHARACTER.finditer(self._document, part.start, part.stop), strict=True
            )
        ]

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in NEWLINE.finditer(text))]
