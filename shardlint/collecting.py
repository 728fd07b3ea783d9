"""When garbage is collected: seldom, since evaluation makes much that lives long, and little in cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: How many objects more than at the last collection are worth another one: some 60 MB.
_MANY = 400_000


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Collect no garbage meanwhile, but afterwards if much was made; within another such block only then."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > _MANY:
            gc.collect()
        if collecting:
            gc.enable()
