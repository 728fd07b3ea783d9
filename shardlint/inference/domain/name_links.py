"""Links between literals that write the same name: the program compares, joins or looks them up.

Links are recorded only while an editor asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from shardlint.inference.domain.values import Const, ListValue, MeshValue, SetValue, SpecValue, Tuple
from shardlint.laws.core.values import Marker, Mesh, Spec
from shardlint.model.spans import Place, Written

#: Pairs of texts by their places, and whether they are logical names.
Pairs = dict[tuple[Place | None, Place | None], tuple[str, str, bool]]

#: The active collections, innermost last.
_collected: list[Pairs] = []


@contextmanager
def collecting(pairs: Pairs | None) -> Iterator[None]:
    """Collect pairs of texts that are the same name; with None, collect nothing."""
    if pairs is None:
        yield
        return
    _collected.append(pairs)
    try:
        yield
    finally:
        _collected.pop()


def swap(pairs: Pairs | None) -> Pairs | None:
    """Replace the active collection, if any, and return the previous one."""
    if not _collected:
        return None
    assert pairs is not None
    before, _collected[-1] = _collected[-1], pairs
    return before


def add(pairs: Pairs | None) -> None:
    """Add links collected elsewhere."""
    if _collected and pairs:
        _collected[-1] |= pairs


def equate(a: object, b: object) -> None:
    """Record that two equal values or texts are written by the same names."""
    if _collected:
        for one, other in zip(names_in(a), names_in(b), strict=False):
            _note(one, other)


def look_up(
    name: object, names: Mapping[object, object] | Iterable[object], *, logical: bool = False
) -> None:
    """Record that a text is looked up among others: it names the equal one; ``logical`` for Flax's names."""
    if _collected and isinstance(name, str):
        for other in names:
            if isinstance(other, str) and other == name:
                _note(name, other, logical)


def _note(one: str, other: str, logical: bool = False) -> None:
    places = place_of(one), place_of(other)
    if one == other and places[0] != places[1]:
        _collected[-1].setdefault(places, (one, other, logical))


def place_of(text: str) -> Place | None:
    """Return the place of the literal that writes a text; None if no single literal does."""
    return text.place if isinstance(text, Written) else None


def names_in(value: object) -> Iterator[str]:
    """Yield the texts in a value, in order."""
    if isinstance(value, str):
        if not isinstance(value, Marker):
            yield value
    elif isinstance(value, Const):
        yield from names_in(value.value)
    elif isinstance(value, (tuple, frozenset)):
        for item in sorted(value, key=str) if isinstance(value, frozenset) else value:
            yield from names_in(item)
    elif isinstance(value, SetValue):
        yield from names_in(value.items or frozenset())
    elif isinstance(value, (Tuple, ListValue)):
        yield from names_in(tuple(value.items or ()))
    elif isinstance(value, MeshValue):
        yield from names_in(value.mesh)
    elif isinstance(value, SpecValue):
        yield from names_in(value.spec)
    elif isinstance(value, Mesh):
        yield from names_in(value.names)
    elif isinstance(value, Spec):
        yield from names_in((*value.entries, value.unreduced, value.reduced))


def places_in(value: object) -> tuple[Place, ...]:
    """Return the places of the texts in a value that single literals write."""
    if not value or type(value) is str:
        return ()
    return tuple(name.place for name in names_in(value) if isinstance(name, Written))
