"""Statements that a text keeps when it is edited: their nodes stay, and so does all that is known by them."""

from __future__ import annotations

import ast
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import libcst as cst

from shardlint.inference.nodes import walk
from shardlint.inference.translating.statements import Translator
from shardlint.inference.translating.written import Untranslated, parsed


class Noted(NamedTuple):
    """A statement: its text, its node, between which places of `Translator.made` the nodes in it are, and how
    many statements are in it.
    """

    written: str
    node: Any
    start: int
    stop: int
    inner: int


class Former:
    """The statements of a translated text, by how they are written; each can be taken once.

    ``noted`` are they, each behind those in it, and ``made`` the nodes of their expressions.
    """

    def __init__(self, noted: Sequence[Noted], made: Sequence[cst.CSTNode]) -> None:
        self.noted, self.made = noted, made
        self._numbers: defaultdict[str, deque[int]] = defaultdict(deque)
        self._taken: set[int] = set()
        for number, one in enumerate(noted):
            self._numbers[one.written].append(number)

    @staticmethod
    def of(text: str, body: Sequence[cst.CSTNode], made: Sequence[cst.CSTNode]) -> Former:
        """The statements of a text that was translated without noting them; none if it was not translated."""
        if not made:
            return Former((), ())
        again = Noting(text)
        try:
            statements = again.block(parsed(text).body)
        except (Untranslated, RecursionError):
            return Former((), ())
        # Both are translations of one text: the same nodes in the same order.
        pairs = zip(statements, body, strict=True)
        nodes = {id(other): node for two in pairs for other, node in zip(*map(walk, two), strict=True)}
        return Former([one._replace(node=nodes[id(one.node)]) for one in again.noted], made)

    def take(self, written: str) -> Sequence[Noted]:
        """A statement that is written so, behind those in it; nothing if none is left as a whole."""
        same = self._numbers.get(written)
        while same:
            number = same.popleft()
            numbers = range(number - self.noted[number].inner, number + 1)
            if self._taken.isdisjoint(numbers):
                self._taken.update(numbers)
                return self.noted[numbers.start : numbers.stop]
        return ()


class Noting(Translator):
    """Translates a text, and notes its statements. Those that a former one had keep their nodes."""

    def __init__(self, text: str, former: Former | None = None) -> None:
        super().__init__(text)
        self.noted: list[Noted] = []
        self._former = former

    def statement(self, make: Callable[[Translator, Any], Any], node: ast.stmt) -> Any:
        written = self._statement_text(node)
        start, before = len(self.made), len(self.noted)
        if self._former is not None and (kept := self._former.take(written)):
            *_, last = kept
            self.made += self._former.made[last.start : last.stop]
            moved = start - last.start
            self.noted += [one._replace(start=one.start + moved, stop=one.stop + moved) for one in kept]
            return last.node
        made = super().statement(make, node)
        self.noted.append(Noted(written, made, start, len(self.made), len(self.noted) - before))
        return made

    def _statement_text(self, node: ast.stmt) -> str:
        """What a statement is written as, with its decorators."""
        decorators = getattr(node, "decorator_list", ())
        start = (decorators[0].lineno, 0) if decorators else (node.lineno, node.col_offset)
        end_line, end_column = node.end_lineno, node.end_col_offset
        assert end_line is not None
        assert end_column is not None
        return self.between(start, (end_line, end_column))
