"""`CallSummary`: the cached result of one call with its read set, its trace and its limits of validity."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import field, fields
from typing import Any, NamedTuple, cast

from shardlint.inference.domain.values import Function, Test, Value
from shardlint.inference.evaluation.budget import Work
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.evaluation.path_queries import Circumstances
from shardlint.inference.machine.trace import Trace
from shardlint.inference.machine.variable_reads import read_of
from shardlint.inference.summaries.canonical_keys import Keys
from shardlint.inference.summaries.module_reads import ConstantReads
from shardlint.inference.summaries.reentry_point import ReentryPoint
from shardlint.laws.core.dims import Symbol
from shardlint.model.spans import Place
from shardlint.model.uses import Use
from shardlint.support.lazy_dataclass import dataclass, replace


class ExtraRead(NamedTuple):
    """A module variable that another run of a call reads in addition, with its immutable value.

    The value is None if there is no such variable.
    """

    scope: Scope
    name: str
    value: Value | None


@dataclass(slots=True)
class CallInputs:
    """The inputs of a call in the order in which keys were computed: its arguments, then its reads.

    ``reads`` are the outside variables other than module constants, with keys; an enclosing scope of the
    function is given as its distance. ``sizes`` are those equal to no other, ``tests`` those that select
    between values, and ``assumed`` the ones whose outcome was known.
    """

    reads: list[tuple[Any, str, Value | None, int]]
    objects: list[Any]
    sizes: tuple[Symbol, ...]
    tests: tuple[Test, ...]
    assumed: Hashable


@dataclass(slots=True)
class CallSummary:
    """The summary of one call: its inputs, its result, its trace, and its limits of validity.

    ``fixed`` are the module constants that it read, and ``work`` its steps. ``closes`` means that it returned
    functions that see variables of scopes around the function. A constructor ``makes`` the object it is
    called on: then the result is the pair of its return value and that object. ``start`` and ``end`` are
    the numbers of objects at its beginning and end. ``place`` is the call site, ``circumstances`` are the
    path queries made, and ``body`` is that of the context. ``situation`` is set for programs that are
    edited. ``entry`` is how it was reached, by the context (the parameters of a test), and ``elsewhere``
    caches the uses as recorded from other call sites, or reached otherwise.
    """

    function: Function
    fixed: ConstantReads
    inputs: CallInputs
    depth: int
    closes: bool
    result: Value
    makes: bool
    start: int
    end: int
    symbols: int
    path: tuple[int, ...]
    trace: Trace
    work: Work
    height: int
    nested: int | None
    circumstances: Circumstances
    place: Place
    body: Hashable
    situation: ReentryPoint | None
    entry: str | None
    elsewhere: dict[tuple[Place, str | None], Sequence[Use]] = field(default_factory=dict)

    def uses_at(self, place: Place, entry: str | None) -> Sequence[Use]:
        """Return the uses as a call at this place records them if it is reached so: some name the place of
        the call."""
        if place == self.place and entry == self.entry:
            return self.trace.uses
        found = self.elsewhere.get((place, entry))
        if found is None:
            moved = (_moved(use, self.place, place) for use in self.trace.uses)
            found = self.elsewhere[place, entry] = [_reached(use, entry) for use in moved]
        return found

    @property
    def read_names(self) -> Iterator[tuple[Any, str]]:
        """Yield the reads other than module constants, as recorded in a read set."""
        return ((anchor, name) for anchor, name, _, _ in self.inputs.reads)

    def take(self, other: CallSummary) -> bool:
        """Replace the contents by those of another run of the same call with an equal result.

        The identity stays, since others hold this summary. Return whether its steps differ now.
        """
        work, differs = self.work, self.work.become(other.work)
        for one in fields(self):
            setattr(self, one.name, getattr(other, one.name))
        self.work = work
        return differs


def summaries_in(trace: Trace) -> Iterable[CallSummary]:
    """Return the summaries of the cached calls in a trace."""
    return cast("Iterable[CallSummary]", trace.cached_calls)


def _moved(use: Use, before: Place, now: Place) -> Use:
    """Return a use reached from one place as it is if reached from another."""
    if all(fact.place is not before for fact in use.facts):
        return use
    facts = (replace(fact, place=now) if fact.place is before else fact for fact in use.facts)
    return replace(use, facts=tuple(facts))


def _reached(use: Use, entry: str | None) -> Use:
    """Return a use as it is if reached so."""
    if use.environment.entry == entry:
        return use
    return replace(use, environment=replace(use.environment, entry=entry))


def summarised_read(
    keys: Keys, depths: dict[int, int], anchor: Any, name: str
) -> tuple[Any, str, Value | None, int]:
    """Return a read as stored in a summary: an enclosing scope of the function as its distance."""
    if not isinstance(anchor, Scope):
        return anchor, name, anchor, keys.of(anchor)
    value = read_of(anchor, name)
    return depths.get(id(anchor), anchor), name, value, -1 if value is None else keys.of(value)
