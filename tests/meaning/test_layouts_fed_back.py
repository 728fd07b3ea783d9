"""States that a step returns in another layout than it got them in: JAX compiles the step twice."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import functools
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
def on(*spec):
    return NamedSharding(mesh, P(*spec))
def put(*spec):
    return jax.device_put(jnp.ones((8, 8)), on(*spec))
def double(s):
    return s * 2
to_y = jax.jit(double, out_shardings=on("y"))
"""
LOOP = "for _ in range(3):\n    "
#: Programs that call `step`, and whether they are reported.
PROGRAMS: dict[str, bool] = {
    f"step, s = to_y, put('x')\n{LOOP}s = step(s)": True,
    "step = jax.jit(lambda s: (s * 2, s.sum()), out_shardings=(on('y'), None), donate_argnums=0)\n"
    f"s = put('x')\n{LOOP}s, loss = step(s)": True,
    "step = jax.jit(lambda s: [a * 2 for a in s], out_shardings=on('x'))\n"
    f"s = [put('x'), put(None, 'x')]\n{LOOP}s = step(s)": True,
    "@functools.partial(jax.jit, out_shardings={'k': on('x'), 'v': on('x')})\n"
    "def step(cache, t):\n    return {n: a.at[t].set(0) for n, a in cache.items()}\n"
    "cache = {'k': put('x'), 'v': put('y')}\nfor t in range(3):\n    cache = step(cache, t)\n": True,
    "@jax.jit\ndef step(s):\n    return lax.with_sharding_constraint(s * 2, on('x', 'y'))\n"
    f"s = put('y', 'x')\n{LOOP}s = step(s)": False,
    f"step, s = jax.jit(double, out_shardings=on('x')), put('x')\n{LOOP}s = step(s)": False,
    f"step, s = jax.jit(double, out_shardings=on('x')), put('x', None)\n{LOOP}s = step(s)": False,
    f"step, s = to_y, put('x')\n{LOOP}t = step(s)": False,
    "step, s = to_y, put('x')\ns = step(s)": False,
    f"step = to_y\n{LOOP}s = put('x')\n    s = step(s)": False,
    f"step, s = jax.jit(double), put('x')\n{LOOP}s = step(s)": False,
    f"step, s = to_y, put('x')\n{LOOP}s = jax.device_put(s, on('y'))\nstep(s)": False,
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_reported_where_jax_compiles_twice(program: str) -> None:
    text = f"{HEADER}{program}\n"
    assert bool(found(text, "SHL619")) == PROGRAMS[program]
    assert not PROGRAMS[program] or value(text, "step._cache_size()") == 2
