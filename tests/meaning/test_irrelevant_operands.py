"""Results of bodies without the check that vary over an axis, or do not though an operand does: reported
where devices return other numbers."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
def run(body, out):
    given = jnp.sin(jnp.arange(8.0)), jnp.float32(3)
    return jax.shard_map(body, mesh=mesh, in_specs=(P("y"), P()), out_specs=out, check_vma=False)(*given)
"""
#: Results by a part `v` of the data and a whole number `s`.
RESULTS = (
    "jnp.where(v[0] > 0, s, s)",
    "jnp.where(v[0] > 0, s, 2 * s)",
    "lax.select(v[0] > 0, s, s)",
    "lax.select(v[0] > 0, s, v[1])",
    "jnp.where(lax.axis_index('y') == 0, s, s) + 1",
    "jnp.where(lax.axis_index('y') == 0, s, 0)",
    "jnp.where(v[0] > 0, 1.0, 1.0)",
    "s + 0 * v[0]",
    "s + 0.5 * v[0]",
    "s + jnp.multiply(v[0], 0)",
    "v - v",
    "v[0] ** 0",
    "v[0] ** 2",
    "(lambda t: t / t)(v.sum() + 10)",
    "(v == v).all()",
    "lax.axis_index('y') // 4",
    "lax.axis_index('y') // 2",
    "7 // (lax.axis_index('y') + 1)",
    "8 > lax.axis_index('y') * 2",
    "lax.axis_index('y') * 2 < 6",
    "jnp.where(lax.axis_index('y') == 7, s, 0)",
    "lax.axis_index('y') * 2",
    "lax.axis_index('y') % 1",
    "lax.axis_index('y') < 4",
    "s * (lax.axis_index('y') >= 0)",
    "v.sum() % 2",
    "lax.cond(v[0] > 0, lambda s: s, lambda s: s, s)",
    "v.sum() - s",
)
MISSED = {"7 // (lax.axis_index('y') + 1)"}


@pytest.mark.parametrize("result", RESULTS)
def test_reported_where_devices_return_other_numbers(result: str) -> None:
    body = f"def body(v, s):\n    return jnp.ravel(jnp.asarray({result}, jnp.float32))\n"
    program = f"{HEADER}{body}parts = np.asarray(run(body, P(('x', 'y')))).reshape(8, -1)\n"
    differs = value(program, "bool(np.ptp(parts, axis=0).max() > 1e-6)")
    told = bool(found(f"{HEADER}{body}run(body, P())\n", "SHL311"))
    assert told is differs or (result in MISSED and not told)
