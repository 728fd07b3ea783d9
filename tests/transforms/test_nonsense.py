"""Calls that make no sense end in Unknown or a verdict, never in an exception of ours."""

from __future__ import annotations

import pytest
from probing import evaluate
from sharding_programs import PRELUDE

SETTING = PRELUDE + (
    "devices = np.array(jax.devices()).reshape(2, 4)\n"
    "mesh, twice = Mesh(devices, ('x', 'y')), Mesh(devices, ('x', 'x'))\n"
    "nothing = AbstractMesh((2, 0), ('x', 'y'))\n"
    "x = jnp.ones((4, 4))\n"
)
CALLS = """\
jax.shard_map(lambda a: a, mesh=twice, in_specs=P('q'), out_specs=P('r'))(x)
jax.shard_map(lambda a: a, mesh=twice, in_specs=P('x'), out_specs=P('r'))(x)
jax.shard_map(lambda a: a, mesh=twice, in_specs=P(None, None, None), out_specs=P('x'))(x)
jax.shard_map(lambda a: a, mesh=nothing, in_specs=P('x', 'y'), out_specs=P('x', 'y'))(x)
jax.shard_map(lambda a: a, mesh=mesh, in_specs=P(3), out_specs=P('x', P.UNCONSTRAINED))(x)
jax.shard_map(lambda a: a, mesh=mesh, in_specs='x', out_specs={'x': 1})(x)
jax.shard_map(lambda a: lax.all_gather(3, 'x'), mesh=mesh, in_specs=P('x'), out_specs=P())(x)
NamedSharding(twice, P('q')).shard_shape((4,))
NamedSharding(mesh, P('x', 'y', None, None)).shard_shape((4, 4))
NamedSharding(nothing, P('y')).shard_shape((4,))
jax.vmap(lambda a: a, in_axes=[0, {'a': 1}])({'a': x}, 2)
jax.vmap(lambda a: a, in_axes=5, out_axes=-7)(x)
jax.grad(lambda a: a)()
jax.grad()(3)
jax.jit(3)(2)
jax.jit(lambda a: a, static_argnums=-5)(1)
jax.jit(lambda a: a, static_argnums=7)(1)
jax.vjp(lambda: 1)
jax.custom_vjp(lambda a: a).defvjp(1, 2)
jax.named_scope()(1, 2)
jax.eval_shape()
Mesh(1, 2)
jax.make_mesh((2, 2), 3)
np.reshape(jax.devices(), (3, -1, -1))
"""


@pytest.mark.parametrize("call", CALLS.splitlines())
def test_nonsense_is_evaluated(call: str) -> None:
    assert 0 in evaluate(f"{SETTING}probe(0, {call})\n").probes
