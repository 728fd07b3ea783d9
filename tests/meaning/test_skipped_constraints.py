"""Constraints that helpers skip for want of a mesh: reported where results are laid out otherwise."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("d", "m"))
w = jax.device_put(jnp.ones((16, 32)), NamedSharding(mesh, P()))
x = jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, P("d")))
def maybe(x, mesh=None):
    if mesh is None or mesh.empty:
        return x
    return lax.with_sharding_constraint(x, jax.sharding.NamedSharding(mesh, P("d", "m")))
def flagged(x, on=None):
    if not on:
        return x
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P("d", "m")))
def doubled(x, mesh=None):
    return 2 * x if mesh is None else lax.with_sharding_constraint(x, NamedSharding(mesh, P("d", "m")))
class Layer:
    def __init__(self, mesh=None):
        self.mesh = mesh
    def __call__(self, w, x):
        return maybe(jnp.tanh(x @ w), self.mesh)
"""
#: Programs that make ``y``, and whether they are reported.
PROGRAMS: dict[str, bool] = {
    "y = jax.jit(Layer())(w, x)": True,
    "y = jax.jit(lambda w, x: maybe(x @ w))(w, x)": True,
    "y = jax.jit(lambda w, x: maybe(x @ w, None))(w, x)": True,
    "y = jax.jit(Layer(mesh))(w, x)": False,
    "y = jax.jit(lambda w, x: maybe(x @ w, mesh))(w, x)": False,
    "y = jax.jit(lambda w, x: flagged(x @ w))(w, x)": False,
    "y = jax.jit(lambda w, x: doubled(x @ w))(w, x)": False,
    "y = maybe(x)": False,
    "y = jax.jit(lambda x: maybe(x))(jnp.ones((8, 16)))": False,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_reported_where_nothing_is_constrained(program: str) -> None:
    text = f"{HEADER}{program}\n"
    assert bool(found(text, "SHL410")) == PROGRAMS[program]
    if PROGRAMS[program] or "mesh)" in program:
        assert ("m" in value(text, "list(y.sharding.spec)")) != PROGRAMS[program]
