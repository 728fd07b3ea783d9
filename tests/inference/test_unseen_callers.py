"""Functions that runs over projects and JAX's own tests called wrong, and whose caller is not seen."""

from __future__ import annotations

from inspect import cleandoc

import pytest
from support.checking import errors
from support.jax_answers import jax_raises

HEADER = """\
import itertools
import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental.layout import Format, Layout
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

E = AxisType.Explicit
mesh = jax.make_mesh((2, 4), ("data", "model"))
auto = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
"""

#: What is checked, and how it is called where the linter does not see it.
PROGRAMS = {
    "what may be no in_shardings takes keywords": (
        """
        def add(x, cache):
            return x + cache

        def run(step, x, spec):
            return jax.jit(step, in_shardings=spec)(x, cache=x)

        x = jax.ShapeDtypeStruct((8,), jnp.float32)
        jax.jit(add, in_shardings=Format(Layout.AUTO), out_shardings=Format(Layout.AUTO)).trace(x, cache=x)
        """,
        "run(add, jnp.ones(8), None)",
    ),
    "logical names leave dimensions to the compiler": (
        """
        rules, free = (("batch", "data"),), P.UNCONSTRAINED

        def constrain(x, name):
            for names in (("batch", free), (free, free), P("batch", free), ("batch", name), ()):
                x = nn.with_logical_constraint(x, names, rules, mesh=auto)
            return x

        constrain(jnp.ones((4, 8)), None)
        nn.logical_to_mesh_sharding(P("batch", free), auto, rules)
        """,
        "constrain(jnp.ones((4, 8)), None)",
    ),
    "starred arguments of unknown number": (
        """
        jax.set_mesh(mesh)

        def blocks(n, m, sizes):
            x = jax.device_put(jnp.ones((n, m)), NamedSharding(mesh, P("data")))
            shape = [[n] for n in x.shape]
            for i, size in sizes:
                shape[i] = (x.shape[i] // size, size)
            return jax.lax.reshape(x, list(itertools.chain(*shape)), out_sharding=P("data", None, None))

        def rows(x, bounds):
            return jax.device_put(x[slice(*bounds)], NamedSharding(auto, P("data")))
        """,
        """
        blocks(8, 16, [(1, 4)])
        rows(jnp.ones((7, 2)), (0, 4))
        """,
    ),
    "the mesh of the caller is not known": (
        """
        def step(x, y):
            made = jnp.arange(8, out_sharding=P("x")), lax.broadcasted_iota(int, (8,), 0, out_sharding=P("x"))
            z = jnp.einsum("ij,jk->ik", x, y, out_sharding=P("x", None)) + jnp.dot(x, y, out_sharding=P("x"))
            return made, z.reshape(4, 4, 8, out_sharding=P("x")), x.at[made[0]].get(out_sharding=P("x"))
        """,
        """
        with jax.set_mesh(jax.make_mesh((4,), ("x",), axis_types=(E,))):
            step(jnp.ones((16, 8), out_sharding=P("x")), jnp.ones((8, 8)))
        """,
    ),
}


def text(name: str) -> str:
    return f"{HEADER}{cleandoc(PROGRAMS[name][0])}\n"


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_said(name: str) -> None:
    assert errors(text(name)) == []


def test_jax_runs_them() -> None:
    programs = {name: f"{text(name)}{cleandoc(caller)}\n" for name, (_, caller) in PROGRAMS.items()}
    assert jax_raises(programs) == dict.fromkeys(programs)
