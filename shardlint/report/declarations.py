"""Declarations of parameters: the class, and the attribute to which a parameter is assigned."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from shardlint.model.spans import Span
from shardlint.source import Source
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Declaration:
    """The innermost class around a place, and the target of the assignment there; both may be empty."""

    module: str = ""
    attribute: str = ""


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of a cell: a class's body, or an assignment."""

    cell: int | None
    first: tuple[int, int]
    last: tuple[int, int]
    module: str = ""
    attribute: str = ""


class Declarations:
    """The declarations of one source, by place; parsed once, on demand."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._parts: list[_Part] | None = None

    def at(self, span: Span) -> Declaration:
        """Return the declaration of the parameter whose call is at a span."""
        if self._parts is None:
            self._parts = [part for cell in self._source.cells for part in _parts(cell.text, cell.index)]
        place = (span.line, span.column)
        around = [part for part in self._parts if part.cell == span.cell and part.first <= place < part.last]
        modules = [part.module for part in around if part.module]
        attributes = [part.attribute for part in around if part.attribute]
        return Declaration(modules[-1] if modules else "", attributes[-1] if attributes else "")


def _parts(text: str, cell: int | None) -> Iterator[_Part]:
    """Yield the classes and assignments of a text, outer ones first; none if it is not valid Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield _Part(cell, *_ends(node), module=node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Attribute):
                yield _Part(cell, *_ends(node), attribute=target.attr)


def _ends(node: ast.stmt) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the first and last place, 1-based; columns of `ast` count bytes, which is close enough
    within a line.
    """
    last = (node.end_lineno or node.lineno, (node.end_col_offset or 0) + 1)
    return (node.lineno, node.col_offset + 1), last
