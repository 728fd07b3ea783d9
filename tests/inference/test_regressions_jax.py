"""Programs that runs over JAX's own tests and documents called wrong: JAX takes them, and nothing is said."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from inspect import cleandoc

import jax
import pytest
from support.checking import errors

HEADER = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P, reshard

A, E = AxisType.Auto, AxisType.Explicit
"""

#: What is checked, and how a caller that the linter does not see may call it.
PROGRAMS = {
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
    "where arrays are put is not known": (
        """
        mesh = jax.make_mesh((4,), ("x",), axis_types=(E,))
        jax.set_mesh(mesh)
        where = eval('NamedSharding(mesh, P("x"))')
        first = lambda x: lax.psum(x.squeeze(0), "x")
        for put in (reshard, jax.device_put):
            x = put(jnp.ones((4, 2)), where)
            jax.jit(lambda x: jax.shard_map(first, out_specs=P())(x))(x)
            jax.jit(lambda a, b: a + b)(x, jnp.ones((4, 2), out_sharding=P("x")))
            lax.scan(lambda c, _: (c * x, None), x, None, length=2)
        """,
        "jax.set_mesh(None)",
    ),
    "gradients by what is reduced are unreduced": (
        """
        jax.set_mesh(jax.make_mesh((2,), ("x",), axis_types=(E,)))

        def loss(w, x):
            return jnp.sum(x @ w)

        @jax.jit
        def step(w, xs):
            start = reshard(jnp.zeros_like(w), P(unreduced={"x"}))
            pulled = jax.vjp(loss, w, xs[0])[1](1.0)[0] + start
            lax.scan(lambda x, layer: (x @ layer, None), xs[0], jnp.stack([w, w]))
            return lax.scan(lambda total, x: (total + jax.grad(loss)(w, x), None), start, xs)[0], pulled

        w = jax.device_put(jnp.ones((4, 4)), P(reduced={"x"}))
        step(w, jax.device_put(jnp.ones((2, 2, 4)), P(None, "x")))
        """,
        "jax.set_mesh(None)",
    ),
    "what out_specs leave unreduced may vary": (
        """
        jax.set_mesh(jax.make_mesh((2, 2), ("x", "y"), axis_types=(E, E)))
        a = jax.device_put(np.ones((2, 4)), P("x", "y"))
        b = jax.device_put(np.ones((4, 2)), P("y", None))

        @jax.jit
        @jax.shard_map(in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None, unreduced={"y"}))
        def product(a, b):
            return a @ b

        c = product(a, b)
        lax.scan(lambda c, _: (c + product(a, b), None), c, None, length=2)
        sums = P("x", None, unreduced={"y"})
        for specs in {"in_specs": sums, "out_specs": P("x")}, {"out_specs": P("x")}:
            jax.jit(jax.shard_map(lambda c: lax.psum(c, "y"), **specs))(c)
        for specs in {"in_specs": sums, "out_specs": sums}, {"out_specs": sums}:
            jax.jit(jax.shard_map(lambda c: c, **specs))(c) + c
        """,
        "jax.set_mesh(None)",
    ),
    "shard_map outside jit splits no argument": (
        """
        mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(A, A))
        index = lambda: lax.axis_index("x").reshape((1,))
        jax.shard_map(index, mesh=mesh, in_specs=(), out_specs=P("x"), axis_names={"x"}, check_vma=False)()
        """,
        "",
    ),
}  # fmt: skip

#: What newer releases refuse: results are no longer cast to what out_specs say.
REFUSED_SINCE = {"what out_specs leave unreduced may vary": (0, 11)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_said_of_what_runs(name: str) -> None:
    program, caller = (cleandoc(text) for text in PROGRAMS[name])
    found = errors(f"{HEADER}{program}\n")
    refused = jax.__version_info__ >= REFUSED_SINCE.get(name, (99,))
    assert bool(found) == refused, found
    code = compile(f"{HEADER}{program}\n{caller}\n", "program.py", "exec")
    # A mesh that is set for good is that of its thread.
    with ThreadPoolExecutor(1) as thread, pytest.raises(ValueError) if refused else nullcontext():
        thread.submit(exec, code, {}).result()
