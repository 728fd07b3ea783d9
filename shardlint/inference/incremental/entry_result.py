"""The result of one entry point with the changes it made, reusable while its dependencies are unchanged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import libcst as cst

from shardlint.inference.domain.values import ClassValue, Native
from shardlint.inference.evaluation.budget import Work
from shardlint.inference.machine.trace import Trace
from shardlint.inference.store.effect_log import (
    EFFECTS,
    NOTHING,
    State,
    When,
    born,
    changed_for_all,
    held,
    restore,
)
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine


@dataclass(frozen=True, slots=True)
class Change:
    """A shared object with its contents before and after the evaluation of an entry point.

    ``rebound`` are module variables that were rebound, with the time of that.
    """

    thing: Any
    before: State
    after: State
    rebound: dict[str, When]

    @staticmethod
    def of(thing: Any, before: State) -> Change:
        """Return the change of an object with this earlier state."""
        after = held(thing)
        old, new = (state.pop("rebound", {}) for state in (dict(before), after))
        rebound = {name: when for name, when in new.items() if old.get(name) != when}
        return Change(thing, before, after, rebound)

    @property
    def matters(self) -> bool:
        """Return whether the contents differ."""
        before = {name: value for name, value in self.before.items() if name != "rebound"}
        return bool(self.rebound) or not alike(before, self.after)

    def leaves_equal_state(self, other: Change) -> bool:
        """Return whether another evaluation left equal contents."""
        return alike(self.after, other.after)

    @property
    def is_for_all(self) -> bool:
        """Return whether a class or a wrapper changed, reads of which are not recorded."""
        return isinstance(self.thing, ClassValue | Native)

    def undo(self) -> None:
        """Restore the contents from before."""
        self._restore(self.before)

    def redo(self) -> None:
        """Restore the contents from afterwards, as an effect of the entry point being evaluated."""
        self._restore(self.after)
        if self.rebound:
            self.thing.rebound.update((name, _as_of_now(when)) for name, when in self.rebound.items())

    def _restore(self, state: State) -> None:
        if self.is_for_all:
            changed_for_all(self.thing)
        restore(self.thing, state)


def _as_of_now(when: When) -> When:
    """Return the time of an event of an entry point that is replayed, relative to what runs around it.

    Events of modules that it imported belong to no entry point.
    """
    entry, number = when
    return (EFFECTS.entry if entry else 0), number


@dataclass(eq=False, slots=True)
class EntryRun:
    """The result of evaluating ``made``, a function or a wrapper, as an entry point.

    ``work`` is the work it took, ``short`` whether any of it was cut short, and ``epochs`` how often it
    changed a class or a wrapper. ``replaced`` are the class members that its classes redefine, ``switches``
    the global settings that it changed. ``changes`` are its changes to shared objects; those with numbers
    below ``first`` are older than any entry point. ``alone`` means that it changed no other shared object.
    ``left_open`` are variables of its module that may have changed unseen before it is called.
    """

    made: object
    trace: Trace
    work: Work
    short: bool
    epochs: int
    replaced: dict[int, frozenset[str]]
    switches: frozenset[str]
    changes: tuple[Change, ...]
    first: int
    alone: bool
    left_open: frozenset[str] = frozenset()

    @property
    def matters(self) -> bool:
        """Return whether it changed anything that others can read."""
        return bool(self.changes or self._settings or self._replaced_of_all)

    @property
    def _settings(self) -> frozenset[str]:
        return self.switches | self.trace.views

    @property
    def _replaced_of_all(self) -> dict[int, frozenset[str]]:
        return {number: names for number, names in self.replaced.items() if number < self.first}

    @property
    def _shared(self) -> set[int]:
        return {one.thing.born for one in self.changes if one.thing.born < self.first}

    def leaves_equal_state(self, other: EntryRun) -> bool:
        """Return whether two evaluations of an entry point leave equal state to others.

        If the functions around the entry point were evaluated again, each has its own objects of those.
        """
        ours, theirs = ({one.thing.born: one for one in run.changes} for run in (self, other))
        seen = self._shared | other._shared if self.made is not other.made else ours.keys() | theirs.keys()
        if (self._settings, self._replaced_of_all) != (other._settings, other._replaced_of_all):
            return False
        return all(
            number in ours and number in theirs and ours[number].leaves_equal_state(theirs[number])
            for number in seen
        )

    def with_changes_of(self, other: EntryRun) -> EntryRun:
        """Return this result with the changes of an equal one, where that has them."""
        if self is other:
            return self
        theirs = {one.thing.born: one for one in other.changes}
        changes = (replace(theirs.get(one.thing.born, one), rebound=one.rebound) for one in self.changes)
        return replace(self, changes=tuple(changes))

    def isolate(self) -> None:
        """Undo what it changed, if all of that can be undone: a test is run from a fresh start."""
        if not self.alone:
            return
        for change in reversed(self.changes):
            change.undo()
        self.changes = ()
        self.trace.escaped, self.trace.unseen_changes = {}, set()

    def apply_to(self, interpreter: Machine) -> None:
        """Add this result to an analysis."""
        interpreter.uses += self.trace.uses
        interpreter.notes += self.trace.notes
        for function, when in self.trace.handed.items():
            interpreter.handed.setdefault(function, _as_of_now(when))
        self.trace.add_to(interpreter)
        for number, names in self.replaced.items():
            interpreter.replaced[number] = interpreter.replaced.get(number, frozenset()) | names
        for change in self.changes:
            change.redo()
        interpreter.switches |= self.switches
        interpreter.code.drop_noted()


def recorded(interpreter: Machine, made: object, evaluate: Callable[[], object], first: int) -> EntryRun:
    """Evaluate an entry point and return its result, without adding it to the analysis.

    Objects with numbers below ``first`` are older than any entry point. The changes of an entry point that is
    broken off are undone.
    """
    i = interpreter
    switches, devices, replaced = frozenset(i.switches), i.device_count, dict(i.replaced)
    epoch = EFFECTS.epoch
    oldest, EFFECTS.oldest, EFFECTS.entered = EFFECTS.oldest, NOTHING, born()
    EFFECTS.leaks, EFFECTS.before = False, {}
    before, outer = Trace().swap(i), i.budget.open()
    finished = False
    try:
        evaluate()
        i.code.settle()
        finished = True
    finally:
        trace = before.swap(i)
        work, short = i.budget.close(outer)
        EFFECTS.oldest, EFFECTS.entered = min(oldest, EFFECTS.oldest), 0
        epochs = EFFECTS.epoch - epoch
        changes = tuple(Change.of(thing, state) for thing, state in EFFECTS.before.values())
        if not finished:
            for change in changes:
                change.undo()
    alone = not EFFECTS.leaks and i.device_count == devices and switches <= i.switches
    more = {number: names for number, names in i.replaced.items() if names != replaced.get(number)}
    changes = tuple(one for one in changes if one.matters)
    switched = frozenset(i.switches - switches)
    return EntryRun(made, trace, work, short, epochs, more, switched, changes, first, alone)


def alike(one: Any, other: Any) -> bool:
    """Return whether two values or states are equal, including where their texts were written.

    A mutable object is equal only to itself.
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if is_dataclass(one):
        parts = _parts(type(one))  # type: ignore[arg-type]
        return parts is not None and all(alike(getattr(one, name), getattr(other, name)) for name in parts)
    return bool(one == other)


@cache
def _parts(kind: Any) -> tuple[str, ...] | None:
    """Return the fields of a class that compares by content; None for other classes."""
    if kind.__eq__ is object.__eq__ or issubclass(kind, cst.CSTNode):
        return None
    return tuple(one.name for one in fields(kind))
