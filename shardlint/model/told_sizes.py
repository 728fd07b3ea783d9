"""Sizes that JAX was asked for: numbers that say so, so that findings which rest on them can."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from shardlint.model.spans import Place
from shardlint.model.uses import Fact


class ToldSize(int):
    """A size that JAX told, or one computed from it; otherwise an int like any other.

    ``function`` is what JAX was asked about, ``release`` the JAX, and ``place`` the call. As data, such as in
    a file or for another process, it is a plain int.
    """

    function: str
    release: str
    place: Place

    def __new__(cls, size: int, function: str, release: str, place: Place) -> ToldSize:
        made = super().__new__(cls, size)
        made.function, made.release, made.place = function, release, place
        return made

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)

    def __neg__(self) -> int:
        return derived(-int(self), self)

    @property
    def fact(self) -> Fact:
        """Return in words that JAX was asked, and where the call is."""
        return Fact(f"JAX {self.release} was asked for the shape of {self.function}", self.place)


def _passed_on(compute: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return an operator and its reflection, whose result of another int is told, too."""

    def told(size: ToldSize, found: Any) -> Any:
        return derived(found, size) if type(found) is int else found

    def forward(self: ToldSize, other: Any) -> Any:
        return told(self, compute(int(self), other)) if _is_int(other) else NotImplemented

    def backward(self: ToldSize, other: Any) -> Any:
        return told(self, compute(other, int(self))) if _is_int(other) else NotImplemented

    return forward, backward


def _is_int(other: Any) -> bool:
    return isinstance(other, int) and not isinstance(other, bool)


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    _forward, _backward = _passed_on(getattr(operator, _name))
    setattr(ToldSize, f"__{_name}__", _forward)
    setattr(ToldSize, f"__r{_name}__", _backward)


def derived(size: int, source: object) -> int:
    """Return a size that was computed from another: if that was told, so is this."""
    if type(source) is not ToldSize:
        return size
    return ToldSize(size, source.function, source.release, source.place)


def told_sizes(value: Any) -> Iterator[ToldSize]:
    """Yield the sizes in a record, such as a use or a part of one, that JAX told."""
    if type(value) is ToldSize:
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from told_sizes(item)
    elif is_dataclass(value) and not isinstance(value, Fact | type) and not hasattr(value, "resolve"):
        for one in fields(value):
            yield from told_sizes(getattr(value, one.name))
