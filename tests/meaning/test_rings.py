"""Rings by `ppermute` over an axis along which the array is the same on all devices: reported where nothing
moves."""

from __future__ import annotations

import itertools

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("d", "m"))
x = jax.random.normal(jax.random.key(0), (8, 16))
def turned(k, axis, step=1):
    n = lax.axis_size(axis)
    return lax.ppermute(k, axis, [(i, (i + step) % n) for i in range(n)])
def on(body, spec, out, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=out, **options)(x)
"""
SPECS = {"P('d')": "d", "P('m')": "m", "P(None, 'm')": "m", "P('d', 'm')": "dm", "P(('d', 'm'))": "dm"}
#: Exchanges, and how often the result has the array if nothing moves.
BODIES = {
    "turned({k}, '{a}')": 1,
    "lax.ppermute({k}, '{a}', [(0, 1), (1, 0)] if '{a}' == 'd' else [(0, 1), (1, 2), (2, 3), (3, 0)])": 1,
    "lax.pshuffle({k}, '{a}', [1, 0] if '{a}' == 'd' else [1, 2, 3, 0])": 1,
    "sum(turned({k}, '{a}', j) for j in (1, 2))": 2,
}
ARRAYS = ("k", "k * 2", "jnp.exp(k).T", "k + lax.axis_index('d')", "k[:1]")


@pytest.mark.parametrize(("spec", "axis", "array"), [*itertools.product(SPECS, "dm", ARRAYS)])
@pytest.mark.parametrize("option", ["", "check_vma=False"])
def test_reported_where_nothing_moves(spec: str, axis: str, array: str, option: str) -> None:
    split = SPECS[spec] + "d" * (array == "k + lax.axis_index('d')")
    for body, times in BODIES.items() if array == "k" else [("turned({k}, '{a}')", 1)]:
        turned = body.format(k=f"({array})", a=axis)
        both = f"lambda k: jnp.stack([{times} * ({array}), {turned}])[None]"
        program = f"{HEADER}y = on({both}, {spec}, P(('d', 'm')), {option})\n"
        unchecked = (
            program.replace(option, "check_vma=False")
            if option
            else program.replace(")), )", ")), check_vma=False)")
        )
        stays = value(unchecked, "bool(np.allclose(y[:, 0], y[:, 1], atol=1e-5))")
        assert stays == (axis not in split)
        assert bool(found(program, "SHL309")) == stays, program


#: Exchanges that are meant, or of which it is not known.
OTHERS = (
    "lax.ppermute(k, 'd', [(0, 1)])",
    "lax.ppermute(jnp.ones(3), 'd', [(0, 1), (1, 0)])",
    "lax.fori_loop(0, 3, lambda _, c: turned(c + lax.axis_index('d'), 'd'), lax.pcast(k, 'd', to='varying'))",
    "turned(jnp.where(lax.axis_index('d') == 0, k, 0), 'd')",
    "turned(k, 'm')",
    "turned(lax.psum(k, 'm'), 'm')",
)


@pytest.mark.parametrize("body", OTHERS)
def test_what_is_not_reported(body: str) -> None:
    program = f"{HEADER}y = on(lambda k: jnp.sum({body})[None], P('m'), P(('d', 'm')), check_vma=False)\n"
    value(program)
    assert not found(program, "SHL309")
    assert not found(program.replace(", check_vma=False", ""), "SHL309")
