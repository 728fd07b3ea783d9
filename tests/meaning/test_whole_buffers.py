"""Buffers that lie whole on every device, beside what XLA does with what is written into them."""

from __future__ import annotations

import random

import pytest
from consequences import found, of_pages, value

HEADER = """import functools
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
def array(*shape, spec):
    return jax.device_put(jnp.ones(shape), NamedSharding(mesh, spec))
"""
#: What is written, with ``w`` of the shape (64, 8, 16) or as said, ``x`` of (16, 64), and the buffer's shape.
PRODUCTS = (
    "jnp.einsum('bd,dnh->bnh', x, w)",
    "jnp.einsum('bd,dnh->bnh', jnp.tanh(x @ jnp.ones((64, 64))), w)",
    "jnp.einsum('dnh,bd->bnh', w, x[::-1])",
    "jnp.tensordot(x, w, 1)",
    "jnp.tensordot(x, w, 1).astype('bfloat16')",
    "jnp.einsum('bd,adnh->abnh', x, jnp.stack([w, w]))[1]",
    "jnp.einsum('bd,dnh->bnh', x, jnp.stack([w, w])[1])",
    "(x @ w.reshape(64, 128)).reshape(16, 8, 16)",
    "jnp.einsum('bd,dnh->bnh', x, w)[:, ::-1]",
    "jnp.einsum('bd,dnh->bnh', x, w)[:, :4]",
    "jnp.einsum('bd,dnh->nbh', x, w).swapaxes(0, 1)",
    "lax.dot_general(x, w, (((1,), (0,)), ((), ())))",
)
WRITES = (
    "buffer.at[:, i].set({})",
    "lax.dynamic_update_slice(buffer, {}[:, None], (0, i, 0, 0))",
    "lax.dynamic_update_index_in_dim(buffer, {}, i, 1)",
)
SPECS = ("None, 'model'", "None, None, 'model'", "'model'", "None, 'data'", "None, 'data', 'model'", "")


@pytest.mark.parametrize("product", PRODUCTS)
def test_what_is_written_is_split(product: str) -> None:
    rng, told = random.Random(product), 0
    for spec in SPECS:
        rows = rng.choice(("'data'", "", "None, 'model'"))
        header = f"{HEADER}w, x = array(64, 8, 16, spec=P({spec})), array(16, 64, spec=P({rows}))\n"
        heads = 4 if product.endswith(":4]") else 8
        write = rng.choice(WRITES).format(product)
        program = (
            f"{header}buffer = array(16, 32, {heads}, 16, spec=P())\n"
            f"step = jax.jit(lambda buffer, w, x, i: {write}, out_shardings=NamedSharding(mesh, P()))\n"
            "y = step(buffer, w, x, 3)\n"
        )
        findings = found(program, "SHL622")
        compiled = f"{header}y = jax.jit(lambda w, x: {product})(w, x)\n"
        split = value(compiled, "[y.sharding.shard_shape(y.shape)[at] < y.shape[at] for at in range(3)]")
        told += bool(findings)
        assert any(split) or not findings, (spec, rows, split, findings)
    if "stack" not in product and "4]" not in product:
        assert told


@pytest.mark.parametrize(
    ("buffer", "write", "out"),
    [
        ("array(16, 32, 8, 16, spec=P(None, None, 'model'))", "buffer.at[:, i].set(k)", ""),
        ("array(16, 32, 8, 16, spec=P('data'))", "buffer.at[:, i].set(k)", ""),
        ("array(16, 32, 8, 16, spec=P())", "buffer.at[:, i].set(k)", "None, None, 'model'"),
        ("array(16, 128, spec=P())", "buffer.at[:, :].set(k.reshape(16, 128))", ""),
        ("array(16, 32, 9, 17, spec=P())", "buffer.at[:, i, :8, :16].set(k)", ""),
        ("array(16, 32, 8, 16, spec=P())", "buffer.at[:, i].set(k.sum((1, 2), keepdims=True))", ""),
        ("jnp.zeros((16, 32, 8, 16))", "buffer.at[:, i].set(k)", ""),
    ],
)
def test_silent_where_it_is_split_or_cannot_be(buffer: str, write: str, out: str) -> None:
    program = f"""{HEADER}w, x = array(64, 8, 16, spec=P(None, 'model')), array(16, 64, spec=P())
buffer = {buffer}
@functools.partial(jax.jit, out_shardings=NamedSharding(mesh, P({out})))
def step(buffer, w, x, i):
    k = jnp.einsum('bd,dnh->bnh', x, w)
    return {write}
y = step(buffer, w, x, 3)
"""
    assert not found(program, "SHL622")


def test_page() -> None:
    """Each device holds the whole of the one cache, and an eighth of the other."""
    held = "(bad.cache.addressable_shards[0].data.size, good.cache.addressable_shards[0].data.size)"
    whole, part = of_pages("SHL622", held)
    assert whole == 8 * part
