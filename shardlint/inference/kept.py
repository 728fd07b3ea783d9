"""What is kept of a run, to be given again (see `memory`)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import fields
from typing import Any, NamedTuple

from shardlint.inference.budget import Work
from shardlint.inference.context import Scope
from shardlint.inference.fixed import Fixed
from shardlint.inference.looks import Look
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
class Part:
    """What a method's run was given, where of its object only that counts at which it looked.

    ``key`` is that of these arguments.
    """

    looks: tuple[str, ...]
    key: Hashable
    given: Given


@dataclass(slots=True)
class Kept:
    """One run: what it was given and read from outside; what it gave; and what limits its validity.

    ``fixed`` are the variables of modules that it read. ``work`` are the steps that
    it took. ``closes`` tells that the run gave functions that see variables of scopes around the function.
    A constructor ``makes`` the object that it
    is called on: then the result is a pair, of what it gave and that object. ``looked`` is what it looked at
    of objects, and ``part`` what is enough to be given, None where that is all; ``shared`` tells that it was
    given again where the rest was another. ``body`` is that of the context.
    ``situation`` is kept of programs that are edited.
    """

    function: Function
    fixed: Fixed
    given: Given
    looked: tuple[Look, ...]
    part: Part | None
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
    silent: bool | None
    body: Hashable
    situation: Situation | None
    shared: bool = False

    @property
    def read_names(self) -> Iterator[tuple[Any, str]]:
        """What it read besides what is fixed, as that is noted."""
        return ((anchor, name) for anchor, name, _, _ in self.given.reads)

    def looks_no_further(self, other: Kept) -> bool:
        """Whether it looks at no more of its object than another run that was given again for others."""
        if other.part is None or not other.shared:
            return True
        return self.part is not None and set(self.part.looks) <= set(other.part.looks)

    def take(self, other: Kept) -> bool:
        """Be another run of the same call, which gave the same: others may hold this one.

        Returns whether it takes other steps now.
        """
        work, differs, shared = self.work, self.work.become(other.work), self.shared
        for one in fields(self):
            setattr(self, one.name, getattr(other, one.name))
        self.work, self.shared = work, shared
        return differs
