"""Operations along split dimensions in a body of shard_map: reported where the numbers are others."""

from __future__ import annotations

import pytest
from consequences import found
from same_values import is_close

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("d", "m"))
k = jax.random.split(jax.random.key(0), 4)
x, y = jax.random.normal(k[0], (4, 16)), jax.random.normal(k[1], (16, 8))
q, v = jax.random.normal(k[2], (2, 8, 3, 4)), jax.random.normal(k[3], (16,))
n = jnp.arange(16) % 5
s, w = jax.random.normal(k[0], (2, 16, 8, 3)), jax.random.normal(k[1], (3, 3, 3, 3))
numbers = ("NHWC", "HWIO", "NHWC")
def conv(s, w=w, steps=(1, 1), padding="SAME"):
    return lax.conv_general_dilated(s, w, steps, padding, dimension_numbers=numbers)
def pooled(s, size=3, step=1, padding="SAME"):
    return lax.reduce_window(s, -jnp.inf, lax.max, (1, size, 1, 1), (1, step, 1, 1), padding)
def with_halo(s):
    up, down = [(i, i + 1) for i in range(3)], [(i + 1, i) for i in range(3)]
    halo = [lax.ppermute(s[:, -1:], "m", up), s, lax.ppermute(s[:, :1], "m", down)]
    return conv(jnp.concatenate(halo, axis=1), padding=((0, 0), (1, 1)))
def on(body, ins, out, *args, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=ins, out_specs=out, **options)(*args)
def total(part):
    sums = lax.all_gather(part.sum(-1), "m")
    before = jnp.arange(4)[:, None] < lax.axis_index("m")
    return jnp.cumsum(part, -1) + (sums * before).sum(0)[:, None]
"""
_ALONG = "(P('d', 'm'),), P('d', 'm'), x)"
_ROWS = "P('d', 'm'), P('d', 'm'), s)"
_PAIRS = "(P('m'), P('m')), P('m'), y, y)"
#: Programs whose parts may be meant: examples are mixed, and tokens are counted, device by device.
_ON_PURPOSE = {
    f"on(lambda x: jnp.roll(x, 1, axis=0), {_ALONG}": "jnp.roll(x, 1, axis=0)",
    "on(lambda n: jnp.cumsum(n), P('m'), P('m'), n)": "jnp.cumsum(n)",
}
#: Programs, what they should compute, and whether they are reported, which they are if it is another number.
PROGRAMS: dict[str, tuple[str, bool]] = {
    **{
        f"on(lambda x: {one.format('x')}, {_ALONG}": (one.format("x"), True)
        for one in (
            "jnp.cumsum({}, -1)", "{}.cumsum(1)", "lax.cumprod({}, 1)", "lax.cummax({}, axis=1)",
            "lax.associative_scan(jnp.add, {}, axis=1)", "jnp.sort({})", "jnp.sort({}, axis=0)",
            "jnp.fft.fft({})", "jnp.fft.fft({}, axis=1)", "jnp.fft.fftn({})", "jnp.flip({}, 1)",
            "jnp.roll({}, 1, axis=1)", "jnp.roll({}, (0, 1), (0, 1))", "lax.rev({}, (1,))",
        )
    },
    **{
        f"on(lambda s: {one}, {_ROWS}": (one, reported)
        for one, reported in (
            ("conv(s)", True), ("conv(s, w[:, :1])", True), ("conv(s, w[:1])", False),
            ("conv(s, w[:2], (2, 1), 'VALID')", False), ("pooled(s)", True),
            ("pooled(s, 2, 2, 'VALID')", False), ("pooled(s, 2, 1)", True),
        )
    },
    "on(lambda s: conv(s), P('d'), P('d'), s)": ("conv(s)", False),
    f"on(with_halo, {_ROWS}": ("conv(s)", False),
    **{call: (meant, False) for call, meant in _ON_PURPOSE.items()},
    "on(lambda v: jnp.roll(v, 1), P('m'), P('m'), v)": ("jnp.roll(v, 1)", True),
    "on(lambda x: x.at[:, :2].set(x[:, 2:]), P('d', 'm'), P('d', 'm'), x)": (
        "jnp.repeat(x.reshape(4, 4, 2, 2)[:, :, 1:], 2, axis=2).reshape(4, 16)", False
    ),
    "on(lambda x: jnp.cumsum(x, -1), (P('d'),), P('d'), x)": ("jnp.cumsum(x, -1)", False),
    "on(lambda x: jnp.sort(x), (P('d'),), P('d'), x)": ("jnp.sort(x)", False),
    f"on(total, {_ALONG}": ("jnp.cumsum(x, -1)", False),
    "on(lambda x: jnp.cumsum(lax.all_gather(x, 'm', axis=1, tiled=True), 1)[:, :4], "
    "(P('d', 'm'),), P('d', 'm'), x)": ("jnp.tile(jnp.cumsum(x, 1)[:, :4], 4)", False),
    f"on(lambda a, b: a @ b.T, {_PAIRS}": ("y @ y.T", True),
    f"on(lambda a, b: jnp.einsum('id,jd->ij', a, b), {_PAIRS}": ("y @ y.T", True),
    f"on(lambda a, b: a[:, None] - b[None], {_PAIRS}": ("y[:, None] - y[None]", True),
    f"on(lambda a, b: a @ lax.all_gather(b, 'm', tiled=True).T, {_PAIRS}": ("y @ y.T", False),
    "on(lambda a, b: a @ b.T, (P('m'), P()), P('m'), y, y)": ("y @ y.T", False),
    "on(lambda a, b: a @ b.T, (P('m'), P('d')), P('m', 'd'), y, y)": ("y @ y.T", False),
    "on(lambda q: jnp.einsum('bqhd,bkhd->bhqk', q, q), P('d'), P('d'), q)": (
        "jnp.einsum('bqhd,bkhd->bhqk', q, q)", False
    ),
    "on(lambda q: jax.nn.dot_product_attention(q, q, q), P(None, 'm'), P(None, 'm'), q)": (
        "jax.nn.dot_product_attention(q, q, q)", True
    ),
    "on(lambda q: jax.nn.dot_product_attention(q, q, q), P('d', None, None), P('d'), q)": (
        "jax.nn.dot_product_attention(q, q, q)", False
    ),
    "on(lambda q: jax.nn.dot_product_attention(q, *[lax.all_gather(q, 'm', axis=1, tiled=True)] * 2), "
    "P(None, 'm'), P(None, 'm'), q)": ("jax.nn.dot_product_attention(q, q, q)", False),
}  # fmt: skip


@pytest.mark.parametrize("call", PROGRAMS)
def test_reported_where_the_numbers_are_others(call: str) -> None:
    meant, reported = PROGRAMS[call]
    program = f"{HEADER}one = {call}\n"
    assert is_close(program, meant) == (call not in _ON_PURPOSE and not reported)
    assert bool(found(program, "SHL319")) == reported
