"""Text to trees: files are split with `ast`, and only the parts that are evaluated become nodes of libcst.

`ast` parses at a ninth of libcst's cost, and gives the lines of every top-level statement, function
and method. Each becomes a `Unit`, which is parsed when it is first needed: with `ast`, whose trees are
translated (see `translating`), and by libcst itself only where that does not do, or somebody asks where a
node stands. A unit keeps its indentation and is wrapped in ``if 1:`` to parse, so columns need no correction.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Hashable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import TypeVar, cast

import libcst as cst

from shardlint.files.facts import Note
from shardlint.inference.latest import latest
from shardlint.inference.mending import mended
from shardlint.inference.syntax_trees import Tree, tree_after, tree_of
from shardlint.inference.translating import Former, Translated, changed
from shardlint.inference.translating.origin import Origin
from shardlint.inference.translating.written import has_odd_lines
from shardlint.records import dataclass
from shardlint.spans import Span


class BrokenText(Exception):
    """Text that is no Python: ``line`` and ``column`` are 1-based."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


Node = TypeVar("Node", bound=cst.CSTNode)
_NO_NODES: dict[cst.CSTNode, cst.CSTNode] = {}


class Unit:
    """A stretch of whole lines of one file or notebook cell, parsed when first asked.

    ``first_line`` is 1-based. ``indented`` units are wrapped to parse.
    """

    __slots__ = (
        *("_first", "_former", "_latest", "_origin", "_spans", "_tree"),
        *("cell", "first_line", "indented", "notes", "path", "text"),
    )

    def __init__(
        self,
        path: str,
        cell: int | None,
        text: str,
        first_line: int,
        indented: bool,
        origin: Origin | None = None,
    ) -> None:
        self.path, self.cell, self.text = path, cell, text
        self.first_line, self.indented = first_line, indented
        #: What comments tell of these lines, and what they ask.
        self.notes: tuple[Note, ...] = ()
        self._tree: Tree | None = None
        #: What the text was split of.
        self._origin = origin
        #: What stood here before, of which the statements that stay keep their nodes.
        self._former: Former | None = None
        self._spans: dict[cst.CSTNode, Span] = {}
        #: Of functions with other bodies than before: the first nodes by all, the latest by the first ones.
        self._first = self._latest = _NO_NODES

    def rewrite(self, text: str) -> frozenset[Hashable]:
        """Let other lines stand here.

        Return the keys of the functions whose own statements are others now, but for those of functions in
        them (see `Code.key`); that of the unit, if nothing is known of what changed.
        """
        before, self.text, self._tree = self._tree, text, None
        if before is not None:
            self._former = before.as_former()
        self._spans.clear()
        if self._former is None:
            return frozenset((id(self),))
        try:
            again = self._parsed().again
        except BrokenText:
            return frozenset((id(self),))
        others = [old for old, _ in changed(again)]
        firsts = {new: self.first(old) for old, new in again}
        self._first = self._first | firsts
        self._latest = self._latest | {first: new for new, first in firsts.items()}
        # The function that the unit is is known by that.
        found = {id(self) if old is again[-1][0] else self.key_of(old) for old in others}
        return frozenset(found if before is not None and again else {id(self), *found})

    def key_of(self, node: cst.CSTNode) -> Hashable:
        """What identifies a function in this unit, whatever its body."""
        return id(self), id(self.first(node))

    def first(self, node: Node) -> Node:
        """The node that a function had first, for any that it had, by which it is known; else the node."""
        return cast(Node, self._first.get(node, node)) if self._first else node

    def latest(self, node: Node) -> Node:
        """The node that a function has now, for any that it had; else the node."""
        return cast(Node, self._latest.get(self.first(node), node)) if self._latest else node

    def stand_at(self, line: int) -> None:
        """Begin at another line."""
        if line != self.first_line:
            self.first_line = line
            self._spans.clear()

    def fresh(self) -> Unit:
        """The same lines, of which nothing has been read."""
        return Unit(self.path, self.cell, self.text, self.first_line, self.indented, self._origin)

    def _parsed(self) -> Tree:
        if self._tree is None:
            text = f"if 1:\n{self.text}" if self.indented else self.text
            try:
                if self._former is None:
                    self._tree = tree_of(text, self._told)
                else:
                    self._tree = tree_after(text, self._former)
                    self._former = None
            except cst.ParserSyntaxError as error:
                line = error.raw_line - self.indented + self.first_line - 1
                raise BrokenText(error.message, max(line, 1), error.raw_column + 1) from None
        return self._tree

    def _told(self) -> Translated | None:
        """What is known without parsing."""
        return None if self._origin is None else self._origin.translate(self.text, self.indented)

    @property
    def body(self) -> Sequence[cst.BaseStatement | cst.BaseSmallStatement]:
        """The statements of the unit. Raises BrokenText."""
        body = self._parsed().body
        if not self.indented:
            return body
        wrapper = body[0]
        assert isinstance(wrapper, cst.If)
        return wrapper.body.body

    def written(self, node: cst.CSTNode) -> str:
        """What is written where a node of this unit stands, without parentheses around it."""
        span = self.span(node)
        first, last = span.line - self.first_line, span.end_line - self.first_line
        lines = self.text.splitlines(keepends=True)[first : last + 1]
        lines[-1:] = [line[: span.end_column - 1] for line in lines[-1:]]
        return "".join(lines)[span.column - 1 :]

    def span(self, node: cst.CSTNode) -> Span:
        """Return where a node of this unit stands."""
        span = self._spans.get(node)
        if span is None:
            positions = self._parsed().positions
            shift, found = self.first_line - 1 - self.indented, positions.of(self.latest(node))
            first, start, last, end = found or (1 + self.indented, 0, 1 + self.indented, 0)
            span = Span(self.path, first + shift, start + 1, last + shift, end + 1, self.cell)
            self._spans[node] = span
        return span


@dataclass(slots=True, repr=False)
class NodePlace:
    """The place of a node; its span is found only when asked for. A frozen class costs twice this."""

    unit: Unit
    node: cst.CSTNode

    def __hash__(self) -> int:
        # libcst's nodes say the same in Python.
        return object.__hash__(self.node)

    @property
    def path(self) -> str:
        """The file, which is known without finding the span."""
        return self.unit.path

    def resolve(self) -> Span:
        """Return the span."""
        return self.unit.span(self.node)


@dataclass(frozen=True, slots=True)
class Statements:
    """Consecutive statements that are evaluated whole."""

    unit: Unit


@dataclass(frozen=True, slots=True)
class FunctionPart:
    """A function. ``header`` holds decorators and signature with an empty body; ``whole`` all of it.

    ``plain`` functions have no decorators, and no defaults but None, True and False, as most are: these are
    ``defaults``, by parameter. Defining such a function evaluates nothing.
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
    """A file or cell as parts, and what was wrong with it.

    Where it is ``complete``, parts hold all of it; what is wrong then is wrong in the bodies of functions,
    which raise BrokenText when they are parsed. ``rebound`` are names that the rest may have bound.
    """

    parts: tuple[Part, ...]
    errors: tuple[BrokenText, ...] = ()
    complete: bool = True
    rebound: frozenset[str] = frozenset()


def units_of(parts: Sequence[Part]) -> Iterator[Unit]:
    """All units of parts, those of functions twice: their headers, and whole."""
    for part in parts:
        if isinstance(part, FunctionPart):
            yield from (part.header, part.whole)
        elif isinstance(part, ClassPart):
            yield part.header
            yield from units_of(part.body)
        else:
            yield part.unit


def functions_of(parts: Sequence[Part]) -> Iterator[FunctionPart]:
    """The functions and methods among parts, in order."""
    for part in parts:
        if isinstance(part, FunctionPart):
            yield part
        elif isinstance(part, ClassPart):
            yield from functions_of(part.body)


def whole_units(parts: Sequence[Part]) -> Iterator[Unit]:
    """The units that hold all of a text that is evaluated, each line once."""
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
    """The same part, as nobody has read or noted anything of it."""
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
    origin = Origin(text)
    return Parsed(tuple(parts_of_lines(path, cell, lines, tree.body, indented=False, origin=origin)))


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
    """Read text that `ast` refuses: libcst may know newer syntax; else keep what parses.

    ``error`` is Python's own word on what is wrong, which is clearer than libcst's.
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
    """Whether libcst can read what Python cannot."""
    try:
        _ = unit.body
    except BrokenText:
        return False
    return True


def _mended(
    path: str, cell: int | None, lines: list[str], error: SyntaxError
) -> tuple[tuple[Part, ...], list[Unit]] | None:
    """All parts, and which of them are broken, if these are functions; None if more is."""
    if has_odd_lines("".join(lines)) or (found := mended(lines, error)) is None:
        return None
    parts = tuple(parts_of_lines(path, cell, lines, found.tree.body, indented=False))
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


#: Statements that are parts of their own.
_SPLIT = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def parts_of_lines(
    path: str,
    cell: int | None,
    lines: list[str],
    body: Sequence[ast.stmt],
    indented: bool,
    origin: Origin | None = None,
) -> Iterator[Part]:
    """Yield the parts of a module or class body, grouping statements that are evaluated whole.

    ``lines`` are those in which the body stands, those of ``origin`` if it is given.
    """
    group: list[ast.stmt] = []

    def unit(statements: Sequence[ast.stmt]) -> Unit:
        first, last = _first_line(statements[0]), max(one.end_lineno or one.lineno for one in statements)
        return unit_of("".join(lines[first - 1 : last]), first, statements)

    def unit_of(text: str, first: int, statements: Sequence[ast.stmt]) -> Unit:
        if origin is not None:
            origin.note(text, statements)
        return Unit(path, cell, text, first, indented, origin)

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
            inside = parts_of_lines(path, cell, lines, node.body, indented=True, origin=origin)
            yield ClassPart(node.name, header, tuple(inside))
        else:
            defaults = None if node.decorator_list else _plain_defaults(node.args)
            yield FunctionPart(node.name, header, unit([node]), defaults is not None, defaults or ())
    yield from flush()


def _without_body(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> ast.stmt:
    """A function or class that does nothing, where it stands."""
    empty, first = copy(node), node.body[0]
    nothing = ast.Pass(lineno=first.lineno, col_offset=first.col_offset, end_lineno=first.lineno)
    empty.body = [nothing]
    return empty


def _plain_defaults(arguments: ast.arguments) -> tuple[tuple[str, bool | None], ...] | None:
    """The defaults of parameters, by name, if each is None, True or False."""
    found: list[tuple[str, bool | None]] = []
    positional = [*arguments.posonlyargs, *arguments.args]
    # Those of parameters that may be given by position belong to the last of them.
    pairs = (
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    )
    for parameter, default in pairs:
        if default is None:
            continue
        value = default.value if isinstance(default, ast.Constant) else ...
        # A number, which equals True if it is 1, has a place.
        if value is not None and not isinstance(value, bool):
            return None
        found.append((parameter.arg, value))
    return tuple(found)


def _starts_line(node: ast.stmt, lines: list[str]) -> bool:
    """Whether a statement is the first thing on its line: a body after ``):`` has no header of its own."""
    line = lines[_first_line(node) - 1]
    return not line.encode()[: node.col_offset].strip() or bool(getattr(node, "decorator_list", ()))


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", ())
    return min((d.lineno for d in decorators), default=node.lineno)


def _tabbed(line: str) -> bool:
    return "\t" in _indent(line)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]
