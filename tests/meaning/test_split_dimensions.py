"""What is computed along split dimensions in a body of shard_map: reported where the numbers are others."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("d", "m"))
k = jax.random.split(jax.random.key(0), 4)
x, w = jax.random.normal(k[0], (4, 16)), jax.random.normal(k[1], (16, 8))
b, g = jax.random.normal(k[2], (8,)), jnp.arange(1.0, 17.0)
def on(body, ins, out, *args, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=ins, out_specs=out, **options)(*args)
"""
ROWS, PART = "(P(None, 'm'), P('m'), P())", "(P('d', 'm'),)"
#: Programs, what they should compute, and the rule that reports them, if it is another number.
PROGRAMS: dict[str, tuple[str, str | None]] = {
    f"on(lambda x, w, b: lax.psum(x @ w + b, 'm'), {ROWS}, P(), x, w, b)": ("x @ w + b", "SHL318"),
    f"on(lambda x, w, b: lax.psum(jnp.dot(x, w) - b, 'm'), {ROWS}, P(), x, w, b)": ("x @ w - b", "SHL318"),
    f"on(lambda x, w, b: lax.psum_scatter(jnp.einsum('bi,io->bo', x, w) + b, 'm', scatter_dimension=1, "
    f"tiled=True), {ROWS}, P(None, 'm'), x, w, b)": ("x @ w + b", "SHL318"),
    f"on(lambda x, w, b: lax.psum(x @ w, 'm') + b, {ROWS}, P(), x, w, b)": ("x @ w + b", None),
    f"on(lambda x, w, b: lax.psum(x @ w + b / 4, 'm'), {ROWS}, P(), x, w, b)": ("x @ w + b", None),
    f"on(lambda x, w, b: lax.psum(x @ w + b * (lax.axis_index('m') == 0), 'm'), {ROWS}, P(), x, w, b)": (
        "x @ w + b", None
    ),
    f"on(lambda x, w, b: lax.psum(jnp.einsum('bi,io,i->bo', x, w, g[:4]) + b, 'm'), {ROWS}, P(), x, w, b)": (
        "jnp.einsum('bi,io,i->bo', x, w, jnp.tile(g[:4], 4)) + b", "SHL318"
    ),
    f"on(lambda x, w, b: lax.psum(jnp.einsum('bi,io,i->bo', x, w, g[:4]), 'm') + b, {ROWS}, P(), x, w, b)": (
        "jnp.einsum('bi,io,i->bo', x, w, jnp.tile(g[:4], 4)) + b", None
    ),
    f"on(lambda x, w, b, g: lax.psum(jnp.einsum('bi,io,i->bo', x, w, g), 'm') + b, {ROWS[:-1]}, P('m')), "
    "P(), x, w, b, g)": ("jnp.einsum('bi,io,i->bo', x, w, g) + b", None),
    f"on(lambda x, w, b, g: lax.psum(jnp.einsum('bi,io,i->bo', x, w, g) + b, 'm'), {ROWS[:-1]}, P('m')), "
    "P(), x, w, b, g)": ("jnp.einsum('bi,io,i->bo', x, w, g) + b", "SHL318"),
    "on(lambda x, w, b: jnp.einsum('bi,io,o->bo', x, w, b) + b, (P(), P(None, 'm'), P('m')), P(None, 'm'), "
    "x, w, b)": ("jnp.einsum('bi,io,o->bo', x, w, b) + b", None),
    "on(lambda x, w, b: x @ w + b, (P(), P(None, 'm'), P('m')), P(None, 'm'), x, w, b)": ("x @ w + b", None),
    f"on(jax.nn.softmax, {PART}, P('d', 'm'), x)": ("jax.nn.softmax(x)", "SHL319"),
    f"on(lambda x: jax.nn.softmax(x, axis=0), {PART}, P('d', 'm'), x)": (
        "jax.nn.softmax(x, axis=0)", "SHL319"
    ),
    "on(lambda x: jax.nn.softmax(x), (P('d'),), P('d'), x)": ("jax.nn.softmax(x)", None),
    f"on(lambda x: jnp.exp(x) / jnp.exp(x).sum(-1, keepdims=True), {PART}, P('d', 'm'), x)": (
        "jax.nn.softmax(x)", "SHL319"
    ),
    f"on(lambda x: jnp.exp(x) / lax.psum(jnp.exp(x).sum(-1, keepdims=True), 'm'), {PART}, P('d', 'm'), x)": (
        "jax.nn.softmax(x)", None
    ),
    f"on(lambda x: x - x.mean(-1, keepdims=True), {PART}, P('d', 'm'), x)": (
        "x - x.mean(-1, keepdims=True)", "SHL319"
    ),
    f"on(lambda x: x - lax.pmean(x.mean(-1, keepdims=True), 'm'), {PART}, P('d', 'm'), x)": (
        "x - x.mean(-1, keepdims=True)", None
    ),
    "on(lambda x: x - x.mean(-1, keepdims=True), (P('d'),), P('d'), x)": (
        "x - x.mean(-1, keepdims=True)", None
    ),
    "on(lambda x: x.reshape(-1, 2, 2) - x.reshape(-1, 2, 2).mean(-1, keepdims=True), "
    "(P('d', 'm'),), P('d', 'm'), x)": (
        "x.reshape(4, 8, 2) - x.reshape(4, 8, 2).mean(-1, keepdims=True)", None
    ),
    "on(lambda g: lax.psum(g.mean(), 'm'), (P('m'),), P(), g)": ("g.mean()", "SHL320"),
    "on(lambda g: lax.psum(g.mean() + 1, 'm') - 4, (P('m'),), P(), g)": ("g.mean()", "SHL320"),
    "on(lambda g: lax.psum(g.mean(), 'm') / 4, (P('m'),), P(), g)": ("g.mean()", None),
    "on(lambda g: lax.psum(g.mean() / 4, 'm'), (P('m'),), P(), g)": ("g.mean()", None),
    "on(lambda g: lax.pmean(g.mean(), 'm'), (P('m'),), P(), g)": ("g.mean()", None),
    "on(lambda g: lax.psum(g.sum(), 'm'), (P('m'),), P(), g)": ("g.sum()", None),
    # What is reduced over one axis is split over the other as before.
    f"on(lambda x: lax.psum(lax.psum(x.sum(-1), 'm').mean(), 'd'), {PART}, P(), x)": (
        "x.sum(-1).mean()", "SHL320"
    ),
    f"on(lambda x: lax.pmean(lax.psum(x.sum(-1), 'm').mean(), 'd'), {PART}, P(), x)": (
        "x.sum(-1).mean()", None
    ),
    f"on(lambda x: lax.psum(lax.pmax(x.max(-1), 'm').mean(), 'd'), {PART}, P(), x)": (
        "x.max(-1).mean()", "SHL320"
    ),
    f"on(lambda x: lax.psum(lax.pmax(x.max(-1), 'm').sum(), 'd'), {PART}, P(), x)": ("x.max(-1).sum()", None),
    "on(lambda x: lax.psum(lax.psum(jnp.take_along_axis(x, x.argmin(-1)[:, None] * 0, 1)[:, 0], 'm')"
    f".mean(), 'd'), {PART}, P(), x)": ("x[:, ::4].sum(-1).mean()", "SHL320"),
    "on(lambda x: lax.pmean(lax.psum(jnp.take_along_axis(x, x.argmin(-1)[:, None] * 0, 1)[:, 0], 'm')"
    f".mean(), 'd'), {PART}, P(), x)": ("x[:, ::4].sum(-1).mean()", None),
    "on(lambda b, g: b - 0.5 * jax.grad(lambda b: jnp.mean(b[0] * g))(b), (P(), P('m')), P(), b, g)": (
        "b - 0.5 * jax.grad(lambda b: jnp.mean(b[0] * g))(b)", "SHL320"
    ),
    "on(lambda b, g: b - 0.5 * jax.grad(lambda b: lax.pmean(jnp.mean(b[0] * g), 'm'))(b), (P(), P('m')), "
    "P(), b, g)": ("b - 0.5 * jax.grad(lambda b: jnp.mean(b[0] * g))(b)", None),
    "on(lambda b, g: b - 0.5 * jax.grad(lambda b: jnp.mean(b[0] * g))(b) / 4, (P(), P('m')), P(), b, g)": (
        "b - 0.5 * jax.grad(lambda b: jnp.mean(b[0] * g))(b)", None
    ),
    "on(lambda b, g: b - 0.5 * jax.grad(lambda b: jnp.sum(b[0] * g))(b), (P(), P('m')), P(), b, g)": (
        "b - 0.5 * jax.grad(lambda b: jnp.sum(b[0] * g))(b)", None
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", PROGRAMS)
def test_reported_where_the_numbers_are_others(call: str) -> None:
    meant, code = PROGRAMS[call]
    program = f"{HEADER}y = {call}\n"
    are_close = value(f"{program}z = {meant}\n", "bool(np.allclose(y, z, atol=1e-4))")
    assert are_close == (code is None)
    for rule in ("SHL318", "SHL319", "SHL320"):
        assert bool(found(program, rule)) == (rule == code), rule
