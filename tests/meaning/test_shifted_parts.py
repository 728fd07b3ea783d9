"""Elements that are shifted along split dimensions in a body: reported where the numbers are others."""

from __future__ import annotations

import pytest
from consequences import found
from same_values import is_close

HEADER = """import jax, jax.numpy as jnp, numpy as np, optax
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("d", "m"))
k = jax.random.split(jax.random.key(0), 4)
x, z = jax.random.normal(k[0], (4, 16)), jax.random.normal(k[1], (4, 16, 8))
n = jax.random.randint(k[2], (4, 16), 0, 8)
v = jnp.arange(16.0) ** 2
def on(body, ins, out, *args, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=ins, out_specs=out, **options)(*args)
def targets(n):
    return jnp.concatenate([n[:, 1:], jnp.full_like(n[:, :1], -1)], axis=1)
def with_last(n, last):
    return jnp.concatenate([n[:, 1:], last], axis=1)
def following(n):
    first = lax.ppermute(n[:, :1], "m", [(i, (i - 1) % 4) for i in range(4)])
    return with_last(n, jnp.where(lax.axis_index("m") == 3, -1, first))
def loss(z, n):
    return optax.softmax_cross_entropy_with_integer_labels(z, n)
def gated(x):
    return jax.nn.silu(x[:, :2]) * x[:, 2:]
def halves(x):
    return jnp.concatenate([gated(x[:, i : i + 4]) for i in range(0, 16, 4)], axis=1)
def mean_step(x):
    return jnp.mean(jnp.sum((x[:, 1:] - x[:, :-1]) ** 2, axis=1))
"""
SPLIT, LONG = "(P('d', 'm'),), P('d', 'm')", "(P('m', None),), P('m', None)"
#: Bodies along a split dimension, and whether they are reported, which they are if the result is another.
BODIES: dict[str, bool] = {
    "targets({})": True,
    "jnp.concatenate([{}[:, 1:], {}[:, :1]], axis=1)": True,
    "jnp.concatenate([{}[:, 1:], jnp.zeros(({}.shape[0], 1))], 1)": True,
    "jnp.concatenate([{}[:, -1:], {}[:, :-1]], axis=-1)": True,
    "jnp.concatenate([{}[:, :1], {}], axis=1)[:, :-1]": True,
    "lax.concatenate([{}[:, 1:], {}[:, :1]], 1)": True,
    "jnp.pad({}, ((0, 0), (1, 0)))[:, :-1]": True,
    "jnp.pad({}, ((0, 0), (0, 1)), mode='edge')[:, 1:]": True,
    "jnp.pad({}[:, 1:], ((0, 0), (0, 1)), constant_values=-1)": True,
    "lax.slice_in_dim(jnp.pad({}, ((0, 0), (1, 0))), 0, -1, axis=1)": True,
    "jnp.pad({}, ((0, 0), (1, 1)))[:, 2:] + jnp.pad({}, ((0, 0), (1, 1)))[:, :-2]": True,
    "jnp.roll({}, -1, axis=1)": True,
    "jnp.pad({}, ((0, 0), (0, 1)))[:, :-1]": False,
    "jnp.pad({}, ((0, 0), (1, 1)))[:, 1:-1]": False,
    "jnp.pad({}, ((0, 0), (1, 0)))[:, 1:]": False,
    "jnp.concatenate([{}[:, :-1], {}[:, -1:]], axis=1)": False,
    "jnp.concatenate([{}[:1], {}[1:]], axis=0)": False,
    "jnp.where({}[:, :] > 0, {}, 0)": False,
}  # fmt: skip
#: Programs, what they should compute, and whether they are reported.
PROGRAMS: dict[str, tuple[str, bool]] = {
    **{
        f"on(lambda {x}: {body.replace('{}', x)}, {SPLIT}, {x})": (body.replace("{}", x), told)
        for body, told in BODIES.items()
        for x in "nx"
    },
    **{
        f"on(lambda x: {body.replace('{}', 'x')}, {LONG}, x)": (body.replace("{}", "x"), False)
        for body in BODIES
        if "[:1]" not in body
    },
    f"on(following, {SPLIT}, n)": ("targets(n)", False),
    "on(lambda z, n: lax.psum(loss(z[:, :-1], n[:, 1:]).sum(), ('d', 'm')), (P('d', 'm'), P('d', 'm')), P(), "
    "z, n)": ("loss(z[:, :-1], n[:, 1:]).sum()", True),
    "on(lambda z, n: lax.psum(loss(z[:, :-1], n[:, 1:]).sum(), 'd'), (P('d'), P('d')), P(), z, n)": (
        "loss(z[:, :-1], n[:, 1:]).sum()", False
    ),
    "on(lambda z, n: lax.psum(loss(z, n).sum(), ('d', 'm')), (P('d', 'm'),) * 2, P(), z, targets(n))": (
        "loss(z, targets(n)).sum()", False
    ),
    "on(lambda z, n: lax.psum(jnp.take_along_axis(z[:, :-1], n[:, 1:, None], -1).sum(), ('d', 'm')), "
    "(P('d', 'm'), P('d', 'm')), P(), z, n)": (
        "jnp.take_along_axis(z[:, :-1], n[:, 1:, None], -1).sum()", True
    ),
    "on(lambda x: lax.pmean(mean_step(x), ('d', 'm')), (P('d', 'm'),), P(), x)": ("mean_step(x) / 4", True),
    "on(lambda x: lax.pmean(mean_step(x), 'd'), (P('d'),), P(), x)": ("mean_step(x)", False),
    f"on(gated, {SPLIT}, x)": ("halves(x)", False),
    "on(lambda v: jnp.concatenate([v[1:], v[:1]]), (P('m'),), P('m'), v)": ("jnp.roll(v, -1)", True),
    "on(lambda v: v[1:].sum() * v[:-1].mean() * jnp.ones(4), (P('m'),), P('m'), v)": (
        "jnp.concatenate([o[1:].sum() * o[:-1].mean() * jnp.ones(4) for o in jnp.split(v, 4)])", False
    ),
    "on(jax.vmap(lambda v: jnp.concatenate([v[1:], v[:1]])), (P('m'),), P('m'), x)": (
        "jnp.roll(x, -1, 1)", False
    ),
    "on(jax.vmap(lambda v: jnp.concatenate([v[1:], v[:1]])), (P(None, 'm'),), P(None, 'm'), x)": (
        "jnp.roll(x, -1, 1)", True
    ),
    "on(lambda x, z: with_last(x, z[:, :1, 0]), (P(None, 'm'), P('m')), P(None, 'm'), x, "
    "jnp.ones((16, 1, 1)))": (
        "jnp.concatenate([jnp.pad(o[:, 1:], ((0, 0), (0, 1)), constant_values=1.0) "
        "for o in jnp.split(x, 4, axis=1)], axis=1)", False
    ),
    # Queues along the first dimension, one on each device.
    "on(lambda z: jnp.concatenate([z[1:], 0 * z[:1]]), (P('m'),), P('m'), z.transpose(1, 0, 2))": (
        "jnp.concatenate([jnp.pad(o[1:], ((0, 1), (0, 0), (0, 0))) "
        "for o in jnp.split(z.transpose(1, 0, 2), 4)])", False
    ),
    "on(lambda z: z[1:] - z[:-1], (P('m'),), P('m'), z.transpose(1, 0, 2))": (
        "jnp.diff(z.transpose(1, 0, 2), axis=0)", True
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", PROGRAMS)
def test_reported_where_the_numbers_are_others(call: str) -> None:
    meant, reported = PROGRAMS[call]
    program = f"{HEADER}one = {call}\n"
    assert is_close(program, meant) == (not reported)
    assert bool(found(program, "SHL319")) == reported
