"""How much evaluation an entry is worth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from shardlint.stopping import NOW, Stopped

#: Statements one entry may execute.
MAX_STEPS = 20_000
#: Calls one entry may nest.
MAX_DEPTH = 12
#: What share of the steps that are left a call may take, so that what comes after it is reached.
_SHARE = 0.85


class Exhausted(Exception):
    """The steps of an entry, or of a call, are used up."""


class Budget:
    """The steps that an entry has taken, and how many it, or the call that runs, may take."""

    def __init__(self) -> None:
        self.steps = 0
        self._limit = MAX_STEPS

    def tick(self) -> None:
        """Spend a step. Raises Exhausted, and Stopped."""
        if NOW.stop.asked:
            raise Stopped
        self.steps += 1
        if self.steps > self._limit:
            raise Exhausted

    @property
    def left(self) -> int:
        """How many more steps may be taken."""
        return self._limit - self.steps

    def exhaust(self) -> NoReturn:
        """Spend all steps that are left, as somebody surely would. Raises Exhausted."""
        self.steps = self._limit + 1
        raise Exhausted

    def affords(self, steps: int) -> bool:
        """Whether there are so many more steps."""
        return self.steps + steps <= self._limit

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Let a call have its share of what is left. Raises Exhausted where that is not enough."""
        before = self._limit
        self._limit = self.steps + int((before - self.steps) * _SHARE)
        try:
            yield
        finally:
            self._limit = before
