"""Arrays that are collected on one device: beside the devices on which JAX computes with them."""

from __future__ import annotations

import pytest
from consequences import found, of_pages, value

HEADER = """import functools
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
def array(*spec):
    return jax.device_put(jnp.ones((16, 8)), NamedSharding(mesh, P(*spec)))
first = jax.devices()[0]
double = jax.jit(lambda a: a * 2)
total = jax.jit(lambda tree: sum(leaf.sum() for leaf in jax.tree.leaves(tree)))
draw = jax.pmap(lambda key: jax.random.normal(key, (3,)))
twice = jax.pmap(lambda a: (a * 2, a.sum()))
keys = jax.random.split(jax.random.key(0), 8)
"""

#: Programs that put ``x``, which lies on several devices, on one, and compute ``y`` there.
SAID = (
    "x = array('x', 'y')\ny = double(jax.device_put(x, first))",
    "x = array(('x', 'y'))\ny = total({'a': jax.device_put(x, first), 'b': 1.0})",
    "x = array('y')\ntree = jax.device_put({'a': x, 'b': [x]}, jax.devices('cpu')[0])\ny = total(tree)",
    "x = array(None, 'x')\ny = double(jax.device_put(x, SingleDeviceSharding(first)))",
    "x = double(array('x'))\ny = double(jax.device_put(array('x'), first)) + 1",
    "x = draw(keys)\ny = double(jax.device_put(x, first))",
    "x, _ = twice(jnp.ones((8, 3)))\ny = total([jax.device_put(x, first)])",
    "x = draw(keys)\nx.block_until_ready()\nz = jax.device_put(x, device=first)\ny = double(z)",
    "x = array('x')\nfor _ in range(3):\n    z = jax.device_put(x, first)\n    y = double(z)\n"
    "    x = jax.device_put(y, NamedSharding(mesh, P('x')))",
)
#: Programs in which nothing is collected, or nothing computed with it by a jitted function.
SILENT = (
    "x = array()\ny = double(jax.device_put(x, first))",
    "x = array(None, None)\ny = double(jax.device_put(x, first))",
    "x = array('x')\ny = jax.device_put(x, first)\nprint(np.asarray(y).sum())",
    "x = array('x')\ny = double(jax.device_put(x, NamedSharding(mesh, P())))",
    "x = jnp.ones(4)\ny = double(jax.device_put(x, first))",
    "x = draw(keys)\ny = double(jax.device_put(x[0], first))",
    "x = draw(keys)\ny = double(x)",
    "x = draw(keys).mean(0)\ny = double(jax.device_put(x, first))",
    "x = jax.vmap(lambda a: a * 2)(jnp.ones((8, 3)))\ny = double(jax.device_put(x, first))",
    "x = array('x')\nz = jax.device_put(x, first)\ny = jax.jit(lambda a, b: b * 2)(z, jnp.ones(3))",
)


@pytest.mark.parametrize("text", SAID)
def test_what_is_collected_is_computed_with_on_one_device(text: str) -> None:
    program = HEADER + text + "\n"
    assert len(found(program, "SHL627")) == 1
    devices = "[len(jax.tree.leaves(v)[0].sharding.device_set) for v in ({}, y)]"
    x = "array('x')" if "for _" in text else "x"
    assert value(program, devices.format(x)) == [8, 1]


@pytest.mark.parametrize("text", SILENT)
def test_of_these_nothing_is_said(text: str) -> None:
    program = HEADER + text + "\n"
    assert not found(program, "SHL627")
    assert value(program) is None


def test_the_page() -> None:
    devices = "[len(one.spread(one.samples).sharding.device_set) for one in ({}, {})]"
    assert of_pages("SHL627", devices.format("bad", "good")) == [1, 8]
