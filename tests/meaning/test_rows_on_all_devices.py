"""What is computed from a batch and asked for with all rows on each device: reported where it stays split."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
import flax.linen as nn
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("d", "m"))
def on(*spec):
    return NamedSharding(mesh, P(*spec))
x = jax.device_put(jnp.ones((32, 16)), on("d"))
w = jax.device_put(jnp.ones((16, 64)), on(None, "m"))
whole = jax.device_put(jnp.ones((16, 64)), on("d", "m"))
constrain = lax.with_sharding_constraint
layer = nn.Dense(64)
params = layer.init(jax.random.key(0), x)
"""
#: Programs that make ``y``, and whether they are reported.
PROGRAMS: dict[str, bool] = {
    "y = jax.jit(lambda w, x: constrain(x @ w, on(None, 'm')))(w, x)": True,
    "y = jax.jit(lambda w, x: x @ w, out_shardings=on(None, 'm'))(w, x)": True,
    "y = jax.jit(lambda w, x: jax.nn.gelu(x @ w) * 2, out_shardings=on(None, 'm'))(w, x)": True,
    "y = jax.jit(lambda p, x: layer.apply(p, x), out_shardings=on(None, 'm'))(params, x)": True,
    "y = jax.jit(lambda w, x: x @ w, out_shardings=on('d', 'm'))(w, x)": False,
    "y = jax.jit(lambda w, x: x @ w, out_shardings=on())(w, x)": False,
    "y = jax.jit(lambda w, x: (x @ w).T, out_shardings=on('m'))(w, x)": False,
    "y = jax.jit(lambda w, x: (x @ w).sum(0), out_shardings=on('m'))(w, x)": False,
    "y = jax.jit(lambda w: constrain(w * 1, on(None, 'm')))(whole)": False,
    "y = jax.jit(lambda w, x: x @ constrain(w, on(None, 'm')), out_shardings=on('d', 'm'))(whole, x)": False,
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_reported_where_all_rows_are_on_each_device(program: str) -> None:
    text = f"{HEADER}{program}\n"
    assert bool(found(text, "SHL604")) == PROGRAMS[program]
    if PROGRAMS[program]:
        rows, columns = value(text, "y.sharding.shard_shape(y.shape)")
        assert (rows, columns) == (32, 16)
