"""Where the nodes of a libcst tree stand.

The same as `libcst.metadata.PositionProvider` tells, at a third of its cost: offsets are noted while the tree
is written out again, and become lines and columns only where somebody asks.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager

import libcst as cst
from libcst._nodes.internal import CodegenState

#: CPython 3.11 keeps the recursion of Python functions off the C stack.
RECURSION_LIMIT = 20_000
_NEWLINE = re.compile(r"\r\n?|\n")
#: First line, first column, last line and the column behind: lines from 1, columns from 0.
Range = tuple[int, int, int, int]


class Positions:
    """Where the nodes of a tree stand; nowhere in text that nests too deep for libcst to walk."""

    def __init__(self, module: cst.Module) -> None:
        state = _Offsets(module.default_indent, module.default_newline)
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, RECURSION_LIMIT))
        try:
            module._codegen(state)
        except RecursionError:
            state.found.clear()
        finally:
            sys.setrecursionlimit(before)
        self._found = state.found
        newlines = _NEWLINE.finditer("".join(state.tokens))
        self._lines = [0, *(newline.end() for newline in newlines)]

    def of(self, node: cst.CSTNode) -> Range | None:
        """Where a node of the tree stands, without the whitespace around it."""
        found = self._found.get(id(node))
        return None if found is None else (*self._at(found[0]), *self._at(found[1]))

    def _at(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1]


class _Offsets(CodegenState):
    """Writes a tree, and notes between which offsets each node comes to stand, by its identity."""

    __slots__ = ("_began", "found", "offset")

    def __init__(self, indent: str, newline: str) -> None:
        super().__init__(indent, newline)
        self.offset = 0
        self.found: dict[int, tuple[int, int]] = {}
        self._began: list[int] = []

    def add_indent_tokens(self) -> None:
        self.tokens.extend(self.indent_tokens)
        self.offset += sum(map(len, self.indent_tokens))

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        self.offset += len(value)

    def pop_trailing_newline(self) -> None:
        """Keep it: nodes end behind it, as libcst counts."""

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._began.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        # What was recorded without the whitespace around it stays.
        self.found.setdefault(id(node), (self._began.pop(), self.offset))

    @contextmanager
    def record_syntactic_position(
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> Iterator[None]:
        start = self.offset
        yield
        self.found[id(node)] = (
            start if start_node is None else self.found[id(start_node)][0],
            self.offset if end_node is None else self.found[id(end_node)][1],
        )
