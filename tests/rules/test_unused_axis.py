"""Mesh axes that nothing is split over, beside where JAX puts a program's arrays."""

from __future__ import annotations

import jax
import pytest
from jax.sharding import NamedSharding
from support.checking import check
from support.jax_answers import asks_jax

LIMIT = 1024

PRELUDE = """
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
rows = NamedSharding(mesh, P("data"))
"""

#: Programs, and the axes that are reported.
PROGRAMS: dict[str, tuple[str, ...]] = {
    "w = jax.device_put(jnp.ones((64, 64)), rows)": ("model",),
    "w = jnp.zeros((64, 64), device=rows)\ny = jax.jit(lambda v: v * 2)(w)": ("model",),
    "w = jax.device_put(jnp.ones((8, 8)), rows)": (),
    "w = jax.device_put(jnp.ones((64, 64)), NamedSharding(mesh, P()))": (),
    "w = jax.device_put(jnp.ones((64, 64)), NamedSharding(mesh, P('data', 'model')))": (),
    "w = jax.device_put(jnp.ones((64, 64)), NamedSharding(mesh, P(('data', 'model'))))": (),
    "w = jax.device_put(jnp.ones((64, 64)), rows)\n"
    "b = jax.device_put(jnp.ones(4), NamedSharding(mesh, P('model')))": (),
    "w = jax.device_put(jnp.ones((64, 64)), rows)\n"
    "f = lambda v: lax.with_sharding_constraint(v, NamedSharding(mesh, P(None, 'model')))\n"
    "y = jax.jit(f)(w)": (),
    "w = jax.device_put(jnp.ones((64, 64)), rows)\n"
    "f = lambda v: lax.with_sharding_constraint(v, NamedSharding(mesh, P(None, P.UNCONSTRAINED)))\n"
    "y = jax.jit(f)(w)": (),
    "w = jax.device_put(jnp.ones((64, 64)), rows)\n"
    "y = jax.device_put(w, NamedSharding(mesh, P(*mesh.axis_names)))": (),
    "w = jax.device_put(jnp.ones((64, 64)), rows)\n"
    "rank = jax.shard_map(lambda v: v * lax.axis_index('model'), mesh=mesh, in_specs=P('data'),\n"
    "                     out_specs=P('data', 'model'))\ny = rank(w)": (),
    "w = jax.device_put(jnp.ones((64, 64)), rows)\n"
    "double = jax.shard_map(lambda v: v * 2, mesh=mesh, in_specs=P('data'), out_specs=P('data'))\n"
    "y = double(w)": ("model",),
    "w = jax.device_put(jnp.ones((64, 64)), rows)\n"
    "def later(v, axis):\n    return jax.device_put(v, NamedSharding(mesh, P(axis)))": (),
    "w = jax.device_put(jnp.ones((64, 64)), rows)\nRULES = (('mlp', 'model'), ('batch', 'data'))": (),
    "thin = Mesh(np.array(jax.devices()).reshape(8, 1), ('batch', 'none'))\n"
    "w = jax.device_put(jnp.ones((64, 64)), NamedSharding(thin, P('batch')))": (),
    "other = jax.make_mesh((4, 2), ('a', 'b'), axis_types=(AxisType.Auto,) * 2)\n"
    "w = jax.device_put(jnp.ones((64, 64)), NamedSharding(other, P(None, 'b')))": ("a",),
    "def run(mesh):\n    return jax.device_put(jnp.ones((64, 64)), NamedSharding(mesh, P('data')))": (),
    "other = jax.make_mesh((4, 2), ('a', 'b'))\n"
    "with jax.set_mesh(other):\n"
    "    w = jax.sharding.auto_axes(lambda v: v * 2, out_sharding=P('a', None))(jnp.ones((64, 64)))": ("b",),
}


@asks_jax("rules")
def copies(program: str, axis: str) -> bool:
    """Whether all arrays of a program that lie on a mesh with this axis are whole along it."""
    variables: dict[str, object] = {"__name__": "__main__"}
    exec(f"{PRELUDE}\n{program}", variables)
    held = [value.sharding for value in variables.values() if isinstance(value, jax.Array)]
    placed = [sharding for sharding in held if isinstance(sharding, NamedSharding)]
    named = [sharding for sharding in placed if axis in sharding.mesh.axis_names]
    return bool(named) and not any(axis in str(sharding.spec) for sharding in named)


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_reported_is_so(program: str) -> None:
    findings = check(f"{PRELUDE}\n{program}\n", replicated_bytes=LIMIT)
    messages = [finding.message for finding in findings if finding.code == "SHL602"]
    reported = tuple(message.split('"')[1] for message in messages)
    assert reported == PROGRAMS[program]
    assert all(copies(program, axis) for axis in reported)
