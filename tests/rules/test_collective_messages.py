"""What is said of collectives and carries inside shard_map, and whether JAX computes what is said."""

from __future__ import annotations

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from shardlint.api import Linter, Settings, source_from_text
from shardlint.model.findings import Severity

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
x = jnp.ones((8, 8))
def on(f, i=P("x"), o=P("x"), **kwargs):
    jax.shard_map(f, mesh=mesh, in_specs=i, out_specs=o, **kwargs)(x)
"""
ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

SAYS = [
    (
        "on(lambda a: lax.scan(lambda c, r: (c + r, None), jnp.zeros(8), a)[0])", "SHL308", ERROR,
        "the carry of `scan` begins as f32[8] and comes back as f32[8]{V:x}; "
        'cast the initial value with jax.lax.pcast(..., "x", to="varying")',
    ),
    (
        "on(lambda a: lax.fori_loop(0, 2, lambda i, c: (c[0], lax.psum(c[1], 'x')), (a, a))[0])",
        "SHL308", ERROR,
        "carry[1] of `fori_loop` begins as f32[4, 8]{V:x} and comes back as f32[4, 8]; "
        'cast the result of the body with jax.lax.pcast(..., "x", to="varying")',
    ),
    (
        "on(lambda a: lax.cond(True, lambda: a, lambda: jnp.ones((4, 8))))", "SHL308", ERROR,
        "the branches of `cond` must have results of one type, not f32[4, 8]{V:x} and f32[4, 8]; "
        'cast the other branch\'s with jax.lax.pcast(..., "x", to="varying")',
    ),
    (
        "on(lambda a: lax.fori_loop(0, 2, lambda i, c: c[:2], a))", "SHL308", ERROR,
        "the carry of `fori_loop` begins as f32[4, 8]{V:x} and comes back as f32[2, 8]{V:x}; "
        "the shapes must be equal",
    ),
    (
        "on(lambda a: lax.psum(a, ('x', 'y')), o=P())", "SHL309", ERROR,
        '`psum` over "x", "y": it varies over "x" but not over "y"; reduce over "x" only',
    ),
    ("on(lambda a: lax.pcast(a, 'x', to='varying'))",
        "SHL309", ERROR, '`pcast` over "x": it varies over "x" already'),
    (
        "on(lambda a: lax.psum(lax.pmean(a, 'x'), 'x'), o=P())", "SHL309", WARNING,
        '`psum` over "x": it is equal on all devices along "x", so that the sum is 2 times it',
    ),
    (
        "on(lambda a: lax.psum(jax.grad(lambda w: jnp.sum(w * a))(jnp.ones(8)), 'x'), o=P())",
        "SHL309", WARNING,
        '`psum` over "x": JAX has summed it over "x" already, so that the sum is 2 times it',
    ),
    (
        "on(lambda a: lax.pmean(jax.grad(lambda w: jnp.sum(w * a))(jnp.ones(8)), 'x'), o=P())",
        "SHL309", WARNING,
        '`pmean` over "x": JAX has summed it over "x" already, and the mean of equal sums is that sum',
    ),
    (
        "on(lambda a: lax.psum(lax.psum(a, 'x'), 'x'), o=P(), check_vma=False)", "SHL309", WARNING,
        '`psum` over "x": it is equal on all devices along "x", so that the sum is 2 times it',
    ),
    (
        "on(lambda a: lax.ppermute(a, 'y', [(0, 1), (0, 2)]), P('y'), P('y'))", "SHL310", ERROR,
        '`ppermute` over "y": device 0 sends twice',
    ),
    (
        "on(lambda a: lax.ppermute(a, 'y', [(0, 4)]), P('y'), P('y'))", "SHL310", ERROR,
        '`ppermute` over "y": there is no device 4 among 4',
    ),
    (
        "on(lambda a: lax.pshuffle(a, 'y', [0, 1, 1, 2]), P('y'), P('y'))", "SHL310", ERROR,
        '`pshuffle` over "y": its permutation must hold every index from 0 to 3 once',
    ),
    (
        "on(lambda a: lax.ppermute(a, 'y', [(0, 1), (1, 0)]), P('y'), P('y'))", "SHL310", WARNING,
        '`ppermute` over "y": devices 2, 3 receive nothing, and will hold zeros',
    ),
    (
        "on(lambda a: lax.ppermute(a, 'y', [(i, i + 1) for i in range(3)]), P('y'), P('y'))", "SHL310", INFO,
        '`ppermute` over "y": device 0 receives nothing, and will hold zeros',
    ),
    (
        "on(lambda a: lax.psum(a, 'x', axis_index_groups=[[0], [1]]), o=P())", "SHL304", ERROR,
        '`psum` over "x": axis_index_groups need check_vma=False',
    ),
    (
        "on(lambda a: lax.psum_scatter(a, 'x', scatter_dimension=-1, tiled=True))", "SHL304", ERROR,
        '`psum_scatter` over "x": scatter_dimension=-1 must be 1: it does not count from the end',
    ),
    (
        "on(lambda a: jax.vmap(lambda r: lax.psum(r, 'r'), axis_name='r')(a))", "SHL303", ERROR,
        '`psum` inside shard_map: "r" is an axis of vmap, over which it cannot vary; '
        "use the array's own dimension, or turn the check off with check_vma=False",
    ),
]  # fmt: skip

SILENT = [
    "on(lambda a: a / lax.psum(1, 'x'))", "on(lambda a: a / lax.psum(jnp.ones(()), 'x'))",
    "on(lambda a: lax.pmean(lax.psum(a, 'x'), 'x'), o=P())",
    "on(lambda a: lax.pmean(jnp.float32(3), 'x'), o=P())",
    "on(lambda a: lax.pmax(a, ('x', 'y')), o=P())", "on(lambda a: lax.all_gather(lax.psum(a, 'x'), 'x'))",
    "on(lambda a: lax.psum(a, 'y'), P(), P(), check_vma=False)",
    "on(lambda a: lax.psum(a, ('x', 'y')), o=P(), check_vma=False)",
    "on(lambda a: lax.psum(jax.grad(lambda w: jnp.sum(w * a))(jnp.ones(8)), 'x'), o=P(), check_vma=False)",
    "on(lambda a: lax.pmean(jax.grad(lambda w: lax.pmean(jnp.sum(w * a), 'x'))(jnp.ones(8)), 'x'), o=P())",
    "on(lambda a: lax.scan(lambda c, r: (c + r, None), jnp.zeros(8), a)[0], check_vma=False)",
    "on(lambda a: lax.scan(lambda c, r: (c + r, None), jnp.zeros_like(a[0]), a)[0])",
    "on(lambda a: lax.ppermute(a, 'y', [(i, (i + 1) % 4) for i in range(4)]), P('y'), P('y'))",
    "on(lambda a: lax.psum(a, 'x', axis_index_groups=[[0], [1]]), check_vma=False)",
    "on(lambda a: lax.switch(0, [lambda: a, lambda: a * 2]))",
]  # fmt: skip


@pytest.mark.parametrize(("line", "code", "severity", "message"), SAYS)
def test_says(line: str, code: str, severity: Severity, message: str) -> None:
    found = Linter(Settings(devices=8)).check_source(source_from_text("program.py", HEADER + line + "\n"))
    said = [
        (f.code, f.severity, f.message)
        for f in found
        if f.code in ("SHL303", "SHL304", "SHL308", "SHL309", "SHL310")
    ]
    assert said == [(code, severity, message)]


@pytest.mark.parametrize("line", SILENT)
def test_says_nothing(line: str) -> None:
    found = Linter(Settings(devices=8)).check_source(source_from_text("program.py", HEADER + line + "\n"))
    assert [f.message for f in found if f.code in ("SHL303", "SHL304", "SHL308", "SHL309", "SHL310")] == []


@pytest.mark.parametrize(
    ("line", "severity"), [(s, severity) for s, _, severity, _ in SAYS] + [(s, INFO) for s in SILENT]
)
def test_jax_raises_where_an_error_is_said(line: str, severity: Severity) -> None:
    scope: dict[str, object] = {}
    exec(HEADER, scope)
    if severity is ERROR:
        with pytest.raises((ValueError, TypeError, IndexError, AssertionError, NotImplementedError)):
            exec(line, scope)
    else:
        exec(line, scope)


def test_sums_of_what_is_summed_are_too_large() -> None:
    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))

    def held(body: object, check_vma: bool = True) -> list[float]:
        mapped = jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=check_vma)
        return np.asarray(mapped(jnp.arange(8.0))).ravel().tolist()

    def gradient(a: jax.Array) -> jax.Array:
        return jax.grad(lambda w: jnp.sum(w * a))(jnp.ones(()))

    assert held(lambda a: lax.psum(lax.psum(jnp.sum(a), "x"), "x")) == [56.0]
    assert held(lambda a: lax.psum(lax.psum(jnp.sum(a), "x"), "x"), check_vma=False) == [56.0]
    assert held(gradient) == [28.0]
    assert held(lambda a: lax.psum(gradient(a), "x")) == [56.0]
    assert held(lambda a: lax.pmean(gradient(a), "x")) == [28.0]
    assert held(lambda a: lax.psum(gradient(a), "x"), check_vma=False) == [28.0]
