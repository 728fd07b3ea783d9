"""When garbage is collected: seldom, since evaluation makes much that lives long, and little in cycles.

A cold check of two large files takes 4.8 s of CPU time with it and 6.2 s without. Use it around a whole
analysis, or several, not around a single step.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: So many new objects are worth a collection: some 250 MB.
_MANY = 2_500_000
#: So many are worth one while nobody waits.
_SOME = 300_000
#: So few are looked at in a few milliseconds.
_FEW = 20_000
#: Of so many collections, one looks at all objects, the others at the new ones alone.
_FULL = 4


class _Collector:
    """Collects what is left of evaluations."""

    def __init__(self) -> None:
        self._collections = 0
        #: How many objects grew old without having been looked at.
        self._unseen = 0

    def collect_if_many(self) -> None:
        """Collect if much was made since the last time."""
        if gc.get_count()[0] > _MANY:
            self._collections += 1
            self._collect(everything=self._collections % _FULL == 0)

    def let_age(self) -> None:
        """Let much that was made grow old, as it does if it outlives two collections.

        Else the next little thing that somebody makes would have all of it looked at.
        """
        young, collections, older = gc.get_count()
        if young < _FEW or gc.get_freeze_count():
            return
        # All that is not old yet grows old with it, whoever made it.
        each, times, _ = gc.get_threshold()
        self._unseen += young + each * (collections + times * older)
        if self._unseen > _MANY:
            self._collect(everything=True)
        else:
            gc.freeze()
            gc.unfreeze()

    def rest(self) -> None:
        """Collect what has grown old unseen, if it is some."""
        if self._unseen > _SOME:
            self._collect(everything=True)

    def _collect(self, everything: bool) -> None:
        gc.collect(2 if everything else 0)
        self._unseen = 0 if everything else self._unseen


_collector = _Collector()


def rest() -> None:
    """Collect garbage now, if there may be some, since nobody waits for anything."""
    _collector.rest()


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Collect no garbage meanwhile, but afterwards if much was made; within another such block only then."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        _collector.collect_if_many()
        if collecting:
            _collector.let_age()
            gc.enable()
