"""The budget of an entry point, in steps.

A cacheable call is a `Work`, which an entry point counts once, however often it is replayed. So the steps of
an entry point do not depend on what was evaluated before it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from contextlib import contextmanager

from shardlint.model.spans import Place
from shardlint.model.uses import Use
from shardlint.support.cancellation import NOW, Stopped

#: Steps of one entry point, or of one statement at top level: calls, iterations of loops, and statements.
MAX_STEPS = 60_000
#: Steps of an entry point that every one may take, and those that it may take after each new use.
_FREE, _AFTER_NEW = 10_000, 4_000
#: The least cost of a block of statements.
_LEAST = 4
#: The depth of nested calls in one entry point.
MAX_DEPTH = 20
#: The share of the remaining steps that a call may take, so that the code after it is reached; and the number
#: of call levels with shares. A call cut short further in ends the innermost call that has a share.
_SHARE, _SHARING = 0.85, 3
#: With at most this many steps, an entry point is evaluated the same way however they are shared.
SURELY_ENOUGH = int(_FREE * _SHARE**_SHARING)


#: Steps of a file in all: its top level, and again all its entry points together.
MAX_FILE_STEPS = 1_000_000


class Exhausted(Exception):
    """Raised when the steps of an entry point, or of a call, are used up."""


class Ceiling:
    """The steps that remain for a file.

    ``where`` is the entry point, or the top-level statement, that took the last one; None until then.
    """

    __slots__ = ("left", "where")

    def __init__(self) -> None:
        self.left = MAX_FILE_STEPS
        self.where: Place | None = None

    def begin(self) -> None:
        """Reset the count."""
        self.left = MAX_FILE_STEPS

    def stop(self) -> None:
        """End the evaluation, since it was cancelled. Raises Stopped if nothing of it is wanted."""
        if not NOW.stop.gentle:
            raise Stopped
        self.left = -1

    @property
    def reached(self) -> bool:
        """Return whether no step remains."""
        return self.left < 0

    def note(self, where: Place) -> None:
        """Record the place where evaluation ended for good, the first time."""
        self.where = self.where or where


class Work:
    """The cost of a call: its own steps, and the works of the cacheable calls in it."""

    __slots__ = ("own", "parts")

    def __init__(self, own: int, parts: frozenset[Work] = frozenset()) -> None:
        self.own, self.parts = own, parts

    def become(self, other: Work) -> bool:
        """Take over the cost of another run of the same call; return whether it differs."""
        differs = (self.own, self.parts) != (other.own, other.parts)
        self.own, self.parts = other.own, other.parts
        return differs


def works_in(works: Iterable[Work], besides: Collection[Work] = ()) -> set[Work]:
    """Return works with all works inside them, except ``besides``, which are known to be complete."""
    found, waiting = set[Work](), list(works)
    while waiting:
        one = waiting.pop()
        if one not in found and one not in besides:
            found.add(one)
            waiting += one.parts
    return found


class Budget:
    """The steps that an entry point has spent, and the limit of the running call.

    ``steps`` counts all; ``short`` is whether anything was cut short in the running call.
    """

    def __init__(self) -> None:
        self.short = False
        self.ceiling = Ceiling()
        #: The running call's steps outside of works, and its works.
        self._own, self._parts = 0, set[Work]()
        self._pays = True
        self.begin()

    def begin(self, caller_unknown: bool = False) -> None:
        """Reset the count; code whose caller is unknown goes on only as long as it meets new uses."""
        self.steps, self._end = 0, _FREE if caller_unknown else MAX_STEPS
        self._limit = self._end
        #: The steps at which the running calls with shares began.
        self._begun: list[int] = []
        #: The works counted so far, and the uses met.
        self._works: set[Work] = set()
        self._met: set[Hashable] = set()

    def meet(self, use: Use, silent: bool = False) -> None:
        """Extend the limit if a use is new: of another kind, at another place, or with another verdict."""
        key = type(use), use.place, type(use.verdict), silent
        if key not in self._met:
            self._met.add(key)
            self._extend()

    def _extend(self) -> None:
        end = min(self.steps + _AFTER_NEW, MAX_STEPS)
        if end > self._end:
            self._end = end
            self._divide()

    def _divide(self) -> None:
        """Set the limit of the running call: its share of what remained when it began."""
        limit = self._end
        for begun in self._begun[:_SHARING]:
            limit = begun + int((limit - begun) * _SHARE)
        self._limit = limit

    def tick_block(self, statements: int) -> None:
        """Spend steps for a block: a power of two, so that one statement more or less rarely matters.

        Raises Exhausted, and Stopped.
        """
        self.tick(_LEAST if statements <= _LEAST else 1 << (statements - 1).bit_length())

    def tick(self, steps: int = 1) -> None:
        """Spend steps. Raises Exhausted, and Stopped."""
        if NOW.stop.asked:
            self.ceiling.stop()
        self._own += steps
        self.steps += steps
        self.ceiling.left -= steps
        if self.steps > self._limit or self.ceiling.left < 0:
            self.short = True
            raise Exhausted

    def shared(self) -> _Share:
        """Limit a call to its share of the remaining steps. Raises Exhausted if that is not enough."""
        return _Share(self)

    @property
    def shares(self) -> bool:
        """Return whether the calls of the running code have shares, so that one cut short does not end it."""
        return len(self._begun) < _SHARING

    def affords(self, work: Work) -> bool:
        """Return whether the remaining steps surely suffice for a call and all calls in it."""
        if work in self._works or not self._pays:
            return True
        more = sum(one.own for one in works_in([work], besides=self._works))
        return more <= (self._limit - self.steps) * _SHARE ** max(_SHARING - len(self._begun), 0)

    def take(self, work: Work) -> None:
        """Spend the cost of a replayed call."""
        self._parts.add(work)
        if self._pays and work not in self._works:
            works = works_in([work], besides=self._works)
            self._works |= works
            self.steps += sum(one.own for one in works)

    def open(self) -> tuple[int, set[Work], bool, int]:
        """Begin a separate count; return the previous one."""
        outer = self._own, self._parts, self.short, len(self._met)
        self._own, self._parts, self.short = 0, set(), False
        return outer

    def close(self, outer: tuple[int, set[Work], bool, int]) -> tuple[Work, bool]:
        """Return to the outer count; return the work since, and whether anything was cut short.

        If it met new uses, they count from its end, as when it is replayed.
        """
        spent = self.spent, self.short
        self._own, self._parts, self.short = outer[0], outer[1], outer[2] or self.short
        if len(self._met) > outer[3]:
            self._extend()
        return spent

    @property
    def spent(self) -> Work:
        """Return the work of the running code so far."""
        return Work(self._own, frozenset(self._parts))

    def settle(self, work: Work, cached: bool) -> None:
        """Count a finished call, as a separate work if it was cached, else as part of the running code."""
        if cached:
            self._works.add(work)
            self._parts.add(work)
        else:
            self._own += work.own
            self._parts |= work.parts

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Evaluate without spending steps of the running code."""
        before = vars(self).copy()
        self.begin()
        self._begun, self._pays = [0] * _SHARING, False
        try:
            yield
        finally:
            vars(self).update(before)


class _Share:
    """A call with a share of the remaining steps."""

    __slots__ = ("_budget",)

    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    def __enter__(self) -> None:
        budget = self._budget
        budget._begun.append(budget.steps)
        if len(budget._begun) <= _SHARING:
            budget._divide()

    def __exit__(self, *_: object) -> None:
        budget = self._budget
        budget._begun.pop()
        if len(budget._begun) < _SHARING:
            budget._divide()
