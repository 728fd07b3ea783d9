"""Arguments on different devices are refused where results come of both: JAX drops what is unused."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from shardlint.api import Linter, Settings, source_from_text

HEAD = """\
import jax
import jax.numpy as jnp

a = jax.device_put(jnp.ones(8), jax.devices()[0])
b = jax.device_put(jnp.ones(8), jax.devices()[1])
"""
BODIES = [
    "a + b ** 0",
    "a + jnp.power(b, 0)",
    "a + b[:0].sum()",
    "a + jax.lax.integer_pow(b, 0)",
    "a + jnp.empty_like(b)",
    "a + jnp.repeat(b, 0).sum()",
    "a + jnp.tile(b, 0).sum()",
    "a + jnp.sum(b, where=False)",
    "a + jnp.linspace(0, 1, 8) * jnp.size(b)",
    "a + jnp.indices(b.shape)[0]",
    "jnp.broadcast_arrays(a, b)[0]",
    "jnp.concatenate([a, b[:0]])",
    "a.at[:0].set(b[:0])",
    "a + jax.nn.one_hot(jnp.argmax(b), 8)",
    "a + jnp.matmul(b[:0], jnp.ones((0,)))",
    "jnp.pad(a, jnp.ndim(b))",
    "jax.lax.cond(True, lambda: a, lambda: b)",
    "a + jnp.vander(b, 0).sum()",
    "a + jnp.clip(b, 1, 1)",
    "a + jnp.polyval(jnp.ones((0,)), b)",
    "a + jnp.cumsum(b)[8:].sum()",
    "a + jnp.where(jnp.zeros_like(b, dtype=bool), b, 0)",
    "a + jax.random.normal(jax.random.key(0), b.shape, b.dtype)",
    "a + jnp.stack([b, b])[0]",
    "jnp.meshgrid(a, b)[0]",
    "a + jnp.heaviside(b, 0)",
    "a + jnp.searchsorted(jnp.ones((0,)), b)",
    "a + jnp.isinf(b)",
    "a + jnp.isinf(b.astype(int))",
    "a + jnp.isfinite(b.astype(int))",
    "a + jnp.imag(b)",
    "a + jnp.iscomplex(b)",
    "a + jnp.isreal(b)",
    "a + jnp.angle(b)",
    "a + jnp.isnan(b.astype(int))",
    "a + jnp.signbit(b.astype('uint32'))",
    "a + jnp.frexp(b)[1]",
    "a + jnp.real(b)",
    "a + jnp.conj(b)",
    "a + jnp.diff(b, 0)",
    "a + jnp.tri(8)[0]",
    "a + jnp.round(b.astype(int))",
    "a + jnp.nan_to_num(b.astype(int))",
    "a + jnp.var(b[:1])",
    "a + jnp.average(b, weights=a)",
    "a + jnp.expand_dims(b, 0)",
    "a + jnp.copysign(a, b)",
    "a + jnp.argmax(b[:1])",
    "a + jnp.sort(b[:1])",
    "a + jnp.argsort(b)",
    "a + jnp.ptp(b)",
    "a + jnp.median(b)",
    "jnp.select([jnp.array(True)], [a], b)",
    "a + jnp.trace(b[:, None])",
    "a + jnp.take(b, 0)",
    "a + jnp.squeeze(b[:1])",
    "a + jnp.nanmean(b)",
    "jax.grad(lambda w, c: jnp.sum(w + c), argnums=(0, 1))(a, b)",
    "jax.vjp(lambda w, c: w + c, a, b)[1](jnp.ones(8))",
    "jax.lax.fori_loop(0, 0, lambda i, c: c + b, a)",
    "a + jnp.take(b, jnp.zeros((0,), int)).sum()",
    "a + jnp.take_along_axis(b, jnp.zeros((0,), int), 0).sum()",
    "a + jnp.split(b, [8])[1].sum()",
    "a + jnp.logical_and(b, False)",
    "a + jnp.floor_divide(b, 1)",
    "a + jax.nn.one_hot(b.astype(int), 0).sum()",
    "a + jnp.reshape(b, (8,))[:0].sum()",
    "a + jnp.array_split(b, 9)[8].sum()",
]
#: Bodies that surely read b, so that shardlint must see the mistake.
READ = [
    "a + b", "jnp.sum(a * b)", "a @ b", "jnp.where(a > 0, a, b)", "(a, jnp.sin(b))", "jnp.stack([a, b])",
    "jnp.take_along_axis(a, b.astype(int), 0)", "a + b.reshape(2, 4).T.ravel()", "a[jnp.argmax(b)]",
    "jax.nn.one_hot(b.astype(int), 8) * a", "jnp.take(a, b.astype(int))", "jnp.split(a + 1, 2)[0] * b[0]",
]  # fmt: skip


def claims(body: str) -> bool:
    found = Linter(Settings(devices=8)).check_source(
        source_from_text("train.py", f"{HEAD}jax.jit(lambda a, b: {body})(a, b)\n")
    )
    assert all(finding.code == "SHL708" for finding in found)
    return bool(found)


def raises(body: str) -> bool:
    function: Any = eval(f"lambda a, b: {body}", {"jax": jax, "jnp": jnp})
    a, b = (jax.device_put(jnp.ones(8), jax.devices()[i]) for i in (0, 1))
    try:
        jax.jit(function)(a, b)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize("body", BODIES)
def test_what_is_not_read_may_lie_anywhere(body: str) -> None:
    if claims(body):
        assert raises(body)


@pytest.mark.parametrize("body", READ)
def test_what_is_read_must_lie_together(body: str) -> None:
    assert claims(body)
    assert raises(body)
