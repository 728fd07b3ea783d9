"""Products of which the second gathers its operand: beside the collectives in the compiled code."""

from __future__ import annotations

import random
import re

import pytest
from consequences import found, of_pages, value
from support.sizes import size

CASES = size("SHARDLINT_COLUMN_CASES", 60, 20)
HEADER = """import jax, jax.numpy as jnp, numpy as np
from flax import linen as nn
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
def array(mesh, shape, *spec):
    return jax.device_put(jnp.ones(shape), NamedSharding(mesh, P(*spec)))
class Hidden(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(128, use_bias=False)(x))
class Output(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(16, use_bias=False)(x)
def layer(module, x, kernel):
    return module().apply({"params": {"Dense_0": {"kernel": kernel}}}, x)
"""
MESHES = {
    'Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))': "xy",
    'Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))': "xy",
    'Mesh(np.array(jax.devices()), ("y",))': "y",
    'Mesh(np.array(jax.devices()).reshape(2, 2, 2), ("x", "y", "z"))': "xyz",
}
#: What is computed of rows ``v`` and of weights ``a``, of 128 columns, and ``b``, of 16.
PRODUCTS = (
    "jax.nn.gelu(v @ a) @ b", "(jax.nn.silu(v @ a) * (v @ a)) @ b", "jnp.dot(jnp.tanh(jnp.dot(v, a)) + 1, b)",
    "jnp.matmul(jnp.maximum(jnp.matmul(v, a), 0.0).astype('bfloat16'), b)", "(v @ a) @ b",
    "(jnp.tanh(v @ a) + jnp.ones(128)) @ b", "layer(Output, layer(Hidden, v, a), b)", "(v + v) @ a @ b",
    "jnp.einsum('...f,fo->...o', jax.nn.relu(jnp.einsum('...d,df->...f', v, a)), b)",
    "jax.nn.relu(lax.with_sharding_constraint(v @ a, NamedSharding(mesh, P()))) @ b",
    "jax.nn.softmax(v @ a) @ b", "jax.value_and_grad(lambda a: (jnp.tanh(v @ a) @ b).sum())(a)",
    "(v @ a).reshape(-1, 128) @ b", "(jnp.sin(v @ a) + jnp.cos(v @ a)) @ b * 2",
)  # fmt: skip
SHAPES = ((16, 32), (8, 4, 32))


def random_entry(rng: random.Random, axes: str) -> tuple[str, ...] | str | None:
    kept = rng.sample(axes, rng.choice((0, 1, 1, 1, min(2, len(axes)))))
    return None if not kept else kept[0] if len(kept) == 1 else tuple(kept)


def random_program(rng: random.Random, product: str) -> str:
    mesh, axes = rng.choice(list(MESHES.items()))
    columns = random_entry(rng, axes)
    rest = "".join(axis for axis in axes if axis not in (columns or ()))
    rows = rng.choice((tuple(rest) or None, random_entry(rng, axes)))
    over = rng.choice((None, random_entry(rng, rest) if rest else None))
    second = (over, columns) if rng.random() < 0.8 else (columns, over)
    return (
        f"{HEADER}mesh = {mesh}\n"
        f"v = array(mesh, {rng.choice(SHAPES)}, {rows!r})\n"
        f"a = array(mesh, (32, 128), None, {columns!r})\n"
        f"b = array(mesh, (128, 16), {second[0]!r}, {second[1]!r})\n"
        f"f = jax.jit(lambda v, a, b: {product})\ny = f(v, a, b)\n"
    )


def gathered_widths(program: str) -> list[str]:
    """Return the shapes that are gathered in what a program compiles to."""
    pattern = r"= \(?\w+\[([\d,]+)\]\S* all-gather(?:-start)?\("
    return value(program, f"__import__('re').findall({pattern!r}, f.lower(v, a, b).compile().as_text())")


def test_random_products() -> None:
    rng, told = random.Random(5), 0
    for number in range(CASES * 2):
        program = random_program(rng, PRODUCTS[number % len(PRODUCTS)])
        if found(program, "SHL623"):
            told += 1
            shapes = gathered_widths(program)
            # Rows of the activations, which are of 128 columns; of 32 are those of the argument.
            assert any(re.fullmatch(r"([\d,]+,)?128|128,[\d,]+", shape) for shape in shapes), (
                program,
                shapes,
            )
    assert told > CASES // 6


#: Products, and whether the operand of the last one is reported.
SAID = {
    **dict.fromkeys(PRODUCTS[:9], True),
    "(v @ a).sum(0) @ b": False,
    "jax.nn.softmax(v @ a) @ b": False,
    "lax.with_sharding_constraint(v @ a, NamedSharding(mesh, P('x'))) @ b": False,
    "(v @ a) @ b @ b.T": True,
    "(v @ b2) @ b2.T": False,
    "jnp.einsum('bf,fo->ob', v @ a, b)": False,
    "jnp.einsum('bf,of->bo', v @ a, b.T)": False,
}


@pytest.mark.parametrize("product", SAID)
def test_what_stands_between(product: str) -> None:
    program = (
        f"{HEADER}mesh = {next(iter(MESHES))}\nv = array(mesh, (16, 32), 'x')\n"
        "a, b = array(mesh, (32, 128), None, 'y'), array(mesh, (128, 16), None, 'y')\n"
        f"b2 = array(mesh, (32, 16), 'y')\nf = jax.jit(lambda v, a, b: {product})\ny = f(v, a, b)\n"
    )
    assert bool(found(program, "SHL623")) == SAID[product]
    if SAID[product]:
        assert any(shape in ("8,128", "128,8") for shape in gathered_widths(program))


def test_the_page() -> None:
    text = "{}.mlp.lower({0}.x, {0}.up, {0}.down).compile().as_text()"
    of = "[name in " + text.replace("{}", "{0}") + " for name in ('all-gather', 'all-reduce')]"
    assert of_pages("SHL623", of.format("bad")) == [True, False]
    assert of_pages("SHL623", of.format("good")) == [False, True]
