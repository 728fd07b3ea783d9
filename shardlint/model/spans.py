"""Locations in a file."""

from __future__ import annotations

from typing import Any, Protocol

from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text: 1-based lines, 1-based columns in code points, end exclusive.

    In a notebook, ``cell`` is the index among all cells (from 0) and lines count inside the cell.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None = None

    def resolve(self) -> Span:
        """Return itself: a span is a place that is already known."""
        return self

    def __contains__(self, other: Span) -> bool:
        """Return whether another span lies within this one."""
        begins = (self.line, self.column) <= (other.line, other.column)
        ends = (other.end_line, other.end_column) <= (self.end_line, self.end_column)
        return (self.path, self.cell) == (other.path, other.cell) and begins and ends

    def order(self) -> tuple[str, int, int, int]:
        """Sort key: reading order within a file."""
        return (self.path, -1 if self.cell is None else self.cell, self.line, self.column)


class Written(str):
    """A text that a program writes as one literal, with its place; equal to any other str of the same
    letters.
    """

    __slots__ = ("place",)
    place: Place

    def __new__(cls, text: str, place: Place) -> Written:
        made = super().__new__(cls, text)
        made.place = place
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how another process makes it anew."""
        return Written, (str(self), self.place.resolve())


class Configured(str):
    """A text that comes from the configuration and is not written in the program."""

    __slots__ = ()


class Place(Protocol):
    """Something that has a span, which may be costly to compute: resolve only what is shown."""

    @property
    def path(self) -> str:
        """The file it is in."""
        ...

    def resolve(self) -> Span:
        """Return the span."""
        ...


@dataclass(frozen=True, slots=True)
class LookedUp:
    """The place of something that a program looked up by name: ``name`` is where that name is written."""

    place: Place
    name: Place

    @property
    def path(self) -> str:
        """The file it is in."""
        return self.place.path

    def resolve(self) -> Span:
        """Return the span of what was looked up."""
        return self.place.resolve()
