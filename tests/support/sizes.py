"""How many cases random suites try: with ``SHARDLINT_FULL=1`` about three times as many."""

from __future__ import annotations

import os

#: Whether random suites run in full size.
FULL = os.environ.get("SHARDLINT_FULL") == "1"


def size(variable: str, normal: int, full: int) -> int:
    """Return how many cases a suite tries, of which its own variable may ask for more."""
    return int(os.environ.get(variable) or (full if FULL else normal))


def scale(variable: str, normal: float) -> float:
    """Return by what a suite multiplies its numbers of cases."""
    return float(os.environ.get(variable) or (1 if FULL else normal))
