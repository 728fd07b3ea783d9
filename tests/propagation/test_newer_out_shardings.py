"""``out_sharding=`` of functions that have it since JAX 0.11: the laws beside JAX, where it is that new."""

from __future__ import annotations

import random
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from comparing import Program, ask_jax, ask_law, disagreement, out_of
from drawing import Draw
from jax import lax

from shardlint.laws import propagation as laws


def _one_hot(draw: Draw) -> Program:
    shape = draw.shape(0, 3)
    draw.array(shape, dtype=jnp.int32)
    axis, classes = draw.rng.randint(0, len(shape)), draw.rng.choice((4, 6, 8))
    new = (*shape[:axis], classes, *shape[axis:])
    held, out = draw.operands[0].sharding, draw.out_sharding(new)
    if held is not None and draw.rng.random() < 0.5:
        entries: list[Any] = [*held.spec.partitions, *(None,) * (len(shape) - len(held.spec.partitions))]
        entries.insert(axis, draw.rng.choice((None, "x", "y")))
        out = jax.sharding.PartitionSpec(*entries)
    return Program(
        lambda x: jax.nn.one_hot(x, classes, axis=axis, out_sharding=out),
        lambda c, a, s: out is not None and laws.one_hot(c, a[0], s(new), axis, out_of(out)),
    )


def _maximum(draw: Draw) -> Program:
    shape = draw.shape(empty=False)
    draw.array(shape)
    axes = tuple(i for i in range(len(shape)) if draw.rng.random() < 0.5)
    out = draw.out_sharding(tuple(n for i, n in enumerate(shape) if i not in axes))
    return Program(
        lambda x: lax.reduce_max(x, axes, out_sharding=out),
        lambda c, a, s: laws.reduce(c, a[0], axes, "max", out_of(out)),
    )


@pytest.mark.skipif(jax.__version_info__ < (0, 11, 1), reason="JAX has none of these arguments")
@pytest.mark.parametrize("kind", [_one_hot, _maximum])
def test_the_laws_agree_with_jax(kind: Any) -> None:
    asked = 0
    for case in range(250):
        draw = Draw(random.Random(f"{kind.__name__} {case}"))
        program = kind(draw)
        truth = ask_jax(draw, program)
        if (answer := ask_law(truth, program)) is False:
            continue
        asked += 1
        wrong = disagreement(truth, answer)
        assert wrong is None, f"{case}: {truth.operands} in {truth.context}\n{wrong}"
    assert asked > 80
