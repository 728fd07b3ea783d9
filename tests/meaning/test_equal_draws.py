"""Random draws in shard_map: reported where the noise of all devices is the same, and meant to differ."""

from __future__ import annotations

import pytest
from consequences import found, of_pages, value

HEADER = """import flax.linen as nn
import jax, jax.numpy as jnp, numpy as np
from jax import lax, random
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
rows = jnp.ones((16, 8))
def on(body, spec=P("x"), keys=P(), key=random.key(0), **options):
    both = jax.shard_map(body, mesh=mesh, in_specs=(spec, keys), out_specs=P("x", "y"), **options)
    return jax.jit(both)(rows, key)
class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Dropout(0.5)(x, deterministic=not train)
        return x + (random.normal(self.make_rng("noise"), x.shape) if train else 0)
net = Net()
def mapped(body, *args, axes=0):
    return varied(jax.vmap(body, axes)(*args))
def varied(x):
    return lax.pcast(x, "y", to="varying")
"""
#: Bodies of ``x`` and ``k`` whose noise is the same along "x", or not, and whether it is reported.
BODIES: dict[str, bool] = {
    "lambda x, k: varied(x + random.normal(k, x.shape))": True,
    "lambda x, k: varied(jnp.where(random.bernoulli(k, 0.5, x.shape), x, 0.0))": True,
    "lambda x, k: varied(jnp.where(random.uniform(k, (x.shape[0], 1)) < 0.5, x, 0.0))": True,
    "lambda x, k: varied(x * random.bernoulli(random.split(k)[1], 0.5, x.shape).astype(float) / 0.5)": True,
    "lambda x, k: varied(x + random.normal(random.key(7), x.shape))": True,
    "lambda x, k: x + random.normal(random.fold_in(k, lax.axis_index('y')), x.shape)": True,
    "lambda x, k: varied(jax.vmap(lambda r, q: r + random.normal(q, r.shape))(x, random.split(k, 8)))": True,
    "lambda x, k: varied(net.apply({}, x, True, rngs={'dropout': k, 'noise': k}))": True,
    "lambda x, k: varied(random.categorical(k, x[:, :, None] * jnp.ones(4), -1).astype(float))": True,
    "lambda x, k: varied(jax.vmap(lambda r, q: r + random.normal(q))(x, random.split(k, 8)))": True,
    "lambda x, k: mapped(lambda r, q: r + random.normal(q), x.T, random.split(k, 8), axes=(1, 0))": True,
    "lambda x, k: mapped(lambda i, r: r + random.normal(random.fold_in(k, i)), jnp.arange(8), x)": True,
    "lambda x, k: mapped(lambda q, r: random.categorical(q, r), random.split(k, 8), x)[:, None] + 0.0": True,
    "lambda x, k: varied(jax.vmap(lambda a: a[1] * random.bernoulli(a[0]))((random.split(k, 8), x)))": True,
    "lambda x, k: varied(jax.vmap(jax.vmap(lambda q, r: r + random.normal(q), (0, None)))("
    "random.split(k, (8, 3)), x).mean(1))": True,
    "lambda x, k: varied(jax.vmap(lambda s: jax.vmap(lambda q, r: r + random.normal(q))(s, x))("
    "random.split(k, (3, 8))).mean(0))": True,
    "lambda x, k: varied(jax.vmap(lambda r, q: r + random.normal(random.fold_in(q, lax.axis_index('x'))))("
    "x, random.split(k, 8)))": False,
    "lambda x, k: varied(jax.vmap(lambda i, r: r + random.normal(random.fold_in(k, i)))("
    "lax.axis_index('x') * 8 + jnp.arange(8), x))": False,
    "lambda x, k: varied(jax.vmap(lambda r, q: r + random.normal(q))("
    "x, lax.dynamic_slice_in_dim(random.split(k, 16), lax.axis_index('x') * 8, 8)))": False,
    "lambda x, k: varied(jax.vmap(lambda q: x * random.normal(q))(random.split(k, 3)).mean(0))": False,
    "lambda x, k: varied(jax.vmap(lambda r: r + random.normal(k))(x))": False,
    "lambda x, k: mapped(lambda r: (r * jax.vmap(random.normal)(random.split(k, 3))[:, None])[0], x)": False,
    "lambda x, k: varied(jax.vmap(lambda r, q: r @ random.normal(q, (8, 8)))(x, random.split(k, 8)))": False,
    "lambda x, k: varied(x + random.normal(random.fold_in(k, lax.axis_index('x')), x.shape))": False,
    "lambda x, k: varied(x + random.normal(random.split(k, 2)[lax.axis_index('x')], x.shape))": False,
    "lambda x, k: varied(x @ random.normal(k, (8, 8)))": False,
    "lambda x, k: varied(x + random.normal(k, (8,)))": False,
    "lambda x, k: varied(x + lax.pcast(random.normal(k, (1, 8)), 'x', to='varying'))": False,
    "lambda x, k: varied(net.apply({}, x, False, rngs={'dropout': k}))": False,
}  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
def test_what_is_reported(body: str) -> None:
    program = f"{HEADER}y = on({body})\n"
    reported = bool(found(program, "SHL314"))
    assert reported == BODIES[body]
    are_equal = value(program, "bool(np.array_equal(*np.reshape(y, (2, -1))))")
    assert are_equal or not reported, "the rows are equal, and so must their noise be"


#: Calls that share a draw as they should: nothing differs between the devices, or it was gathered.
SHARED = (
    "on(lambda x, k: varied(x), P('x'))",
    "on(lambda x, k: lax.pcast(x + random.normal(k, x.shape), ('x', 'y'), to='varying'), P())",
    "on(lambda x, k: varied(lax.all_gather(x, 'x', tiled=True) + random.normal(k, (16, 8))), P('x'))",
    "on(lambda x, k: lax.pcast(lax.psum(x, 'x') + random.normal(k, x.shape), ('x', 'y'), to='varying'))",
    "on(lambda x, k: mapped(lambda r, q: r + random.normal(q), x, random.split(k, 16)), P(None, 'x'))",
    "on(lambda x, k: varied(x + random.normal(k, (16, 1))), P(None, 'x'))",
    "on(lambda x, k: varied(x * random.bernoulli(k, 0.5, (1, x.shape[1]))), P('x'))",
    "on(lambda x, k: varied(x + random.normal(k[0], x.shape)), keys=P('x'), key=random.split(random.key(0)))",
)


@pytest.mark.parametrize("call", SHARED)
def test_what_is_not(call: str) -> None:
    program = f"{HEADER}y = {call}\n"
    assert not found(program, "SHL314")
    value(program)


def test_the_page_drops_the_same_units_and_then_others() -> None:
    equal = "[np.array_equal(part, {0}.y.reshape(8, -1)[0]) for part in {0}.y.reshape(8, -1)]"
    assert of_pages("SHL314", equal.format("bad")) == [True] * 8
    assert of_pages("SHL314", equal.format("good")) == [True] + [False] * 7
