"""Offsets of nodes in the text of a tree from libcst's parser.

The tree is written out again: the result equals `libcst.metadata.PositionProvider`, at a third of the cost,
since offsets are recorded and become lines and columns only on demand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import libcst as cst
from libcst._nodes.internal import CodegenState

#: CPython 3.11 keeps the recursion of Python functions off the C stack.
RECURSION_LIMIT = 20_000


def offsets(module: cst.Module) -> tuple[dict[int, tuple[int, int]], str]:
    """Return the offsets of nodes, by their identity, and the text; nothing if it nests too deep."""
    state = _Offsets(module.default_indent, module.default_newline)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION_LIMIT))
    try:
        module._codegen(state)
    except RecursionError:
        state.found.clear()
    finally:
        sys.setrecursionlimit(before)
    return state.found, "".join(state.tokens)


class _Offsets(CodegenState):
    """Writes a tree and records the offsets of each node, by identity."""

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
        """Keep the newline: nodes end after it, as libcst counts."""

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._began.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        # An offset recorded without the surrounding whitespace has precedence.
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
