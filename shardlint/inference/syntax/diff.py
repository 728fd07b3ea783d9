"""Edits between two texts of a file that change only bodies of functions, as most keystrokes do.

After any other edit the file is read again.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

from shardlint.inference.syntax.file_parts import (
    ClassPart,
    FunctionPart,
    Parsed,
    Part,
    Statements,
    functions_of,
    parts_of_lines,
    split,
    units_of,
)
from shardlint.inference.syntax.front_end.source_text import Untranslated, has_odd_lines, parsed
from shardlint.inference.syntax.typos import Names, ReadText
from shardlint.inference.syntax.units import BrokenText, Unit
from shardlint.source.lexing import STRING_OR_COMMENT
from shardlint.support.lazy_dataclass import dataclass

#: A line that Python ignores.
_BLANK = re.compile(r"[ \t]*(?:#.*)?\n?")


@dataclass(frozen=True, slots=True)
class Edit:
    """The difference in one cell: the functions with other texts now, with these texts as read.

    ``lines`` are the first lines of all units, in order, 1-based, and ``errors`` the present errors in
    bodies.
    """

    functions: tuple[tuple[FunctionPart, ReadText], ...]
    lines: tuple[int, ...]
    errors: tuple[BrokenText, ...] = ()


def edit_between(
    path: str, cell: int | None, parts: Sequence[Part], sound: bool, before: str, after: str
) -> Edit | None:
    """Return the edit from a cell's text to another; None if it changes more than bodies of functions.

    ``parts`` are those of the old text, and cover all of it; a ``sound`` text has no errors.
    """
    near = _near_edit(parts, before, after) if sound else None
    return near or _far_edit(parts, split(path, cell, after))


def _near_edit(parts: Sequence[Part], before: str, after: str) -> Edit | None:
    """Return an edit within one function, or between parts, found without reading the rest."""
    first, last, moved = _changed_lines(before, after)
    if has_odd_lines(after[_start_of(after, first) :]):
        return None
    before_it = [one for one in _covered(parts) if one.first <= last]
    touched = [one for one in before_it if one.last >= first]
    lines = after.splitlines(keepends=True)
    changed = lines[first - 1 : last + moved]
    old = before.splitlines(keepends=True)[first - 1 : last]
    if not touched and all(_BLANK.fullmatch(line) for line in (*changed, *old)):
        return Edit((), _moved(parts, last, moved))
    if len(touched) > 1 or not before_it:
        return None
    one = touched[0] if touched else before_it[-1]
    if not isinstance(one.part, FunctionPart) or first < _body_line(one.part):
        return None
    if any(Names.may_change("".join(some)) for some in (changed, old)):
        return None
    found = _function(one.part, "".join(lines[one.first - 1 : max(one.last, last) + moved]))
    return None if found is None else Edit(((one.part, found),), _moved(parts, one.first, moved))


def _moved(parts: Sequence[Part], line: int, lines: int) -> tuple[int, ...]:
    """Return the first lines of units after those behind a line have moved down by some lines."""
    starts = (unit.first_line for unit in units_of(parts))
    return tuple(start + lines if start > line else start for start in starts)


def _far_edit(parts: Sequence[Part], parsed: Parsed) -> Edit | None:
    """Return the edit if the new text has the same parts, except for bodies of functions."""
    if not parsed.complete or _names(parts) != _names(parsed.parts) or not _same(parts, parsed.parts):
        return None
    pairs = zip(functions_of(parts), functions_of(parsed.parts), strict=True)
    read = ((one, one.whole.read_text, other.whole.read_text) for one, other in pairs)
    changed = ((one, now) for one, before, now in read if before != now)
    return Edit(tuple(changed), tuple(unit.first_line for unit in units_of(parsed.parts)), parsed.errors)


def _names(parts: Sequence[Part]) -> Names | None:
    """Return the names of a file, with which all its parts are read."""
    return next((unit.names for unit in units_of(parts)), None)


def _same(parts: Sequence[Part], others: Sequence[Part]) -> bool:
    """Return whether parts differ only in bodies of functions and in position."""
    return len(parts) == len(others) and all(map(_alike, parts, others))


def _changed_lines(before: str, after: str) -> tuple[int, int, int]:
    """Return the first and last changed line of the old text, 1-based, and the number of lines added."""
    shorter = min(len(before), len(after))
    start = _common(shorter, lambda size: before[:size] == after[:size])
    rest = shorter - start
    end = _common(rest, lambda size: before[len(before) - size :] == after[len(after) - size :])
    first = before.count("\n", 0, start) + 1
    last = before.count("\n", 0, len(before) - end) + 1
    return first, last, after.count("\n") - before.count("\n")


def _common(most: int, equal: Callable[[int], bool]) -> int:
    """Return the greatest size, up to ``most``, for which two texts are equal."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        if equal(middle):
            least = middle
        else:
            most = middle - 1
    return least


def _start_of(text: str, line: int) -> int:
    """Return the offset at which a line begins."""
    position = 0
    for _ in range(line - 1):
        position = text.index("\n", position) + 1
    return position


@dataclass(frozen=True, slots=True)
class _Covered:
    """Lines of a file, 1-based, and the part that covers them."""

    part: Part
    first: int
    last: int


def _covered(parts: Sequence[Part]) -> Iterator[_Covered]:
    """Yield the lines that parts cover, in order."""
    for part in parts:
        if isinstance(part, ClassPart):
            yield _Covered(part, part.header.first_line, _body_line(part) - 1)
            yield from _covered(part.body)
        else:
            unit = part.whole if isinstance(part, FunctionPart) else part.unit
            yield _Covered(part, unit.first_line, unit.first_line + unit.text.rstrip("\n").count("\n"))


def _body_line(part: FunctionPart | ClassPart) -> int:
    """Return the line after a header; the header's text includes a line for the body."""
    return part.header.first_line + part.header.text.count("\n") - 1


def _function(part: FunctionPart, text: str) -> ReadText | None:
    """Return the lines of a text that are this function with another body; None if more differs."""
    unit = part.whole
    wrapped = f"if 1:\n{text}" if unit.indented else text
    try:
        body = parsed(wrapped).body
    except Untranslated:
        return None
    if unit.indented:
        if len(body) != 1 or not isinstance(body[0], ast.If):
            return None
        body = body[0].body
    found = list(parts_of_lines(unit.path, unit.cell, wrapped.splitlines(keepends=True), body, unit.indented))
    match found:
        case [FunctionPart() as one] if _alike(one, part):
            return _meant(unit.names, one.whole.text, unit.indented)
    return None


def _meant(names: Names | None, text: str, indented: bool) -> ReadText | None:
    return ReadText(text) if names is None else names.meant(text, indented)


def _alike(one: Part, other: Part) -> bool:
    match one, other:
        case FunctionPart(), FunctionPart():
            same = (one.name, one.plain) == (other.name, other.plain)
            return same and _read_alike(one.header, other.header)
        case ClassPart(), ClassPart():
            return _read_alike(one.header, other.header) and _same(one.body, other.body)
        case Statements(), Statements():
            return _read_alike(one.unit, other.unit)
    return False


def _read_alike(one: Unit, other: Unit) -> bool:
    """Return whether two units differ in comments at most."""
    if one.moved != other.moved:
        return False
    return one.text == other.text or differ_in_comments_only(one.text, other.text, one.indented)


def differ_in_comments_only(text: str, other: str, indented: bool) -> bool:
    """Return whether two texts of a function differ only in comments, with no line or column moved."""
    lines = zip_longest(text.splitlines(), other.splitlines(), fillvalue="")
    changed = [(one, another) for one, another in lines if one != another]
    if any(_before_hash(one) != _before_hash(another) for one, another in changed):
        return False
    if not any(quote in _before_hash(one) for one, _ in changed for quote in "\"'"):
        # Only Python's parser reads strings in f-strings reliably.
        return _without_comments(text) == _without_comments(other)
    try:
        trees = [ast.parse(f"if 1:\n{one}" if indented else one) for one in (text, other)]
    except SyntaxError:
        return False
    return len({ast.dump(tree, include_attributes=True) for tree in trees}) == 1


def _without_comments(text: str) -> str:
    """Return a text without its comments and the blanks before them."""
    parts, last = [], 0
    for match in STRING_OR_COMMENT.finditer(text):
        if match["comment"] is not None:
            parts.append(text[last : match.start()].rstrip(" \t"))
            last = match.end()
    return "".join([*parts, text[last:]])


def _before_hash(line: str) -> str:
    return line.partition("#")[0].rstrip()
