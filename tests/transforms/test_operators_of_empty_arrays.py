"""Operators read arrays without elements too, and functions that look elements up may not: beside JAX."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from support.checking import check

SHAPES = ((), (0,), (1,), (4,), (0, 4), (4, 0), (1, 0), (0, 0), (2, 0, 4))
OPERATORS: dict[str, Any] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "<": operator.lt, "==": operator.eq,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
}  # fmt: skip
PROGRAM = """import jax, json
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
whole = jax.device_put(np.ones((8, 8), int), NamedSharding(mesh, P("x")))
given = jax.device_put(np.asarray(json.loads(input()), int), jax.devices()[0])
jax.jit(lambda x, m: x {symbol} m)(whole, given)
"""


def reads_both(symbol: str) -> bool:
    """Return whether the compiled function keeps both operands of all shapes that JAX accepts."""
    from jax._src.interpreters import partial_eval

    kept, asked = True, 0
    for one, other in itertools.product(SHAPES, repeat=2):
        try:
            traced = jax.make_jaxpr(OPERATORS[symbol])(jnp.zeros(one, int), jnp.zeros(other, int))
        except (TypeError, ValueError):
            continue
        _, used = partial_eval.dce_jaxpr(traced.jaxpr, [True])
        kept, asked = kept and all(used), asked + 1
    assert asked > 8
    return kept


@pytest.mark.parametrize("symbol", OPERATORS)
def test_operands_of_unknown_sizes_are_read(symbol: str) -> None:
    found = [finding.code for finding in check(PROGRAM.format(symbol=symbol))]
    assert found == (["SHL708"] if reads_both(symbol) else [])
