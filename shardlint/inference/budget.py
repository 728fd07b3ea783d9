"""How much evaluation an entry is worth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from shardlint.stopping import NOW, Stopped

#: Steps one entry may take: calls, turns of loops, and statements.
MAX_STEPS = 40_000
#: What a block of statements takes at least.
_LEAST = 4
#: Calls one entry may nest.
MAX_DEPTH = 12
#: What share of the steps that are left a call may take, so that what comes after it is reached.
_SHARE = 0.85


def stretched(steps: int) -> int:
    """How many more steps something must be allowed at most if so many are taken in calls in it."""
    return math.ceil(max(steps, 0) / _SHARE ** (MAX_DEPTH + 2))


class Exhausted(Exception):
    """The steps of an entry, or of a call, are used up."""


class Budget:
    """The steps that an entry has taken, and how many it, or the call that runs, may take.

    ``demand`` is how many it must be allowed so that all goes as it went; endless, if steps ran out.
    """

    def __init__(self) -> None:
        self.steps = 0
        self.demand = 0.0
        self._limit = MAX_STEPS

    def begin(self) -> None:
        """Take no step yet."""
        self.steps, self.demand = 0, 0.0

    def tick_block(self, statements: int) -> None:
        """Spend steps for a block: a power of two, so that a statement more or less seldom matters.

        Raises Exhausted, and Stopped.
        """
        self.tick(_LEAST if statements <= _LEAST else 1 << (statements - 1).bit_length())

    def tick(self, steps: int = 1) -> None:
        """Spend steps. Raises Exhausted, and Stopped."""
        if NOW.stop.asked:
            raise Stopped
        self.steps += steps
        if self.steps > self._limit:
            self.demand = math.inf
            raise Exhausted

    @property
    def state(self) -> tuple[int, float, int]:
        """All that it holds."""
        return self.steps, self.demand, self._limit

    @state.setter
    def state(self, state: tuple[int, float, int]) -> None:
        self.steps, self.demand, self._limit = state

    def need(self, start: int) -> float:
        """How many steps what began when so many were taken must be allowed (see ``demand``)."""
        return max(self.demand, self.steps) - start

    @property
    def left(self) -> int:
        """How many more steps may be taken."""
        return self._limit - self.steps

    def exhaust(self) -> NoReturn:
        """Spend all steps that are left, as somebody surely would. Raises Exhausted."""
        self.steps, self.demand = self._limit + 1, math.inf
        raise Exhausted

    def take(self, steps: int, need: float) -> None:
        """Spend the steps of something that is done again, which needs to be allowed more."""
        self.demand = max(self.demand, self.steps + need)
        self.steps += steps

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Let a call have its share of what is left. Raises Exhausted where that is not enough."""
        start, demand, limit = self.state
        self.demand, self._limit = start, start + int((limit - start) * _SHARE)
        try:
            yield
        finally:
            # One more, since shares are rounded.
            self.demand = max(demand, start + (self.need(start) + 1) / _SHARE)
            self._limit = limit
