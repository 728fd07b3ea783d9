"""Pieces that a body takes apart, and that specs put together: reported where the whole is another than
without devices."""

from __future__ import annotations

import itertools
import random

import pytest
from consequences import found, of_pages, value
from support.sizes import size

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
parts = [jnp.sin(jnp.arange(8.0 * n)).reshape(8, n) + i for i, n in enumerate(SIZES)]
w = jnp.cos(jnp.arange(64.0)).reshape(8, 8)
ends = ENDS
def on(body, first, *args):
    specs = {"in_specs": (first, *[P()] * (len(args) - 1)), "out_specs": P(None, "y")}
    return jax.shard_map(body, mesh=mesh, **specs)(*args)
def interleaved(parts):
    return jnp.concatenate([part.reshape(8, 4, -1) for part in parts], -1).reshape(8, -1)
"""
#: Ways to join the parts, and whether they lie one after the other.
JOINS = {
    "jnp.concatenate(parts, axis=1)": True,
    "jnp.concatenate(parts, -1) * 2 + 1": True,
    "lax.concatenate(parts, 1).astype(jnp.float32)": True,
    "np.concatenate([np.asarray(part) for part in parts], axis=1)": True,
    "jax.jit(lambda parts: jnp.concatenate(parts, axis=1))(parts)": True,
    "interleaved(parts)": False,
}
#: Ways to take a piece apart whose parts are `k` times smaller.
BODIES = (
    "lambda m: jnp.concatenate("
    "[p * (i + 1) for i, p in enumerate(jnp.split(m, [e // k for e in ends[:-1]], 1))], 1)",
    "lambda m: m[:, : ends[0] // k] * 2",
    "lambda m: m[..., ends[-2] // k :] - 1",
    "lambda m: jnp.split(w @ jnp.tanh(m), [e // k for e in ends[:-1]], axis=-1)[0]",
    "lambda m: jnp.split(jnp.einsum('ab,bc->ac', w, m), [e // k for e in ends[:-1]], axis=-1)[1]",
    "lambda m: jnp.tanh(m).sum(0, keepdims=True)",
    "lambda m: m * 2",
)  # fmt: skip
CASES = [*itertools.product(JOINS, BODIES)]


@pytest.mark.parametrize(("join", "body"), CASES)
def test_pieces_taken_apart_at_joints(join: str, body: str) -> None:
    rng = random.Random(f"{join} {body}")
    for _ in range(size("SHARDLINT_JOINED_CASES", 1, 3)):
        sizes = [4 * rng.randint(2, 4) for _ in range(rng.choice((2, 3)))]
        header = HEADER.replace("SIZES", str(sizes)).replace("ENDS", str([*itertools.accumulate(sizes)]))
        program = (
            f"{header}k = 4\ny = on({body}, P(None, 'y'), {join})\n"
            f"k = 1\nz = ({body})({join if JOINS[join] else 'jnp.concatenate(parts, axis=1)'})\n"
        )
        # The parts of a device are beside each other in the result, as the body leaves them.
        differs = value(
            program,
            "not np.allclose(np.sort(np.ravel(y)), np.sort(np.ravel(z)), atol=1e-3)",
        )
        assert bool(found(program, "SHL323")) == differs, program


@pytest.mark.parametrize("count", [2, 4, 8, 16])
def test_whole_parts_are_no_mistake(count: int) -> None:
    """Chunks in the order of zigzag attention: each device has a whole number of them."""
    program = f"""{HEADER.replace("SIZES", str([64 // count] * count)).replace("ENDS", "[]")}
order = [i // 2 if i % 2 == 0 else {count} - 1 - i // 2 for i in range({count})]
m = jnp.concatenate([parts[i] for i in order], axis=1)
y = on(lambda m: jnp.concatenate([m[:, :8] * 2, m[:, 8:]], 1), P(None, "y"), m)
"""
    # Of two parts, a device has a piece of one; of more, whole parts.
    assert bool(found(program, "SHL323")) == (count == 2), program


#: Bodies whose results are put together, and where: along the dimension that is split, or another.
RESULTS = (
    ("lambda m: m + 1", "P(None, 'y')"),
    ("lambda m: m + 1", "P('y')"),
    ("lambda m: m.T", "P('y')"),
    ("lambda m: m.T", "P(None, 'y')"),
    ("lambda m: m.at[0].set(1.0)", "P('y')"),
    ("lambda m: m.at[0].set(1.0)", "P(None, 'y')"),
    ("lambda m: w @ m", "P('y', None)"),
    ("lambda m: w @ m", "P(None, 'y')"),
    ("lambda m: lax.all_to_all(m, 'y', 0, 1, tiled=True)", "P('y')"),
    ("lambda m: m.sum(1, keepdims=True)", "P('y')"),
    ("lambda m: m[:, :1]", "P('y')"),
    ("lambda m: m[None]", "P(None, 'y')"),
    ("lambda m: m[None]", "P(None, None, 'y')"),
    ("lambda m: jax.vmap(lambda r: r * 2, in_axes=1)(m)", "P('y')"),
)


@pytest.mark.parametrize(("body", "out"), RESULTS)
def test_results_put_together_along_another_dimension(body: str, out: str) -> None:
    program = f"""{HEADER.replace("SIZES", "[8, 8]").replace("ENDS", "[8]")}
m = parts[0]
y = jax.shard_map({body}, mesh=mesh, in_specs=P(None, "y"), out_specs={out}, check_vma=False)(m)
z = {"m" if "all_to_all" in body else f"({body})(m)"}
"""
    same_shape = value(program, "y.shape == z.shape")
    told = bool(found(program, "SHL323"))
    assert told <= (not same_shape), program
    assert told or same_shape or "sum" in body or ":1" in body, program


#: Bodies whose results come back in the order of the axes in their spec: whether that is told where it is
#: another order than that of the rows, and whether they put parts on other devices themselves.
ROWS = {
    "m * 2": (True, False),
    "jnp.argmax(m @ w, -1)": (True, False),
    "jax.nn.softmax(m)": (True, False),
    "lax.fori_loop(0, 3, lambda i, c: c * 2, m)": (True, False),
    "m.sum(1)": (True, False),
    "m.sum(0, keepdims=True)": (False, False),
    "lax.ppermute(m, ('x', 'y'), [(i, 2 * i % 8 + i // 4) for i in range(8)])": (False, True),
    "lax.ppermute(m, 'y', [(0, 1), (1, 0), (2, 3), (3, 2)])": (False, True),
    "lax.all_to_all(m.T, ('x', 'y'), 0, 1, tiled=True).T": (False, True),
    "lax.psum_scatter(lax.all_gather(m, ('x', 'y'), tiled=True), ('y', 'x'), tiled=True)": (False, True),
}


@pytest.mark.parametrize("body", ROWS)
def test_rows_come_back_in_another_order_of_the_axes(body: str) -> None:
    told, moves = ROWS[body]
    for out in ("'x', 'y'", "'y', 'x'"):
        program = f"""{HEADER.replace("SIZES", "[8, 8]").replace("ENDS", "[8]")}
m = jnp.arange(512.0).reshape(64, 8) % 7.3
body = lambda m: {body}
y = jax.shard_map(body, mesh=mesh, in_specs=P(("x", "y")), out_specs=P(({out})), check_vma=False)(m)
"""
        other = bool(found(program, "SHL323"))
        assert other == (told and out == "'y', 'x'"), program
        if not moves and "keepdims" not in body:
            assert value(program, "bool(np.array_equal(y, body(m)))") != other, program


def test_the_page_computes_others_numbers_and_then_right_ones() -> None:
    right = "np.asarray(good.up).sum() * 0 + good.y"
    assert of_pages("SHL323", f"not np.allclose(bad.y, {right})")
