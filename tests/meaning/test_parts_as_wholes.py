"""What is copied of an array that is split: reported where it is not all of it."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
split = jax.device_put(jnp.arange(64.0), NamedSharding(mesh, P("x")))
whole = jax.device_put(jnp.arange(64.0), NamedSharding(mesh, P()))
def host(x):
    return np.asarray(x.addressable_shards[0].data)
"""
#: Programs that make ``y``, and whether they are reported.
PROGRAMS: dict[str, bool] = {
    "y = host(split)": True,
    "y = np.array(split.addressable_data(0))": True,
    "y = jax.device_get(split.addressable_shards[0].data)": True,
    "y = host(whole)": False,
    "y = np.asarray(split)": False,
    "y = np.concatenate([np.asarray(s.data) for s in split.addressable_shards])": False,
    "y = np.concatenate([np.asarray(split.addressable_data(i)) for i in range(8)])": False,
    "y = np.asarray(split)\nsize = split.addressable_shards[0].data.nbytes": False,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_reported_where_it_is_a_part(program: str) -> None:
    text = f"{HEADER}{program}\n"
    assert bool(found(text, "SHL322")) == PROGRAMS[program]
    assert value(text, "len(y)") == (8 if PROGRAMS[program] else 64)
