"""Lists of what was met: what memory tells again is there already."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex, TypeVar

T = TypeVar("T")


class Once(list[T]):
    """A list that is extended by what it does not hold yet, and never held: things are told by identity."""

    __slots__ = ("_held",)

    def __init__(self, things: Iterable[T] = ()) -> None:
        super().__init__()
        #: By identity; what was replaced stays, so that nothing else gets its number.
        self._held: dict[int, T] = {}
        self.extend(things)

    def append(self, one: T) -> None:
        """Add a thing, once more if need be."""
        self._held[id(one)] = one
        super().append(one)

    def extend(self, things: Iterable[T]) -> None:
        """Add those of these things that were not there."""
        held = self._held
        for one in things:
            if id(one) not in held:
                self.append(one)

    def __iadd__(self, things: Iterable[T]) -> Once[T]:  # type: ignore[override,misc]
        self.extend(things)
        return self

    def __setitem__(self, index: SupportsIndex | slice, one: Any) -> None:
        self._held[id(one)] = one
        super().__setitem__(index, one)

    def clear(self) -> None:
        """Hold nothing."""
        super().clear()
        self._held.clear()

    def __copy__(self) -> Once[T]:
        return Once(self)
