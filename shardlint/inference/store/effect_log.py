"""The effect log: a journal of writes to abstract objects, used to decide whether a call can be cached.

Every mutable object, and every scope, gets an allocation number (`born`). Each write calls `changed` with the
number of the object. A call that began at number ``n`` is pure, and its result may be cached (`call_cache`),
if no object older than ``n`` was written meanwhile.
"""

from __future__ import annotations

import itertools
from bisect import bisect
from copy import copy
from dataclasses import field
from functools import cache
from typing import Any

from shardlint.support.lazy_dataclass import dataclass

_numbers = itertools.count(1)
#: Greater than every allocation number.
NOTHING = 1 << 62
#: The number of what holds nothing of the program, so that it is as good as another one made anew.
STEADY = 0


def born() -> int:
    """Return the next allocation number, which is greater than all earlier ones."""
    return next(_numbers)


#: The contents of an object by attribute name; independent of later writes to it.
State = dict[str, Any]
_HELD = (
    "attributes", "cls", "defined", "drawn", "exposed", "fields", "forgotten", "intercepts", "items",
    "opaque", "rebound", "variables", "volatile",
)  # fmt: skip
_CONTAINERS = frozenset({dict, list, set})
#: The time of an event: the entry point, counted from 1 (0 at top level), and a number that grows in it.
When = tuple[int, int]


@dataclass(slots=True)
class Effects:
    """The effects of the innermost cacheable call.

    ``oldest`` is the smallest number of an object written. ``asked`` are the path queries made (see
    `path_queries`). ``epoch`` counts changes of classes and wrappers, reads of which are not recorded, and
    ``remade`` has their times (see `is_remade_since`); ``lone`` counts the changes of classes that only
    their instances hold, by number: canonical keys hold these. ``entered`` is the number at which the
    evaluation of an entry point began. ``before`` are the older shared objects that it changed, by number,
    with their earlier contents; ``leaks`` is set if it changed an older one that cannot be restored.
    ``entry`` counts the entry points. Objects with numbers below ``imported`` may belong to modules that
    programs share: ``journal`` has those written since the last import, by number, with their contents
    before, and ``touched`` the numbers of those that cannot be restored. ``lost`` are functions and classes
    that went out of sight just now (see `escaped_code`). ``related`` are, by number, the objects that the one
    with it may be, in the program that is evaluated.
    """

    oldest: int = NOTHING
    epoch: int = 0
    asked: set[str] = field(default_factory=set)
    entered: int = 0
    leaks: bool = False
    before: dict[int, tuple[Any, State]] = field(default_factory=dict)
    touched: set[int] = field(default_factory=set)
    remade: list[tuple[int, int]] = field(default_factory=list)
    lone: dict[int, int] = field(default_factory=dict)
    entry: int = 0
    imported: int = 0
    lost: list[Any] = field(default_factory=list)
    journal: dict[int, tuple[Any, State]] = field(default_factory=dict)
    related: dict[int, list[Any]] = field(default_factory=dict)


#: The effects of the running analysis.
EFFECTS = Effects()


def now() -> When:
    """Return the present time."""
    return EFFECTS.entry, born()


def changed_for_all(thing: Any) -> None:
    """Record a change to come of a class or a wrapper, and save its contents: earlier readers may read
    something else now."""
    _note_write(thing)
    _save(thing)
    _changed_for_all(thing.born)


def changed_function(scope: int) -> None:
    """Record a change of a function, which cannot be undone, by the number of the scope around it."""
    _changed_for_all(scope)
    changed(scope)


def _changed_for_all(number: int) -> None:
    EFFECTS.epoch += 1
    if number in EFFECTS.lone:
        EFFECTS.lone[number] += 1
    else:
        # Whatever has changed may hold them from now on.
        EFFECTS.lone.clear()
        remade = EFFECTS.remade
        while remade and remade[-1][1] >= number:
            remade.pop()
        remade.append((born(), number))
    depends(number)


def is_remade_since(time: int) -> bool:
    """Return whether a class or wrapper that is older than an allocation number has changed since.

    What ended at that number can have read no younger one. Of the changes, each with its time and the number
    of what changed, only those are kept that no later one of something older stands for: the first one after
    a time is of the oldest.
    """
    remade = EFFECTS.remade
    first = bisect(remade, (time, NOTHING))
    return first < len(remade) and remade[first][1] < time


def changed(number: int) -> None:
    """Record a write to the object with this number; 0 stands for state older than every object."""
    if number < EFFECTS.imported:
        EFFECTS.touched.add(number)
    depends(number)
    EFFECTS.leaks = EFFECTS.leaks or 0 < number < EFFECTS.entered


def changing(thing: Any) -> None:
    """Record that a scope, an object or a container is about to be written, and save its contents."""
    _note_write(thing)
    _save(thing)
    depends(thing.born)
    for other in EFFECTS.related.get(thing.born, ()) if EFFECTS.related else ():
        _empty(other)


def relate(one: Any, other: Any) -> None:
    """Record that two objects may be one, so that a change of one may be one of the other."""
    for a, b in ((one, other), (other, one)):
        known = EFFECTS.related.setdefault(a.born, [])
        if not any(b is found for found in known):
            known.append(b)


def drop_related(since: int) -> None:
    """Forget the relations of objects that were created since this number."""
    for number, others in list(EFFECTS.related.items()):
        kept = [] if number >= since else [other for other in others if other.born < since]
        if kept:
            EFFECTS.related[number] = kept
        else:
            del EFFECTS.related[number]


def _empty(thing: Any) -> None:
    """Make the contents of a container or an instance unknown."""
    _note_write(thing)
    _save(thing)
    depends(thing.born)
    if hasattr(thing, "items"):
        thing.items = None
    else:
        thing.attributes.clear()
        thing.opaque = thing.forgotten = True


def _save(thing: Any) -> None:
    """Save the contents of an object that is older than the entry point being evaluated."""
    if thing.born < EFFECTS.entered and thing.born not in EFFECTS.before:
        EFFECTS.before[thing.born] = thing, held(thing)


def _note_write(thing: Any) -> None:
    """Save the contents of an object that programs may share."""
    if thing.born < EFFECTS.imported and thing.born not in EFFECTS.journal:
        EFFECTS.journal[thing.born] = thing, held(thing)


def lose(container: Any) -> None:
    """Make the items of a container unknown for good."""
    changing(container)
    container.items = None


def depends(number: int) -> None:
    """Record that the current call depends on the identity of this object, not only on its contents."""
    if number < EFFECTS.oldest:
        EFFECTS.oldest = number


def held(thing: Any) -> State:
    """Return the present contents of an object."""
    found = {name: getattr(thing, name) for name in _names(type(thing))}  # type: ignore[arg-type]
    return {name: copy(value) if type(value) in _CONTAINERS else value for name, value in found.items()}


def restore(thing: Any, state: State) -> None:
    """Restore the contents of an object. Its dicts and sets keep their identity, since others may hold
    them."""
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
