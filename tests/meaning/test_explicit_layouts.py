"""What is whole on a mesh of Explicit axes, the default of `jax.make_mesh`: beside the real JAX."""

from __future__ import annotations

import math
import warnings

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np, optax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P, reshard
mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Explicit, AxisType.Explicit))
def on(*spec):
    return NamedSharding(mesh, P(*spec))
def loss(w, v):
    return jnp.mean((v @ w) ** 2)
w, v = jnp.ones((64, 64)), jnp.ones((64, 64))
p = {"w": jax.device_put(jnp.ones((64, 32)), on("x"))}
step = lambda w, v: w - jax.grad(loss)(w, v)
def whole(tree):
    return [a for a in jax.tree.leaves(tree) if a.ndim and a.sharding.is_fully_replicated]
"""
#: Programs that define ``f``, ``w`` and ``v``, and the axes that split nothing.
STEPS = {
    "f, w, v = jax.jit(step), jax.device_put(w, on()), jax.device_put(v, on('x'))": "y",
    "f, w, v = jax.jit(step), jax.device_put(w, on(None, 'y')), jax.device_put(v, on())": "x",
    "f, w = jax.jit(step), jax.device_put(w, on())": "xy",
    "f, w, v = jax.jit(step), jax.device_put(w, on(None, 'y')), jax.device_put(v, on('x'))": "",
    "f, w, v = jax.jit(step), jax.device_put(w, on()), jax.device_put(v, on(('x', 'y')))": "",
    "f = jax.jit(lambda w, v: step(w, reshard(v, on(('x', 'y')))))\n"
    "w, v = jax.device_put(w, on()), jax.device_put(v, on('x'))": "",
    "def part(w, v):\n"
    "    return jnp.mean(jnp.matmul(v, w, out_sharding=on('x', 'y')) ** 2)\n"
    "f, w, v = jax.jit(jax.grad(part)), jax.device_put(w, on()), jax.device_put(v, on('x'))": "",
    "per_device = jax.shard_map(lambda v: v * 2, mesh=mesh, in_specs=P('y'), out_specs=P('y'))\n"
    "f = jax.jit(lambda w, v: step(w, reshard(per_device(reshard(v, on('y'))), on())))\n"
    "w, v = jax.device_put(w, on()), jax.device_put(v, on())": "x",
}


@pytest.mark.parametrize("program", STEPS)
def test_axes_that_split_nothing(program: str) -> None:
    text = f"{HEADER}{program}\n"
    reported = found(f"{text}f(w, v)\n", "SHL614")
    named = [axis for axis in "xy" if any(f'"{axis}"' in one.message for one in reported)]
    assert named == list(STEPS[program])
    flops = "round(f.lower(w, v).compile().cost_analysis()['flops'])"
    ways = round(value(f"{HEADER}f = jax.jit(step)\n", flops) / value(text, flops))
    # Each device computes one part in so many.
    assert ways <= math.prod(size for axis, size in (("x", 2), ("y", 4)) if axis not in named)
    assert ways == 1 or named != ["x", "y"]


#: Programs that make ``made``, a tree, and whether the first call in it is reported.
MADE = {
    "made = jax.jit(lambda p: {'ema': jnp.zeros(p['w'].shape), 'w': p['w'] * 2})(p)": True,
    "made = jax.jit(lambda p: jnp.ones((64, 32)) * 2 + 1)(p)": True,
    "made = jax.jit(lambda p: jax.random.normal(jax.random.key(0), p['w'].shape) * 0.1)(p)": True,
    "with jax.set_mesh(mesh):\n    made = jax.jit(lambda: jnp.zeros((8192, 4096)))()": True,
    "with jax.set_mesh(mesh):\n    made = jax.jit(lambda: jnp.zeros((64, 32)))()": False,
    "with jax.set_mesh(mesh):\n"
    "    made = jax.jit(lambda: jnp.zeros((8192, 4096), out_sharding=P('x')))()": False,
    "with jax.set_mesh(mesh):\n    made = jax.jit(lambda p: jax.tree.map(jnp.zeros_like, p))(p)": False,
    "with jax.set_mesh(mesh):\n    made = jax.jit(optax.adam(1e-3).init)(p)": False,
    "with jax.set_mesh(mesh):\n    p = {'w': jnp.ones((8192, 4096))}\n"
    "    made = jax.jit(optax.adam(1e-3).init)(p)": True,
    "made = jax.jit(lambda p: p['w'] + jnp.zeros(p['w'].shape))(p)": False,
    "made = optax.adam(1e-3).init(p)": False,
    "made = jax.jit(lambda p: jnp.zeros((3,)))(p)": False,
}


@pytest.mark.parametrize("program", MADE)
def test_results_made_whole(program: str) -> None:
    text = f"{HEADER}{program}\n"
    reported = bool(found(text, "SHL607"))
    assert reported == MADE[program]
    left = value(text, "bool(whole(made))")
    # Small arrays that no argument is like are whole as well.
    assert left or not reported


@pytest.mark.parametrize(
    ("before", "after"), [("'x'", "'y'"), ("'x'", "None, 'x'"), ("'x'", ""), ("'x'", "'x'")]
)
@pytest.mark.parametrize(
    "jitted",
    [
        "jax.jit(lambda x, y: x * y.sum(), donate_argnums=(0,), out_shardings=on({}))",
        "jax.jit(lambda x, y: reshard(x * y.sum(), on({})), donate_argnums=(0,))",
    ],
)
def test_donated_arrays_whose_results_lie_otherwise(jitted: str, before: str, after: str) -> None:
    placed = f"w, v = jax.device_put(w, on({before})), jax.device_put(v, on())\n"
    program = f"{HEADER}f = {jitted.format(after)}\n{placed}"
    with warnings.catch_warnings(action="ignore"):
        head = value(program, "f.lower(w, v).compile().as_text().splitlines()[0]")
    assert bool(found(f"{program}f(w, v)\n", "SHL606")) == ("-alias)" not in head)
