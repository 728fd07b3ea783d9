"""The tree of a cell as libcst reads it, and the edits that write other nodes in it.

Only what differs between the texts of two nodes becomes an edit: every other byte stays as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState

from shardlint.inference.syntax.node_fields import parts, walk
from shardlint.inference.syntax.node_offsets import offsets
from shardlint.model.findings import Edit
from shardlint.model.spans import Span
from shardlint.source.lexing import NEWLINE, split_lines
from shardlint.source.sources import Source

#: Makes a node of one whose parts were changed already.
Change = Callable[[Any], cst.CSTNode]
_TOKEN = re.compile(r""" "[^"\n]*" | '[^'\n]*' | \w+ | [^\S\n\r]+ | \r\n | . """, re.DOTALL | re.VERBOSE)
#: As many tokens are compared one by one.
_MOST_TOKENS = 2_000


class CannotFix(Exception):
    """The text has a form that is not rewritten."""


class Tree:
    """The tree of a cell. Raises CannotFix for a text that libcst does not parse."""

    def __init__(self, path: str, cell: int | None, text: str) -> None:
        self.path, self.cell = path, cell
        try:
            self.module = cst.parse_module(text)
        except cst.ParserSyntaxError:
            raise CannotFix from None
        self._found, self._code = offsets(self.module)
        self._starts = [0, *(newline.end() for newline in NEWLINE.finditer(self._code))]
        # libcst leaves out form feeds before a statement, and the blanks around them.
        lines = [*zip(split_lines(text), split_lines(self._code), strict=False)]
        if not self._found or not all(written.endswith(kept) for written, kept in lines):
            raise CannotFix
        self._left_out = [len(written) - len(kept) for written, kept in lines]

    def __contains__(self, node: cst.CSTNode) -> bool:
        return id(node) in self._found

    def at(self, span: Span) -> list[cst.CSTNode]:
        """Return the nodes whose text is exactly at a span, outer ones first."""
        lines = len(self._left_out)
        if not (span.line <= lines and span.end_line <= lines):
            raise CannotFix
        start = self._starts[span.line - 1] + span.column - 1 - self._left_out[span.line - 1]
        stop = self._starts[span.end_line - 1] + span.end_column - 1 - self._left_out[span.end_line - 1]
        return self._by_place.get((start, stop), [])

    def expression(self, span: Span) -> cst.BaseExpression:
        """Return the expression at a span, parentheses left out. Raises CannotFix."""
        for node in self.at(span):
            if isinstance(node, cst.BaseExpression):
                return node
        raise CannotFix

    @cached_property
    def _by_place(self) -> dict[tuple[int, int], list[cst.CSTNode]]:
        found: dict[tuple[int, int], list[cst.CSTNode]] = {}
        for node in self.nodes:
            found.setdefault(self._found[id(node)], []).append(node)
        return found

    @cached_property
    def nodes(self) -> list[cst.CSTNode]:
        """Return all nodes that have a position; each comes after the nodes around it."""
        return [node for node in walk(self.module) if node in self]

    @cached_property
    def _parents(self) -> dict[int, cst.CSTNode]:
        return {id(part): node for node in walk(self.module) for part in parts(node)}

    def parents(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield a node's parent, then the parent's parent, and so on."""
        while (parent := self._parents.get(id(node))) is not None:
            yield parent
            node = parent

    def start(self, node: cst.CSTNode) -> int:
        """Return the offset of a node, for comparisons within its tree."""
        return self._found[id(node)][0]

    def written(self, node: cst.CSTNode) -> str:
        """Return a node as the program writes it, without parentheses and blanks around it."""
        start, stop = self._found[id(node)]
        return self._code[start:stop]

    def from_to(self, first: cst.CSTNode, last: cst.CSTNode) -> str:
        """Return the source from the beginning of one node to the end of another."""
        return self._code[self._found[id(first)][0] : self._found[id(last)][1]]

    def code(self, node: cst.CSTNode, where: cst.CSTNode) -> str:
        """Return the code of a node for the place of another one, indented like that."""
        state = CodegenState(self.module.default_indent, self.module.default_newline)
        blocks = [block for block in self.parents(where) if isinstance(block, cst.IndentedBlock)]
        for block in reversed(blocks):
            state.increase_indent(self.module.default_indent if block.indent is None else block.indent)
        node._codegen(state)
        return "".join(state.tokens)

    def edits(self, changes: Mapping[cst.CSTNode, Change]) -> tuple[Edit, ...]:
        """Return the edits that replace each of these nodes by what its change makes of it.

        Raises CannotFix if the text stays the same.
        """
        found: list[Edit] = []
        for node in changes:
            if any(parent in changes for parent in self.parents(node)):
                continue  # written with that
            old = self.code(node, node)
            start = self.start(node)
            if isinstance(node, cst.BaseExpression):
                start -= sum(len(self.code(opened, node)) for opened in node.lpar)
            try:
                made = node.visit(_Changing(changes))
            except cst.CSTValidationError:
                raise CannotFix from None  # without a blank that is needed
            stop = start + len(old)
            if self._code[start:stop] != old or not isinstance(made, cst.CSTNode):
                raise CannotFix
            new = self.code(made, node)
            if _runs_on(self._code[:start][-1:], new[:1]) or _runs_on(new[-1:], self._code[stop : stop + 1]):
                raise CannotFix
            for first, last, text in _differences(old, new):
                found.append(Edit(self._span(start + first, start + last), text))
        if not found:
            raise CannotFix
        return tuple(found)

    def line_behind(self, line: cst.SimpleStatementLine, statement: cst.BaseSmallStatement) -> Edit:
        """Return the edit that inserts a statement on a new line below another line."""
        number = bisect_right(self._starts, self.start(line.body[0]))
        begin = self._starts[number - 1]
        indent = self._code[begin : self.start(line.body[0])]
        whole = self.code(line.with_changes(leading_lines=()), line).rstrip("\r\n")
        end = begin + len(whole)
        if self._left_out[number - 1] or indent.strip(" \t") or self._code[begin:end] != whole:
            raise CannotFix
        return Edit(self._span(end, end), f"\n{indent}{self.code(statement, line)}")

    def _span(self, start: int, stop: int) -> Span:
        places = []
        for offset in (start, stop):
            line = bisect_right(self._starts, offset)
            places.append((line, offset - self._starts[line - 1] + 1 + self._left_out[line - 1]))
        return Span(self.path, *places[0], *places[1], self.cell)


def _runs_on(before: str, behind: str) -> bool:
    """Return whether two adjacent characters would join into one word, as after ``else``."""
    return all(one.isalnum() or one == "_" for one in (before, behind))


class _Changing(cst.CSTTransformer):
    """Applies changes to nodes, inner ones first."""

    def __init__(self, changes: Mapping[cst.CSTNode, Change]) -> None:
        super().__init__()
        self._changes = changes

    def on_visit(self, node: cst.CSTNode) -> bool:
        return True

    def on_leave(self, original_node: cst.CSTNode, updated_node: Any) -> Any:
        change = self._changes.get(original_node)
        return updated_node if change is None else change(updated_node)


def _differences(old: str, new: str) -> Iterator[tuple[int, int, str]]:
    """Yield the replacements that turn one text into another: start and end offset, and the new text."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    most = min(len(before), len(after))
    head = next((i for i in range(most) if before[i] != after[i]), most)
    tail = next((i for i in range(most - head) if before[-1 - i] != after[-1 - i]), most - head)
    middle, other = before[head : len(before) - tail], after[head : len(after) - tail]
    start = len("".join(before[:head]))
    if len(middle) + len(other) > _MOST_TOKENS:
        yield start, start + len("".join(middle)), "".join(other)
        return
    begins = [start]
    for token in middle:
        begins.append(begins[-1] + len(token))
    for what, a, b, c, d in SequenceMatcher(None, middle, other, autojunk=False).get_opcodes():
        if what != "equal":
            yield begins[a], begins[b], "".join(other[c:d])


class Program:
    """The trees of a source's cells, each parsed when first asked for."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._trees: dict[int | None, Tree] = {}

    def tree(self, cell: int | None) -> Tree:
        """Return the tree of a cell. Raises CannotFix."""
        if cell not in self._trees:
            text = next((one.text for one in self.source.cells if one.index == cell), None)
            if text is None:
                raise CannotFix
            self._trees[cell] = Tree(self.source.path, cell, text)
        return self._trees[cell]

    def trees(self) -> list[Tree]:
        """Return the trees of all cells, in order. Raises CannotFix."""
        return [self.tree(cell.index) for cell in self.source.cells]


@lru_cache(maxsize=1)
def program_of(source: Source) -> Program:
    """Return the trees of a source; those of the last source are cached."""
    return Program(source)
