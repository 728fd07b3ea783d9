"""Where the shardings in types come from: each source beside `jax.typeof`, under every kind of mesh."""

from __future__ import annotations

from functools import partial

import pytest
from typed_programs import MESHES, Tally, once, real_type, under

PRELUDE = f"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from typing import NamedTuple
from jax.sharding import auto_axes, explicit_axes, reshard
class Pair(NamedTuple):
    a: object
    b: object
    def total(self):
        return self.a + self.b
{MESHES}put = lambda mesh, *spec: jax.device_put(np.ones((8, 8), np.float32), NamedSharding(mesh, P(*spec)))
"""
CONTEXTS = (None, "auto", "expl", "mixed")
#: Expressions; ``{m}`` is one of the meshes.
SOURCES = (
    "np.ones((8, 8))", "jnp.ones((8, 8))", "jnp.asarray(np.ones((8, 8)))", "jnp.arange(8)", "jnp.float32(2)",
    "jnp.array([1.0, 2.0])", "jax.random.key(0)", "jax.random.normal(jax.random.key(0), (8, 8))",
    "jnp.add(np.ones((8, 8)), 1)", "jax.device_put(np.ones((8, 8)))", "jax.jit(lambda a: a)(jnp.ones((8,)))",
    "put({m}, 'x', 'y')", "put({m}, ('x', 'y'))", "put({m}, None, 'y')", "put({m}, 'x', 'y') * 2",
    "jnp.zeros((8, 8), device=NamedSharding({m}, P('x', 'y')))",
    "jax.jit(lambda: jnp.zeros((8, 8), device=NamedSharding({m}, P('x', 'y'))))()",
    "jax.make_array_from_callback((8, 8), NamedSharding({m}, P('x', 'y')), lambda i: np.ones((8, 8))[i])",
    "jax.ShapeDtypeStruct((8, 8), jnp.float32, sharding=NamedSharding({m}, P('x', 'y')))",
    "jax.ShapeDtypeStruct((8, 8), jnp.float32)", "reshard(np.ones((8, 8)), NamedSharding({m}, P('x', None)))",
    "jax.jit(lambda a: a * 2, out_shardings=NamedSharding({m}, P('x', 'y')))(np.ones((8, 8)))",
    "jax.jit(lambda a: a * 2)(put({m}, 'x', 'y'))",
    "jax.jit(lambda a: lax.with_sharding_constraint(a, NamedSharding({m}, P(None, 'y'))))(np.ones((8, 8)))",
    "jax.jit(lambda a: jax.device_put(a, NamedSharding(expl, P('y'))))(put(expl, 'x', 'y'))",
    "jax.jit(lambda a: jax.device_put(a, NamedSharding(auto, P('y'))))(put(auto, 'x', 'y'))",
    "jax.grad(lambda a: (a * a).sum())(put({m}, 'x', 'y'))", "jax.vmap(lambda a: a * 2)(put({m}, 'x', 'y'))",
    "jax.eval_shape(lambda a: a * 2, put({m}, 'x', 'y'))", "jnp.zeros_like(put({m}, 'x', 'y'))",
    "auto_axes(lambda a: a @ a, out_sharding=P('x'))(put({m}, 'x', 'y'))",
    "explicit_axes(lambda a: a + a, in_sharding=P('x'))(put({m}, 'x', 'y'))",
    "auto_axes(lambda a: a * 2, axes='y', out_sharding=P(None, 'x'))(put({m}, 'x', 'y'))",
    "jax.device_put(np.ones((8, 8)), P('x'))", "reshard(jnp.ones((8, 8)), P('x'))",
    "jnp.ones((8, 8), out_sharding=P('x'))", "list(jax.random.split(jax.random.key(0)))[1]",
    "[k for k in jax.random.split(jax.random.key(0), 3)][1]", "(lambda a, b: b)(*jnp.ones((2, 8)))",
    "[r for r in put(expl, 'x', 'y')][0]", "[r for r in put({m})][0]",
    "jax.jit(lambda a: [r * 2 for r in a][0])(put({m}, None, 'y'))", "(lambda a, b: a)(*put({m})[:2])",
    "jax.jit(lambda a: [r * 2 for r in a][0])(put({m}, 'x', 'y'))",
    "[k for _, k in zip('ab', jax.random.split(jax.random.key(0)))][1]",
    "list(enumerate(jax.random.split(jax.random.key(0))))[1][1]",
    "jax.jit(lambda p: p.total())(Pair(put({m}, 'x', 'y'), put({m}, 'x', 'y')))",
    "jax.tree.map(lambda v: v * 2, Pair(put({m}, 'x'), put({m}, 'x'))).total()",
)  # fmt: skip


@pytest.mark.parametrize("context", CONTEXTS)
def test_sources_of_types_are_those_of_jax(context: str | None) -> None:
    scope = once(PRELUDE)
    tally = Tally()
    for expression in SOURCES:
        for mesh in ("auto", "expl", "mixed") if "{m}" in expression else ("",):
            text = expression.replace("{m}", mesh)
            program = f"{PRELUDE}\n{under(context)}\n    probe(0, {text})\n"
            tally.meet(program, partial(real_type, text, context, scope))
    assert tally.known >= 0.85 * tally.accepted, tally
