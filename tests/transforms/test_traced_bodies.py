"""Bodies of loops and branches are traced outside jit, too: there JAX takes uneven constraints."""

from __future__ import annotations

import pytest
from probing import evaluate

from shardlint.laws.core.verdicts import Rejected

HEADER = """\
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
def body(a):
    return lax.with_sharding_constraint(a, NamedSharding(mesh, P("x")))
a = jnp.ones((5,))
"""
CALLS = (
    "lax.scan(lambda c, _: (body(c), None), a, None, length=2)",
    "lax.fori_loop(0, 2, lambda i, c: body(c), a)",
    "lax.while_loop(lambda c: c.sum() < 0, body, a)",
    "lax.cond(True, body, lambda c: c, a)",
    "lax.switch(0, [body, body], a)",
    "lax.map(body, jnp.ones((2, 5)))",
)


@pytest.mark.parametrize("call", CALLS)
def test_uneven_constraints_pass(call: str) -> None:
    exec(compile(HEADER + call, "program.py", "exec"), {})
    assert not [use for use in evaluate(HEADER + call + "\n").uses if isinstance(use.verdict, Rejected)]


def test_outside_they_do_not() -> None:
    with pytest.raises(Exception, match="partitioned"):
        exec(compile(HEADER + "body(a)", "program.py", "exec"), {})
    assert [use for use in evaluate(HEADER + "body(a)\n").uses if isinstance(use.verdict, Rejected)]
