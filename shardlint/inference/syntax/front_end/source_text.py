"""The text from which an `ast` tree was parsed."""

from __future__ import annotations

import ast
import warnings
from functools import lru_cache
from typing import Any, cast

import libcst as cst

#: A line, counted from 1, and an offset in bytes.
Place = tuple[int, int]


class Untranslated(Exception):
    """Raised if `ast` alone does not determine the libcst nodes of a text."""


#: Longer texts are parsed again for each caller, since their trees take much memory.
_LONG = 200_000


def parsed(text: str) -> ast.Module:
    """Return the `ast` tree of a text; callers must not modify it. Raises Untranslated."""
    return _parsed(text) if len(text) < _LONG else _parsed.__wrapped__(text)


# An edited function is read as a part of its file, to translate it, and to tell where its nodes stand; and
# by the program of each mesh.
@lru_cache(maxsize=4)
def _parsed(text: str) -> ast.Module:
    if has_odd_lines(text):
        raise Untranslated
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise Untranslated from error


def has_odd_lines(text: str) -> bool:
    """Return whether there are form feeds or line ends that Python's tokenizer does not recognise."""
    return any(c in text for c in "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029") or "\r" in text.replace("\r\n", "")


def extent(node: ast.expr | ast.arg | ast.keyword) -> tuple[Place, Place]:
    """Return the positions at which a node begins and ends."""
    return (node.lineno, node.col_offset), cast("Place", (node.end_lineno, node.end_col_offset))


class Written:
    """A text addressed by the positions of `ast`."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._ascii = text.isascii()
        self._continued = "\\\n" in text or "\\\r\n" in text

    def written(self, node: ast.expr) -> str:
        """Return the text of an expression, without parentheses around it."""
        return self.between(*extent(node))

    def between(self, start: Place, end: Place) -> str:
        """Return the text between two positions; a character of which only a part lies there is replaced."""
        (first, begins), (last, ends) = start, end
        if first == last and self._ascii:
            return self._lines[first - 1][begins:ends]
        written = [line.encode() for line in self._lines[first - 1 : last]]
        # The end first, since it may be on the same line.
        written[-1] = written[-1][:ends]
        written[0] = written[0][begins:]
        return b"".join(written).decode(errors="replace")

    def column(self, place: Place) -> Place:
        """Return a position with its column in characters."""
        line, column = place
        if self._ascii:
            return place
        return line, len(self._lines[line - 1].encode()[:column].decode())

    def parsed(self, node: ast.expr) -> Any:
        """Return the libcst node of an expression. Raises Untranslated."""
        try:
            return cst.parse_expression(f"({self.written(node)})")
        except cst.ParserSyntaxError as error:
            raise Untranslated from error

    def continues(self, line: int) -> bool:
        """Return whether a line, counted from 1, may continue after a backslash."""
        return self._continued and self._lines[line - 1].endswith(("\\\n", "\\\r\n"))

    def begins_line(self, node: ast.stmt) -> bool:
        """Return whether a statement is the first on its line."""
        # A blank is one byte as it is one character.
        if self._lines[node.lineno - 1][: node.col_offset].strip():
            return False
        if node.lineno > 1 and self.continues(node.lineno - 1):
            raise Untranslated
        return True
