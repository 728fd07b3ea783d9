"""Numbers of devices that are folded by hand, beside what JAX computes: a spec gives each device its own part
of 0, 1, 2, …, and that must be the number."""

from __future__ import annotations

import random

import jax
import numpy as np
import pytest
from support.checking import check
from support.jax_answers import asks_jax

SIZES = {"x": 2, "y": 2, "z": 2}
PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 2, 2), ("x", "y", "z"))
x, y, z = [lambda name=name: jax.lax.axis_index(name) for name in "xyz"]
def body(part):
    number = {number}
    return part - number * part.shape[0]
row = P({order})
found = jax.shard_map(body, mesh=mesh, in_specs=row, out_specs=row)(jnp.arange(8))
"""


def _number(rng: random.Random, order: tuple[str, ...]) -> str:
    axes = list(order)
    if rng.random() < 0.6:
        rng.shuffle(axes)
    if len(axes) == 3 and rng.random() < 0.5:
        return f"{axes[0]}() * 4 + {axes[1]}() * 2 + {axes[2]}()"
    text = f"{axes[0]}()"
    for axis in axes[1:]:
        size = rng.choice(("2", f"jax.lax.axis_size({axis!r})", f"mesh.shape[{axis!r}]"))
        text = f"({text} * {size} + {axis}())" if rng.random() < 0.5 else f"({axis}() + {size} * {text})"
    return text


@asks_jax("axis_orders")
def rests(text: str) -> list[int]:
    """Return what is left of each device's part without its number."""
    scope: dict[str, object] = {}
    exec(text, scope)
    found = scope["found"]
    assert isinstance(found, jax.Array)
    return [int(value) for value in np.asarray(found)]


@pytest.mark.parametrize("seed", range(16))
def test_numbers_in_another_order_are_reported(seed: int) -> None:
    rng = random.Random(seed)
    order = tuple(rng.sample("xyz", rng.choice((2, 3))))
    text = PROGRAM.format(number=_number(rng, order), order=order)
    shard = 8 // 2 ** len(order)
    wrong = rests(text) != [index % shard for index in range(8)]
    assert ("SHL315" in [finding.code for finding in check(text, devices=8)]) is wrong, text
