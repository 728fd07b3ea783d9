"""Numbers and means within one device's part, in a body of shard_map: reported where results are others."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np, optax
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("d", "m"))
k = jax.random.split(jax.random.key(0), 4)
x, w = jax.random.normal(k[0], (4, 16)), jax.random.normal(k[1], (16, 32))
q, a = jax.random.normal(k[2], (16, 8)), jnp.eye(8)[jnp.arange(16) // 2] + 0.1
g = jnp.arange(1.0, 17.0)
def on(body, ins, out, *args, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=ins, out_specs=out, **options)(*args)
def best(z, number):
    high = z.max(-1)
    return lax.pmax(jnp.where(high == lax.pmax(high, "m"), number, -1), "m")
def along(numbers, owner):
    return jnp.take_along_axis(numbers, owner[None], axis=0)[0]
def owned(z, number, pick=along):
    high, numbers = lax.all_gather(z.max(-1), "m"), lax.all_gather(number, "m")
    return pick(numbers, jnp.argmax(high, axis=0))
def gathered(part):
    return lax.all_gather(part, "m", tiled=True)
def turned(v, positions):
    angle = positions[:, None] / 10.0 ** jnp.arange(4.0)
    one, other = v[:, :4], v[:, 4:]
    turned = one * jnp.cos(angle) - other * jnp.sin(angle), other * jnp.cos(angle) + one * jnp.sin(angle)
    return jnp.concatenate(turned, axis=-1)
def masked(s, i, j):
    return jnp.where(i[:, None] >= j[None, :], s, 0.0)
def loss(z, labels):
    return optax.softmax_cross_entropy_with_integer_labels(z, labels)
def aux(f, p):
    return jnp.sum(f * p)
"""
PART, ROWS = "(P(None, 'm'),)", "(P('m'), P('m'))"
MINE, ALL = "lax.axis_index('m') * 4", "lax.all_gather(q, 'm', tiled=True)"
#: Programs, what they should compute, and the rule that reports them, if it is another number.
PROGRAMS: dict[str, tuple[str, str | None]] = {
    # -- an index within the part that a device has
    f"on(lambda z: best(z, jnp.argmax(z, -1)), {PART}, P(), x)": ("jnp.argmax(x, -1)", "SHL321"),
    f"on(lambda z: best(z, z.argmax(axis=1)), {PART}, P(), x)": ("jnp.argmax(x, -1)", "SHL321"),
    f"on(lambda z: best(z, lax.top_k(z, 1)[1][:, 0]), {PART}, P(), x)": (
        "jnp.argmax(x, -1)", "SHL321"
    ),
    f"on(lambda z: best(z, jnp.argmax(z, -1) + {MINE}), {PART}, P(), x)": ("jnp.argmax(x, -1)", None),
    f"on(lambda z: best(z, {MINE} + z.argmax(-1)), {PART}, P(), x)": ("jnp.argmax(x, -1)", None),
    f"on(lambda z: best(z, lax.axis_index('m')) * 4 + best(z, jnp.argmax(z, -1)), {PART}, P(), x)": (
        "jnp.argmax(x, -1)", None
    ),
    "on(lambda z: jnp.argmax(z, -1), (P('d'),), P('d'), x)": ("jnp.argmax(x, -1)", None),
    f"on(lambda z: lax.pmax(jnp.argmax(z, -1) + {MINE}, 'm'), {PART}, P(), x)": (
        "jnp.argmax(x, -1)", "SHL321"
    ),
    f"on(lambda z: lax.pmin(({MINE} + z.argmin(1)).astype(float), 'm'), {PART}, P(), x)": (
        "x.argmin(1)", "SHL321"
    ),
    f"on(lambda z: lax.pmin(jnp.where((z > 0.5).any(-1), jnp.argmax(z > 0.5, -1) + {MINE}, 99), 'm'), "
    f"{PART}, P(), x)": ("jnp.where((x > 0.5).any(-1), jnp.argmax(x > 0.5, -1), 99)", None),
    f"on(lambda z: lax.pmin(jnp.argmax(z[:, :1] > 9, -1) + {MINE}, 'm'), {PART}, P(), x)": (
        "jnp.zeros(4, int)", None
    ),
    f"on(lambda z: jnp.argmax(lax.all_gather(z, 'm', axis=1, tiled=True), -1), {PART}, P(), x, "
    "check_vma=False)": ("jnp.argmax(x, -1)", None),
    # -- one of the indices of all devices
    f"on(lambda z: owned(z, jnp.argmax(z, -1)), {PART}, P(), x, check_vma=False)": (
        "jnp.argmax(x, -1)", "SHL321"
    ),
    f"on(lambda z: owned(z, jnp.argmax(z, -1), lambda n, o: n[o, jnp.arange(4)]), {PART}, P(), x, "
    "check_vma=False)": ("jnp.argmax(x, -1)", "SHL321"),
    f"on(lambda z: owned(z, jnp.argmax(z, -1) + {MINE}), {PART}, P(), x, check_vma=False)": (
        "jnp.argmax(x, -1)", None
    ),
    f"on(lambda z: owned(z, jnp.argmax(z, -1), lambda n, o: along(n, o) + o * 4), {PART}, P(), x, "
    "check_vma=False)": ("jnp.argmax(x, -1)", None),
    f"on(lambda z: lax.all_gather(jnp.argmax(z, -1), 'm'), {PART}, P(), x, check_vma=False)": (
        "jnp.argmax(x.reshape(4, 4, 4), -1).T", None
    ),
    # -- positions that begin anew on each device, before the parts are gathered
    f"on(lambda q, p: gathered(turned(q, jnp.arange(4))), {ROWS}, P(), q, q, check_vma=False)": (
        "turned(q, jnp.arange(16))", "SHL321"
    ),
    f"on(lambda q, p: gathered(q + jnp.sin(1.0 * jnp.arange(4))[:, None]), {ROWS}, P(), q, q, "
    "check_vma=False)": ("q + jnp.sin(1.0 * jnp.arange(16))[:, None]", "SHL321"),
    f"on(lambda q, p: gathered(turned(q, jnp.arange(4) + {MINE})), {ROWS}, P(), q, q, check_vma=False)": (
        "turned(q, jnp.arange(16))", None
    ),
    f"on(lambda q, p: turned(gathered(q), jnp.arange(16)), {ROWS}, P(), q, q, check_vma=False)": (
        "turned(q, jnp.arange(16))", None
    ),
    f"on(lambda q, p: gathered(q * jnp.arange(8.0)), {ROWS}, P(), q, q, check_vma=False)": (
        "q * jnp.arange(8.0)", None
    ),
    f"on(lambda q, p: gathered(p @ turned(q, jnp.arange(4)).T), {ROWS}, P(), q, q, check_vma=False)": (
        "jnp.concatenate([o @ turned(o, jnp.arange(4)).T for o in jnp.split(q, 4)])", None
    ),
    # -- numbers from 0 beside what all devices have gathered
    f"on(lambda q, p: masked(q @ {ALL}.T, jnp.arange(q.shape[0]), jnp.arange(16)), {ROWS}, P('m'), q, q)": (
        "masked(q @ q.T, jnp.arange(16), jnp.arange(16))", "SHL321"
    ),
    f"on(lambda q, p: q @ {ALL}.T + jnp.where(jnp.arange(4)[:, None] < jnp.arange(16), 1.0, 0.0), {ROWS}, "
    "P('m'), q, q)": (
        "q @ q.T + jnp.where(jnp.arange(16)[:, None] < jnp.arange(16), 1.0, 0.0)", "SHL321"
    ),
    f"on(lambda q, p: jnp.tril(jnp.ones((4, 16))) * (q @ {ALL}.T), {ROWS}, P('m'), q, q)": (
        "jnp.tril(jnp.ones((16, 16))) * (q @ q.T)", "SHL321"
    ),
    f"on(lambda q, p: masked(q @ {ALL}.T, {MINE} + jnp.arange(4), jnp.arange(16)), {ROWS}, P('m'), q, q)": (
        "masked(q @ q.T, jnp.arange(16), jnp.arange(16))", None
    ),
    f"on(lambda q, p: loss(q @ {ALL}.T, jnp.arange(4)), {ROWS}, P('m'), q, q)": (
        "loss(q @ q.T, jnp.arange(16))", "SHL321"
    ),
    f"on(lambda q, p: loss(q @ {ALL}.T, jnp.arange(4) + {MINE}), {ROWS}, P('m'), q, q)": (
        "loss(q @ q.T, jnp.arange(16))", None
    ),
    f"on(lambda q, p: (q @ {ALL}.T)[jnp.arange(4), {MINE} + jnp.arange(4)], {ROWS}, P('m'), q, q)": (
        "jnp.diagonal(q @ q.T)", None
    ),
    f"on(lambda q, p: q @ {ALL}.T + jnp.arange(16), {ROWS}, P('m'), q, q)": (
        "q @ q.T + jnp.arange(16)", None
    ),
    "on(lambda q, p: q * jnp.arange(8), (P('m'), P('m')), P('m'), q, q)": ("q * jnp.arange(8)", None),
    # -- products of means
    f"on(lambda f, p: lax.pmean(aux(f.mean(0), p.mean(0)), 'm'), {ROWS}, P(), a, q)": (
        "aux(a.mean(0), q.mean(0))", "SHL316"
    ),
    f"on(lambda f, p: aux(*lax.pmean((f.mean(0), p.mean(0)), 'm')), {ROWS}, P(), a, q)": (
        "aux(a.mean(0), q.mean(0))", None
    ),
    f"on(lambda f, p: lax.pmean(jnp.sqrt(jnp.mean(f**2)), 'm'), {ROWS}, P(), q, q)": (
        "jnp.sqrt(jnp.mean(q**2))", "SHL316"
    ),
    f"on(lambda f, p: jnp.sqrt(lax.pmean(jnp.mean(f**2), 'm')), {ROWS}, P(), q, q)": (
        "jnp.sqrt(jnp.mean(q**2))", None
    ),
    f"on(lambda f, p: lax.pmean(jax.nn.logsumexp(f) - jnp.log(f.size), 'm'), {ROWS}, P(), q, q)": (
        "jax.nn.logsumexp(q) - jnp.log(q.size)", "SHL316"
    ),
    f"on(lambda f, p: lax.pmean(jax.nn.logsumexp(f, axis=1).mean(), 'm'), {ROWS}, P(), q, q)": (
        "jax.nn.logsumexp(q, axis=1).mean()", None
    ),
    f"on(lambda f, p: lax.psum(f.mean() * f.size, 'm'), {ROWS}, P(), q, q)": ("q.sum()", None),
    f"on(lambda f, p: lax.pmean(0.5 * f.mean() + p.mean(), 'm'), {ROWS}, P(), q, a)": (
        "0.5 * q.mean() + a.mean()", None
    ),
    # -- something whole in a sum of parts
    "on(lambda g, w: lax.psum(jnp.sum(g**2) + jnp.sum(w**2), 'm'), (P('m'), P()), P(), g, w)": (
        "jnp.sum(g**2) + jnp.sum(w**2)", "SHL318"
    ),
    "on(lambda g, w: lax.psum(sum(jnp.sum(o**2) for o in (w, g)), 'm'), (P('m'), P()), P(), g, w)": (
        "jnp.sum(g**2) + jnp.sum(w**2)", "SHL318"
    ),
    "on(lambda g, w: lax.psum(jnp.sum(g**2), 'm') + jnp.sum(w**2), (P('m'), P()), P(), g, w)": (
        "jnp.sum(g**2) + jnp.sum(w**2)", None
    ),
    "on(lambda g, w: lax.psum(jnp.sum(g**2) + jnp.sum(w**2) / 4, 'm'), (P('m'), P()), P(), g, w)": (
        "jnp.sum(g**2) + jnp.sum(w**2)", None
    ),
    "on(lambda g, w: lax.pmean(jnp.sum(g**2) * 4 + jnp.sum(w**2), 'm'), (P('m'), P()), P(), g, w)": (
        "jnp.sum(g**2) + jnp.sum(w**2)", None
    ),
    "on(lambda g, w: lax.psum(jnp.sum(g) / 4 + jnp.sum(w), 'm') / 4, (P('m'), P()), P(), g, w)": (
        "jnp.sum(g) / 16 + jnp.sum(w)", None
    ),
    "on(lambda g, w: lax.psum(jnp.sum(g) + 1, 'm') - 4, (P('m'), P()), P(), g, w)": ("jnp.sum(g)", None),
    # -- the norm of what each device has of a gradient
    "on(lambda g: (lambda s: s / jnp.sqrt(jnp.sum(s**2)))(lax.psum_scatter(g, 'm', tiled=True)), (P(),), "
    "P('m'), g, check_vma=False)": ("g / jnp.sqrt(jnp.sum(g**2))", "SHL319"),
    "on(lambda g: (lambda s: s / jnp.sqrt(lax.psum(jnp.sum(s**2), 'm')))(lax.psum_scatter(g, 'm', "
    "tiled=True)), (P(),), P('m'), g, check_vma=False)": ("g / jnp.sqrt(jnp.sum(g**2))", None),
    "on(lambda g: g / jnp.sqrt(jnp.sum(g**2)), (P('m'),), P('m'), g)": (
        "jnp.concatenate([o / jnp.sqrt(jnp.sum(o**2)) for o in jnp.split(g, 4)])", None
    ),
}  # fmt: skip
RULES = ("SHL316", "SHL318", "SHL319", "SHL321")


@pytest.mark.parametrize("call", PROGRAMS)
def test_reported_where_the_numbers_are_others(call: str) -> None:
    meant, code = PROGRAMS[call]
    program = f"{HEADER}y = {call}\n"
    are_close = value(f"{program}z = {meant}\n", "bool(np.allclose(y, z, atol=1e-4))")
    assert are_close == (code is None)
    for rule in RULES:
        assert bool(found(program, rule)) == (rule == code), rule
