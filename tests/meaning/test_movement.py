"""Arrays that must move between devices: beside the collectives in the code that XLA compiles."""

from __future__ import annotations

import random

import pytest
from consequences import found, of_pages, value
from support.sizes import size

from shardlint.laws.core.values import AxisType, Mesh, Spec
from shardlint.laws.placement.movement import Movement, gathered_rows, movement
from shardlint.model.findings import Finding

CASES = size("SHARDLINT_MOVEMENT_CASES", 40, 15)
COLLECTIVES = r" (all-gather|all-to-all|collective-permute|all-reduce|ragged)[a-z-]*\("
HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
def on(*spec):
    return NamedSharding(mesh, P(*spec))
def array(*spec, shape=(16, 16, 16)):
    return jax.device_put(jnp.ones(shape), on(*spec))
constrain = lax.with_sharding_constraint
def add(carry, row):
    return carry + row, None
"""


Entries = tuple[str | tuple[str, ...] | None, ...]


def collectives(program: str) -> int:
    """Return how many collectives there are in what a program compiles."""
    return len(value(program, f"__import__('re').findall({COLLECTIVES!r}, compiled.as_text())"))


def random_spec(rng: random.Random) -> Entries:
    entries: list[str | tuple[str, ...] | None] = [None, None, None]
    for axis in rng.sample("xy", rng.randint(0, 2)):
        at = rng.randrange(3)
        held = entries[at]
        entries[at] = axis if held is None else (str(held), axis)
    return tuple(entries)


OURS = Mesh(("x", "y"), (2, 4), (AxisType.AUTO,) * 2)


def moved(function: str, before: Entries, after: Entries) -> tuple[Movement, list[Finding]]:
    """Return the law's movement for a function that asks for another layout, which XLA confirms, and what is
    reported of it."""
    program = f"{HEADER}compiled = jax.jit({function}).lower(array(*{before})).compile()\n"
    law = movement(OURS, Spec(before), Spec(after), (16, 16, 16))
    assert law is not None
    assert (law.moved > 0) == (collectives(program) > 0), (before, after, law)
    return law, found(program.replace(".lower(", "(").replace(").compile()", ")"), "SHL604")


def test_arguments_of_a_shard_map() -> None:
    """They are laid out by in_specs, whatever that moves."""
    rng, moving = random.Random(1), 0
    for _ in range(CASES):
        before, after = random_spec(rng), random_spec(rng)
        mapped = f"jax.shard_map(lambda v: v * 2, mesh=mesh, in_specs=P(*{after}), out_specs=P(*{after}))"
        law, reported = moved(f"lambda v: {mapped}(v + 1)", before, after)
        assert bool(reported) == (2 * law.moved >= law.wanted and law.moved > 0), (before, after, law)
        moving += bool(reported)
    assert CASES // 4 < moving < CASES


@pytest.mark.parametrize(
    "product", ["v[0] @ v[1]", "jnp.einsum('ij,jk->ik', v[0], v[1])", "jnp.dot(v[0], v[1])"]
)
def test_who_asks_for_a_product_may_move_its_operands(product: str) -> None:
    operands = "[array('x', shape=(16, 16)), array(None, 'y', shape=(16, 16))]"
    program = f"{HEADER}y = jax.jit(lambda *v: constrain({product}, on('y', 'x')))(*{operands})\n"
    assert not found(program, "SHL604")


@pytest.mark.parametrize("spec", ["'x', 'y'", "('x', 'y')", "None, 'y'"])
def test_axes_that_are_not_manual_stay(spec: str) -> None:
    options = "mesh=mesh, axis_names={'x'}, in_specs=P('x'), out_specs=P('x')"
    program = f"{HEADER}y = jax.jit(lambda v: jax.shard_map(lambda v: v * 2, {options})(v))(array({spec}))\n"
    assert not found(program, "SHL604")


def test_the_law_says_whether_anything_moves() -> None:
    rng, moving = random.Random(0), 0
    for _ in range(CASES):
        before, after = random_spec(rng), random_spec(rng)
        law, reported = moved(f"lambda v: constrain(v * 2, on(*{after}))", before, after)
        moving += law.moved > 0
        most = not law.gathered and 2 * law.moved >= law.wanted > 0
        rows = gathered_rows(OURS, Spec(before), Spec(after), computed=False)
        assert not rows or (law.gathered and law.moved > 0), (before, after, law)
        assert bool(reported) == (most or bool(rows)), (before, after, law)
    assert CASES // 4 < moving < CASES


#: Programs that make ``compiled``, and the code of what is found in them.
PROGRAMS: dict[str, str | None] = {
    "f = jax.jit(lambda v: constrain(jnp.tanh(v) + v, on(None, 'y')))\nargs = array('y'),": "SHL604",
    "f = jax.jit(lambda v: v * 2 + v, out_shardings=on(None, 'y'))\nargs = array('y'),": "SHL604",
    "f = jax.jit(lambda v: constrain(v + 1, on(None, 'y')), in_shardings=(on('y'),))\n"
    "args = jax.ShapeDtypeStruct((16, 16, 16), jnp.float32),": "SHL604",
    "f = jax.jit(lambda v: constrain(constrain(v, on('y')) * 2, on(None, 'y')))\n"
    "args = jnp.ones((16, 16)),": "SHL604",
    "f = jax.jit(jax.jit(lambda v: constrain(v + 1, on(None, 'y'))))\nargs = array('y'),": "SHL604",
    "f = jax.jit(lambda v: constrain(v * 2, on()))\nargs = array('y'),": None,
    "f = jax.jit(lambda v: constrain(v * 2, on('y', 'x')))\nargs = array('y'),": None,
    "f = jax.jit(lambda v: constrain(v.sum(0) * 2, on('y')))\nargs = array(None, 'y'),": None,
    "f = jax.jit(lambda v, w: constrain(v + w, on(None, 'y')))\nargs = array('y'), array(None, 'y')": None,
    "f = jax.jit(lambda v: constrain(v.T, on(None, None, 'y')))\nargs = array('y'),": None,
    "f = jax.jit(lambda v: lax.scan(add, 0 * v[0], v)[0])\nargs = array('y'),": "SHL605",
    "f = jax.jit(lambda v: lax.map(lambda r: r * 2, v * 2))\nargs = array(('x', 'y')),": "SHL605",
    "f = jax.jit(lambda v: lax.scan(add, 0 * v[0], v)[0])\nargs = array(None, 'y'),": None,
    "f = jax.jit(lambda v: lax.map(lambda r: r * 2, v))\nargs = array(None, 'y'),": None,
    "f = jax.jit(lambda v: lax.scan(add, 0 * v[:4], v.reshape(4, 4, 16, 16))[0])\n"
    "args = array('y'),": "SHL605",
    "f = jax.jit(lambda v: lax.map(lambda r: r * 2, v.reshape(2, -1, 16, 16).astype('bfloat16')))\n"
    "args = array('y'),": "SHL605",
    "f = jax.jit(lambda v: lax.map(lambda r: r * 2, v.reshape(4, 4, 16, 16).swapaxes(0, 1)))\n"
    "args = array('y'),": None,
    "f = jax.jit(lambda v: lax.map(jnp.sin, jnp.moveaxis(v, 1, 0)))\nargs = array(None, 'y'),": "SHL605",
    "f = jax.jit(lambda v: constrain(jax.nn.gelu(v) * 2, on(None, None, 'y')))\nargs = array('x'),": "SHL604",
    "f = jax.jit(lambda v: constrain(v.swapaxes(0, 2), on('y')))\nargs = array('y'),": "SHL604",
    "f = jax.jit(lambda v: constrain(v.swapaxes(0, 2), on('y')))\nargs = array(None, None, 'y'),": None,
    "f = jax.jit(lambda v: lax.map(lambda r: r * 2, constrain(v, on())))\nargs = array('x'),": None,
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_reported(program: str) -> None:
    text = f"{HEADER}{program}\n"
    codes = [code for code in ("SHL604", "SHL605") if found(f"{text}f.lower(*args)\n", code)]
    expected = PROGRAMS[program]
    assert codes == ([] if expected is None else [expected])
    if expected is not None:
        assert collectives(f"{text}compiled = f.lower(*args).compile()\n")


MOVED = """def moved(v):
    return constrain(v * 2, on(None, 'y'))
@jax.jit
def f(v):
    w = v + 1
    {}
args = array('y'),
"""


@pytest.mark.parametrize(
    ("body", "moves"),
    [
        ("constrain(v * 2, on(None, 'y')); return w", False),
        ("x = constrain(v * 2, on(None, 'y')); return w", False),
        ("w = constrain(v * 2, on(None, 'y')); return w", True),
        ("w += constrain(v * 2, on(None, 'y')); return w", True),
        ("moved(v); return w", False),
        ("x = moved(v); return w", False),
        ("moved(v); return moved(v)", True),
        ("lax.with_sharding_constraint(moved(v), on()); return w", False),
        ("jax.tree.map(moved, [v]); return w", False),
    ],
)
def test_what_nothing_uses_does_not_move(body: str, moves: bool) -> None:
    text = HEADER + MOVED.format(body)
    assert bool(collectives(f"{text}compiled = f.lower(*args).compile()\n")) == moves
    assert bool(found(f"{text}f.lower(*args)\n", "SHL604")) == moves


def test_both_pages_compute_the_same_in_other_layouts() -> None:
    for code in ("SHL604", "SHL605"):
        assert of_pages(code, "bool(np.allclose(bad.y, good.y))")
    assert of_pages("SHL605", "bad.layers.sharding.shard_shape(bad.layers.shape)[0]") == 2
