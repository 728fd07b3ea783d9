"""Stopping an analysis that nobody waits for any more: whoever asked for it says so, the evaluator looks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Stopped(BaseException):
    """An analysis was stopped. It is no failure of what is analyzed, which is what Exceptions are."""


class Stop:
    """A wish, from any thread, that an analysis end."""

    __slots__ = ("asked",)

    def __init__(self) -> None:
        self.asked = False

    def ask(self) -> None:
        """Let the analysis end at its next step."""
        self.asked = True


class _Now:
    """The wish that the analysis under way heeds."""

    stop = Stop()


NOW = _Now()


def look() -> None:
    """Raises Stopped where the analysis under way is to end."""
    if NOW.stop.asked:
        raise Stopped


@contextmanager
def stoppable(stop: Stop) -> Iterator[None]:
    """Heed a wish. Analyses are made by one thread at a time."""
    before, NOW.stop = NOW.stop, stop
    try:
        yield
    finally:
        NOW.stop = before
