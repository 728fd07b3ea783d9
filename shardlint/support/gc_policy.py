"""When garbage is collected: seldom, since evaluation makes much that lives long, and little in cycles.

A cold check of two large files takes 4.8 s of CPU time with it and 6.2 s without. Use it around a whole
analysis, or several, not around a single step.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from shardlint.support.cancellation import NOW

#: New objects that justify a collection: some 100 MB.
_MANY = 1_000_000
#: New objects that justify a collection although somebody waits.
_TOO_MANY = 5 * _MANY
#: New objects that justify a collection while the process is idle: what ten programs leave that a changed
#: module makes obsolete.
_SOME = 50_000
#: New objects that are collected within a few milliseconds.
_FEW = 20_000
#: One in so many collections between programs examines what earlier ones left, too.
_OLDEST = 6


class _Collector:
    """Runs the garbage collector after evaluations."""

    def __init__(self) -> None:
        self._collections = 0
        #: Whether objects are exempt for good. `gc.get_freeze_count` counts them one by one.
        self.has_frozen = False
        #: Objects that were promoted to the oldest generation without being examined.
        self._unseen = 0

    def collect_between_programs(self) -> None:
        """Collect if many objects were allocated since the last collection.

        What is left is what programs share, which mostly stays: it is exempt from the next collections.
        """
        if gc.get_count()[0] > _MANY:
            self._collections += 1
            if self._collections % _OLDEST == 0:
                gc.unfreeze()
            self.collect()
            gc.freeze()

    def let_age(self, most: int) -> None:
        """Promote many new objects to the oldest generation, as if they had survived two collections.

        Otherwise the next few allocations would cause all of them to be examined. If more than ``most`` were
        promoted so, collect.
        """
        young, collections, older = gc.get_count()
        if young < _FEW or self.has_frozen:
            return
        # This promotes all younger objects, whoever allocated them.
        each, times, _ = gc.get_threshold()
        self._unseen += young + each * (collections + times * older)
        if self._unseen > most:
            self.collect()
        else:
            gc.freeze()
            gc.unfreeze()

    def rest(self) -> None:
        """Collect the objects that were promoted unexamined, if there are enough of them."""
        if self._unseen > _SOME:
            self.collect()

    def collect(self) -> None:
        """Collect all that is not exempt."""
        gc.collect()
        self._unseen = 0


_collector = _Collector()


def freeze() -> None:
    """Exempt all objects that exist from collection: most of them stay until the process ends."""
    gc.freeze()
    _collector.has_frozen = True


def rest() -> None:
    """Collect garbage now if there may be some, since the process is idle."""
    _collector.rest()


def collect_meanwhile() -> None:
    """Collect garbage in the middle of a long evaluation if much was allocated, unless somebody waits."""
    if gc.get_count()[0] > _MANY and not (gc.isenabled() or NOW.stop.awaited or NOW.stop.asked):
        _collector.collect()


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Disable collection inside the block, and collect at its end if many objects were allocated.

    Inside another such block, only the outer one collects. A full collection takes seconds: while somebody
    waits, for this work or for what stopped it, it is put off.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        awaited = NOW.stop.awaited or NOW.stop.asked
        if not awaited:
            _collector.collect_between_programs()
        if collecting:
            _collector.let_age(_TOO_MANY if awaited else _MANY)
            gc.enable()
