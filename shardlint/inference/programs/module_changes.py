"""Changes of modules that a program imports: whether its result stays valid, and where its places are now.

A program depends on what importing a module runs, on the functions whose text mattered to it
(`FileAccesses.functions`), and on the names that it mentions. What else changes in a module only moves lines.
Besides, some questions are asked of the texts of all functions: which attributes they set
(`receiver_summary`), and whether they mention the axes of a mesh (`axis_mentions`). Their answers have to be
the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from shardlint.inference.recording.axis_mentions import telling
from shardlint.inference.summaries.receiver_summary import have_equal_writes, sets_in
from shardlint.inference.syntax.outline import Item, Outline, outline_of
from shardlint.inference.syntax.units import NodePlace
from shardlint.model.spans import LookedUp, Span, Written
from shardlint.model.uses import FileProblem, Use
from shardlint.support.lazy_dataclass import dataclass

#: Where the lines of files are now: by path, the new number of each line that holds code.
Moves = Mapping[str, Mapping[int, int]]


@dataclass(frozen=True, slots=True)
class Program:
    """The facts on which a program's result depends.

    ``functions`` are the first lines of functions whose text mattered, and ``names`` the names looked up from
    outside, both by the path of the module. ``files`` are all that it read, and ``mentions`` returns whether
    the present text of one has any of these words.
    """

    uses: Sequence[Use | FileProblem]
    functions: Mapping[str, Collection[int]]
    names: Mapping[str, Collection[str]]
    files: Collection[str]
    mentions: Callable[[str, frozenset[str]], bool]

    def moves(self, changed: Mapping[str, tuple[str, str]]) -> Moves | None:
        """Return where lines are now, for modules with these texts before and now.

        None if the program has to be evaluated again.
        """
        axes = telling(self.uses)
        found: dict[str, Mapping[int, int]] = {}
        renamed: dict[str, _Change] = {}
        for path, (before, now) in changed.items():
            outlines = outline_of(path, None, before), outline_of(path, None, now)
            if outlines[0] is None or outlines[1] is None:
                return None
            change = _change(outlines[0], outlines[1], frozenset(self.functions.get(path, ())))
            if change is None or any(word in text for text in change.texts for word in axes):
                return None
            if change.names:
                renamed[path] = change
            found[path] = change.lines
        if any(self._looks_for(path, change, renamed) for path, change in renamed.items()):
            return None
        return found

    def _looks_for(self, path: str, change: _Change, renamed: Mapping[str, _Change]) -> bool:
        """Return whether the program may look for a name that a module binds otherwise now."""
        if not change.names.isdisjoint(self.names.get(path, ())):
            return True
        word = any_of(change.names)
        return any(
            any(word.search(text) for text in renamed[other].read)
            if other in renamed
            else self.mentions(other, change.names)
            for other in self.files
        )


@cache
def any_of(names: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern for any of these words."""
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of a module: the names that it binds otherwise, and the new texts of what is not as before.

    ``lines`` are the new numbers of the lines of what is as before, and ``read`` its texts that may matter.
    """

    names: frozenset[str]
    texts: tuple[str, ...]
    lines: Mapping[int, int]
    read: tuple[str, ...]


def _change(before: Outline, now: Outline, functions: frozenset[int]) -> _Change | None:
    """Return the change of a module; None if it changes what importing it runs, or one of these functions."""
    if [(one.name, one.code) for one in before.run] != [(one.name, one.code) for one in now.run]:
        return None
    pairs = [*zip(before.run, now.run, strict=True), *zip(before.bodies, now.bodies, strict=True)]
    names: set[str] = set()
    texts: list[str] = []
    old, new = _by_name(before.definitions), _by_name(now.definitions)
    for name in old.keys() | new.keys():
        ours, theirs = old.get(name, []), new.get(name, [])
        if _are_bound_alike(ours, theirs):
            pairs += zip(ours, theirs, strict=True)
            continue
        names.add(name)
        if any(one.first in functions for one in ours) or not all(map(_sets_nothing, [*ours, *theirs])):
            return None
        texts += [one.code for one in theirs]
    lines: dict[int, int] = {}
    for one, other in pairs:
        if one.code == other.code:
            lines.update(zip(one.lines, other.lines, strict=True))
            continue
        if one.first in functions or not have_equal_writes(one.code, other.code):
            return None
        texts.append(other.code)
    read = [one.code for one in now.run]
    read += [new.code for old, new in pairs if old.first in functions]
    return _Change(frozenset(names), tuple(texts), lines, tuple(read))


def _by_name(definitions: Iterable[Item]) -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = {}
    for one in definitions:
        found.setdefault(one.name, []).append(one)
    return found


def _are_bound_alike(ours: Sequence[Item], theirs: Sequence[Item]) -> bool:
    """Return whether definitions of a name bind it at the same time, to the same number or to a function."""
    if len(ours) != len(theirs) or (len(ours) > 1 and [o.code for o in ours] != [t.code for t in theirs]):
        return False
    return all(
        (one.is_function, one.behind) == (other.is_function, other.behind)
        and (one.is_function or one.code == other.code)
        for one, other in zip(ours, theirs, strict=True)
    )


def _sets_nothing(item: Item) -> bool:
    """Return whether a function's text sets no attribute of anything."""
    return not sets_in(item.code)


# -- places -------------------------------------------------------------------------------------------


def moved(uses: Iterable[Use | FileProblem], moves: Moves) -> list[Use | FileProblem] | None:
    """Return uses with their places where those are now; None if one of them is not known."""
    mover = _Mover(moves)
    try:
        return [mover.of(use) for use in uses]
    except _Unplaced:
        return None


class _Unplaced(Exception):
    """A place that ends in what has changed."""


class _Mover:
    """Moves the places in values; each value that is shared is moved once."""

    def __init__(self, moves: Moves) -> None:
        self._moves = moves
        #: By identity; the values are kept alive.
        self._known: dict[int, tuple[Any, Any]] = {}

    def of(self, value: Any) -> Any:
        """Return a value with its places moved; the same value if there are none."""
        if isinstance(value, str | int | float | None) and not isinstance(value, Written):
            return value
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = value, self._moved(value)
        return known[1]

    def _moved(self, value: Any) -> Any:
        if isinstance(value, Span):
            return self._span(value)
        if isinstance(value, NodePlace):
            return self.of(value.resolve()) if value.path in self._moves else value
        if isinstance(value, Written):
            place = self.of(value.place)
            return value if place is value.place else Written(value, place)
        if isinstance(value, LookedUp):
            place, name = self.of(value.place), self.of(value.name)
            return value if place is value.place and name is value.name else LookedUp(place, name)
        if isinstance(value, tuple | list | frozenset | set):
            items = [self.of(one) for one in value]
            if all(new is old for new, old in zip(items, value, strict=True)):
                return value
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if isinstance(value, dict):
            pairs = {self.of(key): self.of(item) for key, item in value.items()}
            old, new = ([*one.keys(), *one.values()] for one in (value, pairs))
            return value if list(map(id, old)) == list(map(id, new)) else pairs
        if is_dataclass(value):
            changed = {
                name: new
                for name in _fields_of(type(value))  # type: ignore[arg-type]
                if (new := self.of(old := getattr(value, name))) is not old
            }
            return replace(value, **changed) if changed else value  # type: ignore[type-var]
        return value

    def _span(self, span: Span) -> Span:
        lines = self._moves.get(span.path)
        if lines is None:
            return span
        line, end = lines.get(span.line), lines.get(span.end_line)
        if line is None or end is None:
            raise _Unplaced
        return span if (line, end) == (span.line, span.end_line) else replace(span, line=line, end_line=end)


@cache
def _fields_of(kind: Any) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind) if one.init)
