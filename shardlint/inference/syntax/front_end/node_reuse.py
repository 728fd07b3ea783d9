"""Reuse of nodes after an edit: unchanged statements keep their nodes, and what is cached for them.

A function with another body keeps the nodes of its header, and its identity. A changed statement keeps the
nodes of its unchanged expressions.
"""

from __future__ import annotations

import ast
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any, NamedTuple, cast

import libcst as cst

from shardlint.inference.syntax.front_end.source_text import Untranslated, parsed
from shardlint.inference.syntax.front_end.statements import Translator
from shardlint.inference.syntax.node_fields import FIELDS

_FunctionDef = ast.FunctionDef | ast.AsyncFunctionDef
_HEADER = tuple(name for name in FIELDS[cst.FunctionDef] if name != "body")


class Noted(NamedTuple):
    """A statement: its text, its node, the range of its nodes in `Translator.made`, and the number of
    statements inside it.

    For a function also the text of its header, and the end of the header in `made`.
    """

    written: str
    node: Any
    start: int
    stop: int
    inner: int
    header: str = ""
    header_stop: int = 0

    def moved(self, by: int) -> Noted:
        """Return the same statement with its range moved."""
        ends = self.header_stop + by
        return self._replace(start=self.start + by, stop=self.stop + by, header_stop=ends)


class Former:
    """The statements of a translated text, by their text; each can be taken once.

    ``noted`` are the statements, each after those inside it, and ``made`` the nodes of their expressions.
    """

    def __init__(self, noted: Sequence[Noted], made: Sequence[cst.CSTNode]) -> None:
        self.noted, self.made = noted, made
        self._numbers: defaultdict[str, deque[int]] = defaultdict(deque)
        self._taken: set[int] = set()
        for number, one in enumerate(noted):
            self._numbers[one.written].append(number)
        #: Functions, by the number of the enclosing one and their header.
        self._functions: defaultdict[tuple[int | None, str], deque[int]] = defaultdict(deque)
        around: list[int] = []
        for number, one in reversed(list(enumerate(noted))):
            while around and number < around[-1] - noted[around[-1]].inner:
                around.pop()
            if one.header:
                self._functions[around[-1] if around else None, one.header].appendleft(number)
                around.append(number)

    def take(self, written: str) -> Sequence[Noted]:
        """Return a statement with this text, after those inside it; empty if no complete one is left."""
        same = self._numbers.get(written)
        while same:
            number = same.popleft()
            numbers = range(number - self.noted[number].inner, number + 1)
            if self._taken.isdisjoint(numbers):
                self._taken.update(numbers)
                return self.noted[numbers.start : numbers.stop]
        return ()

    def lost(self, written: Set[str]) -> list[Noted]:
        """Return the innermost statements whose text is not among these."""
        return [one for one in self.noted if not one.inner and not one.header and one.written not in written]

    def take_function(self, around: int | None, header: str) -> int | None:
        """Return the number of a function with this header in the function of a number, without its body."""
        same = self._functions.get((around, header))
        while same:
            number = same.popleft()
            if number not in self._taken:
                self._taken.add(number)
                return number
        return None


class Noting(Translator):
    """Translates a text and records its statements. Those of a former text keep their nodes.

    ``again`` are the functions of a former text with other bodies now, as pairs of the old node and the new
    one.
    """

    def __init__(self, text: str, former: Former | None = None) -> None:
        super().__init__(text)
        self._begin(former)

    def beginning(self) -> Noting:
        other = cast(Noting, super().beginning())
        other._begin(None)
        return other

    def _begin(self, former: Former | None) -> None:
        self.noted: list[Noted] = []
        self.again: list[tuple[cst.FunctionDef, cst.FunctionDef]] = []
        self._former = Former((), ()) if former is None else former
        #: The number of the enclosing function in the former text: -1 if it has none, None outside functions.
        self._around: int | None = None
        #: The ends of the headers of the enclosing functions.
        self._header_stops: list[int] = []
        #: By text, the nodes of expressions whose statement no longer exists.
        self._spare: dict[str, Sequence[cst.CSTNode]] = {}

    def whole(self, body: Sequence[ast.stmt]) -> list[Any]:
        """Return the statements of the text."""
        if self._former.noted:
            written = set(map(self._statement_text, _statements_in(body)))
            for one in self._former.lost(written):
                self._spare |= _expressions(one, self._former.made)
        return self.block(body)

    def expression(self, node: ast.expr) -> Any:
        spare = self._spare.pop(self.written(node), None) if self._spare else None
        if spare is None:
            return super().expression(node)
        self.made += spare
        # None of these can be taken again, nor the statements around them.
        taken = set(map(id, spare))
        self._spare = {text: made for text, made in self._spare.items() if taken.isdisjoint(map(id, made))}
        return spare[-1]

    def field(self, node: ast.expr) -> Any:
        # Its places belong to another text.
        spare, self._spare = self._spare, {}
        part = super().field(node)
        self._spare = spare
        return part

    def statement(self, make: Callable[[Translator, Any], Any], node: ast.stmt) -> Any:
        written = self._statement_text(node)
        start, before = len(self.made), len(self.noted)
        if former := self._former.take(written):
            *_, last = former
            self.made += self._former.made[last.start : last.stop]
            self.noted += [one.moved(start - last.start) for one in former]
            return last.node
        if isinstance(node, _FunctionDef):
            return self._function(make, node, written)
        translated = super().statement(make, node)
        self.noted.append(Noted(written, translated, start, len(self.made), len(self.noted) - before))
        return translated

    def _function(
        self,
        make: Callable[[Translator, Any], Any],
        node: _FunctionDef,
        written: str,
    ) -> Any:
        start, before, around = len(self.made), len(self.noted), self._around
        header = self.between(_start(node), _start(node.body[0])).rstrip()
        number = self._former.take_function(around, header)
        self._around = -1 if number is None else number
        translated = super().statement(make, node)
        self._around = around
        if number is not None:
            self.again.append((self._former.noted[number].node, translated))
        inner, stop = len(self.noted) - before, self._header_stops.pop()
        self.noted.append(Noted(written, translated, start, len(self.made), inner, header, stop))
        return translated

    def header(self, node: _FunctionDef) -> Sequence[Any]:
        if self._around is None or self._around < 0:
            found = super().header(node)
        else:
            old = self._former.noted[self._around]
            self.made += self._former.made[old.start : old.header_stop]
            found = [getattr(old.node, name) for name in _HEADER]
        self._header_stops.append(len(self.made))
        return found

    def _statement_text(self, node: ast.stmt) -> str:
        """Return the text of a statement, including its decorators."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.between(_start(node), (node.end_lineno, node.end_col_offset))


class _Parts(Translator):
    """Translates a text and records the range of each expression's nodes in ``made``."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.places: dict[str, tuple[int, int]] = {}

    def expression(self, node: ast.expr) -> Any:
        start, made = len(self.made), super().expression(node)
        self.places[self.written(node)] = start, len(self.made)
        return made

    def field(self, node: ast.expr) -> Any:
        places, self.places = self.places, {}
        part = super().field(node)
        self.places = places
        return part


def _expressions(statement: Noted, made: Sequence[cst.CSTNode]) -> dict[str, Sequence[cst.CSTNode]]:
    """Return the nodes of a statement's expressions by their text; the last ones of equal texts."""
    again = _Parts(statement.written)
    try:
        again.block(parsed(statement.written).body)
    except (Untranslated, RecursionError):
        return {}
    nodes = made[statement.start : statement.stop]
    return {written: nodes[start:stop] for written, (start, stop) in again.places.items()}


def _statements_in(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield all statements of a body, including nested ones."""
    waiting = list(body)
    while waiting:
        one = waiting.pop()
        yield one
        waiting += [inner for inner in ast.iter_child_nodes(one) if isinstance(inner, ast.stmt)]
        parts = (*getattr(one, "handlers", ()), *getattr(one, "cases", ()))
        waiting += [inner for part in parts for inner in part.body]


def _start(node: ast.stmt) -> tuple[int, int]:
    """Return the position at which a statement begins, including its decorators."""
    decorators = getattr(node, "decorator_list", ())
    return (decorators[0].lineno, 0) if decorators else (node.lineno, node.col_offset)


def changed(
    again: Sequence[tuple[cst.FunctionDef, cst.FunctionDef]],
) -> list[tuple[cst.FunctionDef, cst.FunctionDef]]:
    """Return the functions whose own statements changed, other than inside functions among these."""
    new_of = {id(old): new for old, new in again}
    return [(old, new) for old, new in again if not _are_same(_statements(old), _statements(new), new_of)]


def _are_same(old: Sequence[Any], new: Sequence[Any], new_of: dict[int, cst.FunctionDef]) -> bool:
    return len(old) == len(new) and all(
        one is other or new_of.get(id(one)) is other for one, other in zip(old, new, strict=True)
    )


def _statements(function: cst.FunctionDef) -> list[cst.CSTNode]:
    """Return the statements of a function's body, one by one."""
    found: list[cst.CSTNode] = []
    for one in function.body.body:
        found += one.body if isinstance(one, cst.SimpleStatementLine) else [one]
    return found
