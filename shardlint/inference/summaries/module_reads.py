"""Reads of module variables: mostly functions, classes and constants, which are never rebound.

A call reads about fifty of them, and each call around it reads them too, so they are validated together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import is_
from typing import TYPE_CHECKING, Any

from shardlint.inference.domain.values import Value
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.machine.variable_reads import read_of
from shardlint.inference.summaries.canonical_keys import Keys
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: A variable: the scope from which it was looked up, or an object that a class held; and its name.
Read = tuple[Any, str]


@dataclass(frozen=True, slots=True)
class ModuleConstants:
    """Variables read of one module with their values, and names that it lacks: builtins."""

    scope: Scope
    names: tuple[str, ...]
    values: tuple[Value, ...]
    absent: frozenset[str]

    @property
    def read(self) -> Iterator[tuple[str, Value | None]]:
        """Yield the names read and their values."""
        yield from zip(self.names, self.values, strict=True)
        yield from ((name, None) for name in self.absent)

    def holds(self, keys: Keys) -> bool:
        """Return whether the module still has these values, or values with the same keys. Raises TooLarge."""
        scope, names, values = self.scope, self.names, self.values
        if not scope.variables.keys().isdisjoint(self.absent):
            return False
        if not (scope.volatile or scope.left_open) and all(map(is_, map(scope.variables.get, names), values)):
            return True
        for name, value in zip(names, values, strict=True):
            now = read_of(scope, name)
            if now is None or (now is not value and keys.of(now) != keys.of(value)):
                return False
        return True


@dataclass(frozen=True, slots=True)
class ConstantReads:
    """Reads of module variables with immutable values (`Keys.is_constant`).

    ``names`` are the variables as recorded in a read set.
    """

    names: dict[Read, None]
    modules: tuple[ModuleConstants, ...]

    def holds(self, keys: Keys) -> bool:
        """Return whether all modules still have these values. Raises TooLarge."""
        return all(module.holds(keys) for module in self.modules)

    def with_(self, scope: Scope, name: str, value: Value | None) -> ConstantReads:
        """Return these reads and another one; its value is None if the module lacks the name."""
        more = (
            ModuleConstants(scope, (), (), frozenset((name,)))
            if value is None
            else ModuleConstants(scope, (name,), (value,), frozenset())
        )
        return ConstantReads({**self.names, (scope, name): None}, (*self.modules, more))

    def note(self, interpreter: Machine) -> None:
        """Record these reads for the current call."""
        reads, start = interpreter.reads, interpreter.start
        assert reads is not None
        if all(module.scope.born <= start for module in self.modules):
            reads |= self.names
        else:
            # A module that was imported during that call did not exist before it.
            reads |= dict.fromkeys(read for read in self.names if read[0].born <= start)


def split(keys: Keys, reads: Iterable[Read]) -> tuple[ConstantReads, list[Read]]:
    """Return the reads of modules with immutable values, and the other reads. Raises TooLarge."""
    fixed: dict[Read, None] = {}
    others: list[Read] = []
    modules: dict[Scope, tuple[list[str], list[Value], list[str]]] = {}
    for read in reads:
        scope, name = read
        if type(scope) is not Scope or scope.parent is not None:
            others.append(read)
            continue
        value = read_of(scope, name)
        if value is not None and not keys.is_fixed(value):
            others.append(read)
            continue
        fixed[read] = None
        names, values, absent = modules.setdefault(scope, ([], [], []))
        if value is None:
            absent.append(name)
        else:
            names.append(name)
            values.append(value)
    return ConstantReads(
        fixed,
        tuple(
            ModuleConstants(scope, tuple(names), tuple(values), frozenset(absent))
            for scope, (names, values, absent) in modules.items()
        ),
    ), others
