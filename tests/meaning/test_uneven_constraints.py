"""Constraints on dimensions that do not divide: what XLA makes of them, beside what is said."""

from __future__ import annotations

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from support.checking import check

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
keep = lambda y: jax.lax.with_sharding_constraint(y, NamedSharding(mesh, P(None, "x")))
jax.jit(lambda y: jnp.sum(jnp.exp(keep(y))))(jnp.ones(({rows}, {columns})))
"""
MESH = Mesh(np.array(jax.devices()), ("x",))


def _keep(y: jax.Array) -> jax.Array:
    return jax.lax.with_sharding_constraint(y, NamedSharding(MESH, P(None, "x")))


@pytest.mark.parametrize("seed", range(6))
def test_it_is_padded_inside_and_whole_where_it_is_returned(seed: int) -> None:
    rng = random.Random(seed)
    # An odd size has no factor in common with the axis.
    rows, columns = rng.randint(2, 5), 2 * rng.randint(4, 40) + 1
    (found,) = check(PROGRAM.format(rows=rows, columns=columns), devices=MESH.size)
    assert found.code == "SHL205"
    assert "JAX pads it, and replicates it where jit returns it" in found.message
    y = jnp.ones((rows, columns))
    inside = jax.jit(lambda y: jnp.sum(jnp.exp(_keep(y)))).lower(y).compile().as_text()
    assert f"f32[{rows},{-(-columns // MESH.size)}]" in inside
    assert jax.jit(lambda y: _keep(jnp.exp(y)))(y).sharding.is_fully_replicated
