"""A list without duplicates by identity: replayed calls record things that may be present already."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex, TypeVar

T = TypeVar("T")


class Once(list[T]):
    """A list that `extend` extends only by things that it has never contained, compared by identity."""

    __slots__ = ("_held",)

    def __init__(self, things: Iterable[T] = ()) -> None:
        super().__init__()
        #: By identity; replaced things stay alive, so that no other gets their identity.
        self._held: dict[int, T] = {}
        self.extend(things)

    def append(self, one: T) -> None:
        """Append a thing, even if it is present."""
        self._held[id(one)] = one
        super().append(one)

    def extend(self, things: Iterable[T]) -> None:
        """Append the things that are not present."""
        held = self._held
        for one in things:
            if id(one) not in held:
                self.append(one)

    def __iadd__(self, things: Iterable[T]) -> Once[T]:  # type: ignore[override,misc]
        self.extend(things)
        return self

    def __delitem__(self, index: SupportsIndex | slice) -> None:
        for one in self[index] if isinstance(index, slice) else [self[index]]:
            self._held.pop(id(one), None)
        super().__delitem__(index)

    def __setitem__(self, index: SupportsIndex | slice, one: Any) -> None:
        self._held[id(one)] = one
        super().__setitem__(index, one)

    def clear(self) -> None:
        """Remove everything."""
        super().clear()
        self._held.clear()

    def __copy__(self) -> Once[T]:
        return Once(self)
