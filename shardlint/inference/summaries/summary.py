"""What is kept of a run, to be given again (see `call_cache`)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import field, fields
from typing import Any, NamedTuple

from shardlint.inference.domain.values import Function, Test, Value
from shardlint.inference.evaluation.budget import Work
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.evaluation.path_queries import Circumstances
from shardlint.inference.machine.trace import Met
from shardlint.inference.machine.variable_reads import read_of
from shardlint.inference.summaries.canonical_keys import Keys
from shardlint.inference.summaries.module_reads import Fixed
from shardlint.inference.summaries.reentry_point import Situation
from shardlint.laws.core.dims import Symbol
from shardlint.model.spans import Place
from shardlint.model.uses import Use
from shardlint.support.fast_frozen import altered
from shardlint.support.lazy_dataclass import dataclass


class Besides(NamedTuple):
    """A variable of a module that is read as well, from a scope, and its value, which never changes.

    None if there is no such variable.
    """

    scope: Scope
    name: str
    value: Value | None


@dataclass(slots=True)
class Given:
    """What a run was given, as it was met while keys were made: first of its arguments, then of what it read.

    ``reads`` are the variables that it read from outside but for what is fixed, with keys. Scopes around the
    function are told by how far out they are. ``sizes`` are those that equal no other, ``tests`` those that
    decide between values; ``assumed`` are such whose outcome was known.
    """

    reads: list[tuple[Any, str, Value | None, int]]
    objects: list[Any]
    sizes: tuple[Symbol, ...]
    tests: tuple[Test, ...]
    assumed: Hashable


@dataclass(slots=True)
class Kept:
    """One run: what it was given and read from outside; what it gave; and what limits its validity.

    ``fixed`` are the variables of modules that it read. ``work`` are the steps that it took. ``closes`` tells
    that the run gave functions that see variables of scopes around the function. A constructor ``makes`` the
    object that it is called on: then the result is a pair, of what it gave and that object. ``place`` is
    where it was called, and ``circumstances`` are those that it asked for. ``body`` is that of the context.
    ``situation`` is kept of programs that are edited. ``elsewhere`` are the uses that it recorded as they are
    where it was given again for other calls.
    """

    function: Function
    fixed: Fixed
    given: Given
    depth: int
    closes: bool
    result: Value
    makes: bool
    start: int
    symbols: int
    path: tuple[int, ...]
    met: Met
    work: Work
    height: int
    nested: int | None
    circumstances: Circumstances
    place: Place
    body: Hashable
    situation: Situation | None
    elsewhere: dict[Place, Sequence[Use]] = field(default_factory=dict)

    def uses_at(self, place: Place) -> Sequence[Use]:
        """What it recorded, as a call at this place records it: some tell where the function is called."""
        if place == self.place:
            return self.met.uses
        found = self.elsewhere.get(place)
        if found is None:
            found = self.elsewhere[place] = [_moved(use, self.place, place) for use in self.met.uses]
        return found

    @property
    def read_names(self) -> Iterator[tuple[Any, str]]:
        """What it read besides what is fixed, as that is noted."""
        return ((anchor, name) for anchor, name, _, _ in self.given.reads)

    def take(self, other: Kept) -> bool:
        """Be another run of the same call, which gave the same: others may hold this one.

        Returns whether it takes other steps now.
        """
        work, differs = self.work, self.work.become(other.work)
        for one in fields(self):
            setattr(self, one.name, getattr(other, one.name))
        self.work = work
        return differs


def _moved(use: Use, before: Place, now: Place) -> Use:
    """A use that was reached from one place, as it is if reached from another."""
    if all(fact.place is not before for fact in use.facts):
        return use
    facts = (altered(fact, place=now) if fact.place is before else fact for fact in use.facts)
    return altered(use, facts=tuple(facts))


def kept_read(
    keys: Keys, depths: dict[int, int], anchor: Any, name: str
) -> tuple[Any, str, Value | None, int]:
    """What was read, as that is kept: scopes around the function by how far out they are."""
    if not isinstance(anchor, Scope):
        return anchor, name, anchor, keys.of(anchor)
    value = read_of(anchor, name)
    return depths.get(id(anchor), anchor), name, value, -1 if value is None else keys.of(value)
