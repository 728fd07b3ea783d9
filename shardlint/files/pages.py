"""The syntax tree of a cell beside its text, for what rewrites it: where a node stands, and as what."""

from __future__ import annotations

import ast
from functools import lru_cache

from shardlint.files.lexing import split_lines
from shardlint.records import dataclass
from shardlint.spans import Span


@dataclass(frozen=True, slots=True)
class Page:
    """A cell of a file: its tree by `ast`, and its lines."""

    path: str
    cell: int | None
    tree: ast.Module
    lines: list[str]

    def span_of(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword) -> Span:
        """Where a node stands."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = (node.lineno, self._column(node.lineno, node.col_offset))
        end = (node.end_lineno, self._column(node.end_lineno, node.end_col_offset))
        return Span(self.path, *start, *end, self.cell)

    def text_of(self, span: Span) -> str:
        """What is written at a span, with ``\\n`` for the ends of lines."""
        first, *rest = self.lines[span.line - 1 : span.end_line]
        if not rest:
            return first[span.column - 1 : span.end_column - 1]
        return "\n".join((first[span.column - 1 :], *rest[:-1], rest[-1][: span.end_column - 1]))

    def written(self, node: ast.expr) -> str:
        """A node as the program writes it."""
        return self.text_of(self.span_of(node))

    def _column(self, line: int, offset: int) -> int:
        """Columns of `ast` count the bytes of UTF-8."""
        return len(self.lines[line - 1].encode()[:offset].decode()) + 1


@lru_cache(maxsize=4)
def parsed(text: str) -> tuple[ast.Module, list[str]]:
    """The tree and the lines of a text. Raises SyntaxError, ValueError and RecursionError."""
    return ast.parse(text), split_lines(text)


@lru_cache(maxsize=4)
def expressions(tree: ast.Module) -> dict[int, list[ast.expr]]:
    """The expressions of a tree by each line that they are on, the outer ones first."""
    found: dict[int, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found.setdefault(line, []).append(node)
    return found


@lru_cache(maxsize=4)
def parents(tree: ast.Module) -> dict[ast.AST, ast.AST]:
    """What each node of a tree is directly in."""
    return {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
