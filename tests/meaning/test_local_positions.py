"""Positions that begin anew on each device, which keeps its part: reported where the numbers are others."""

from __future__ import annotations

import pytest
from consequences import found
from same_values import is_close

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("d", "m"))
k = jax.random.split(jax.random.key(0), 4)
x, h = jax.random.normal(k[0], (4, 16, 8)), jax.random.normal(k[1], (4, 8, 16, 4))
table, field = jax.random.normal(k[2], (16, 8)), jax.random.normal(k[3], (16, 16))
def on(body, ins, out, *args, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=ins, out_specs=out, **options)(*args)
def turned(x, positions):
    angle = positions[:, None] / 10.0 ** jnp.arange(4.0)
    one, other = jnp.split(x, 2, axis=-1)
    turned = one * jnp.cos(angle) - other * jnp.sin(angle), other * jnp.cos(angle) + one * jnp.sin(angle)
    return jnp.concatenate(turned, axis=-1)
def here(n):
    return lax.axis_index("m") * n + jnp.arange(n)
def derivative(field, waves, exchange=True):
    hat = jnp.fft.fft(field, axis=1)
    if exchange:
        hat = lax.all_to_all(hat, "m", split_axis=1, concat_axis=0, tiled=True)
    hat = jnp.fft.fft(hat, axis=0) * (2.0 * np.pi * waves)
    hat = jnp.fft.ifft(hat, axis=0)
    if exchange:
        hat = lax.all_to_all(hat, "m", split_axis=0, concat_axis=1, tiled=True)
    return jnp.fft.ifft(hat, axis=1).real
def rows(field, waves):
    return jnp.fft.ifft(jnp.fft.fft(field, axis=1) * waves, axis=1).real
def slopes(numbers):
    return 2.0 ** -(numbers + 1)
"""
LONG, HEADS = "(P('d', 'm'), P()), P('d', 'm')", "(P('d', None, 'm'),), P('d', None, 'm')"
#: Programs, what they should compute, and whether they are reported, which they are if it is another number.
PROGRAMS: dict[str, tuple[str, bool]] = {
    # -- positions of a sequence that is split
    f"on(lambda x, t: x + t[jnp.arange(x.shape[1])], {LONG}, x, table)": ("x + table", True),
    f"on(lambda x, t: x + t[np.arange(x.shape[1])], {LONG}, x, table)": ("x + table", True),
    f"on(lambda x, t: x + jnp.take(t, jnp.arange(x.shape[1]), axis=0), {LONG}, x, table)": (
        "x + table", True
    ),
    f"on(lambda x, t: turned(x, jnp.arange(x.shape[1])), {LONG}, x, table)": (
        "turned(x, jnp.arange(16))", True
    ),
    f"on(lambda x, t: jnp.where(jnp.arange(x.shape[1])[:, None] < 6, x, 0), {LONG}, x, table)": (
        "jnp.where(jnp.arange(16)[:, None] < 6, x, 0)", True
    ),
    f"on(lambda x, t: x + t[: x.shape[1]], {LONG}, x, table)": ("x + table", True),
    f"on(lambda x, t: x + t[None, : x.shape[1], :], {LONG}, x, table)": ("x + table", True),
    f"on(lambda x, t: x + t.astype(jnp.float32)[:4][None], {LONG}, x, table)": ("x + table", True),
    f"on(lambda x, t: x + np.ones((16, 8)).cumsum(0)[:4], {LONG}, x, table)": (
        "x + np.ones((16, 8)).cumsum(0)", True
    ),
    f"on(lambda x, t: x + lax.slice_in_dim(t, 0, 4), {LONG}, x, table)": ("x + table", True),
    f"on(lambda x, t: x + lax.dynamic_slice_in_dim(t, lax.axis_index('m') * 4, 4), {LONG}, x, table)": (
        "x + table", False
    ),
    f"on(lambda x, t: x + t[:1], {LONG}, x, table)": ("x + table[:1]", False),
    f"on(lambda x, t: x[..., :4] + t[0, :4], {LONG}, x, table)": ("x[..., :4] + table[0, :4]", False),
    f"on(lambda x, t: x @ t[:8], {LONG}, x, table)": ("x @ table[:8]", False),
    "on(lambda x, t: x + t[: x.shape[1]], (P('d'), P()), P('d'), x, jnp.ones((32, 8)))": ("x + 1", False),
    f"on(lambda x, t: x + t[here(x.shape[1])], {LONG}, x, table)": ("x + table", False),
    f"on(lambda x, t: turned(x, here(x.shape[1])), {LONG}, x, table)": ("turned(x, jnp.arange(16))", False),
    f"on(lambda x, t: jnp.where(here(x.shape[1])[:, None] < 6, x, 0), {LONG}, x, table)": (
        "jnp.where(jnp.arange(16)[:, None] < 6, x, 0)", False
    ),
    "on(lambda x, t: x + t, (P('d', 'm'), P('m')), P('d', 'm'), x, table)": ("x + table", False),
    "on(lambda x, p: turned(x, p), (P('d', 'm'), P('m')), P('d', 'm'), x, jnp.arange(16))": (
        "turned(x, jnp.arange(16))", False
    ),
    "on(lambda x, t: x + t[jnp.arange(x.shape[1])], (P('d'), P()), P('d'), x, table)": ("x + table", False),
    "on(lambda x, t: x + t[jnp.arange(x.shape[1])], (P(('d', 'm')), P()), P(('d', 'm')), "
    "jnp.ones((8, 16, 8)), table)": ("jnp.ones((8, 16, 8)) + table", False),
    f"on(lambda x, t: x * jnp.arange(x.shape[2]), {LONG}, x, table)": ("x * jnp.arange(8)", False),
    f"on(lambda x, t: x * (jnp.arange(x.shape[0]) > -1)[:, None, None], {LONG}, x, table)": ("x", False),
    f"on(lambda x, t: (x.reshape(2, 2, 2, 8) * jnp.arange(2)[:, None]).reshape(x.shape), {LONG}, x, table)": (
        "(x.reshape(4, 8, 2, 8) * jnp.arange(2)[:, None]).reshape(x.shape)", False
    ),
    "on(lambda x: turned(lax.all_gather(x, 'm', axis=1, tiled=True), jnp.arange(16)), (P('d', 'm'),), "
    "P('d'), x, check_vma=False)": ("turned(x, jnp.arange(16))", False),
    # -- slopes of heads that are split
    f"on(lambda h: h + slopes(jnp.arange(h.shape[2]))[:, None], {HEADS}, h)": (
        "h + slopes(jnp.arange(16))[:, None]", True
    ),
    f"on(lambda h: h + slopes(here(h.shape[2]))[:, None], {HEADS}, h)": (
        "h + slopes(jnp.arange(16))[:, None]", False
    ),
    "on(lambda h: h + slopes(jnp.arange(h.shape[2]))[:, None], (P('d', 'm'),), P('d', 'm'), h)": (
        "h + slopes(jnp.arange(16))[:, None]", False
    ),
    # -- wave numbers
    **{
        f"on(lambda f: derivative(f, {waves.format(n=size)}), (P('m'),), P('m'), field)": (
            "derivative(field, np.fft.fftfreq(16), False)", told
        )
        for waves, size, told in (
            ("np.fft.fftfreq({n})[None, :]", "f.shape[1] // 4", True),
            ("jnp.fft.fftfreq({n})[None, :]", "4", True),
            ("jnp.asarray(np.fft.fftfreq({n}))[here(4)]", "16", False),
            ("lax.dynamic_slice_in_dim(jnp.fft.fftfreq({n}), lax.axis_index('m') * 4, 4)", "16", False),
        )
    },
    "on(lambda f: rows(f, jnp.fft.fftfreq(f.shape[1])), (P('m'),), P('m'), field)": (
        "rows(field, jnp.fft.fftfreq(16))", False
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", PROGRAMS)
def test_reported_where_the_numbers_are_others(call: str) -> None:
    meant, reported = PROGRAMS[call]
    program = f"{HEADER}one = {call}\n"
    assert is_close(program, meant) == (not reported)
    assert bool(found(program, "SHL321")) == reported
