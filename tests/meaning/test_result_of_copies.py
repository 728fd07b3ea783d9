"""Results that are made of copies: where one is reported, the devices' parts are equal."""

from __future__ import annotations

import random

import pytest
from consequences import found, of_pages, value
from support.sizes import size

CASES = size("SHARDLINT_COPIES_CASES", 30, 10)
HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
a, b = np.random.default_rng(0).uniform(0.1, 1, (2, 16, 16)).astype(np.float32)
"""
LINES = (
    "{u} + {v}", "{u} @ {v}", "jnp.tanh({u})", "{u} * 0.5 - {v}", "lax.psum({u}, {a})", "lax.pmean({u}, {a})",
    "lax.pmax({u}, {a})", "lax.all_gather({u}, {a}, tiled=True)[:8]", "{u} + lax.axis_index({a})",
    "lax.scan(lambda c, _: (c + {u}, None), {u}, None, length=3)[0]", "jnp.ones((8, 8))",
    "jax.jit(jnp.sin)({u})",
)  # fmt: skip


def random_program(rng: random.Random) -> tuple[str, str]:
    """Return a program whose result is split over an axis, and the axis."""
    lines, names = ["a, b = (jnp.resize(v, (8, 8)) for v in (a, b))"], ["a", "b"]
    for i in range(rng.randint(1, 4)):
        u, v, over = rng.choice(names[-2:]), rng.choice(names[-2:]), rng.choice("xy")
        lines.append(f"v{i} = {rng.choice(LINES).format(u=u, v=v, a=repr(over))}")
        names.append(f"v{i}")
    axis, body = rng.choice("xy"), "\n    ".join(lines)
    specs = ", ".join(rng.choice(("P()", "P('x')", "P('y')", "P('x', 'y')")) for _ in "ab")
    return (
        f"{HEADER}def body(a, b):\n    {body}\n    return {names[-1]}[None, None]\n"
        f"def named(a, b):\n    return body(a, b)[0, 0]\n"
        f"options = dict(mesh=mesh, in_specs=({specs}), check_vma=False)\n"
        f"f = jax.shard_map(named, **options, out_specs=P({axis!r}))\n"
        f"y = f(a, b)\n",
        axis,
    )


def test_what_is_reported_is_equal_on_the_devices() -> None:
    rng, reported, others = random.Random(0), 0, 0
    for _ in range(CASES):
        program, axis = random_program(rng)
        every = "\neach = jax.shard_map(body, **options, out_specs=P('x', 'y'))(a, b)\n"
        along = f"np.roll(each, 1, axis={'xy'.index(axis)})"
        same = value(program + every, f"bool(np.allclose(each, {along}, rtol=1e-4))")
        if found(program, "SHL313"):
            reported += 1
            assert same, program
        else:
            others += not same
    assert reported >= CASES // 10 and others >= CASES // 10, (reported, others)


#: Results that something decides on, of a type that does not tell over which axes that varies.
DECIDED = (
    "lax.cond({}[0, 0] > 0.5, lambda v: v, lambda v: v + 1, a)",
    "lax.switch(jnp.int32({}[0, 0] > 0.5), [lambda v: v, lambda v: v + 1], a)",
    "lax.fori_loop(0, jnp.int32({}[0, 0] * 9), lambda i, v: v + 1, a)",
    "lax.while_loop(lambda c: c[0] < 0.5, lambda c: (c[0] + 0.1, c[1] + 1), ({}[0, 0], a))[1]",
)


@pytest.mark.parametrize("decided", DECIDED)
@pytest.mark.parametrize("by", "ab")
def test_what_decides_may_differ(decided: str, by: str) -> None:
    program = f"{HEADER}def f(a, b):\n    return {decided.format(by)}\n"
    program += "y = jax.shard_map(f, mesh=mesh, in_specs=(P('x'), P('y')), out_specs=P(('x', 'y')))(a, b)\n"
    assert value(program, "bool(np.ptp(y.reshape(2, 4, -1), axis=1).max() == 0)") == (by == "a")
    assert bool(found(program, "SHL313")) == (by == "a")


def test_the_page_shows_copies_and_another_sum() -> None:
    assert of_pages("SHL313", "np.array_equal(bad.y[:4], bad.y[4:])")
    assert of_pages("SHL313", "bool(bad.y[0, 0] == 2 * good.y[0, 0])")


PRELUDE = f"""{HEADER}
def on(f, i, o, **kwargs):
    return jax.shard_map(f, mesh=mesh, in_specs=i, out_specs=o, **kwargs)(a)
"""
#: Bodies, and whether their result is reported.
BODIES = {
    "y = on(lambda a: lax.psum(a, 'x'), P('x'), P('x'))": True,
    "y = on(lambda a: lax.pmean(a, 'x')[:, None], P('x'), P('x'))": True,
    "y = on(lambda a: a, P(), P('y'))": True,
    "y = on(lambda a: lax.psum(a, 'x'), P('x', 'y'), P(None, ('x', 'y')))": True,
    "y = on(lambda a: a.sum()[None], P(), P('x'))": False,
    "y = on(lambda a: lax.psum(a.sum(), 'x').reshape(1, 1), P('x'), P('x'))": False,
    "y = on(lambda a: jnp.zeros((2, 2)), P('x'), P('x'))": False,
    "y = on(lambda a: lax.psum_scatter(a, 'x', tiled=True), P('x'), P('x'))": False,
    "y = on(lambda a: lax.psum(a, 'x'), P('x', 'y'), P(None, 'y'))": False,
    "y = on(lambda a: a, P(), P('y'), check_vma=False)": False,
}  # fmt: skip


def test_what_is_reported() -> None:
    told = {body: bool(found(f"{PRELUDE}{body}\n", "SHL313")) for body in BODIES}
    assert told == BODIES
    for body in BODIES:
        value(PRELUDE + body)
