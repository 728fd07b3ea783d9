"""Outlines of modules: what importing one runs, and what it only defines, without positions and comments.

Two texts of a module are compared by their outlines. Most of a module only defines: the body of a function
matters to those who call or read it, and a plain function, or a number, to those who know its name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from shardlint.inference.syntax.file_parts import ClassPart, FunctionPart, Part, Statements, split
from shardlint.inference.syntax.front_end.source_text import has_odd_lines
from shardlint.inference.syntax.text_cache import latest
from shardlint.inference.syntax.units import Unit
from shardlint.source.lexing import STRING_OR_COMMENT
from shardlint.support.lazy_dataclass import dataclass

#: The prefix of a string in which there may be expressions, at the end of the text before it.
_FORMATTED = re.compile(r"[fFtT][rR]?\Z")
#: The beginning of a line that may bind a name to a number.
_CONSTANT = re.compile(r"^[^\W\d]\w*[ \t]*=(?!=)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Item:
    """A stretch of a module: its code, as it is read, and the lines where that stands.

    ``name`` is what a definition binds, or the kind of what importing the module runs; "" for bodies.
    ``first`` is the first line, and ``behind`` the number of lines before it that importing the module runs.
    """

    code: str
    lines: tuple[int, ...]
    name: str = ""
    is_function: bool = True
    first: int = 0
    behind: int = 0


@dataclass(frozen=True, slots=True)
class Outline:
    """The code that importing a module runs, its definitions, and the bodies of other functions."""

    run: tuple[Item, ...]
    definitions: tuple[Item, ...]
    bodies: tuple[Item, ...]


@latest(cells=300, texts=3)
def outline_of(path: str, cell: int | None, text: str) -> Outline | None:
    """Return the outline of a module's text; None for one of which every letter may matter."""
    if "shardlint" in text or has_odd_lines(text):
        # Comments are facts, or it cannot be told which lines they are on.
        return None
    parsed = split(path, cell, text)
    if parsed.errors or not parsed.complete:
        return None
    outliner = _Outliner()
    try:
        outliner.parts(parsed.parts)
    except _Unclear:
        return None
    return Outline(tuple(outliner.run), tuple(outliner.definitions), tuple(outliner.bodies))


class _Unclear(Exception):
    """A text whose strings and comments cannot be told apart without parsing it."""


class _Outliner:
    """Collects the items of a module."""

    def __init__(self) -> None:
        self.run: list[Item] = []
        self.definitions: list[Item] = []
        self.bodies: list[Item] = []
        self._behind = 0

    def parts(self, parts: Sequence[Part], inside: bool = False) -> None:
        """Add the parts of a module, or of a class inside it."""
        for part in parts:
            if isinstance(part, ClassPart):
                self._runs("class", *_code_of(part.header))
                self.parts(part.body, inside=True)
                self._runs("end", "", [])
            elif isinstance(part, Statements):
                self._statements(part.unit, inside)
            else:
                self._function(part, inside)

    def _runs(self, kind: str, code: str, lines: Sequence[int]) -> None:
        self.run.append(Item(code, tuple(lines), kind))
        self._behind += len(lines)

    def _function(self, part: FunctionPart, inside: bool) -> None:
        code, lines = _code_of(part.whole)
        if part.plain and not inside and not _is_special(part.name):
            line = part.whole.first_line
            self.definitions.append(
                Item(code, tuple(lines), part.name, first=line, behind=self._behind),
            )
            return
        if part.plain:
            self._runs("plain function", part.name, [])
        else:
            self._runs("function", *_code_of(part.header))
        self.bodies.append(Item(code, tuple(lines), first=part.whole.first_line))

    def _statements(self, unit: Unit, inside: bool) -> None:
        code, lines = _code_of(unit)
        constants = [] if inside or unit.moved else list(_constants(unit))
        written = code.split("\n")
        left: list[int] = []
        for number, line in enumerate(lines):
            constant = next((one for one in constants if line in one[1]), None)
            if constant is None:
                left.append(number)
            elif line == constant[1][0]:
                text = "\n".join(written[number : number + len(constant[1])])
                behind = self._behind + len(left)
                self.definitions.append(
                    Item(text, tuple(constant[1]), constant[0], False, line, behind),
                )
        if left:
            run = "\n".join(written[number] for number in left)
            self._runs("statements", run, [lines[number] for number in left])


def _is_special(name: str) -> bool:
    """Return whether Python, or a tool, may read a module's variable unasked."""
    return name.startswith("__")


def _constants(unit: Unit) -> Iterator[tuple[str, range]]:
    """Yield the names that statements bind to a number and nothing else, each with its lines."""
    text = unit.glance
    if _CONSTANT.search(text) is None:
        return
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        # A newer Python may read it.
        return
    for index, node in enumerate(body):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_number(value):
                alone = (index == 0 or (body[index - 1].end_lineno or 0) < node.lineno) and (
                    index + 1 == len(body) or body[index + 1].lineno > (node.end_lineno or 0)
                )
                if alone and node.lineno == node.end_lineno and not _is_special(name):
                    line = node.lineno + unit.first_line - 1
                    yield name, range(line, line + 1)


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and (
        node.value is None or isinstance(node.value, bool | int | float)
    )


def _code_of(unit: Unit) -> tuple[str, list[int]]:
    """Return the lines of a unit that hold code, without comments, and their numbers in the file."""
    code, lines = _code(unit.glance)
    # A misspelt name stands elsewhere than where it is read.
    marks = f"{unit.moved!r}" if unit.moved else ""
    return code + marks, [unit.first_line + line for line in lines]


def _code(text: str) -> tuple[str, list[int]]:
    """Return the lines of a text that hold code, without comments, and their numbers from 0.

    Raises _Unclear.
    """
    text = text.replace("\r\n", "\n")
    pieces: list[str] = []
    #: The lines of which the beginning is inside of a string.
    held: set[int] = set()
    last = line = 0
    for match in STRING_OR_COMMENT.finditer(text):
        before = text[last : match.start()]
        pieces.append(before)
        line += before.count("\n")
        last = match.end()
        if match["comment"] is not None:
            continue
        string = match[0]
        if _FORMATTED.search(before) and _is_open(string):
            raise _Unclear
        end = line + string.count("\n")
        held.update(range(line + 1, end + 1))
        pieces.append(string)
        line = end
    pieces.append(text[last:])
    found: list[str] = []
    numbers: list[int] = []
    goes_on = False
    for number, content in enumerate("".join(pieces).split("\n")):
        code = content if number + 1 in held else content.rstrip(" \t")
        if code or number in held or goes_on:
            found.append(code)
            numbers.append(number)
        goes_on = code.endswith("\\")
    return "\n".join(found), numbers


def _is_open(string: str) -> bool:
    """Return whether a formatted string may end later than it seems: inside of an expression in it."""
    plain = string.replace("{{", "").replace("}}", "")
    return plain.count("{") != plain.count("}")
