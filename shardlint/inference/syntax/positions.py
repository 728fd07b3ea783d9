"""Positions of the nodes of a text, as libcst counts them.

`ast` gives the positions of most expressions. For other nodes, libcst parses the text, and its tree is
written out again (see `node_offsets`).
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import libcst as cst

from shardlint.inference.syntax.front_end.node_reuse import Noted
from shardlint.inference.syntax.front_end.source_text import Place, Untranslated, extent, parsed
from shardlint.inference.syntax.front_end.statements import Translator
from shardlint.inference.syntax.node_fields import walk
from shardlint.inference.syntax.node_offsets import offsets

_NEWLINE = re.compile(r"\r\n?|\n")
#: First line, first column, last line and the column after: lines from 1, columns from 0.
Range = tuple[int, int, int, int]


class Positions:
    """The positions of a text's nodes; none if libcst cannot parse it, or it nests too deep to be walked.

    ``body`` are its statements. Their nodes may lack layout: then the text is parsed again, and both trees
    have the same nodes in the same order. ``expressions`` are those of a translation, and ``noted`` its
    statements.
    """

    def __init__(
        self,
        text: str,
        body: Sequence[cst.CSTNode],
        expressions: Sequence[cst.CSTNode] = (),
        noted: Sequence[Noted] = (),
    ) -> None:
        self._text, self._body = text, body
        self._expressions, self._noted = expressions, noted
        #: The positions of the expressions of statements, by the statement's number.
        self._known: dict[int, Sequence[Range | None]] = {}

    def of(self, node: cst.CSTNode) -> Range | None:
        """Return the position of a node of the tree, without surrounding whitespace."""
        return self._told(node) or self._exact.get(id(node))

    def _told(self, node: cst.CSTNode) -> Range | None:
        """Return the position from `ast`, which is computed for the expressions of one statement at a
        time."""
        number = self._numbers.get(id(node))
        if number is None or self._placing is None:
            return None
        statement = bisect_right(self._stops, number)
        while statement < len(self._noted) and self._noted[statement].start > number:
            # It belongs to a statement that contains others, which precede it.
            statement += 1
        if statement == len(self._noted):
            return None
        if statement not in self._known:
            self._known[statement] = self._placing.of(statement)
        places = self._known[statement]
        return places[number - self._noted[statement].start] if places else None

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """Return the number of each expression, by the identity of its node."""
        return {id(node): number for number, node in enumerate(self._expressions)}

    @cached_property
    def _stops(self) -> Sequence[int]:
        return [one.stop for one in self._noted]

    @cached_property
    def _placing(self) -> _Placing | None:
        """Return the placing of the text's expressions; None if `ast` does not determine it."""
        try:
            placing = _Placing(self._text, self._noted)
        except (Untranslated, RecursionError):
            return None
        return placing if len(placing.statements) == len(self._noted) else None

    @cached_property
    def _exact(self) -> dict[int, Range]:
        """Return the positions from libcst, by the identity of the node."""
        try:
            module = cst.parse_module(self._text)
        except cst.ParserSyntaxError:
            return {}
        found, written = offsets(module)
        lines = [0, *(newline.end() for newline in _NEWLINE.finditer(written))]

        def at(offset: int) -> tuple[int, int]:
            line = bisect_right(lines, offset)
            return line, offset - lines[line - 1]

        ends = ((node, found.get(id(other))) for node, other in _pairs(self._body, module.body))
        return {id(node): (*at(both[0]), *at(both[1])) for node, both in ends if both is not None}


def _pairs(
    one: Sequence[cst.CSTNode], other: Sequence[cst.CSTNode]
) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """Yield the corresponding nodes of two trees of one text."""
    for statements in zip(one, other, strict=True):
        yield from zip(*map(walk, statements), strict=True)


class _Statements(Translator):
    """The statements of a text, each after those inside it, in the order of `Noting`."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.found: list[ast.stmt] = []
        self.block(parsed(text).body)

    def statement(self, make: Callable[[Translator, Any], Any], node: ast.stmt) -> Any:
        translated = super().statement(make, node) if hasattr(node, "body") else None
        self.found.append(node)
        return translated


class _Placing(Translator):
    """Computes the positions of expressions, in the order of `made`, where `ast` and libcst agree.

    Raises Untranslated.
    """

    def __init__(self, text: str, noted: Sequence[Noted]) -> None:
        super().__init__(text)
        self.statements = _Statements(text).found
        self._noted = noted
        self._numbers = {id(node): number for number, node in enumerate(self.statements)}
        self._places: list[Range | None] = []
        #: The requested statement: its own expressions are placed, not those of statements inside it.
        self._asked: ast.stmt | None = None
        #: Python before 3.12 does not give the positions of the parts of an f-string.
        self._inside_string = False

    def of(self, number: int) -> Sequence[Range | None]:
        """Return the positions of a statement's expressions, None for those of nested statements; or
        nothing."""
        node, noted = self.statements[number], self._noted[number]
        self._places, self._asked = [], node
        try:
            self.block([node])
        except (Untranslated, RecursionError):
            return ()
        return self._places if len(self._places) == noted.stop - noted.start else ()

    def statement(self, make: Callable[[Translator, Any], Any], node: ast.stmt) -> Any:
        if node is self._asked:
            return super().statement(make, node)
        noted = self._noted[self._numbers[id(node)]]
        self._places += [None] * (noted.stop - noted.start)
        return None

    def expression(self, node: ast.expr) -> cst.BaseExpression:
        inside = self._inside_string
        self._inside_string = inside or type(node) is ast.JoinedStr
        translated: cst.BaseExpression = super().expression(node)
        self._inside_string = inside
        self._note(None if inside else self._place(node))
        return translated

    def label(self, name: str, node: ast.arg | ast.keyword) -> cst.Name:
        translated: cst.Name = super().label(name, node)
        start, _ = extent(node)
        end = start[0], start[1] + len(name.encode())
        # Python normalises some letters, so that the name differs from the text.
        misplaced = not self._inside_string and self.between(start, end) == name
        self._note((start, end) if misplaced else None)
        return translated

    def _note(self, place: tuple[Place, Place] | None) -> None:
        self._places.append(None if place is None else (*self.column(place[0]), *self.column(place[1])))

    def _place(self, node: ast.expr) -> tuple[Place, Place] | None:
        """Return the position of an expression as libcst counts, if known: without parentheses."""
        if type(node) is ast.GeneratorExp:
            return None
        start, end = extent(node)
        if type(node) is not ast.Tuple or not self.in_parentheses(node):
            return start, end
        begin = start[0], start[1] + 1
        written = self.between(begin, (end[0], end[1] - 1))
        inside = written.rstrip()
        first = len(written) - len(written.lstrip())
        # A comment may begin or end here.
        if not inside or inside[first] in "#\\" or inside[-1] == "\\" or "#" in inside.rpartition("\n")[2]:
            return None
        return _behind(begin, inside[:first]), _behind(begin, inside)


def _behind(start: Place, text: str) -> Place:
    """Return the position after a text that begins at a position."""
    before, newline, last = text.rpartition("\n")
    column = len(last.encode())
    return (start[0] + before.count("\n") + 1, column) if newline else (start[0], start[1] + column)
