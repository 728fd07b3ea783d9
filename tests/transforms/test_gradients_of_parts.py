"""Gradients by a split argument, reduced over some axes: reported are those that are no multiple of the one
that JAX computes of the whole program."""

from __future__ import annotations

import itertools

import jax
import numpy as np
import pytest
from support.checking import check
from support.jax_answers import asks_jax

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
w = jax.random.normal(jax.random.key(0), (8, 8))
x = jax.random.normal(jax.random.key(1), (16, 8))
def loss(w, x):
    return jnp.sum(jnp.sin(x @ w) ** 2)
def body(w, x):
    gradient = jax.grad(loss)(w, x)
    return jax.lax.{reduce}({value}, {axes})
spec = P({spec})
found = jax.shard_map(
    body, mesh=mesh, in_specs=(spec, P("data")), out_specs={out}, check_vma=False
)(w, x)
due = jax.grad(loss)(w, x)
"""
CASES = list(
    itertools.product(
        ("psum", "pmean"), ("gradient", "gradient * 2", "gradient / 3", "gradient + 0.1 * gradient"),
        ('"data"', '"model"', '("data", "model")'), ('None, "model"', ""),
    )
)  # fmt: skip


@asks_jax("gradients_of_parts")
def is_multiple(text: str) -> bool:
    """Return whether what the program finds is a multiple of what is due."""
    scope: dict[str, object] = {}
    exec(text, scope)
    found, due = scope["found"], scope["due"]
    assert isinstance(found, jax.Array) and isinstance(due, jax.Array)
    ratio = np.asarray(found) / np.asarray(due)
    return bool(np.allclose(ratio, ratio.flat[0], rtol=1e-3))


@pytest.mark.parametrize(("reduce", "value", "axes", "spec"), CASES)
def test_reported_are_gradients_of_mixed_parts(reduce: str, value: str, axes: str, spec: str) -> None:
    # What is equal on all devices along an axis is not stacked along it: the shapes are those of the whole.
    text = PROGRAM.format(reduce=reduce, value=value, axes=axes, spec=spec, out="spec")
    told = any(f.code == "SHL317" for f in check(text, devices=8))
    assert told is ("model" in axes and "model" in spec)
    if told:
        assert not is_multiple(text)
    elif "data" in axes:
        assert is_multiple(text)
