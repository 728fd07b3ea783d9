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


class _Kept(NamedTuple):
    """A statement: its node, those of its expressions, as `Translator.made` has them, and its number.

    Those in it have the numbers from ``first`` to its own.
    """

    node: Any
    made: Sequence[cst.CSTNode]
    first: int
    number: int


class Former:
    """The statements of a translated text, by how they are written; each can be taken once."""

    def __init__(self, text: str, body: Sequence[cst.CSTNode], expressions: Sequence[cst.CSTNode]) -> None:
        self._statements: defaultdict[str, deque[_Kept]] = defaultdict(deque)
        self._taken: set[int] = set()
        if not expressions:
            return
        try:
            again = _Noting(text)
            statements = again.block(parsed(text).body)
        except (Untranslated, RecursionError):
            return
        # Both are translations of one text: the same nodes in the same order.
        pairs = zip(statements, body, strict=True)
        first = {id(other): node for two in pairs for other, node in zip(*map(walk, two), strict=True)}
        for number, (written, node, start, stop, inner) in enumerate(again.noted):
            kept = _Kept(first[id(node)], expressions[start:stop], number - inner, number)
            self._statements[written].append(kept)

    def take(self, written: str) -> _Kept | None:
        """A statement that is written so, if one is left with all that is in it."""
        same = self._statements.get(written)
        while same:
            kept = same.popleft()
            numbers = range(kept.first, kept.number + 1)
            if self._taken.isdisjoint(numbers):
                self._taken.update(numbers)
                return kept
        return None


class _Noting(Translator):
    """Notes what is made of each statement, when it is made.

    That is its text, its node, between which places of `made`, and how many statements are in it.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.noted: list[tuple[str, Any, int, int, int]] = []

    def statement(self, make: Callable[[Translator, Any], Any], node: ast.stmt) -> Any:
        start, before = len(self.made), len(self.noted)
        made = super().statement(make, node)
        inner = len(self.noted) - before
        self.noted.append((_written(self, node), made, start, len(self.made), inner))
        return made


class Renewing(Translator):
    """Translates a text, and takes the nodes of statements that it shares with a former one."""

    def __init__(self, text: str, former: Former) -> None:
        super().__init__(text)
        self._former = former

    def statement(self, make: Callable[[Translator, Any], Any], node: ast.stmt) -> Any:
        kept = self._former.take(_written(self, node))
        if kept is None:
            return super().statement(make, node)
        self.made.extend(kept.made)
        return kept.node


def _written(translator: Translator, node: ast.stmt) -> str:
    """A statement's text, with its decorators."""
    decorators = getattr(node, "decorator_list", ())
    start = (decorators[0].lineno, 0) if decorators else (node.lineno, node.col_offset)
    end_line, end_column = node.end_lineno, node.end_col_offset
    assert end_line is not None
    assert end_column is not None
    return translator.between(start, (end_line, end_column))
