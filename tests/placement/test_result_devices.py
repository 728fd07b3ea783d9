"""Results that a jitted function puts on other devices than its arguments are on: our word beside JAX's."""

from __future__ import annotations

from typing import Any

import pytest

from shardlint.inference import InferenceSettings, analyze
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import CallUse
from shardlint.source.sources import source_from_text

PRELUDE = """import jax, jax.numpy as jnp
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P
wsc, auto = jax.lax.with_sharding_constraint, AxisType.Auto
small = jax.make_mesh((2, 2), ("x", "y"), axis_types=(auto, auto), devices=jax.devices()[:4])
flat = jax.make_mesh((4,), ("x",), axis_types=(auto,), devices=jax.devices()[:4])
back = Mesh(jax.devices()[:4][::-1], ("x",))
big = jax.make_mesh((8,), ("x",), axis_types=(auto,))
on = lambda mesh: NamedSharding(mesh, P("x"))
a = jax.device_put(jnp.ones((8, 8)), NamedSharding(small, P("x", "y")))
b = jnp.ones((8, 8))
"""
#: Calls, and whether we tell of them where JAX raises; ``M`` is one of the meshes.
CALLS = {
    "jax.jit(lambda x: wsc(x * 2, on(M)))(a)": True,
    "jax.jit(lambda x: wsc(x * 2, on(M)))(b)": True,
    "jax.jit(lambda x: (x, wsc(jnp.ones((8, 8)), on(M))))(a)": True,
    "jax.jit(lambda x: {'s': x + 1, 't': wsc(jnp.ones((8, 8)), on(M))})(a)": True,
    "jax.jit(lambda x: jax.device_put(x, on(M)))(a)": True,
    "jax.jit(lambda x: x * 2, out_shardings=on(M))(a)": True,
    "jax.jit(lambda x: x, out_shardings=on(M))(a)": True,
    "jax.jit(lambda x: (x * 2, x.sum()), out_shardings=(on(M), None))(a)": True,
    "jax.jit(lambda x: jnp.ones((8,)), out_shardings=on(M))(a)": True,
    "jax.jit(lambda x, y: wsc(y * 2, on(M)))(a, b)": True,
    "jax.jit(lambda x, y: wsc(y * 2, on(M)) + x)(a, b)": False,
    "jax.jit(lambda x: wsc(jnp.ones(x.shape), on(M)))(a)": True,
    "jax.jit(lambda x: wsc(jnp.zeros_like(x), on(M)))(a)": True,
    "jax.jit(lambda x: [x * 2, wsc(x, on(M))][0])(a)": True,
    "jax.jit(lambda x: jax.jit(lambda y: wsc(y, on(M)))(x * 2))(a)": True,
    "jax.jit(lambda x: wsc(x, on(M)).sum())(a)": False,
    "jax.jit(lambda x: x + 1)(jax.jit(lambda: jnp.ones((8,)), out_shardings=on(M))())": True,
}


@pytest.mark.parametrize("mesh", ["small", "flat", "back", "big"])
def test_devices_of_results(mesh: str) -> None:
    """What JAX refuses for its devices, we refuse, but for what happens to a constrained array."""
    scope: dict[str, Any] = {}
    exec(PRELUDE, scope)
    refused = 0
    for call, told in CALLS.items():
        text = call.replace("M", mesh)
        try:
            eval(text, scope)
            raises = False
        except ValueError as problem:
            if "incompatible devices" not in str(problem):
                # `device_put` to a mesh of the same devices in another shape fails for what it makes of them.
                assert "device_put" in text, text
                continue
            raises = True
        found = analyze([source_from_text("program.py", PRELUDE + text)], InferenceSettings(devices=8))
        ours = any(
            isinstance(use, CallUse)
            and isinstance(use.verdict, Rejected)
            and use.verdict.cause is Cause.DEVICES
            for use in found
        )
        # In which order `make_mesh` takes devices is its own affair.
        assert ours == raises if told and mesh != "back" else not ours or raises, text
        refused += raises
    assert (refused > 0) == (mesh in ("back", "big"))
