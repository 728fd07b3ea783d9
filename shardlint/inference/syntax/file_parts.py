"""Parts of files: `ast` splits them, and only the parts that are evaluated become libcst nodes.

`ast` parses at a ninth of libcst's cost, and gives the lines of every top-level statement, function and
method. Each becomes a `Unit`.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace

from shardlint.inference.syntax.error_recovery import mended
from shardlint.inference.syntax.front_end.file_tree import Origin
from shardlint.inference.syntax.front_end.source_text import has_odd_lines
from shardlint.inference.syntax.text_cache import latest
from shardlint.inference.syntax.typos import Names
from shardlint.inference.syntax.units import BrokenText, Unit
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Statements:
    """Consecutive statements that are evaluated whole."""

    unit: Unit


@dataclass(frozen=True, slots=True)
class FunctionPart:
    """A function. ``header`` is its decorators and signature with an empty body; ``whole`` all of it.

    ``plain`` functions, as most are, have no decorators, and no default values other than None, True and
    False: these are ``defaults``, by parameter. Defining such a function evaluates nothing.
    """

    name: str
    header: Unit
    whole: Unit
    plain: bool
    defaults: tuple[tuple[str, bool | None], ...] = ()


@dataclass(frozen=True, slots=True)
class ClassPart:
    """A class: its header with an empty body, and the parts of its body."""

    name: str
    header: Unit
    body: tuple[Part, ...]


Part = Statements | FunctionPart | ClassPart

_BINDS = re.compile(r"\b(\w+)\s*(?:=(?!=)|:=|,)|\b(?:def|class|as|import|for|global)\s+(\w+)")


@dataclass(frozen=True, slots=True)
class Parsed:
    """The parts of a file or cell, and its errors.

    If it is ``complete``, the parts cover all of it; then all errors are in bodies of functions, which raise
    BrokenText when they are parsed. ``rebound`` are names that text outside the parts may have bound.
    """

    parts: tuple[Part, ...]
    errors: tuple[BrokenText, ...] = ()
    complete: bool = True
    rebound: frozenset[str] = frozenset()


def units_of(parts: Sequence[Part]) -> Iterator[Unit]:
    """Yield all units of parts; those of functions as header and as whole."""
    for part in parts:
        if isinstance(part, FunctionPart):
            yield from (part.header, part.whole)
        elif isinstance(part, ClassPart):
            yield part.header
            yield from units_of(part.body)
        else:
            yield part.unit


def functions_of(parts: Sequence[Part]) -> Iterator[FunctionPart]:
    """Yield the functions and methods among parts, in order."""
    for part in parts:
        if isinstance(part, FunctionPart):
            yield part
        elif isinstance(part, ClassPart):
            yield from functions_of(part.body)


def whole_units(parts: Sequence[Part]) -> Iterator[Unit]:
    """Yield the units that cover the text that is evaluated, each line once."""
    for part in parts:
        if isinstance(part, FunctionPart):
            yield part.whole
        elif isinstance(part, ClassPart):
            yield part.header
            yield from whole_units(part.body)
        else:
            yield part.unit


def split(path: str, cell: int | None, text: str) -> Parsed:
    """Split the text of a file or cell into parts; never raises for what the text holds."""
    parsed = _split(path, cell, text)
    return replace(parsed, parts=tuple(map(_fresh, parsed.parts)))


def _fresh(part: Part) -> Part:
    """Return the same part in its initial state, without cached nodes or notes."""
    if isinstance(part, Statements):
        return Statements(part.unit.fresh())
    if isinstance(part, FunctionPart):
        return FunctionPart(part.name, part.header.fresh(), part.whole.fresh(), part.plain, part.defaults)
    return ClassPart(part.name, part.header.fresh(), tuple(map(_fresh, part.body)))


@latest(cells=2_000, texts=4)
def _split(path: str, cell: int | None, text: str) -> Parsed:
    lines = text.splitlines(keepends=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            tree = ast.parse(text)
    except SyntaxError as error:
        return _split_broken(path, cell, text, lines, error)
    except (ValueError, MemoryError, RecursionError):
        return _split_broken(path, cell, text, lines, None)
    if has_odd_lines(text):
        return _whole(path, cell, text)
    # The names of a notebook's cell belong to the other cells too.
    origin, names = Origin(text), Names.of(text, tree) if cell is None else None
    parts = parts_of_lines(path, cell, lines, tree.body, indented=False, origin=origin, names=names)
    return Parsed(tuple(parts))


def _whole(path: str, cell: int | None, text: str) -> Parsed:
    unit = Unit(path, cell, text, 1, indented=False)
    try:
        _ = unit.body
    except BrokenText as error:
        return Parsed((), (error,))
    return Parsed((Statements(unit),))


def _split_broken(
    path: str, cell: int | None, text: str, lines: list[str], error: SyntaxError | None
) -> Parsed:
    """Read text that `ast` rejects: libcst may know newer syntax; otherwise return the parts that parse.

    ``error`` is Python's own, which is clearer than libcst's.
    """
    errors: tuple[BrokenText, ...] = ()
    if error is not None:
        errors = (BrokenText(error.msg, error.lineno or 1, error.offset or 1),)
        if (found := _mended(path, cell, lines, error)) is not None:
            kept, broken = found
            return Parsed(kept, () if all(map(_is_readable, broken)) else errors)
    whole = _whole(path, cell, text)
    if whole.parts or not text.strip():
        return whole
    errors = errors or whole.errors[:1]
    starts = [i for i, line in enumerate(lines) if line[:1] not in " \t\r\n#)]}'\"" or i == 0]
    parts: list[Part] = []
    rebound: set[str] = set()
    for block in _blocks(lines, starts):
        start, stop = block
        chunk = "".join(lines[start:stop])
        unit = Unit(path, cell, chunk, start + 1, indented=False)
        try:
            _ = unit.body
        except BrokenText:
            rebound |= {name for pair in _BINDS.findall(chunk) for name in pair if name}
        else:
            parts.append(Statements(unit))
    return Parsed(tuple(parts), errors, complete=False, rebound=frozenset(rebound))


def _is_readable(unit: Unit) -> bool:
    """Return whether libcst can read text that Python cannot."""
    try:
        _ = unit.body
    except BrokenText:
        return False
    return True


def _mended(
    path: str, cell: int | None, lines: list[str], error: SyntaxError
) -> tuple[tuple[Part, ...], list[Unit]] | None:
    """Return all parts, and the broken functions among them; None if errors are elsewhere."""
    if has_odd_lines("".join(lines)) or (found := mended(lines, error)) is None:
        return None
    names = Names.of(found.text, found.tree, "".join(lines)) if cell is None else None
    parts = tuple(parts_of_lines(path, cell, lines, found.tree.body, indented=False, names=names))
    begin = {one.whole.first_line + one.header.text.count("\n") - 1: one.whole for one in functions_of(parts)}
    if not begin.keys() >= set(found.bodies):
        return None
    return parts, [begin[line] for line in found.bodies]


def _blocks(lines: list[str], starts: list[int]) -> Iterator[tuple[int, int]]:
    """Pair block starts with ends, keeping decorators and ``else``-like clauses with their block."""
    joined: list[int] = []
    for i in starts:
        follows = lines[i].startswith(("else", "elif", "except", "finally"))
        decorated = bool(joined) and lines[joined[-1]].startswith("@") and joined[-1] == _previous(starts, i)
        if not joined or not (follows or decorated):
            joined.append(i)
    yield from zip(joined, [*joined[1:], len(lines)], strict=True)


def _previous(starts: list[int], i: int) -> int:
    index = starts.index(i)
    return starts[index - 1] if index else -1


#: Statements that are separate parts.
_SPLIT = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def parts_of_lines(
    path: str,
    cell: int | None,
    lines: list[str],
    body: Sequence[ast.stmt],
    indented: bool,
    origin: Origin | None = None,
    names: Names | None = None,
) -> Iterator[Part]:
    """Yield the parts of a module or class body, grouping statements that are evaluated whole.

    ``lines`` contain the body, and are those of ``origin`` if it is given. Units are read with the ``names``
    of the file.
    """
    group: list[ast.stmt] = []

    def unit(statements: Sequence[ast.stmt]) -> Unit:
        first, last = _first_line(statements[0]), max(one.end_lineno or one.lineno for one in statements)
        return unit_of("".join(lines[first - 1 : last]), first, statements)

    def unit_of(text: str, first: int, statements: Sequence[ast.stmt]) -> Unit:
        corrected = names.meant(text, indented) if names is not None and names.concern(text) else None
        if corrected is not None and corrected.moved:
            return Unit(path, cell, corrected.text, first, indented, None, names, corrected.moved)
        if origin is not None:
            origin.note(text, statements)
        return Unit(path, cell, text, first, indented, origin, names)

    def flush() -> Iterator[Part]:
        if group:
            yield Statements(unit(tuple(group)))
            group.clear()

    for index, node in enumerate(body):
        first, last = _first_line(node), node.end_lineno or node.lineno
        shares_line = (index > 0 and (body[index - 1].end_lineno or 0) >= first) or (
            index + 1 < len(body) and _first_line(body[index + 1]) <= last
        )
        if not isinstance(node, _SPLIT) or shares_line or not _starts_line(node.body[0], lines):
            group.append(node)
            continue
        yield from flush()
        header_end = _first_line(node.body[0]) - 1
        header_text = "".join(lines[first - 1 : header_end])
        inner = (
            " " * (node.body[0].col_offset) if not _tabbed(lines[header_end]) else _indent(lines[header_end])
        )
        header = unit_of(f"{header_text}{inner}pass\n", first, [_without_body(node)])
        if isinstance(node, ast.ClassDef):
            inside = parts_of_lines(path, cell, lines, node.body, indented=True, origin=origin, names=names)
            yield ClassPart(node.name, header, tuple(inside))
        else:
            defaults = None if node.decorator_list else _plain_defaults(node.args)
            whole, plain = unit([node]), defaults is not None
            # The header of another function is evaluated as its definition is.
            whole.noted, header.noted = True, plain
            yield FunctionPart(node.name, header, whole, plain, defaults or ())
    yield from flush()


def _without_body(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> ast.stmt:
    """Return a function or class with an empty body at the same place."""
    empty, first = copy(node), node.body[0]
    end = {"end_lineno": first.lineno, "end_col_offset": first.col_offset}
    empty.body = [ast.Pass(lineno=first.lineno, col_offset=first.col_offset, **end)]
    empty.end_lineno, empty.end_col_offset = end.values()
    return empty


def _plain_defaults(arguments: ast.arguments) -> tuple[tuple[str, bool | None], ...] | None:
    """Return the default values of parameters by name, if each is None, True or False."""
    found: list[tuple[str, bool | None]] = []
    positional = [*arguments.posonlyargs, *arguments.args]
    # The defaults of positional parameters belong to the last of them.
    pairs = (
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    )
    for parameter, default in pairs:
        if default is None:
            continue
        value = default.value if isinstance(default, ast.Constant) else ...
        # The number 1 equals True, but has a place.
        if value is not None and not isinstance(value, bool):
            return None
        found.append((parameter.arg, value))
    return tuple(found)


def _starts_line(node: ast.stmt, lines: list[str]) -> bool:
    """Return whether a statement begins its line: a body after ``):`` has no separate header."""
    line = lines[_first_line(node) - 1]
    return not line.encode()[: node.col_offset].strip() or bool(getattr(node, "decorator_list", ()))


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", ())
    return min((d.lineno for d in decorators), default=node.lineno)


def _tabbed(line: str) -> bool:
    return "\t" in _indent(line)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]
