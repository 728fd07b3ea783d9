"""Shardings that a function of the program does not read: reported where its result is not laid out."""

from __future__ import annotations

import pytest
from consequences import found, of_pages, value

HEADER = """import functools
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
rows, batch = NamedSharding(mesh, P("x")), np.ones((32, 16), np.float32)
"""
#: Programs that make ``made``, and whether a call in it is reported.
PROGRAMS: dict[str, bool] = {
    "def put(x, where):\n    return jnp.asarray(x)\nmade = put(batch, rows)": True,
    "def put(x, where):\n    return jnp.asarray(x)\nmade = put(x=batch, where=rows)": True,
    "def put(x, *, where=None):\n    return jnp.asarray(x)\nmade = put(batch, where=P('x'))": True,
    "def put(x, where):\n    return {k: jnp.asarray(v) for k, v in x.items()}\n"
    "made = put({'a': batch}, {'a': rows})['a']": True,
    "def put(x, where):\n    yield jnp.asarray(x)\n(made,) = put(batch, rows)": True,
    # An attribute and a keyword of that name are other things.
    "def put(x, where):\n    return jnp.where(x > 0, x, x)\nmade = put(batch, rows)": True,
    "def put(x, where):\n    return jax.device_put(x, where)\nmade = put(batch, rows)": False,
    "def put(x, where):\n    def inner():\n        return jax.device_put(x, where)\n    return inner()\n"
    "made = put(batch, rows)": False,
    "def put(x, where):\n    return jax.device_put(x, locals()['where'])\nmade = put(batch, rows)": False,
    "def put(x, where):\n    return eval('jax.device_put(x, where)')\nmade = put(batch, rows)": False,
    "def put(x, _where):\n    return jnp.asarray(x)\nmade = put(batch, rows)": False,
    "def put(x, where):\n    return jnp.asarray(x)\nmade = [put][0](batch, rows)": False,
    "@functools.lru_cache\ndef put(x, where):\n    return jnp.ones(x)\nmade = put(16, rows)": False,
    "def put(x, where):\n    raise NotImplementedError\n"
    "try:\n    put(batch, rows)\nexcept NotImplementedError:\n    made = jnp.asarray(batch)": False,
    "def put(x, where):\n    return jnp.asarray(x)\nmade = put(batch, None)": False,
    "def put(x, where):\n    return x\nmade = put(jnp.asarray(batch), rows)": False,
    "def put(x, **options):\n    return jax.device_put(x, *options.values())\n"
    "made = put(batch, where=rows)": False,
    "def put(x, *where):\n    return jax.device_put(x, where[0])\nmade = put(batch, rows)": False,
    "def put(x, where):\n    where = NamedSharding(mesh, P('y'))\n    return jax.device_put(x, where)\n"
    "made = put(batch, rows)": False,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_reported_where_nothing_is_laid_out(program: str) -> None:
    text = f"{HEADER}{program}\n"
    reported = bool(found(text, "SHL617"))
    assert reported == PROGRAMS[program]
    on_one_device = value(text, "len(made.sharding.device_set) == 1")
    assert on_one_device or not reported


def test_the_page_leaves_the_batch_on_one_device() -> None:
    assert of_pages("SHL617", "len(bad.batch.sharding.device_set)") == 1
    assert of_pages("SHL617", "len(good.batch.sharding.device_set)") == 8
