"""Constraints that gather the rows of a batch before a product: what each device computes, beside JAX."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import flax.linen as nn, jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))
on = lambda *spec: NamedSharding(mesh, P(*spec))
x = jax.device_put(jnp.ones((64, 32)), on("data"))
ids = jax.device_put(jnp.arange(64), on("data"))
w = jax.device_put(jnp.ones((32, 32)), on())
columns = jax.device_put(jnp.ones((32, 32)), on(None, "data"))
fsdp = jax.device_put(jnp.ones((32, 32)), on("data"))
table = jax.device_put(jnp.ones((128, 32)), on())
bias = jax.device_put(jnp.ones(32), on())
def constrain(x, *spec):
    return jax.lax.with_sharding_constraint(x, on(*spec))
@jax.jit
def f(x, ids, w, columns, fsdp, table, bias):
    {body}
args = x, ids, w, columns, fsdp, table, bias
"""
#: Bodies, and whether the devices along "data" multiply the same rows.
BODIES: dict[str, bool] = {
    "return constrain(x) @ w": True,
    "return jnp.tanh(constrain(x) + bias) @ w": True,
    "return jnp.dot(constrain(x, None, None), w)": True,
    "return jnp.einsum('bd,df->bf', constrain(x), w)": True,
    "h = constrain(x)\n    h = h - h.mean(-1, keepdims=True)\n    return (h / 2) @ w": True,
    "return jnp.take(table, constrain(ids), axis=0) @ w": True,
    "return table[constrain(ids)] @ w": True,
    "return constrain(constrain(x) * 2, None, 'model') @ w": True,
    "return constrain(constrain(x @ w) @ w)": True,
    "return constrain(x, 'data') @ w": False,
    "return constrain(x @ w + 1)": False,
    "return (x @ constrain(fsdp)) @ w": False,
    "return constrain(x) @ columns": False,
    "return table[ids] @ w": False,
    "return constrain(constrain(x), 'data') @ w": False,
}


@pytest.mark.parametrize("body", BODIES)
def test_products_of_the_same_rows(body: str) -> None:
    program = HEADER.format(body=body)
    rows = "f.lower(*args).compile().cost_analysis()['flops'] / (2 * 16 * 32 * 32 * {})"
    products = body.count("@") + body.count("dot") + body.count("einsum")
    multiplied = value(program, rows.format(products)) > 1.5
    assert multiplied == BODIES[body]
    told = [one for one in found(f"{program}f(*args)\n", "SHL604") if "same rows" in one.message]
    assert bool(told) == BODIES[body]


#: Bodies, and whether they gather rows that meet the same ones, split: each device takes its own again.
MEETINGS: dict[str, bool] = {
    "return x + constrain(x * 2)": True,
    "return x * jnp.cumsum(constrain(x * 2), axis=1)": True,
    "return jnp.where(x > 0, constrain(x * 2), x)": True,
    "return x + constrain(x.sum(1))[:, None]": True,
    "return x + constrain(ids)[:, None]": True,
    "return x.reshape(64, 4, 8) - constrain(x * 2).reshape(64, 4, 8)": True,
    "return x + jnp.sort(constrain(x * 2), axis=1)": True,
    "h = constrain(x * 2)\n    return x + h[:, :, None].swapaxes(1, 2)[:, 0]": True,
    "return x + constrain(x * 2, 'data')": False,
    "return constrain(x) + constrain(x * 2)": False,
    "return x + bias": False,
    "return x + constrain(bias)": False,
    "return x + constrain(w)[0]": False,
    "return constrain(x + x * 2)": False,
    "return constrain(x * 2)[0] + x[1]": False,
    "return constrain(x * 2)": False,
}


@pytest.mark.parametrize("body", MEETINGS)
def test_rows_that_meet_their_own_parts(body: str) -> None:
    program = HEADER.format(body=body)
    gathers = "'all-gather' in f.lower(*args).compile().as_text()"
    split = "not f(*args).sharding.is_fully_replicated"
    assert value(program, f"{gathers} and {split}") == MEETINGS[body]
    told = [one for one in found(f"{program}f(*args)\n", "SHL604") if "same rows" in one.message]
    assert bool(told) == MEETINGS[body]
