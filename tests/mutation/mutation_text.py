"""A program as edits see it: syntax trees with positions, what names stand for, and which axes there are."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from mutation_programs import Program

from shardlint.confirm.fixtures.runner import blanked


@dataclass(frozen=True, slots=True)
class Edit:
    """One small change: the characters from ``start`` to ``end`` of a cell become ``text``."""

    kind: str
    cell: int
    start: int
    end: int
    text: str
    line: int
    old: str

    def __str__(self) -> str:
        where = f"line {self.line}" if self.cell < 0 else f"cell {self.cell}, line {self.line}"
        return f"{where}: {self.kind}: `{self.old}` -> `{self.text}`"


@dataclass
class Text:
    """One cell: its tree, and the offset in characters of each line."""

    cell: int
    text: str
    tree: ast.Module
    starts: list[int] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = self.text.split("\n")
        offset = 0
        for line in self.lines:
            self.starts.append(offset)
            offset += len(line) + 1

    def offset(self, line: int, column: int) -> int:
        """Characters before a position of `ast`, which counts columns in bytes of UTF-8."""
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node begins and ends."""
        position = node  # expressions, keywords and statements have positions, other nodes are not asked
        return (
            self.offset(position.lineno, position.col_offset),  # type: ignore[attr-defined]
            self.offset(position.end_lineno, position.end_col_offset),  # type: ignore[attr-defined]
        )

    def of(self, node: ast.AST) -> str:
        """What is written for a node."""
        start, end = self.span(node)
        return self.text[start:end]


class Book:
    """All cells of a program, and what is known of its names without evaluating it."""

    def __init__(self, program: Program) -> None:
        self.texts: list[Text] = []
        for cell, text in program.cells:
            try:
                self.texts.append(Text(cell, text, ast.parse(blanked(text))))
            except (SyntaxError, ValueError):
                continue

    def nodes(self) -> Iterator[tuple[Text, ast.AST]]:
        """Every node of every cell."""
        for text in self.texts:
            for node in ast.walk(text.tree):
                yield text, node

    @cached_property
    def aliases(self) -> dict[str, str]:
        """What a name was imported as (`P` is `PartitionSpec`), or the last part of what it is assigned."""
        found: dict[str, str] = {}
        for _, node in self.nodes():
            if isinstance(node, ast.ImportFrom):
                found |= {alias.asname or alias.name: alias.name for alias in node.names}
            elif (
                isinstance(node, ast.Assign)
                and isinstance(node.targets[0], ast.Name)
                and isinstance(node.value, ast.Attribute)
            ):
                found[node.targets[0].id] = node.value.attr
        return found

    def called(self, call: ast.Call) -> str:
        """The last part of what a call calls, by the name it was imported as; of ``partial(f, …)``, ``f``."""
        function = call.func
        name = self.name(function)
        if name == "partial" and call.args:
            return self.name(call.args[0])
        return name

    def name(self, node: ast.expr) -> str:
        """The last part of a name, by the name it was imported as; ``PartitionSpec`` for `jax.P`."""
        last = ""
        if isinstance(node, ast.Attribute):
            last = node.attr
        elif isinstance(node, ast.Name):
            # A `P` that is not imported is the program's own.
            last = self.aliases.get(node.id, node.id if node.id != "P" else "")
        return "PartitionSpec" if last == "P" else last

    def calls(self, *names: str) -> Iterator[tuple[Text, ast.Call]]:
        """Calls of functions with one of these names."""
        for text, node in self.nodes():
            if isinstance(node, ast.Call) and self.called(node) in names:
                yield text, node

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """The mesh axes that are named anywhere, in the order of their first mention."""
        named: dict[str, None] = {}
        for _, call in self.calls("Mesh", "make_mesh", "AbstractMesh"):
            for node in [*call.args[1:], *(k.value for k in call.keywords)]:
                named |= dict.fromkeys(str(entry.value) for entry in strings(node))
        return tuple(named)

    def other_axis(self, *taken: object) -> str | None:
        """A mesh axis that is none of these."""
        return next((axis for axis in self.axes if axis not in taken), None)

    @cached_property
    def meshes(self) -> tuple[str, ...]:
        """The names that are assigned a mesh."""
        return tuple(
            dict.fromkeys(
                node.targets[0].id
                for _, node in self.nodes()
                if isinstance(node, ast.Assign)
                and isinstance(node.targets[0], ast.Name)
                and isinstance(node.value, ast.Call)
                and self.called(node.value) in ("Mesh", "make_mesh")
            )
        )


def strings(node: ast.AST) -> list[ast.Constant]:
    """The strings written in an expression, in order."""
    found = [
        n for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value
    ]
    return sorted(found, key=lambda n: (n.lineno, n.col_offset))


def misspelt(name: str) -> str:
    """A slip of the fingers: two letters exchanged, or one doubled."""
    for i in range(len(name) - 1):
        if name[i] != name[i + 1]:
            return name[:i] + name[i + 1] + name[i] + name[i + 2 :]
    return name + name[-1:]


def keyword(call: ast.Call, *names: str) -> ast.expr | None:
    """The value of a keyword argument."""
    return next((k.value for k in call.keywords if k.arg in names), None)


Edits = Iterator[tuple[Text, ast.AST | tuple[int, int], str]]
Kind = Callable[[Book], Edits]
KINDS: dict[str, Kind] = {}


def kind(name: str) -> Callable[[Kind], Kind]:
    """Enter a function under its kind of edit: it yields text, node or span, and what to put in its place."""

    def enter(function: Kind) -> Kind:
        KINDS[name] = function
        return function

    return enter


def edits_of(program: Program) -> list[Edit]:
    """Every edit of every kind, each text but once, in the order of kinds and places."""
    book = Book(program)
    found: dict[tuple[int, int, int, str], Edit] = {}
    for name, function in KINDS.items():
        for text, place, new in function(book):
            start, end = place if isinstance(place, tuple) else text.span(place)
            old = text.text[start:end]
            if old != new:
                line = text.text.count("\n", 0, start) + 1
                edit = Edit(name, text.cell, start, end, new, line, old)
                found.setdefault((text.cell, start, end, new), edit)
    return list(found.values())


def without(text: Text, items: list[ast.expr], index: int) -> tuple[int, int]:
    """The span of one of several items with the comma that goes with it."""
    start, end = text.span(items[index])
    if index + 1 < len(items):
        return start, text.span(items[index + 1])[0]
    return (text.span(items[index - 1])[1], end) if index else (start, end)


def arguments(text: Text, call: ast.Call) -> list[ast.expr | ast.keyword]:
    """All arguments of a call, in order."""
    return sorted([*call.args, *call.keywords], key=lambda node: text.span(node))


def without_argument(text: Text, call: ast.Call, argument: ast.AST) -> tuple[int, int]:
    """The span of an argument with the comma that goes with it."""
    return without(text, arguments(text, call), [a is argument for a in arguments(text, call)].index(True))  # type: ignore[arg-type]


def tuple_text(parts: list[str]) -> str:
    """A tuple of these."""
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
