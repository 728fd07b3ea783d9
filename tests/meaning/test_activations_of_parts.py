"""Activations of a part of a product, before the parts are added up: reported where the sum is another."""

from __future__ import annotations

import itertools

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from flax import linen as nn
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("d", "m"))
k = jax.random.split(jax.random.key(0), 4)
x, w = jax.random.normal(k[0], (8, 16)), jax.random.normal(k[1], (16, 32))
v = jax.random.normal(k[2], (32, 16))
def on(body, ins, out, *args, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=ins, out_specs=out, **options)(*args)
"""
PRODUCTS = ("x @ w", "jnp.dot(x, w)", "jnp.einsum('bk,kd->bd', x, w)", "lax.dot(x, w)", "2 * (x @ w)")
ACTIVATIONS = (
    "jax.nn.relu",
    "jax.nn.gelu",
    "jax.nn.silu",
    "nn.relu",
    "jnp.tanh",
    "jax.nn.softmax",
    "jax.nn.sigmoid",
)
IDENTITY = "jnp.negative"
AFTER = ("{h}", "{h} @ v", "0.5 * {h}", "({h} @ v).sum(-1)", "{h} * (x @ w)")
ROWS, COLUMNS = "(P('d', 'm'), P('m'), P())", "(P('d'), P(None, 'm'), P('m'))"


def _program(product: str, activation: str, after: str, specs: str, sum_first: bool, option: str) -> str:
    part = f"lax.psum({product}, 'm')" if sum_first else f"({product})"
    body = after.format(h=f"{activation}({part})")
    if not sum_first:
        body = f"lax.psum({body}, 'm')"
    whole = after.format(h=f"{activation}({product})")
    return f"{HEADER}y = on(lambda x, w, v: {body}, {specs}, P('d'), x, w, v{option})\nz = {whole}\n"


def _is_same(program: str) -> bool:
    return bool(value(program, "bool(np.allclose(y, z, atol=1e-3))"))


@pytest.mark.parametrize(("activation", "after"), [*itertools.product((*ACTIVATIONS, IDENTITY), AFTER)])
def test_before_the_sum(activation: str, after: str) -> None:
    for product, option in zip(PRODUCTS, itertools.cycle(("", ", check_vma=False"))):
        if after != AFTER[0] and product != PRODUCTS[0]:
            continue
        program = _program(product, activation, after, ROWS, False, option)
        same = _is_same(program)
        # A product of two parts is another matter.
        assert same == (activation == IDENTITY and after != AFTER[-1])
        assert bool(found(program, "SHL318")) == (activation != IDENTITY), program


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_after_the_sum(activation: str) -> None:
    for after in AFTER[:3]:
        program = _program("x @ w", activation, after, ROWS, True, "")
        assert _is_same(program)
        assert not found(program, "SHL318")


@pytest.mark.parametrize("activation", ACTIVATIONS[:5])
@pytest.mark.parametrize("option", ["", ", check_vma=False"])
def test_of_what_is_summed_and_split(activation: str, option: str) -> None:
    """A `psum_scatter` adds up the parts, and each device has columns of the sum."""
    scattered = "lax.psum_scatter(x @ w, 'm', scatter_dimension=1, tiled=True)"
    specs = "(P('d', 'm'), P('m'), P('m'))"
    for after in ("{h} @ v", "({h} + 1) @ v", "({h} * {h}) @ v"):
        body, whole = (after.format(h=f"{activation}({part})") for part in (scattered, "x @ w"))
        call = f"on(lambda x, w, v: lax.psum({body}, 'm'), {specs}, P('d'), x, w, v{option})"
        program = f"{HEADER}y = {call}\nz = {whole}\n"
        assert _is_same(program)
        assert not found(program, "SHL318")
        assert found(
            program.replace("lax.psum(", "lax.psum(jax.nn.relu(", 1).replace(", 'm'), (P", "), 'm'), (P"),
            "SHL318",
        )


@pytest.mark.parametrize("activation", ["jax.nn.relu", "jnp.tanh", "jax.nn.silu"])
def test_of_columns(activation: str) -> None:
    """The first product is not summed over the devices: its columns are split."""
    for after in ("{h} @ v", "({h} * (x @ w)) @ v"):
        program = _program("x @ w", activation, after, COLUMNS, False, "")
        assert _is_same(program)
        assert not found(program, "SHL318")
