"""Arrays on one device that each call of a `pmap` copies to the others, or of a jitted function beside arrays
on a mesh: reported where JAX says so."""

from __future__ import annotations

import re

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from flax import jax_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
w, x = jnp.ones((16, 4)), jax_utils.replicate(jnp.ones((2, 16)))
f = jax.pmap(lambda w, x: x @ w, in_axes=(None, 0))
g = jax.pmap(lambda w, x: x @ w)
h = jax.pmap(lambda p, x: x @ p["w"], in_axes=(None, 0))
d = jax.pmap(lambda p, x: x @ p["w"], in_axes=({"w": None}, 0))
new = jax.pmap(lambda w, x: w * 2, in_axes=(None, 0), out_axes=None)
mesh = Mesh(np.array(jax.devices()), ("d",))
placed, stack, params = jax.device_put(w, NamedSharding(mesh, P())), jax_utils.replicate(w), {"w": w}
whole, rows = (jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, s)) for s in (P(), P("d")))
j, k = jax.jit(lambda w, x: x @ w), jax.jit(lambda p, x, n: x @ p["w"] * n, static_argnums=2)
step = jax.jit(lambda w, x: w - (x @ w).mean())
y = [f(w, x), f(placed, x), g(stack, x), h(params, x), new(w, x)]
y = [*y[:4], j(w, rows), j(w, whole), k(params, rows, 2), j(placed, rows), j(w, w.T), step(w, rows)]
copied = False
"""
#: Calls in a loop, and whether JAX copies what was there before the loop from device to device in each round.
CALLS = {
    "f(w, x)": True,
    "h(params, x)": True,
    "h({'w': w}, x)": False,
    "f(placed, x)": False,
    "g(stack, x)": False,
    "j(w, rows)": True,
    "j(w, whole)": True,
    "k(params, rows, 2)": True,
    "j(placed, rows)": False,
    "j(w, w.T)": False,
    "j(jax.device_put(w, placed.sharding), rows)": False,
    "h(jax_utils.unreplicate(jax_utils.replicate(params)), x)": False,
}
LOOPS = ["for _ in range(3):", "for _ in range(len(jax.devices()) + 1):", "while round(len(y)) < 14:"]
#: Loops whose arrays are others in each round.
OTHERS = [
    "for _ in range(3):\n    w = new(w, x)\n",
    "for _ in range(len(jax.devices())):\n    w = new(w, x)\n",
    "while len(y) < 14:\n    w = f(w, x).mean((0, 1)) * jnp.ones((16, 4))\n    y.append(w)\n",
    "def train(w, n):\n    for _ in range(n):\n        w = w - f(w, x).mean()\n    return w\ntrain(w, 4)\n",
    "for n in range(4):\n    k = jnp.full((16, 4), 1.0 * n)\n    f(k, x)\n",
    "f(w, x)\n",
    "j(w, rows)\n",
    "for _ in range(3):\n    w = step(w, rows)\n",
    "def train(w, n):\n    for _ in range(n):\n        w = step(w, rows)\n    return w\ntrain(w, 4)\n",
    "for n in range(4):\n    k = jnp.full((16, 4), 1.0 * n)\n    j(k, rows)\n",
]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("call", CALLS)
def test_calls(call: str, loop: str) -> None:
    guarded = (
        f"    try:\n        with jax.transfer_guard_device_to_device('disallow'):\n            z = {call}\n"
    )
    guarded += (
        "    except Exception as error:\n        copied = 'Disallowed' in str(error)\n    y.append(1)\n"
    )
    program = f"{HEADER}{loop}\n    z = {call}\n    y.append(1)\n"
    if CALLS[call]:
        assert value(f"{HEADER}{loop}\n{guarded}", "copied")
    assert bool(found(program, "SHL607")) == CALLS[call]


@pytest.mark.parametrize("call", [call for call in CALLS if not re.search("{|unreplicate|device_put", call)])
def test_jax_copies_these_only(call: str) -> None:
    guarded = f"try:\n    with jax.transfer_guard_device_to_device('disallow'):\n        z = {call}\n"
    guarded += "except Exception as error:\n    copied = 'Disallowed' in str(error)\n"
    assert value(f"{HEADER}{guarded}", "copied") == CALLS[call]


@pytest.mark.parametrize("loop", OTHERS)
def test_other_arrays_in_each_round(loop: str) -> None:
    value(HEADER + loop)
    assert not found(HEADER + loop, "SHL607")
