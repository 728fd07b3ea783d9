"""Flax's logical constraints under rules but no mesh: reported where results are laid out otherwise."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import flax.linen as nn
import jax, jax.numpy as jnp, numpy as np
from flax.linen import partitioning
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("d", "m"))
one = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("d", "m"))
HIDDEN = ("rows", "hidden")
RULES = (("rows", "d"), ("hidden", "m"))
def on(*spec):
    return NamedSharding(mesh, P(*spec))
w = jax.device_put(jnp.ones((16, 32)), on())
x = jax.device_put(jnp.ones((8, 16)), on("d"))
def hidden(z):
    return nn.with_logical_constraint(z, HIDDEN)
def rows(z):
    return nn.with_logical_constraint(z, ("rows", None))
class Model(nn.Module):
    @nn.compact
    def __call__(self, z):
        z = nn.LayerNorm()(nn.Dense(32)(z))
        return partitioning.with_sharding_constraint(z, ("rows", "hidden"))
class Plain(nn.Module):
    @nn.compact
    def __call__(self, z):
        return hidden(nn.Dense(32)(z))
model = Model()
params = model.init(jax.random.key(0), np.ones((8, 16), np.float32))
rules = nn.logical_axis_rules(RULES)
"""
#: Programs that make ``y``, and whether they are reported.
PROGRAMS: dict[str, bool] = {
    "with rules: y = jax.jit(lambda w, x: hidden(x @ w))(w, x)": True,
    "with rules: y = jax.jit(lambda w, x: hidden(jnp.tanh(x @ w) * 2))(w, x)": True,
    "with rules: y = jax.jit(lambda x: hidden(x), in_shardings=on('d'))(x)": True,
    "with rules: y = jax.jit(model.apply)(params, x)": True,
    "y = jax.jit(lambda x: nn.with_logical_constraint(x, HIDDEN, rules=RULES))(x)": True,
    "with rules: y = jax.jit(Plain().init)(jax.random.key(0), x)['params']['Dense_0']['kernel']": False,
    "with rules: y = jax.jit(lambda w, x: rows(x @ w))(w, x)": False,
    "y = jax.jit(lambda w, x: hidden(x @ w))(w, x)": False,
    "with rules: y = hidden(x)": False,
    "with rules, jax.set_mesh(mesh): y = jax.jit(lambda w, x: hidden(x @ w))(w, x)": False,
    "with rules: y = jax.jit(lambda x: nn.with_logical_constraint(x, HIDDEN, mesh=mesh))(x)": False,
    "with rules: y = jax.jit(lambda x: hidden(x))(jax.device_put(x, NamedSharding(one, P('d'))))": False,
    "with rules: y = jax.jit(lambda x: hidden(x))(jax.device_put(x, on('d', 'm')))": False,
    "with rules: y = jax.jit(lambda x: hidden(x))(jnp.ones((8, 16)))": False,
    "with nn.logical_axis_rules((('rows', 'd'), ('hidden', None))): y = jax.jit(hidden)(x)": False,
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_reported_where_nothing_is_constrained(program: str) -> None:
    text = f"{HEADER}{program}\n"
    assert bool(found(text, "SHL410")) == PROGRAMS[program]
    is_split = value(text, "'m' in getattr(y.sharding, 'spec', ()) and len(y.devices()) > 1")
    assert not (PROGRAMS[program] and is_split)
    if "mesh" in program:
        assert is_split
