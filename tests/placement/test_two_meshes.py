"""A mesh that is set and another in ``with mesh:``: which of them a bare spec finds, beside JAX."""

from __future__ import annotations

import itertools

import pytest
from support.checking import check

from shardlint.model.findings import Severity

HEAD = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pjit import pjit
from jax.sharding import Mesh, PartitionSpec as P

rows, columns = Mesh(np.array(jax.devices()), ("rows",)), Mesh(np.array(jax.devices()), ("columns",))
x = np.ones((8, 8))
"""
CONTEXTS = [
    "with rows, jax.set_mesh(columns):",
    "with jax.set_mesh(columns), rows:",
    "with rows:",
]
CALLS = [
    "pjit(lambda x: x, in_shardings=P({}))(x)",
    "pjit(lambda x: x, out_shardings=P({}))(x)",
    "jax.jit(lambda x: x, in_shardings=P({}))(x)",
    "jax.jit(lambda x: x, out_shardings=P({}))(x)",
    "jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P({})))(x)",
    "pjit(lambda x: jax.lax.with_sharding_constraint(x, P({})), out_shardings=P())(x)",
]


@pytest.mark.parametrize(("context", "call"), itertools.product(CONTEXTS, CALLS))
@pytest.mark.parametrize("axis", ["rows", "columns"])
def test_the_mesh_that_is_found(context: str, call: str, axis: str) -> None:
    program = f"{HEAD}{context}\n    {call.format(repr(axis))}\n"
    found = check(program)
    rejected = False
    try:
        exec(program, {"__name__": "__main__"})
    except (ValueError, RuntimeError):
        rejected = True
    assert any(finding.severity is Severity.ERROR for finding in found) == rejected
