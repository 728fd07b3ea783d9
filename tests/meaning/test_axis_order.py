"""Collectives over several axes: reported where their order makes other values than the specs' would."""

from __future__ import annotations

import itertools
import random

import pytest
from consequences import found, of_pages, value
from support.sizes import size

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(SIZES), ("x", "y", "z"))
rows = jnp.arange(64.0).reshape(64, 1)
table = rows * 3
def on(body, order, out):
    both = jax.shard_map(body, mesh=mesh, in_specs=P(order), out_specs=out, check_vma=False)
    return both(rows)
def part(order, x, table):
    return lax.dynamic_slice_in_dim(table, lax.axis_index(order) * x.shape[0], x.shape[0])
"""
#: Calls, by the order of the specs and that of the collective, and what they are to compute.
CALLS = {
    "on(lambda x: x * 2 + part({b}, x, table), {a}, P({a}))": "rows * 2 + table",
    "on(lambda x: lax.all_gather(x, {b}, tiled=True), {a}, P())": "rows",
    "on(lambda x: lax.psum_scatter(jnp.tile(table, (1, 1)), {b}, tiled=True), {a}, P({a}))": "8 * table",
    "on(lambda x: table[lax.axis_index({b}) * x.shape[0] + jnp.arange(x.shape[0])], {a}, P({a}))": "table",
    "on(lambda x: lax.psum(x, {b}) + 0 * x, {a}, P({a})).reshape(8, -1)[0]": "rows.reshape(8, -1).sum(0)",
}  # fmt: skip
CASES = [*itertools.product(CALLS, range(size("SHARDLINT_ORDER_CASES", 6, 3)))]


@pytest.mark.parametrize(("call", "seed"), CASES)
def test_reported_where_the_values_are_others(call: str, seed: int) -> None:
    rng = random.Random(seed)
    sizes = rng.choice(((2, 2, 2), (2, 4, 1), (1, 2, 4)))
    names = list("xyz")
    rng.shuffle(names)
    orders = (tuple(names), tuple(rng.sample(names, 3)))
    a, b = map(repr, orders)
    program = f"{HEADER.replace('SIZES', str(sizes))}y = {call.format(a=a, b=b)}\nz = {CALLS[call]}\n"
    wrong = value(program, "not np.allclose(np.ravel(y), np.ravel(z))")
    assert bool(found(program, "SHL315")) == wrong, program


#: Another order does no harm, or the specs have it as well.
HARMLESS = (
    "on(lambda x: x + 0 * jax.random.normal(jax.random.fold_in(jax.random.key(0), "
    "lax.axis_index(('y', 'x'))), x.shape), ('x', 'y', 'z'), P(('x', 'y', 'z')))",
    "on(lambda x: lax.all_gather(x, ('y', 'x'), tiled=True), ('y', 'x', 'z'), P('z'))",
    "on(lambda x: lax.all_gather(x, ('z', 'y'), tiled=True), 'x', P('x'))",
    "on(lambda x: lax.all_gather(x, 'y', tiled=True), ('x', 'z', 'y'), P(('x', 'z')))",
)


@pytest.mark.parametrize("call", HARMLESS)
def test_what_is_not_reported(call: str) -> None:
    program = f"{HEADER.replace('SIZES', '2, 2, 2')}y = {call}\n"
    assert not found(program, "SHL315")
    value(program)


def test_the_page_counts_wrongly_and_then_right() -> None:
    assert of_pages("SHL315", "np.array_equal(good.y, np.arange(16))")
    assert not of_pages("SHL315", "np.array_equal(bad.y, good.y)")


#: Slices by the number of a device, of a table whose rows the axis in `a` splits elsewhere.
SLICES = {
    "lax.dynamic_slice_in_dim({t}, lax.axis_index('{b}') * v.shape[0], v.shape[0], {n})": (0, 1),
    "lax.dynamic_slice_in_dim({t}, v.shape[0] * lax.axis_index('{b}'), slice_size=v.shape[0], axis={n})": (
        0,
        1,
    ),
}


@pytest.mark.parametrize("text", SLICES)
@pytest.mark.parametrize(("a", "b"), [*itertools.product("xyz", "xyz")])
def test_slices_by_the_number_along_another_axis(text: str, a: str, b: str) -> None:
    for dimension in SLICES[text]:
        taken = text.format(t="t" if dimension == 0 else "t.T", b=b, n=dimension)
        dot = f"({taken} * v).sum()" if dimension == 0 else f"({taken} * v.T).sum()"
        program = f"""{HEADER.replace("SIZES", "1, 2, 4")}
def body(v, t):
    return lax.psum({dot}, '{a}')
v = jnp.arange(16.0).reshape(8, 2)
y = jax.shard_map(body, mesh=mesh, in_specs=(P('{a}'), P()), out_specs=P(), check_vma=False)(v, v + 1)
"""
        same = value(program, "bool(np.allclose(y, (v * (v + 1)).sum()))")
        # With one device along an axis, or more than there are slices, nothing tells the two apart.
        sizes = {"x": 1, "y": 2, "z": 4}
        assert bool(found(program, "SHL315")) == (not same and sizes[a] > 1 and sizes[b] < sizes[a]), program


#: Bodies, by the order of the collective and that of the specs, and their out_specs. What is taken apart in
#: an order and put together in it again, or only reduced, is the same in every order.
ROUND_TRIPS = {
    "lax.all_gather(part({b}, x, table), {b}, tiled=True) + 0 * x[0, 0]": "P()",
    "lax.all_gather(lax.psum_scatter(table + 0 * x[0, 0], {b}, tiled=True), {b}, tiled=True)": "P()",
    "lax.all_gather(x, {b}, tiled=True).sum(0)": "P()",
    "jnp.max(lax.all_gather(x, {b}))": "P()",
    "(lax.all_gather(x, {b}, tiled=True) ** 2).mean() + x": "P({a})",
    "lax.psum((part({b}, x, table) ** 2).sum(), {b}) + 0 * x": "P({a})",
    "lax.pmax(part({b}, x, table), {b}) + 0 * x": "P({a})",
    "lax.psum_scatter(lax.all_gather(x, {b}, tiled=True), {b}, tiled=True)": "P({a})",
    "(lambda whole: whole.T @ whole)(lax.all_gather(x, {b}, tiled=True))": "P()",
    "lax.all_gather(part({b}, x, table), {a}, tiled=True) + 0 * x[0, 0]": "P()",
    "lax.all_gather(x, {b}, tiled=True) * 2": "P()",
    "(part({b}, x, table) + 1) * x": "P({a})",
    "lax.psum_scatter(table * 2, {b}, tiled=True)[::-1] + 0 * x[0, 0]": "P({a})",
    "jnp.dot(lax.all_gather(x, {b}, tiled=True), jnp.ones((1, 3)))": "P()",
    "part({b}, x, table).sum(keepdims=True) + x[:1, :1] * 0": "P({a})",
}
TRIPS = [*itertools.product(ROUND_TRIPS, range(size("SHARDLINT_TRIP_CASES", 3, 2)))]


@pytest.mark.parametrize(("body", "seed"), TRIPS)
def test_what_is_put_together_in_the_order_in_which_it_was_taken_apart(body: str, seed: int) -> None:
    rng = random.Random(f"{body} {seed}")
    orders = rng.sample([*itertools.permutations("xyz")], 2)
    a, b = map(repr, orders)
    out = ROUND_TRIPS[body].format(a=a)
    header = HEADER.replace("SIZES", "2, 2, 2")
    program, same = (
        f"{header}y = on(lambda x: {body.format(a=a, b=order)}, {a}, {out})\n" for order in (b, a)
    )
    right = value(same, "np.ravel(y).tolist()")
    differs = value(program, f"not np.allclose(np.ravel(y), {right!r})")
    assert bool(found(program, "SHL315")) == differs, program
    assert not found(same, "SHL315")
