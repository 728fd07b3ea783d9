"""Operands that an axis splits along different dimensions: beside the collectives in the compiled code."""

from __future__ import annotations

import random
import re

import pytest
from consequences import found, of_pages, value
from support.sizes import size

CASES = size("SHARDLINT_APART_CASES", 90, 30)
HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
def array(shape, *spec):
    return jax.device_put(jnp.ones(shape), NamedSharding(mesh, P(*spec)))
def asked(x, *spec):
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))
"""
MESHES = {
    'Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))': "xy",
    'Mesh(np.array(jax.devices()), ("y",))': "y",
    'Mesh(np.array(jax.devices()).reshape(2, 2, 2), ("x", "y", "z"))': "xyz",
}
SIZES = dict(zip("abcdn", (16, 32, 64, 24, 8), strict=True))
#: What is computed of two arrays, and the letters of their dimensions and of those of the result.
COMPUTED = (
    ('jnp.einsum("anb,nbc->anc", v, w)', "anb", "nbc", "anc"),
    ('jnp.einsum("nab,ncb->nac", v, w)', "nab", "ncb", "nac"),
    ('jnp.einsum("ab,cb->ac", v, w)', "ab", "cb", "ac"),
    ('jnp.einsum("ab,bnc->anc", v, w)', "ab", "bnc", "anc"),
    ("v @ w", "ab", "bc", "ac"),
    ("jnp.matmul(v, w)", "nab", "nbc", "nac"),
    ("jnp.dot(v, w.T)", "ab", "cb", "ac"),
    ("jax.nn.gelu(v @ w.astype('float16')) * 2", "nab", "bc", "nac"),
    ("v + w", "anb", "anb", "anb"),
    ("jnp.where(v > 0, w, jnp.tanh(v))", "ab", "ab", "ab"),
    ("v.at[jnp.array([1, 4, 2])].set(w[:3])", "abc", "abc", "abc"),
    ("lax.dynamic_update_slice(v, jnp.sin(w), (0, 3, 0))", "abc", "adc", "abc"),
    ("v.at[:, 3:27].add(w)", "abc", "adc", "abc"),
)


def random_spec(rng: random.Random, axes: str, rank: int) -> tuple[object, ...]:
    entries: list[list[str]] = [[] for _ in range(rank)]
    for axis in axes:
        if rng.random() < 0.7:
            rng.choice(entries).append(axis)
    return tuple(None if not entry else entry[0] if len(entry) == 1 else tuple(entry) for entry in entries)


def program(rng: random.Random, number: int, mesh: str) -> str:
    axes = MESHES[mesh]
    text, *letters = COMPUTED[number % len(COMPUTED)]
    v, w, result = (random_spec(rng, axes, len(names)) for names in letters)
    shapes = [tuple(SIZES[name] for name in names) for names in letters]
    out = f"asked({text}, *{result!r})" if rng.random() < 0.7 else text
    return (
        f"{HEADER}mesh = {mesh}\nv = array({shapes[0]}, *{v!r})\nw = array({shapes[1]}, *{w!r})\n"
        f"f = jax.jit(lambda v, w: {out})\ny = f(v, w)\n"
    )


def collectives(text: str) -> list[str]:
    """Return the names of collectives that move data in what a program compiles to."""
    pattern = r" (all-to-all|all-gather|collective-permute|reduce-scatter)(?:-start)?\("
    return value(
        text, f"sorted(set(__import__('re').findall({pattern!r}, f.lower(v, w).compile().as_text())))"
    )


def test_random_operands() -> None:
    rng, told = random.Random(11), set()
    for number in range(CASES * 5):
        text = program(rng, number, rng.choice(list(MESHES)))
        if found(text, "SHL625"):
            told.add(number % len(COMPUTED))
            assert collectives(text), text
    assert len(told) > len(COMPUTED) * 2 // 3


def test_the_dimension_that_fits() -> None:
    rng, told = random.Random(4), set()
    for number in range(CASES * 5):
        text = program(rng, number, list(MESHES)[1])
        problems = found(text, "SHL625")
        if not problems or ("asked for" not in problems[0].message and "asked(" in text.splitlines()[-2]):
            continue
        (at,) = re.findall(r"dimension (\d) is split", problems[0].message)
        line = next(line for line in text.splitlines() if line.startswith("w = "))
        mended = text.replace(line, re.sub(r"\*.*", f"*(None,) * {at}, 'y')", line))
        assert not found(mended, "SHL625")
        assert not collectives(mended), (text, mended)
        told.add(number % len(COMPUTED))
    assert len(told) > len(COMPUTED) // 2


#: Programs of which nothing is said.
SILENT = (
    # A weight that is stored in parts along the axis of the batch.
    ("(16, 32), 'y'", "(32, 64), 'y'", "v @ w"),
    ("(16, 32), 'y'", "(32, 64), None, 'y'", "asked(v @ w, 'y')"),
    ("(8, 16, 32), None, 'y'", "(8, 32, 64), 'y'", "jnp.matmul(v, w)"),
    ("(16, 32), 'y'", "(32,), 'y'", "v + w"),
    # Rows of the weight, and sums over devices.
    ("(16, 32), None, 'y'", "(32, 64), 'y'", "asked(v @ w, None, 'y')"),
    ("(16, 32)", "(32, 64), 'y'", "v @ w"),
    ("(16, 32)", "(32, 64), 'y'", "asked(v @ w)"),
    # The length that is asked for is not the weight's to give.
    ("(16, 32)", "(32, 64), 'y'", "asked(v @ w, 'y')"),
    # A cache that is split along the dimension that is indexed.
    ("(16, 8, 32), 'y'", "(1, 8, 32), None, 'y'", "lax.dynamic_update_slice(v, w, (3, 0, 0))"),
    # Both alike.
    ("(16, 8, 32), 'x', 'y'", "(8, 32, 64), 'y', 'x'", "jnp.einsum('anb,nbc->anc', v, w)"),
)


@pytest.mark.parametrize("case", SILENT)
def test_of_these_nothing_is_said(case: tuple[str, str, str]) -> None:
    v, w, text = case
    mesh = next(iter(MESHES))
    lines = f"mesh = {mesh}\nv, w = array({v}), array({w})\nf = jax.jit(lambda v, w: {text})\ny = f(v, w)\n"
    assert not found(HEADER + lines, "SHL625")


def test_the_page() -> None:
    text = "'all-to-all' in {0}.{1} or 'all-gather' in {0}.{1}"
    compiled = "projected.lower({0}.q, {0}.w).compile().as_text()"
    both = (text.format(name, compiled.format(name)) for name in ("bad", "good"))
    assert of_pages("SHL625", f"[{', '.join(both)}]") == [True, False]
