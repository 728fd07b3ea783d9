"""Cancellation of an analysis: the caller requests a stop, and the evaluator polls for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Stopped(BaseException):
    """An analysis was cancelled. Not an Exception, since it is no failure of the analyzed program."""


class Stop:
    """A cancellation token, which any thread may set.

    Args:
        gentle: whether the file in work ends as if its steps were used up, with what was found so far.
        awaited: whether somebody waits for the result, so that housekeeping is put off.
    """

    __slots__ = ("asked", "awaited", "gentle")

    def __init__(self, gentle: bool = False, awaited: bool = False) -> None:
        self.asked, self.gentle, self.awaited = False, gentle, awaited

    def ask(self) -> None:
        """Request that the analysis stop at its next step."""
        self.asked = True


class _Now:
    """The token of the analysis that is running."""

    stop = Stop()


NOW = _Now()


def look() -> None:
    """Raise Stopped if the running analysis was cancelled."""
    if NOW.stop.asked:
        raise Stopped


@contextmanager
def stoppable(stop: Stop) -> Iterator[None]:
    """Run the block under a cancellation token. One thread at a time may do so."""
    before, NOW.stop = NOW.stop, stop
    try:
        yield
    finally:
        NOW.stop = before
