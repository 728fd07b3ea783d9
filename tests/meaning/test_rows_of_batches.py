"""Rows of a batch inside jit that a constraint asks for over fewer devices: reported where that is so."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
import flax.linen as nn
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("d", "f"))
def on(*spec):
    return NamedSharding(mesh, P(*spec))
x = jax.device_put(jnp.ones((32, 16)), on(("d", "f")))
w = jax.device_put(jnp.ones((16, 16)), on("f"))
def few(z):
    return lax.with_sharding_constraint(z, on("d"))
def all_of(z):
    return lax.with_sharding_constraint(z, on(("d", "f")))
layer = nn.Dense(16)
params = layer.init(jax.random.key(0), x)
"""
#: Programs that make ``y``, and whether they are reported.
PROGRAMS: dict[str, bool] = {
    "y = jax.jit(lambda w, x: few(x @ w))(w, x)": True,
    "y = jax.jit(lambda w, x: few(jax.nn.gelu(x @ w)))(w, x)": True,
    "y = jax.jit(lambda w, x: few(jnp.dot(x, w) + 1))(w, x)": True,
    "y = jax.jit(lambda w, x: few(jnp.matmul(x, w) @ w))(w, x)": True,
    "y = jax.jit(lambda p, x: few(layer.apply(p, x)))(params, x)": True,
    "y = jax.jit(lambda w, x: few(x * 2))(w, x)": True,
    "y = jax.jit(lambda w, x: all_of(x @ w))(w, x)": False,
    "y = jax.jit(lambda w, x: x @ w)(w, x)": False,
    "y = jax.jit(lambda w, x: few(w @ x.T).T)(w, x)": False,
    "y = jax.jit(lambda w, x: few((x @ w).sum(axis=0)))(w, x)": False,
    "y = jax.jit(lambda w, x: lax.with_sharding_constraint(x @ w, on('d', 'f')))(w, x)": False,
    "y = jax.jit(lambda w, x: lax.with_sharding_constraint(x @ w, on(None, 'f')))(w, x)": False,
    "y = jax.jit(lambda w, x: few(all_of(x @ w)[:16]))(w, x)": False,
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_reported_where_devices_get_the_same_rows(program: str) -> None:
    text = f"{HEADER}{program}\n"
    assert bool(found(text, "SHL604")) == PROGRAMS[program]
    if PROGRAMS[program]:
        assert value(text, "y.sharding.shard_shape(y.shape)[0]") == 16
