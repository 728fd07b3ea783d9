"""Stacks of copies: reported where JAX then computes with a dimension more than the program's arrays have."""

from __future__ import annotations

import itertools

import pytest
from consequences import found, pages, run

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
    program = f"{HEADER}w = {make}\nw = {put}\ny = jax.jit(lambda w, x: x @ w)(w, x)\n"
    try:
        ran = run(program)
    except ValueError:
        assert found(program, "SHL708"), program
        return
    copies = ran["y"].ndim > 2
    whole = ran["w"].sharding.is_fully_replicated
    reported = bool(found(program, "SHL609"))
    assert reported <= copies and (reported or not (copies and whole)), program


def test_the_page_has_a_dimension_more() -> None:
    bad, good = pages("SHL609")
    assert bad["y"].shape == (8, 64, 10) and good["y"].shape == (64, 10)
