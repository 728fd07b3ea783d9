"""What a run read of modules: most are functions, classes and constants, which stay what they are.

A run reads some fifty of them, and each run around it reads them too; so they are looked at together.
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

#: A variable: the scope that it was looked up from, or an object that a class held; and its name.
Read = tuple[Any, str]


@dataclass(frozen=True, slots=True)
class OfModule:
    """Variables of a module with the values that they had, and names that it does not have: builtins."""

    scope: Scope
    names: tuple[str, ...]
    values: tuple[Value, ...]
    absent: frozenset[str]

    @property
    def read(self) -> Iterator[tuple[str, Value | None]]:
        """What was read: names, and values."""
        yield from zip(self.names, self.values, strict=True)
        yield from ((name, None) for name in self.absent)

    def holds(self, keys: Keys) -> bool:
        """Whether the module has these values, or others of the same keys. Raises TooLarge."""
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
class Fixed:
    """What was read of modules, and values there that never change: `Keys.is_constant`.

    ``names`` are the variables as they are noted.
    """

    names: dict[Read, None]
    modules: tuple[OfModule, ...]

    def holds(self, keys: Keys) -> bool:
        """Whether all modules have this. Raises TooLarge."""
        return all(module.holds(keys) for module in self.modules)

    def with_(self, scope: Scope, name: str, value: Value | None) -> Fixed:
        """These, and another one that was not read before; None if the module does not have it."""
        more = (
            OfModule(scope, (), (), frozenset((name,)))
            if value is None
            else OfModule(scope, (name,), (value,), frozenset())
        )
        return Fixed({**self.names, (scope, name): None}, (*self.modules, more))

    def note(self, interpreter: Machine) -> None:
        """Note for the run that runs that they were read."""
        reads, start = interpreter.reads, interpreter.start
        assert reads is not None
        if all(module.scope.born <= start for module in self.modules):
            reads |= self.names
        else:
            # A module that was imported in that run is none that was there before it.
            reads |= dict.fromkeys(read for read in self.names if read[0].born <= start)


def split(keys: Keys, reads: Iterable[Read]) -> tuple[Fixed, list[Read]]:
    """The fixed ones of what was read, and the others. Raises TooLarge."""
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
    return Fixed(
        fixed,
        tuple(
            OfModule(scope, tuple(names), tuple(values), frozenset(absent))
            for scope, (names, values, absent) in modules.items()
        ),
    ), others
