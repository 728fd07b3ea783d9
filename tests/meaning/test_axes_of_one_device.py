"""Specs over axes of one device: reported where the array lies whole on a mesh of several."""

from __future__ import annotations

import itertools

import pytest
from consequences import found, value

SPECS = ("", "'a'", "'b'", "'c'", "('a', 'c')", "('a', 'b')", "None, 'a'", "'a', 'c'", "'a', 'b'")
SIZES = ("1, 8, 1", "2, 4, 1", "1, 1, 1", "8, 1, 1")


@pytest.mark.parametrize(("spec", "sizes"), [*itertools.product(SPECS, SIZES)])
def test_reported_where_a_named_axis_splits_nothing(spec: str, sizes: str) -> None:
    program = (
        "import jax, jax.numpy as jnp, numpy as np, math\n"
        "from jax.sharding import Mesh, NamedSharding, PartitionSpec as P\n"
        f"devices = np.array(jax.devices()[: math.prod(({sizes}))]).reshape({sizes})\n"
        "mesh = Mesh(devices, ('a', 'b', 'c'))\n"
        f"y = jax.device_put(jnp.ones((16, 16)), NamedSharding(mesh, P({spec})))\n"
    )
    whole = value(program, "y.sharding.is_fully_replicated and len(y.sharding.device_set) > 1")
    assert bool(found(program, "SHL608")) == (whole and bool(spec)), program
