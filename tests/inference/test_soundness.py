"""What the evaluator says of a value is never wrong: random programs beside Python itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from differential import compare
from random_programs import ProgramMaker
from support.sizes import size

pytestmark = pytest.mark.slow

#: Programs; the environment may ask for more.
PROGRAMS = size("SHARDLINT_PROGRAMS", 30, 80)
CHUNKS = 8


@pytest.fixture(autouse=True)
def deep_recursion() -> Iterator[None]:
    """The recursion limit that `analyze` sets."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_values_python_computes_are_possible(chunk: int) -> None:
    definite = 0
    for seed in range(chunk, PROGRAMS, CHUNKS):
        definite += compare(ProgramMaker(seed).program())
    # The comparison means something only where the evaluator says something.
    assert definite > PROGRAMS // CHUNKS * 4
