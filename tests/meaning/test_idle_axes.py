"""Axes that split nothing in a training step: beside the operations that XLA counts for each device."""

from __future__ import annotations

import math

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
def on(*spec):
    return NamedSharding(mesh, P(*spec))
def loss(w, v):
    return jnp.mean((v @ w) ** 2)
w, v = jnp.ones((64, 64)), jnp.ones((64, 64))
step = lambda w, v: w - jax.grad(loss)(w, v)
"""
#: Programs that define ``f``, ``w`` and ``v``, and the axes that split nothing.
PROGRAMS = {
    "f, w, v = jax.jit(step), jax.device_put(w, on()), jax.device_put(v, on('x'))": "y",
    "f, w, v = jax.jit(step), jax.device_put(w, on(None, 'y')), jax.device_put(v, on())": "x",
    "f, w = jax.jit(step), jax.device_put(w, on())": "xy",
    "f, w, v = jax.jit(step), jax.device_put(w, on(None, 'y')), jax.device_put(v, on('x'))": "",
    "f, w, v = jax.jit(step), jax.device_put(w, on('y')), jax.device_put(v, on('x'))": "",
    "f, w, v = jax.jit(step), jax.device_put(w, on()), jax.device_put(v, on(('x', 'y')))": "",
    "f = jax.jit(step, in_shardings=(on(), on('x')))": "y",
    "f = jax.jit(step, in_shardings=(on(), on('x')), out_shardings=on(None, 'y'))": "",
    "f = jax.jit(lambda w, v: step(w, jax.lax.with_sharding_constraint(v, on(('x', 'y')))))\n"
    "w, v = jax.device_put(w, on()), jax.device_put(v, on('x'))": "",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_reported_where_more_devices_compute_the_same(program: str) -> None:
    text = f"{HEADER}{program}\n"
    reported = found(f"{text}f(w, v)\n", "SHL614")
    named = [axis for axis in "xy" if any(f'"{axis}"' in one.message for one in reported)]
    assert named == list(PROGRAMS[program])
    whole = f"{HEADER}f = jax.jit(step)\n"
    flops = "round(f.lower(w, v).compile().cost_analysis()['flops'])"
    ways = round(value(whole, flops) / value(text, flops))
    # Each device computes one part in so many.
    assert ways == math.prod(size for axis, size in (("x", 2), ("y", 4)) if axis not in named)


def test_not_where_no_gradient_is_computed() -> None:
    assert not found(f"{HEADER}jax.jit(loss)(jax.device_put(w, on()), v)\n", "SHL614")
