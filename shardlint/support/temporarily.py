"""Temporary values of the interpreter's attributes, for the duration of a ``with`` statement."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Meanwhile(Generic[T]):
    """A context manager that gives an attribute another value, and restores the old one on exit.

    It is entered for every branch of a program; a `contextlib` generator takes four times as long.
    """

    __slots__ = ("_given", "_name", "_thing", "_value")

    def __init__(self, thing: object, name: str, value: Any, given: T) -> None:
        self._thing, self._name, self._value, self._given = thing, name, value, given

    def __enter__(self) -> T:
        before = getattr(self._thing, self._name)
        setattr(self._thing, self._name, self._value)
        self._value = before
        return self._given

    def __exit__(self, *_: object) -> None:
        setattr(self._thing, self._name, self._value)
