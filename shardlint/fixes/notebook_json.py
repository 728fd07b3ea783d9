"""The texts of cells in a notebook's JSON, so that a cell can be edited in place.

Only the characters of an edit are rewritten: escapes, indentation, the order of keys, outputs and execution
counts stay as they are.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shardlint.fixes.text_edits import Change
from shardlint.support.lazy_dataclass import dataclass

_BLANKS = re.compile(r"[ \t\r\n]*")
#: One character of a JSON string; a surrogate pair is one code point.
_UNIT = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2} | \\u[0-9a-fA-F]{4} | \\. | [^\\]",
    re.VERBOSE | re.DOTALL,
)
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class _String:
    """A string in the JSON: its contents, its start and its end."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class _Text:
    """The strings of a cell's text, and the text between two of them; None for a single string."""

    strings: tuple[_String, ...]
    separator: str | None


def edited(document: str, made: Mapping[int, Sequence[Change]]) -> str:
    """Return a notebook's JSON after changes of its cells' texts, given by the index among all cells.

    Raises ValueError if a cell's text is not where it is expected.
    """
    replaced: list[Change] = []
    for index, cell in enumerate(_cells(document)):
        if changes := made.get(index):
            replaced += _replacements(document, _text(cell), changes)
    pieces, at = list[str](), 0
    for change in replaced:
        pieces += (document[at : change.start], change.text)
        at = change.stop
    return "".join((*pieces, document[at:]))


def _replacements(document: str, text: _Text, changes: Sequence[Change]) -> Iterator[Change]:
    """Yield the replacements of the JSON strings that a change touches."""
    raw = [_UNIT.findall(document, s.start, s.stop) for s in text.strings]
    begins = [0]
    for units in raw:
        begins.append(begins[-1] + len(units))
    ascii_only = document.isascii()
    groups: list[tuple[int, int, list[Change]]] = []
    for change in changes:
        # The rest of a deleted line becomes the beginning of the next one.
        first, last = _holding(begins, change.start), _holding(begins, change.stop)
        if groups and groups[-1][1] >= first:
            groups[-1] = (groups[-1][0], max(last, groups[-1][1]), [*groups[-1][2], change])
        else:
            groups.append((first, last, [change]))
    for first, last, ours in groups:
        units = [unit for part in raw[first : last + 1] for unit in part]
        for change in reversed(ours):
            start, stop = change.start - begins[first], change.stop - begins[first]
            units[start:stop] = _escaped(change.text, ascii_only)
        strings = text.strings[first : last + 1]
        lines = ["".join(units)]
        if text.separator is not None and all(_is_line(part) for part in raw[first : last + 1]):
            lines = _lines(units)
        between = f'"{text.separator}"'
        yield Change(strings[0].start, strings[-1].stop, between.join(lines))


def _holding(begins: Sequence[int], at: int) -> int:
    """Return the index of the string that holds an offset; at the end of the text the last."""
    return min(bisect_right(begins, at) - 1, len(begins) - 2)


def _is_line(units: Sequence[str]) -> bool:
    """Return whether a string holds at most one line, as notebooks are saved."""
    return "\\n" not in units[:-1]


def _lines(units: Sequence[str]) -> list[str]:
    """Split characters after each newline; an empty text is one empty line."""
    lines, line = list[str](), list[str]()
    for unit in units:
        line.append(unit)
        if unit == "\\n":
            lines.append("".join(line))
            line = []
    if line or not lines:
        lines.append("".join(line))
    return lines


def _escaped(text: str, ascii_only: bool) -> list[str]:
    """Return the characters of a text as JSON writes them."""
    return [json.dumps(char, ensure_ascii=ascii_only)[1:-1] for char in text]


def _cells(document: str) -> list[_Value]:
    """Return the places of the cells, in the order in which `read_cells` counts them."""
    whole = _Value(document, _skip(document, 1 if document[:1] == "\ufeff" else 0))
    top = whole.members()
    if (cells := top.get("cells")) is not None and cells.is_list:
        return cells.items()
    found: list[_Value] = []
    for sheet in top["worksheets"].items() if "worksheets" in top else ():
        members = sheet.members() if sheet.opens == "{" else {}
        found += members["cells"].items() if "cells" in members and members["cells"].is_list else ()
    return found


def _text(cell: _Value) -> _Text:
    members = cell.members()
    source = members.get("source") or members.get("input")
    if source is None:
        raise ValueError("a cell without text")
    if source.opens == '"':
        return _Text((_String(source.start + 1, source.stop - 1),), None)
    values = source.items()
    if not values or any(value.opens != '"' for value in values):
        raise ValueError("a cell whose text is no list of strings")
    strings = tuple(_String(value.start + 1, value.stop - 1) for value in values)
    if len(values) > 1:
        separator = cell.document[values[0].stop : values[1].start]
    else:
        separator = "," + cell.document[source.start + 1 : values[0].start]
    return _Text(strings, separator)


@dataclass(frozen=True, slots=True)
class _Value:
    """A value of the JSON, by its start."""

    document: str
    start: int

    @property
    def opens(self) -> str:
        return self.document[self.start]

    @property
    def is_list(self) -> bool:
        return self.opens == "["

    @property
    def stop(self) -> int:
        value: tuple[Any, int] = _DECODER.raw_decode(self.document, self.start)
        return value[1]

    def members(self) -> dict[str, _Value]:
        """Return the values of an object by key; for a duplicate key the last, as JSON parsers do."""
        found: dict[str, _Value] = {}
        at = _skip(self.document, self.start + 1)
        while self.document[at] != "}":
            key, at = _DECODER.raw_decode(self.document, at)
            at = _skip(self.document, _skip(self.document, at) + 1)
            found[key] = value = _Value(self.document, at)
            at = self._next(value.stop)
        return found

    def items(self) -> list[_Value]:
        """Return the values of a list."""
        found = []
        at = _skip(self.document, self.start + 1)
        while self.document[at] != "]":
            value = _Value(self.document, at)
            found.append(value)
            at = self._next(value.stop)
        return found

    def _next(self, at: int) -> int:
        at = _skip(self.document, at)
        return _skip(self.document, at + 1) if self.document[at] == "," else at


def _skip(document: str, at: int) -> int:
    match = _BLANKS.match(document, at)
    return match.end() if match else at
