"""Resolution of places: lazy node places become spans, so that uses outlive their syntax trees."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any, NamedTuple

from shardlint.inference.syntax.units import NodePlace, Unit
from shardlint.model.spans import LookedUp
from shardlint.model.uses import Fact, FileProblem, Use

_HOLDS_PLACES = re.compile(r"\b(Place|Fact)\b")


class Settling:
    """Resolves the uses of a program after each evaluation."""

    def __init__(self) -> None:
        #: The uses resolved last, by identity; the uses are kept alive.
        self._last: dict[int, _Settled] = {}

    def settled(self, uses: Sequence[Use | FileProblem]) -> list[Use | FileProblem]:
        """Return the uses with spans for all places; equal uses of different programs compare equal.

        A use from the last evaluation is returned as it was, if its places have not moved.
        """
        before, self._last = self._last, {}
        for use in uses:
            known = before.get(id(use))
            self._last[id(use)] = known if known is not None and known.stands() else _resolved_use(use)
        return [self._last[id(use)].settled for use in uses]


class _Settled(NamedTuple):
    """A use, its resolved form, and the units of its places with their positions then."""

    use: Use | FileProblem
    settled: Use | FileProblem
    units: tuple[tuple[Unit, object], ...]

    def stands(self) -> bool:
        """Return whether its places have not moved."""
        return all(unit.stands == before for unit, before in self.units)


def _resolved_use(use: Use | FileProblem) -> _Settled:
    changed = {}
    units: set[Unit] = set()
    for name in _holders(type(use)):  # type: ignore[arg-type]
        before = getattr(use, name)
        if (after := _settled(before, units)) is not before:
            changed[name] = after
    resolved = replace(use, **changed) if changed else use
    return _Settled(use, resolved, tuple((unit, unit.stands) for unit in units))


def _settled(value: Any, units: set[Unit]) -> Any:
    """Return a value with spans; the units of its places are added to ``units``."""
    if isinstance(value, NodePlace):
        units.add(value.unit)
        return value.resolve()
    if isinstance(value, LookedUp):
        return LookedUp(_settled(value.place, units), _settled(value.name, units))
    if isinstance(value, Fact):
        place = _settled(value.place, units)
        return value if place is value.place else Fact(value.message, place, value.mesh, value.kind)
    if isinstance(value, tuple) and value:
        return tuple(_settled(one, units) for one in value)
    return value


@cache
def _holders(kind: Any) -> tuple[str, ...]:
    """Return the fields of a class that hold places."""
    return tuple(one.name for one in fields(kind) if _HOLDS_PLACES.search(str(one.type)))
