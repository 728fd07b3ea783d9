"""Means and deviations of one device's examples: reported where the whole batch has others."""

from __future__ import annotations

import pytest
from consequences import found
from same_values import is_close

HEADER = """import jax, jax.numpy as jnp, numpy as np
from functools import partial
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
from flax.training.common_utils import shard
mesh = Mesh(np.array(jax.devices()), ("b",))
keys = jax.random.split(jax.random.key(0), 3)
a = jax.random.normal(keys[0], (32,)) ** 2
x, images = jax.random.normal(keys[1], (32, 4)), jax.random.normal(keys[2], (32, 4, 4))
host = np.sin(np.arange(32.0)).astype(np.float32)
def scaled(a):
    return (a - a.mean()) / (a.std() + 1e-3)
def written_out(a):
    mean = a.mean()
    var = jnp.square(a - mean).mean()
    return (a - mean) * lax.rsqrt(var + 1e-3)
def by_deviation(a):
    return a / (jnp.std(a) + 1e-3)
def reduced(a):
    mean = lax.pmean(a.mean(), "b")
    var = lax.pmean(jnp.square(a - mean).mean(), "b")
    return (a - mean) * lax.rsqrt(var + 1e-3)
def gathered(a):
    every = lax.all_gather(a, "b", tiled=True)
    return (a - every.mean()) / (every.std() + 1e-3)
def merged(a):
    mean = a.mean()
    far, means = jnp.square(a - mean).mean(), lax.all_gather(mean, "b")
    var = lax.pmean(far, "b") + means.var()
    return (a - means.mean()) * lax.rsqrt(var + 1e-3)
def batch_norm(x):
    return (x - x.mean(0)) / (x.std(0) + 1e-3)
def layer_norm(x):
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-3)
def each(x):
    return jax.vmap(scaled)(x)
def on(body, a, spec=P("b"), **options):
    return jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec, **options)(a)
def mapped(body, a, parts=shard):
    return jax.pmap(body, axis_name="b")(parts(a)).reshape(a.shape)
def rows(a):
    return a.reshape(jax.device_count(), -1, *a.shape[1:])
"""
#: Programs, what they should compute, and whether they are reported.
PROGRAMS: dict[str, tuple[str, bool]] = {
    "on(scaled, a)": ("scaled(a)", True),
    "on(scaled, a, check_vma=False)": ("scaled(a)", True),
    "on(written_out, a)": ("written_out(a)", True),
    "on(by_deviation, a)": ("by_deviation(a)", True),
    "on(scaled, x)": ("scaled(x)", True),
    "on(scaled, x.T, P(None, 'b'))": ("scaled(x.T)", True),
    "on(jax.jit(scaled), a)": ("scaled(a)", True),
    "on(jax.checkpoint(scaled), a)": ("scaled(a)", True),
    "mapped(scaled, a)": ("scaled(a)", True),
    "mapped(scaled, host)": ("scaled(host)", True),
    "mapped(written_out, host)": ("written_out(host)", True),
    "mapped(scaled, x, rows)": ("scaled(x)", True),
    "mapped(by_deviation, a, rows)": ("by_deviation(a)", True),
    "on(reduced, a)": ("written_out(a)", False),
    "mapped(reduced, a)": ("written_out(a)", False),
    "on(gathered, a, check_vma=False)": ("scaled(a)", False),
    "mapped(gathered, a)": ("scaled(a)", False),
    "mapped(merged, a)": ("written_out(a)", False),
    "on(layer_norm, x)": ("layer_norm(x)", False),
    "mapped(layer_norm, images)": ("layer_norm(images)", False),
    "on(each, x)": ("each(x)", False),
    "mapped(each, images)": ("each(images)", False),
    "jax.pmap(scaled, axis_name='b')(x.T.reshape(4, 32)[:, :8])": ("each(x.T.reshape(4, 32)[:, :8])", False),
}
#: What each device normalises on purpose.
ON_PURPOSE = ["on(batch_norm, x)", "mapped(batch_norm, x)", "mapped(lambda x: batch_norm(x) * 2, images)"]


@pytest.mark.parametrize("call", PROGRAMS)
def test_reported_where_the_numbers_are_others(call: str) -> None:
    meant, reported = PROGRAMS[call]
    program = f"{HEADER}one = {call}\n"
    assert is_close(program, meant) != reported
    assert bool(found(program, "SHL319")) == reported


@pytest.mark.parametrize("call", ON_PURPOSE)
def test_normalised_on_each_device(call: str) -> None:
    program = f"{HEADER}one = {call}\n"
    assert not found(program, "SHL319")
