"""How much evaluation an entry is worth.

Steps measure work. A run that memory may give again is a `Work`, which an entry counts once, however often
it is given; so what an entry takes does not depend on what others had evaluated before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from shardlint.model.spans import Place
from shardlint.support.cancellation import NOW, Stopped

#: Steps one entry may take: calls, turns of loops, and statements.
MAX_STEPS = 60_000
#: What a block of statements takes at least.
_LEAST = 4
#: Calls one entry may nest.
MAX_DEPTH = 20
#: What share of the steps that are left a call may take, so that what comes after it is reached; and for how
#: many levels of calls. What is cut short further in ends the call around it that has a share.
_SHARE, _SHARING = 0.85, 3
#: With so many steps at most, an entry goes the same way however they are shared.
SURELY_ENOUGH = int(MAX_STEPS * _SHARE**_SHARING)


#: Steps that a file may take in all: its top level, and again its entries together.
MAX_FILE_STEPS = 1_000_000


class Exhausted(Exception):
    """The steps of an entry, or of a call, are used up."""


class Ceiling:
    """How many steps a file may still take.

    ``where`` is the entry, or the statement of the top level, that took the last one: None until then.
    """

    __slots__ = ("left", "where")

    def __init__(self) -> None:
        self.left = MAX_FILE_STEPS
        self.where: Place | None = None

    def begin(self) -> None:
        """Allow all steps again."""
        self.left = MAX_FILE_STEPS

    @property
    def reached(self) -> bool:
        """Whether no step is left."""
        return self.left < 0

    def note(self, where: Place) -> None:
        """Note where evaluation ended for good, the first time."""
        self.where = self.where or where


class Work:
    """What a run took: steps of its own, and the works in it that may be given again."""

    __slots__ = ("own", "parts")

    def __init__(self, own: int, parts: frozenset[Work] = frozenset()) -> None:
        self.own, self.parts = own, parts

    def become(self, other: Work) -> bool:
        """Be what the same run takes now; returns whether that is something else."""
        differs = (self.own, self.parts) != (other.own, other.parts)
        self.own, self.parts = other.own, other.parts
        return differs


def works_in(works: Iterable[Work], besides: Collection[Work] = ()) -> set[Work]:
    """These works, and those in them, without those that are known to be there with all that is in them."""
    found, waiting = set[Work](), list(works)
    while waiting:
        one = waiting.pop()
        if one not in found and one not in besides:
            found.add(one)
            waiting += one.parts
    return found


class Budget:
    """What an entry has spent, and how many steps it, or the call in it that runs, may take.

    ``steps`` were spent in all; ``short`` is whether anything was cut short in what runs.
    """

    def __init__(self) -> None:
        self.short = False
        self.ceiling = Ceiling()
        #: Of what runs: its steps outside of works, and those works.
        self._own, self._parts = 0, set[Work]()
        self._pays = True
        self.begin()

    def begin(self) -> None:
        """Allow all steps again."""
        self.steps, self._limit, self._level = 0, MAX_STEPS, 0
        #: The works that were counted.
        self._works: set[Work] = set()

    def tick_block(self, statements: int) -> None:
        """Spend steps for a block: a power of two, so that a statement more or less seldom matters.

        Raises Exhausted, and Stopped.
        """
        self.tick(_LEAST if statements <= _LEAST else 1 << (statements - 1).bit_length())

    def tick(self, steps: int = 1) -> None:
        """Spend steps. Raises Exhausted, and Stopped."""
        if NOW.stop.asked:
            raise Stopped
        self._own += steps
        self.steps += steps
        self.ceiling.left -= steps
        if self.steps > self._limit or self.ceiling.left < 0:
            self.short = True
            raise Exhausted

    def shared(self) -> _Share:
        """Let a call have its share of what is left. Raises Exhausted where that is not enough."""
        return _Share(self)

    @property
    def shares(self) -> bool:
        """Whether the calls of what runs have shares, so that one may be cut short and all goes on."""
        return self._level < _SHARING

    def affords(self, work: Work) -> bool:
        """Whether there is surely enough for a run, and for all calls in it."""
        if work in self._works or not self._pays:
            return True
        more = sum(one.own for one in works_in([work], besides=self._works))
        return more <= (self._limit - self.steps) * _SHARE ** max(_SHARING - self._level, 0)

    def take(self, work: Work) -> None:
        """Spend what a run that is given again took."""
        self._parts.add(work)
        if self._pays and work not in self._works:
            works = works_in([work], besides=self._works)
            self._works |= works
            self.steps += sum(one.own for one in works)

    def open(self) -> tuple[int, set[Work], bool]:
        """Count what is spent from now on for itself; returns what was counted until now."""
        outer = self._own, self._parts, self.short
        self._own, self._parts, self.short = 0, set(), False
        return outer

    def close(self, outer: tuple[int, set[Work], bool]) -> tuple[Work, bool]:
        """Go on to count for what is around: what was spent since, and whether anything was cut short."""
        spent = self.spent, self.short
        self._own, self._parts, self.short = outer[0], outer[1], outer[2] or self.short
        return spent

    @property
    def spent(self) -> Work:
        """What was spent by what runs."""
        return Work(self._own, frozenset(self._parts))

    def settle(self, work: Work, kept: bool) -> None:
        """Count what a run has just spent: as a work that may be given again, or as part of what runs."""
        if kept:
            self._works.add(work)
            self._parts.add(work)
        else:
            self._own += work.own
            self._parts |= work.parts

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Let something be evaluated for which nobody pays: only what really runs takes steps."""
        before = vars(self).copy()
        self.begin()
        self._level, self._pays = _SHARING, False
        try:
            yield
        finally:
            vars(self).update(before)


class _Share:
    """A call, and the limit of what is around it."""

    __slots__ = ("_budget", "_limit")

    def __init__(self, budget: Budget) -> None:
        self._budget, self._limit = budget, budget._limit

    def __enter__(self) -> None:
        budget = self._budget
        if budget._level < _SHARING:
            budget._limit = budget.steps + int((budget._limit - budget.steps) * _SHARE)
        budget._level += 1

    def __exit__(self, *_: object) -> None:
        self._budget._limit = self._limit
        self._budget._level -= 1
