"""What running code does to things that were there before it: noted here, so that a result can be kept.

Every object that programs change is numbered when it is made (`born`), as scopes are. Who changes an
object calls `changed` with its number. A run that began at number ``n`` had no effect if nothing older
was changed meanwhile, and then what it gave can be given again (`call_cache`).
"""

from __future__ import annotations

import itertools
from copy import copy
from dataclasses import field
from functools import cache
from typing import Any

from shardlint.support.lazy_dataclass import dataclass

_numbers = itertools.count(1)
#: Younger than everything.
NOTHING = 1 << 62


def born() -> int:
    """The next number: what is made later has a greater one."""
    return next(_numbers)


#: What a thing holds, by the names of its attributes; no copy of it changes with the thing.
State = dict[str, Any]
_HELD = (
    "attributes", "cls", "drawn", "fields", "forgotten", "items", "opaque", "rebound", "variables", "volatile"
)  # fmt: skip
_CONTAINERS = frozenset({dict, list, set})
#: When something happened: in which entry, counted from 1 (0 at a top level), and a number that grows in it.
When = tuple[int, int]


@dataclass(slots=True)
class Effects:
    """The effects of the innermost run whose result may be kept.

    ``oldest`` is the number of the oldest thing that was changed. ``asked`` is what was asked of how the code
    was reached (see `path_queries`). ``epoch`` counts the changes of classes and wrappers: that a run reads
    them is not noted. ``entered`` is the number at which the evaluation of an entry began. ``before`` are the
    older things that it changed, which other entries may read, by their numbers, with what each held;
    ``leaks`` tells that it changed something older that cannot be changed back. ``touched`` are the numbers
    of all that was changed since somebody asked, ``remade`` is the least of a class or a wrapper. ``entry``
    counts the entries.
    """

    oldest: int = NOTHING
    epoch: int = 0
    asked: set[str] = field(default_factory=set)
    entered: int = 0
    leaks: bool = False
    before: dict[int, tuple[Any, State]] = field(default_factory=dict)
    touched: set[int] = field(default_factory=set)
    remade: int = NOTHING
    entry: int = 0


#: Of the one analysis that runs.
EFFECTS = Effects()


def now() -> When:
    """When something happens that happens now."""
    return EFFECTS.entry, born()


def changed_for_all(number: int) -> None:
    """Note a change of a class or a wrapper: whoever read it earlier may read something else now."""
    EFFECTS.epoch += 1
    EFFECTS.remade = min(EFFECTS.remade, number)
    changed(number)


def changed(number: int) -> None:
    """Note a change of the thing with this number; 0 is what is older than everything, and no object."""
    EFFECTS.touched.add(number)
    depends(number)
    EFFECTS.leaks = EFFECTS.leaks or 0 < number < EFFECTS.entered


def changing(thing: Any) -> None:
    """Note that a scope, an object or a container changes now; what it holds can be given back to it."""
    EFFECTS.touched.add(thing.born)
    depends(thing.born)
    if thing.born < EFFECTS.entered and thing.born not in EFFECTS.before:
        EFFECTS.before[thing.born] = thing, held(thing)


def lose(container: Any) -> None:
    """Make the items of a container unknown, for good: what changes it later changes nothing."""
    changing(container)
    container.items = None


def depends(number: int) -> None:
    """Note that what runs depends on this very thing, and would be another with one that is equal."""
    if number < EFFECTS.oldest:
        EFFECTS.oldest = number


def held(thing: Any) -> State:
    """What a thing holds now."""
    found = {name: getattr(thing, name) for name in _names(type(thing))}  # type: ignore[arg-type]
    return {name: copy(value) if type(value) in _CONTAINERS else value for name, value in found.items()}


def give_back(thing: Any, state: State) -> None:
    """Let a thing hold this. Its dicts and sets stay the same ones, since others may look into them."""
    for name, value in state.items():
        now = getattr(thing, name)
        if isinstance(value, dict | set) and type(now) is type(value):
            now.clear()
            now.update(value)
        else:
            setattr(thing, name, copy(value) if type(value) in _CONTAINERS else value)


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(name for name in _HELD if hasattr(kind, name))
