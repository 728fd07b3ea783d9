"""What is kept of a run, to be given again (see `memory`)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import fields
from typing import Any, NamedTuple

from shardlint.inference.budget import Work
from shardlint.inference.context import Scope
from shardlint.inference.fixed import Fixed
from shardlint.inference.met import Met
from shardlint.inference.situation import Situation
from shardlint.inference.values import Function, Test, Value
from shardlint.laws.dims import Symbol
from shardlint.records import dataclass


class Besides(NamedTuple):
    """A variable of a module that is read as well, from a scope, and its value, which never changes.

    None if there is no such variable.
    """

    scope: Scope
    name: str
    value: Value | None


@dataclass(slots=True)
class Kept:
    """One run: what it read from outside, with keys; what it gave; and what limits its validity.

    ``fixed`` are the variables of modules that it read, ``reads`` all else. ``work`` are the steps that
    it took. Scopes around the function in ``reads`` are told by how far out they are. ``closes`` tells
    that the run gave functions that see variables of these scopes. A constructor ``makes`` the object that it
    is called on: then the result is a pair, of what it gave and that object. ``body`` is that of the context.
    ``situation`` is kept of programs that are edited.
    """

    function: Function
    fixed: Fixed
    reads: list[tuple[Any, str, Value | None, int]]
    depth: int
    closes: bool
    objects: list[Any]
    given: tuple[Symbol, ...]
    result: Value
    makes: bool
    start: int
    symbols: int
    path: tuple[int, ...]
    met: Met
    work: Work
    height: int
    nested: int | None
    silent: bool | None
    tests: tuple[Test, ...]
    assumed: Hashable
    body: Hashable
    situation: Situation | None

    @property
    def read_names(self) -> Iterator[tuple[Any, str]]:
        """What it read besides what is fixed, as that is noted."""
        return ((anchor, name) for anchor, name, _, _ in self.reads)

    def take(self, other: Kept) -> bool:
        """Be another run of the same call, which gave the same: others may hold this one.

        Returns whether it takes other steps now.
        """
        work, differs = self.work, self.work.become(other.work)
        for one in fields(self):
            setattr(self, one.name, getattr(other, one.name))
        self.work = work
        return differs
