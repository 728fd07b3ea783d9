"""``x[i:i + 1]`` takes one item, of whatever is long enough; of other slices the length is not known."""

from __future__ import annotations

import pytest
from support.checking import check

HEADER = """
import jax, jax.numpy as jnp, numpy as np
x = jnp.ones((8, 16))
n = jnp.argmax(jnp.arange(8.0))
k = int(n)
class Held:
    pass
held = Held()
held.n = k
"""
#: Slices of which JAX takes one item.
SINGLE = ("n - 1:n", "n:n + 1", "k - 1:k", "k:k + 1", "held.n:held.n + 1", "(n) : n + 1")
#: Others: what they give is not known, or is known exactly.
OTHERS = {
    "n - 2:n": None,
    "n:n + 3": None,
    "n:k + 1": None,
    "n - 1:n:2": None,
    "k:16": None,
    "-1:0": 0,
    "15:17": 1,
    "16:17": 0,
}


@pytest.mark.parametrize("written", [*SINGLE, *OTHERS])
def test_slices(written: str) -> None:
    program = f"{HEADER}y = x[:, {written}]  # shardlint: reveal\n"
    names: dict[str, object] = {}
    exec(f"{HEADER}y = x[:, {written}]", names)
    size = names["y"].shape[1]  # type: ignore[attr-defined]
    found = check(program)
    told = next(one.message for one in found if "`y`" in one.message)
    known = 1 if written in SINGLE else OTHERS[written]
    assert ("[8, ?" in told) if known is None else f"f32[8, {known}]" in told
    assert known in (None, size)
