"""Stacks of copies: reported where JAX then computes with a dimension more than the program's arrays have."""

from __future__ import annotations

import itertools

import pytest
from consequences import found, of_pages, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from flax import jax_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ('batch',))
w = jnp.ones((32, 10))
x = jax.device_put(jnp.ones((64, 32)), NamedSharding(mesh, P('batch')))
"""
MAKES = ("w", "jax_utils.replicate(w)", "jax_utils.unreplicate(jax_utils.replicate(w))")
PUTS = (
    "w",
    "jax.device_put(w, NamedSharding(mesh, P()))",
    "jax.device_put(w, NamedSharding(mesh, P('batch')))",
)


@pytest.mark.parametrize(("make", "put"), [*itertools.product(MAKES, PUTS)])
def test_reported_where_each_device_computes_with_all_copies(make: str, put: str) -> None:
    placed, used = f"{HEADER}w = {make}\nw = {put}\n", "y = jax.jit(lambda w, x: x @ w)(w, x)\n"
    program = placed + used
    caught = f"{placed}try:\n    {used}except ValueError:\n    y = None\n"
    dimensions, whole = value(caught, "(y if y is None else y.ndim, w.sharding.is_fully_replicated)")
    if dimensions is None:
        assert found(program, "SHL708"), program
        return
    copies = dimensions > 2
    reported = bool(found(program, "SHL609"))
    assert reported <= copies and (reported or not (copies and whole)), program


def test_the_page_has_a_dimension_more() -> None:
    assert of_pages("SHL609", "(bad.y.shape, good.y.shape)") == ((8, 64, 10), (64, 10))
