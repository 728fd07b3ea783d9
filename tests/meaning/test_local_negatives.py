"""Contrastive losses in a body of pmap: reported where the numbers are not those of the whole batch."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np, optax
from functools import partial
from jax import lax
from flax.training.common_utils import shard
xent = optax.softmax_cross_entropy_with_integer_labels
k = jax.random.split(jax.random.key(0), 2)
a, b = jax.random.normal(k[0], (32, 4)), jax.random.normal(k[1], (32, 4))
def whole(a, b):
    return xent(a @ b.T, jnp.arange(a.shape[0])).mean()
def mapped(loss):
    return jax.pmap(lambda a, b: lax.pmean(loss(a, b), "b"), axis_name="b")(shard(a), shard(b))[0]
def both(a, b):
    logits = jnp.einsum("id,jd->ij", jnp.tanh(a), b)
    labels = jnp.arange(a.shape[0])
    return (xent(logits, labels).mean() + xent(logits.T, labels).mean()) / 2
def all_of(x):
    return lax.all_gather(x, "b", tiled=True)
def offset(a, b):
    labels = lax.axis_index("b") * a.shape[0] + jnp.arange(a.shape[0])
    return xent(a @ all_of(b).T, labels).mean()
"""
#: Losses in a body, what they should be, and whether they are another number.
LOSSES = {
    "mapped(whole)": ("whole(a, b)", True),
    "mapped(both)": ("both(a, b)", True),
    "mapped(lambda a, b: xent(jnp.dot(a, b.T) * 2, jnp.arange(len(a))).mean())": ("whole(2 * a, b)", True),
    "mapped(jax.checkpoint(whole))": ("whole(a, b)", True),
    "mapped(offset)": ("whole(a, b)", False),
    "mapped(lambda a, b: whole(all_of(a), all_of(b)))": ("whole(a, b)", False),
    "mapped(lambda a, b: both(*map(all_of, (a, b))))": ("both(a, b)", False),
}
#: Labels that count something else than the examples of a device.
OTHERS = [
    "jax.pmap(lambda a, n: xent(a @ jnp.eye(4), n), axis_name='b')(shard(a), shard(jnp.arange(32) % 4))",
    "jax.pmap(lambda a: xent(a, jnp.zeros(4, int)), axis_name='b')(shard(a))",
    "jax.pmap(lambda a: xent(jnp.eye(4), jnp.arange(4)), axis_name='b')(shard(a))",
    "jax.pmap(jax.vmap(lambda x: xent(x[:, None] * x, jnp.arange(4))), axis_name='b')(shard(a))",
    "jax.pmap(lambda a: xent(lax.psum(a, 'b'), jnp.arange(4)), axis_name='b')(shard(a))",
]


@pytest.mark.parametrize("loss", LOSSES)
def test_losses(loss: str) -> None:
    meant, reported = LOSSES[loss]
    program = f"{HEADER}one, other = {loss}, {meant}\n"
    assert value(program, "bool(np.allclose(one, other, rtol=1e-3))") != reported
    assert bool(found(program, "SHL319")) == reported


@pytest.mark.parametrize("loss", OTHERS)
def test_other_labels(loss: str) -> None:
    program = f"{HEADER}one = {loss}\n"
    value(program)
    assert not found(program, "SHL319")
