"""Indices that are the same on all devices, in a dimension of which each has a part: reported where the sum
over the devices is another than of the whole array."""

from __future__ import annotations

import random

import pytest
from consequences import found, value
from support.sizes import size

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("d", "m"))
k = jax.random.split(jax.random.key(0), 4)
table, x = jax.random.normal(k[0], (16, 8)), jax.random.normal(k[1], (8, 16))
ids = jnp.array([3, 0, 15, 7, 9, 1, 4, 12])
def on(body, ins, out, *args, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=ins, out_specs=out, **options)(*args)
def local(i, n):
    return i - lax.axis_index("m") * n
def mine(i, n):
    return (local(i, n) >= 0) & (local(i, n) < n)
def pick(z, i):
    return jnp.take_along_axis(z, i[:, None], axis=-1)[:, 0]
def rows(b, i):
    return b[jnp.where(mine(i, 4), local(i, 4), 0)]
def loss(z, i):
    high = lax.stop_gradient(lax.pmax(lax.stop_gradient(z.max(-1)), "m"))
    total = lax.psum(jnp.exp(z - high[:, None]).sum(-1), "m")
    return jnp.log(total) + high, i
"""
ROWS, PART = "(P('m'), P('d'))", "(P('d', 'm'), P('d'))"
ONE = "jax.nn.one_hot"
#: Bodies of a table whose rows are split, and of the indices of rows.
LOOKUPS = {
    # -- another number
    "lax.psum(t[i], 'm')": True,
    "lax.psum(t[i, :], 'm')": True,
    "lax.psum(t[i][:, None], 'm')[:, 0]": True,
    "lax.psum(jnp.take(t, i, axis=0), 'm')": True,
    "lax.psum(t.take(i, 0), 'm')": True,
    "lax.psum(t[i.reshape(2, 2)].reshape(4, 8), 'm')": True,
    "lax.psum(2.0 * t[i], 'm') / 2": True,
    "lax.psum(-t[i], 'm') * -1": True,
    "lax.psum(t[i].astype(jnp.float32), 'm')": True,
    "lax.psum(jnp.where((i >= 0)[:, None], t[i], 0.0), 'm')": True,
    "lax.psum(jnp.where(((i >= 0) & (i < 16))[:, None], t[i], 0.0), 'm')": True,
    "lax.psum(t[jnp.where(i < 0, 0, i)], 'm')": True,
    "lax.psum(t[lax.pcast(i, 'm', to='varying')], 'm')": True,
    "lax.psum(jax.nn.one_hot(i, 4) @ t, 'm')": True,
    "lax.psum(jnp.matmul(jax.nn.one_hot(i, t.shape[0], dtype=t.dtype), t), 'm')": True,
    "lax.psum(jnp.einsum('bv,vd->bd', jax.nn.one_hot(i, t.shape[0]), t), 'm')": True,
    "lax.psum((i[:, None] == jnp.arange(4)).astype(jnp.float32) @ t, 'm')": True,
    "lax.psum_scatter(t[i], 'm', scatter_dimension=1, tiled=True)": True,
    # -- the rows of the whole
    "lax.psum(jnp.where(mine(i, 4)[:, None], rows(t, i), 0.0), 'm')": False,
    "lax.psum(rows(t, i) * mine(i, 4)[:, None], 'm')": False,
    "lax.psum(jnp.where((i // 4 == lax.axis_index('m'))[:, None], t[i % 4], 0.0), 'm')": False,
    "lax.psum(t[i % 4] * (i // 4 == lax.axis_index('m'))[:, None], 'm')": False,
    "lax.psum(jnp.where(mine(i, 4)[:, None], t[jnp.clip(local(i, 4), 0, 3)], 0.0), 'm')": False,
    "lax.psum(jnp.where(mine(i, 4)[:, None], t[i - 4 * lax.axis_index('m')], 0.0), 'm')": False,
    "lax.psum(jnp.where((lax.axis_index('m') == i // 4)[:, None], t[jnp.mod(i, 4)], 0), 'm')": False,
    "lax.psum(jax.nn.one_hot(local(i, 4), 4) @ t, 'm')": False,
    "lax.psum(jax.nn.one_hot(i, 16)[:, local(jnp.arange(4), -4)] @ t, 'm')": False,
    "lax.psum(lax.dynamic_slice_in_dim(jax.nn.one_hot(i, 16), lax.axis_index('m') * 4, 4, 1) @ t, 'm')": (
        False
    ),
    "lax.psum((i[:, None] == jnp.arange(4) + 4 * lax.axis_index('m')) @ t, 'm')": False,
    "lax.all_gather(t, 'm', tiled=True)[i]": False,
    "lax.psum(jnp.zeros((16, 8)).at[lax.axis_index('m') * 4 + jnp.arange(4)].set(t)[i], 'm')": False,
    "lax.psum(jnp.where((lax.axis_index('m') == 0) & (i < 0)[:, None], t[i], rows(t, i) * "
    "mine(i, 4)[:, None]), 'm')": False,
}  # fmt: skip
#: Bodies of logits whose classes are split, and of labels.
CHOICES = {
    "lax.psum(pick(z, i), 'm')": True,
    "lax.psum(pick(z, i).sum(), 'm') + 0 * z[:, 0].sum()": None,
    "lax.psum(jnp.where((i >= 0) & (i < 16), pick(z, jnp.where(i < 16, i, 0)), 0.0), 'm')": True,
    "lax.psum(z[jnp.arange(4), i], 'm')": True,
    "lax.psum((z * jax.nn.one_hot(i, z.shape[-1])).sum(-1), 'm')": True,
    "lax.psum(jnp.sum(jax.nn.one_hot(i, z.shape[-1]) * z, axis=-1), 'm')": True,
    "lax.psum(jnp.sum(jnp.where(i[:, None] == jnp.arange(4), z, 0.0), axis=-1), 'm')": True,
    "lax.psum(jnp.einsum('bv,bv->b', z, jax.nn.one_hot(i, 4)), 'm')": True,
    "lax.psum(jnp.where(mine(i, 4), pick(z, jnp.where(mine(i, 4), local(i, 4), 0)), 0.0), 'm')": False,
    "lax.psum(jnp.where(i // 4 == lax.axis_index('m'), pick(z, i % 4), 0.0), 'm')": False,
    "lax.psum((z * jax.nn.one_hot(local(i, 4), 4)).sum(-1), 'm')": False,
    "lax.psum(jnp.where(local(i, 4)[:, None] == jnp.arange(4), z, 0.0).sum(-1), 'm')": False,
    "lax.psum(jnp.where(i[:, None] == jnp.arange(4) + local(0, -4), z, 0.0).sum(-1), 'm')": False,
    "pick(lax.all_gather(z, 'm', axis=1, tiled=True), i)": False,
}  # fmt: skip
CHECKED = ("", ", check_vma=False")


def _judged(program: str, meant: str, told: bool) -> None:
    are_close = value(f"{program}z = {meant}\n", "bool(np.allclose(y, z, atol=1e-4))")
    assert are_close != told
    assert bool(found(program, "SHL321")) == told


@pytest.mark.parametrize("option", CHECKED)
@pytest.mark.parametrize("body", LOOKUPS)
def test_rows_of_a_table(body: str, option: str) -> None:
    out = "P('d', 'm')" if "scatter" in body else "P('d')"
    if "all_gather" in body:
        option = ", check_vma=False"
    if option and "pcast" in body:
        body = body.replace("lax.pcast(i, 'm', to='varying')", "i")
    program = f"{HEADER}y = on(lambda t, i: {body}, {ROWS}, {out}, table, ids{option})\n"
    _judged(program, "table[ids]", LOOKUPS.get(body, True))


@pytest.mark.parametrize("option", CHECKED)
@pytest.mark.parametrize("body", [body for body, told in CHOICES.items() if told is not None])
def test_classes_of_labels(body: str, option: str) -> None:
    if "all_gather" in body:
        option = ", check_vma=False"
    program = f"{HEADER}y = on(lambda z, i: {body}, {PART}, P('d'), x, ids{option})\n"
    _judged(program, "x[jnp.arange(8), ids]", bool(CHOICES[body]))


@pytest.mark.parametrize(
    ("body", "meant"),
    [
        ("lax.psum(table_[lax.all_gather(i, 'm', tiled=True)], 'm')", True),
        ("lax.psum_scatter(table_[lax.all_gather(i, 'm', tiled=True)], 'm', tiled=True)", True),
        ("lax.psum_scatter(rows(table_, lax.all_gather(i, 'm', tiled=True)) * "
         "mine(lax.all_gather(i, 'm', tiled=True), 4)[:, None], 'm', tiled=True)", False),
    ],
)  # fmt: skip
def test_indices_that_are_gathered(body: str, meant: bool) -> None:
    out = "P('m')" if "scatter" in body else "P()"
    body = body.replace("table_", "t")
    program = f"{HEADER}y = on(lambda t, i: {body}, (P('m'), P('m')), {out}, table, ids)\n"
    _judged(program, "table[ids]", meant)


#: What may be meant: places within the part of each device.
MEANT = (
    "lax.psum(x[jax.random.randint(key, (4,), 0, 4)], 'm')",
    "lax.psum(x[jax.random.permutation(key, 4)], 'm')",
    "lax.psum(x[jax.random.permutation(key, 4)].mean(0), 'm')",
    "lax.psum(x[jax.random.choice(key, 4, (3,))], 'm')",
    "lax.psum(x[jnp.arange(3)], 'm')",
    "lax.psum(x[jnp.array([0, -1])], 'm')",
    "lax.psum(x[np.array([0, 3])], 'm')",
    "lax.psum(x[i[0]], 'm')",
    "lax.psum(lax.dynamic_slice_in_dim(x, i[0], 2), 'm')",
    "lax.psum(x[i].sum(0), 'm')",
    "lax.pmean(x[i], 'm')",
    "lax.psum(x[i] ** 2, 'm')",
    "lax.psum(jnp.mean((x[i] @ jnp.ones(8)) ** 2), 'm')",
    "lax.psum(x[jnp.argsort(i)], 'm')",
    "lax.psum(x[:, i], 'm')",
    "lax.psum(x[i % 4], 'm')",
    "lax.psum(jnp.take_along_axis(x, i[None], axis=1), 'm')",
    "x[i]",
)


@pytest.mark.parametrize("body", MEANT)
def test_what_may_be_meant(body: str) -> None:
    out = "P('m')" if body == "x[i]" else "P()"
    call = f"on(lambda x, i, key: {body}, (P('m'), P(), P()), {out}, table, ids % 4, jax.random.key(0))"
    program = f"{HEADER}y = {call}\n"
    value(program)
    assert not found(program, "SHL321")


_INDICES = (
    "i",
    "i.reshape(-1)",
    "jnp.where(i < 0, 0, i)",
    "local(i, 4)",
    "i % 4",
    "i + 0",
    "i * 1",
    "i - 0 * i",
    "jnp.clip(local(i, 4), 0, 3)",
    "jnp.where(mine(i, 4), local(i, 4), 0)",
    "i[:]",
)
_PICKS = (
    "t[{}]",
    "jnp.take(t, {}, axis=0)",
    "t[{}, :]",
    "jax.nn.one_hot({}, 4) @ t",
    "t.take({}, axis=0)",
    "jnp.take_along_axis(t, ({})[:, None], axis=0)",
    "jnp.einsum('bv,vd->bd', jax.nn.one_hot({}, 4), t)",
    "(({})[:, None] == jnp.arange(4)) @ t",
)
_MASKS = (
    "{}",
    "{}",
    "{} * mine(i, 4)[:, None]",
    "jnp.where(mine(i, 4)[:, None], {}, 0.0)",
    "jnp.where((i >= 0)[:, None], {}, 0.0)",
    "jnp.where((i // 4 == lax.axis_index('m'))[:, None], {}, 0)",
    "{} * (i < 16)[:, None]",
)
_AFTER = ("{}", "2 * {}", "-{}", "{}.astype(jnp.float32)", "{}[:, ::2]", "{}.reshape(-1)", "{}.T", "{} / 4")


def test_random_lookups() -> None:
    rng, told, meant = random.Random(20), 0, 0
    for _ in range(size("SHARDLINT_LOOKUPS", 90, 300)):
        index, pick, mask, after = (rng.choice(some) for some in (_INDICES, _PICKS, _MASKS, _AFTER))
        body = after.format("(" + mask.format("(" + pick.format(index) + ")") + ")")
        program = (
            f"{HEADER}y = on(lambda t, i: lax.psum({body}, 'm'), (P('m'), P()), P(), table, ids)\n"
            f"z = {after.format('table[ids]')}\n"
        )
        if found(program, "SHL321"):
            told += 1
            assert not value(program, "bool(np.allclose(y, z, atol=1e-4))"), program
        else:
            meant += value(program, "bool(np.allclose(y, z, atol=1e-4))")
    assert told >= 12 and meant >= 12, (told, meant)
