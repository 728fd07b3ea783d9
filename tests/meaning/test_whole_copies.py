"""Optimizer states and the like that are laid out whole beside what they are for: where they lie in JAX."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np, optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
split, whole = NamedSharding(mesh, P("x")), NamedSharding(mesh, P())
params = {"w": jnp.ones((64, 32)), "b": {"c": jnp.ones((8, 8))}}
tx = optax.adam(1e-3)
moments = tx.init(params)
p = jax.device_put(params, split)
@jax.jit
def step(p, s):
    return jax.tree.leaves(p)[0] + jax.tree.leaves(s)[-1].sum()
"""
#: Programs that make ``s``, and whether it is reported.
PROGRAMS: dict[str, bool] = {
    "s = jax.device_put(moments, whole)\nstep(p, s)": True,
    "s = {'ema': jax.device_put(params, whole)}\nstep(p, s)": True,
    "s = [jax.device_put(params, whole)]\nstep(p, s)": True,
    "s = jax.jit(tx.init, out_shardings=jax.tree.map(lambda _: whole, moments))(params)\nstep(p, s)": True,
    "s = tx.init(p)\nstep(p, s)": False,
    "s = jax.device_put(params, whole)\nstep(p, s)": False,
    "s = {'ema': jax.device_put({'v': params['w']}, whole)}\nstep(p, s)": False,
    "s = {'ema': jax.device_put({'w': jnp.ones((64, 8))}, whole)}\nstep(p, s)": False,
    "s = jax.tree.map(lambda a: jax.device_put(a, split if a.ndim else whole), moments)\nstep(p, s)": False,
    "s = jax.device_put(moments, whole)\nstep(jax.device_put(params, whole), s)": False,
    "s = jax.tree.map(lambda a: jax.device_put(a, split if a.ndim else whole), moments)\n"
    "step(jax.device_put(params, whole), s)": False,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_reported_where_it_lies_whole_beside_what_is_split(program: str) -> None:
    text = f"{HEADER}{program}\n"
    assert bool(found(text, "SHL607")) == PROGRAMS[program]
    if PROGRAMS[program]:
        leaves = "[a for a in jax.tree.leaves(s) if a.ndim]"
        assert value(text, f"all(a.sharding.is_fully_replicated for a in {leaves})")
        assert value(text, "any(a.sharding.is_fully_replicated for a in jax.tree.leaves(p))") is False


def test_what_is_told() -> None:
    (finding,) = found(f"{HEADER}s = jax.device_put(moments, whole)\nstep(p, s)\n", "SHL607")
    assert finding.message == (
        "`s[0][1]['w']` for `step`, (64, 32) float32 and 3 more, 17 kB in all, is laid out whole here, "
        "though `p['w']` is split by P(\"x\")"
    )
