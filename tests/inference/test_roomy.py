"""Calls that nest deep cost what others cost."""

from __future__ import annotations

import pytest

from shardlint.support.frame_memory import roomy

resource = pytest.importorskip("resource")

DEPTH = 400
CALLS = 50


def shallow(depth: int) -> int:
    """Nest a few calls."""
    return shallow(depth - 1) if depth else 0


def nested(depth: int) -> int:
    """Make calls at each depth: some of them at the end of a chunk of frames, wherever chunks end."""
    for _ in range(CALLS):
        shallow(5)
    return 1 + nested(depth - 1) if depth else 0


@roomy
def with_room(depth: int) -> int:
    """The same, with room for it."""
    return nested(depth)


def faults(function: object) -> int:
    """How many page faults a call makes."""
    assert callable(function)
    function(DEPTH)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    function(DEPTH)
    after: int = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    return after - before


def test_it_is_the_function_that_it_was() -> None:
    assert with_room(DEPTH) == nested(DEPTH) == DEPTH
    assert with_room.__name__ == "with_room"


def test_calls_map_no_memory_again_and_again() -> None:
    assert faults(with_room) < CALLS
