"""When garbage is collected: seldom, since evaluation makes much that lives long, and little in cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

#: How many objects more than at the last collection are worth another one: some 150 MB.
_MANY = 1_000_000
#: Of so many collections, one looks at all objects, the others at the new ones alone.
_FULL = 4
_collections = count(1)


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Collect no garbage meanwhile, but afterwards if much was made; within another such block only then."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > _MANY:
            gc.collect(2 if next(_collections) % _FULL == 0 else 0)
        if collecting:
            gc.enable()
