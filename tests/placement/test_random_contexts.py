"""Random programs that set meshes, make arrays, place them and compute with them, beside JAX.

JAX runs a program up to its first error. shardlint may miss that error, but reports none before it, and finds
four of five.
"""

from __future__ import annotations

import random
import traceback

import jax
import pytest
from support.checking import errors
from support.sizes import size

HEADER = """\
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P, reshard
mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.{kind},) * 2)
half = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("x", "y"))
flat = jax.make_mesh((8,), ("x",), axis_types=(AxisType.{kind},))
key = jax.random.key(0)
a = jnp.ones((8, 8))
h = np.ones((8, 8), np.float32)
"""
SPECS = ("P()", 'P("x")', 'P(None, "y")', 'P("x", "y")', 'P(("x", "y"))', "P(None, None)", 'P("y", "x")')
#: Expressions of arrays x and y, shardings s and t, and specs p and q.
EXPRESSIONS = (
    "jnp.ones((8, 8))", "jnp.full((8, 8), 2.0)", "jax.random.normal(key, (8, 8))", "jnp.eye(8)",
    "jnp.arange(64.0).reshape(8, 8)", "jnp.asarray(h)", "jax.device_put({x}, {s})", "{x} * 2", "{x} + {y}",
    "jnp.dot({x}, {y})", "jnp.sin({x})", "jnp.zeros_like({x})", "{x}.T", "jnp.concatenate([{x}, {y}])[:8]",
    "jax.jit(lambda v: v * 2, in_shardings={s})({x})", "jax.jit(lambda v: v * 2, out_shardings={s})({x})",
    "jax.jit(lambda v, w: v + w)({x}, {y})", "jax.jit(lambda v: v @ v, in_shardings={p})({x})",
    "jax.jit(lambda v, w: v + w, in_shardings=({s}, {t}))({x}, {y})",
    "jax.jit(lambda v: jax.lax.with_sharding_constraint(v * 2, {s}))({x})",
    "jax.lax.with_sharding_constraint({x}, {s})", "jax.lax.with_sharding_constraint({x}, {p})",
    "jax.shard_map(lambda v: v * 2, mesh=mesh, in_specs={p}, out_specs={q})({x})",
    "jax.shard_map(lambda v: v * 2, in_specs={p}, out_specs={q})({x})", "reshard({x}, {s})",
    "reshard({x}, {p})",
)  # fmt: skip


def _sharding(rng: random.Random) -> str:
    mesh = rng.choice(("mesh", "mesh", "mesh", "half", "flat"))
    return f"NamedSharding({mesh}, {rng.choice(SPECS[:2] if mesh == 'flat' else SPECS)})"


def _program(rng: random.Random) -> str:
    lines, names, indent = [], ["a", "h"], ""
    setting = rng.choice(("jax.set_mesh(mesh)", "jax.set_mesh(half)", "mesh", ""))
    for number in range(rng.randint(3, 7)):
        if setting and not indent and rng.random() < 0.5:
            lines.append(f"with {setting}:")
            indent = "    "
        parts = {"x": rng.choice(names), "y": rng.choice(names)}
        parts |= {name: _sharding(rng) for name in "st"} | {name: rng.choice(SPECS) for name in "pq"}
        lines.append(f"{indent}v{number} = {rng.choice(EXPRESSIONS).format(**parts)}")
        names.append(f"v{number}")
    return HEADER.format(kind=rng.choice(("Auto", "Auto", "Explicit"))) + "\n".join(lines) + "\n"


def _first_error(program: str) -> int | None:
    """Return the line at which JAX raises."""
    try:
        exec(compile(program, "<random>", "exec"), {})
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        return next(frame.lineno for frame in frames if frame.filename == "<random>")
    return None


@pytest.mark.filterwarnings("ignore")
def test_no_error_before_that_of_jax() -> None:
    rng = random.Random(27)
    found, missed = 0, []
    for _ in range(size("SHARDLINT_CONTEXT_PROGRAMS", 100, 600)):
        program = _program(rng)
        due = _first_error(program)
        lines = [one.span.line for one in errors(program)]
        assert all(due is not None and line >= due for line in lines), (program, due, lines)
        if due is not None:
            found += due in lines
            missed += [program] * (due not in lines)
    assert found > 4 * len(missed), missed


def test_programs_leave_no_mesh_set() -> None:
    assert jax.sharding.get_abstract_mesh().empty
