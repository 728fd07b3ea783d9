"""Loops that `vmap` maps over a split batch: reported where all devices are asked in each round."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("batch",))
x = jax.device_put(jnp.arange(64.0), NamedSharding(mesh, P({spec})))
keys = jax.device_put(jax.random.split(jax.random.PRNGKey(0), 64), NamedSharding(mesh, P({spec})))
def solve(y, key=None, most=10.0):
    return lax.while_loop(lambda y: y < most, lambda y: 2 * y + 1, y)
def counted(y, key=None):
    return lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, 2 * c[1] + 1), (0, y))[1]
def added(y, key=None):
    return lax.while_loop(lambda c: c[0] < 9, lambda c: (c[0] + y + 1, c[1] + 1), (0.0, 0))[1]
def drawn(y, key):
    def body(c):
        return solve(jax.random.uniform(jax.random.fold_in(key, c[0].astype(int)))), c[1] + 1
    return lax.while_loop(lambda c: c[1] < 3, body, (y, 0))[0]
def repeated(y, key=None):
    return lax.fori_loop(0, 5, lambda i, c: 2 * c + y, y)
f = {function}
args = (x, keys)
"""
#: Functions, and whether their loops go on until all examples are done.
FUNCTIONS: dict[str, bool] = {
    "jax.jit(jax.vmap(solve))": True,
    "jax.jit(lambda x, keys: jax.vmap(solve)(x, keys) + 1)": True,
    "jax.jit(jax.vmap(solve, in_axes=(0, None)))": True,
    "jax.jit(jax.vmap(added))": True,
    "jax.jit(jax.vmap(drawn))": True,
    "jax.jit(jax.vmap(counted))": False,
    "jax.jit(jax.vmap(repeated))": False,
    "jax.jit(lambda x, keys: solve(x.sum()) * x)": False,
    "jax.jit(jax.shard_map(jax.vmap(solve), mesh=mesh, in_specs=P('batch'), out_specs=P('batch')))": False,
}
#: Whether the condition of a compiled loop has a collective: it is a function of its own.
ASKING = (
    "any('all-reduce' in part and 'pred[]' in part"
    " for part in f.lower(*args).compile().as_text().split('\\n\\n') if not part.startswith('ENTRY'))"
)


@pytest.mark.parametrize(
    ("function", "spec"),
    [*((one, "'batch'") for one in FUNCTIONS), *((one, "") for one in FUNCTIONS if "shard_map" not in one)],
)
def test_compiled_loops(function: str, spec: str) -> None:
    program = HEADER.format(function=function, spec=spec)
    told = FUNCTIONS[function] and bool(spec)
    assert value(program, ASKING) == told
    assert bool(found(f"{program}f(*args)\n", "SHL626")) == told
