"""What a run read of modules: most are functions, classes and constants, which stay what they are.

A run reads some fifty of them, and each run around it reads them too; so they are looked at together.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_
from typing import TYPE_CHECKING, Any

from shardlint.inference.context import Scope
from shardlint.inference.keys import Keys
from shardlint.inference.reading import read_of
from shardlint.inference.values import Value
from shardlint.records import dataclass

if TYPE_CHECKING:
    from shardlint.inference.interpreter import Interpreter

#: A variable: the scope that it was looked up from, or an object that a class held; and its name.
Read = tuple[Any, str]


@dataclass(frozen=True, slots=True)
class Fixed:
    """Variables of modules, and the values that they had, which never change: `Keys.is_constant`.

    ``names`` are they as they are noted. ``modules`` has the names and the values, by module.
    """

    names: tuple[Read, ...]
    modules: tuple[tuple[Scope, tuple[str, ...], tuple[Value, ...]], ...]

    def holds(self, keys: Keys) -> bool:
        """Whether they have these values, or others of the same keys. Raises TooLarge."""
        return all(_holds(keys, *module) for module in self.modules)

    def with_(self, scope: Scope, name: str, value: Value) -> Fixed:
        """These, and another one that was not read before."""
        return Fixed((*self.names, (scope, name)), (*self.modules, (scope, (name,), (value,))))

    def note(self, interpreter: Interpreter) -> None:
        """Note for the run that runs that they were read."""
        reads, start = interpreter.reads, interpreter.start
        assert reads is not None
        if all(scope.born <= start for scope, _, _ in self.modules):
            reads |= dict.fromkeys(self.names)
        else:
            # A module that was imported in that run is none that was there before it.
            reads |= dict.fromkeys(read for read in self.names if read[0].born <= start)


def _holds(keys: Keys, scope: Scope, names: tuple[str, ...], values: tuple[Value, ...]) -> bool:
    if not (scope.volatile or scope.left_open) and all(map(is_, map(scope.variables.get, names), values)):
        return True
    for name, value in zip(names, values, strict=True):
        now = read_of(scope, name)
        if now is None or (now is not value and keys.of(now) != keys.of(value)):
            return False
    return True


def split(keys: Keys, reads: Iterable[Read]) -> tuple[Fixed, list[Read]]:
    """The fixed ones of what was read, and the others. Raises TooLarge."""
    fixed: list[Read] = []
    others: list[Read] = []
    modules: dict[Scope, tuple[list[str], list[Value]]] = {}
    for read in reads:
        scope, name = read
        value = read_of(scope, name) if type(scope) is Scope and scope.parent is None else None
        if value is None or not keys.is_fixed(value):
            others.append(read)
            continue
        fixed.append(read)
        names, values = modules.setdefault(scope, ([], []))
        names.append(name)
        values.append(value)
    return Fixed(
        tuple(fixed),
        tuple((scope, tuple(names), tuple(values)) for scope, (names, values) in modules.items()),
    ), others
