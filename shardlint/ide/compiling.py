"""The results of compiling a program, at the lines of the text in an editor.

Running it executes the user's own code: only on request, and where the workspace is trusted. `Compiled` keeps
the text that was compiled; where the text has changed since, its lines are looked up in the present one.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.config import Settings
    from shardlint.confirm.child_process import Child
    from shardlint.cost.values import Collective, Compilation, Place, Program
    from shardlint.source import Source

#: Seconds that a program may take.
_SECONDS = 600
_JITS = ("jit", "pjit", "filter_jit")


@dataclass(frozen=True, slots=True)
class Sent:
    """A collective in words. ``layouts`` are those before and after it, "" where they are not known."""

    kind: str
    axes: str
    size: str
    operation: str
    layouts: str


@dataclass(frozen=True, slots=True)
class CompiledLine:
    """A line (from 1) for which collectives run, the largest first; ``more`` is how many others there are."""

    cell: int | None
    line: int
    sent: tuple[Sent, ...]

    @property
    def text(self) -> str:
        """Return the largest collective in short: ``⇄ all-gather model · 512 MiB``."""
        first, more = self.sent[0], len(self.sent) - 1
        return f"⇄ {first.kind} {first.axes} · {first.size}" + (f", and {more} more" if more else "")


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """A program in a word: the part of the fixture that compiled it, and the line of its function."""

    case: str
    cell: int | None
    line: int | None
    said: str


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program's lines and functions, as they were compiled from its ``texts`` (by cell).

    ``problem`` says what did not run, if anything; ``page`` is the report as HTML.
    """

    said: str
    lines: tuple[CompiledLine, ...]
    functions: tuple[CompiledFunction, ...]
    texts: Mapping[int | None, str]
    problem: str | None
    page: str

    def is_stale(self, texts: Mapping[int | None, str]) -> bool:
        """Return whether the text has changed since."""
        return dict(texts) != dict(self.texts)

    def lines_in(self, texts: Mapping[int | None, str]) -> list[CompiledLine]:
        """Return the lines where they stand in a present text; those that were edited are left out."""
        moved = {cell: _moved(self.texts[cell], text) for cell, text in texts.items() if cell in self.texts}
        found = ((one, moved.get(one.cell, {}).get(one.line)) for one in self.lines)
        return [replace(one, line=line) for one, line in found if line is not None]

    def said_of(self, name: str, cell: int | None, line: int) -> str | None:
        """Return what was said of a case, or of the function that is defined on a line."""
        ours = [
            one.said
            for one in self.functions
            if one.case == name or (one.line is not None and (one.cell, one.line) == (cell, line))
        ]
        return "; ".join(dict.fromkeys(ours)) or None


def compile_program(
    source: Source, settings: Settings, python: str | None, started: Callable[[Child], None]
) -> Compiled:
    """Run a program, the user's own code, and return what it compiles to, on fake devices.

    ``started`` receives the process, which another thread may close.
    """
    from shardlint.cost.runs import CannotCompile, require_jax
    from shardlint.engine.fixture_cost import compile_fixture
    from shardlint.output.cost import html, words

    texts = {cell.index: cell.written for cell in source.cells}
    try:
        require_jax(python)
    except CannotCompile as reason:
        return Compiled(str(reason), (), (), texts, str(reason), "")
    compilation, _ = compile_fixture(source.path, settings, python, None, _SECONDS, started)
    lines = {cell: text.splitlines() for cell, text in texts.items()}

    def line_text(place: Place) -> str:
        ours = lines.get(place.cell, []) if place.path == source.path else []
        return ours[place.line - 1] if 0 < place.line <= len(ours) else ""

    return Compiled(
        words.sent_text(compilation),
        tuple(_lines(compilation)),
        tuple(_function(program, compilation.path) for program in compilation.programs),
        texts,
        "; ".join(compilation.failures) or None,
        html.render([compilation], line_text),
    )


def _lines(compilation: Compilation) -> Iterator[CompiledLine]:
    from shardlint.output.cost import words

    found: dict[tuple[int | None, int], dict[Sent, int]] = {}
    for program in compilation.programs:
        for place, ours in words.by_line(program):
            if place is not None and place.path == compilation.path:
                sent = found.setdefault((place.cell, place.line), {})
                sent.update({_sent(one, equal): one.total * equal for one, equal in ours})
    for (cell, line), told in found.items():
        yield CompiledLine(cell, line, tuple(sorted(told, key=lambda one: -told[one])))


def _sent(one: Collective, equal: int) -> Sent:
    from shardlint.output.cost import words
    from shardlint.support.sizes import size_text

    size = f"{size_text(one.bytes)} {words.times_text(one, equal)}".rstrip()
    return Sent(one.kind.value, words.axes_text(one), size, words.op_text(one.op), words.layouts_text(one))


def _function(program: Program, path: str) -> CompiledFunction:
    from shardlint.support.sizes import size_text

    sent, count = sum(one.total for one in program.collectives), len(program.collectives)
    said = f"{program.name}: {count} collective{'s' * (count != 1)}"
    said += f", {size_text(sent)} sent by each device" if sent else ""
    said += f", {size_text(program.memory.peak)} on each" if program.memory is not None else ""
    place = program.place if program.place is not None and program.place.path == path else None
    cell, line = (None, None) if place is None else (place.cell, place.line)
    return CompiledFunction(program.case, cell, line, said)


def _moved(before: str, after: str) -> dict[int, int]:
    """Return the line of a text, from 1, to which each unchanged line of another one has moved."""
    lines = before.splitlines(), after.splitlines()
    blocks = difflib.SequenceMatcher(None, *lines, autojunk=False).get_matching_blocks()
    return {b.a + i + 1: b.b + i + 1 for b in blocks for i in range(b.size)}


def compiled_functions(text: str) -> list[tuple[str, int]]:
    """Return the names and lines of a text's jitted functions, and of its cases.

    A function counts as jitted if a decorator of it is a `jit` of some library, or if one is called on its
    name.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    jitted = {
        argument.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _is_jit(node.func)
        for argument in node.args[:1]
        if isinstance(argument, ast.Name)
    }
    return [
        (node.name, node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if node.name in jitted or _is_case(node, tree.body) or any(map(_names_jit, node.decorator_list))
    ]


def _is_case(node: ast.FunctionDef | ast.AsyncFunctionDef, body: Sequence[ast.stmt]) -> bool:
    arguments = node.args
    every = (
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    )
    return node.name.startswith("case_") and node in body and not any(every)


def _names_jit(decorator: ast.expr) -> bool:
    """Return whether a decorator is a jit, one with options, or a `partial` of one."""
    if not isinstance(decorator, ast.Call):
        return _is_jit(decorator)
    return _is_jit(decorator.func) or any(map(_is_jit, decorator.args[:1]))


def _is_jit(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
    return name in _JITS
