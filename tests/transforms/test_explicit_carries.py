"""Loops and branches on Explicit axes: what we say of their types beside what JAX says."""

from __future__ import annotations

import random
import sys
import traceback
from collections import Counter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AbstractMesh, AxisType, PartitionSpec, reshard
from probing import evaluate
from support.jax_answers import asks_jax
from support.sizes import size

from shardlint.inference.domain.values import Array
from shardlint.laws.core.values import entry_axes
from shardlint.laws.core.verdicts import Rejected

CASES = size("SHARDLINT_CARRY_CASES", 30, 90)
HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import AbstractMesh, AxisType, PartitionSpec as P, reshard
mesh = AbstractMesh((2, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
"""
SPECS = ("P('x')", "P(None, 'y')", "P('x', 'y')", "P()", "P('y')", "P(('x', 'y'))")
LINES = (
    "reshard({u}, {p})", "reshard({u}, {p})", "{u} * 2", "jnp.tanh({u})", "{u}.T", "jnp.zeros((8, 8))",
    "{u} + 1.0",
    "lax.scan(lambda c, _: (c * 2, None), {u}, None, length=2)[0]",
    "lax.scan(lambda c, _: ({v} * 2, None), {u}, None, length=2)[0]",
    "lax.scan(lambda c, _: (reshard(c, {p}), None), {u}, None, length=2)[0]",
    "lax.scan(lambda c, _: (c, c), {u}, None, length=2)[1][0]",
    "lax.scan(lambda c, _: ((c[1], c[0]), None), ({u}, {v}), None, length=2)[0][1]",
    "lax.fori_loop(0, 3, lambda i, c: c + 1, {u})", "lax.fori_loop(0, 3, lambda i, c: {v}, {u})",
    "lax.while_loop(lambda c: jnp.sum(c) < 3, lambda c: c * 2, {u})",
    "lax.while_loop(lambda c: True, lambda c: {v}, {u})",
    "lax.cond(True, lambda: {u}, lambda: {v})",
    "lax.cond(jnp.sum({u}) > 0, lambda p: p, lambda p: p * 2, {u})",
    "lax.cond(True, lambda p: reshard(p, {p}), lambda p: p, {u})",
    "lax.switch(1, [lambda: {u}, lambda: {v}, lambda: {u} * 2])", "jax.jit(lambda w: w * 2)({u})",
)  # fmt: skip


def random_program(rng: random.Random) -> str:
    """A function of two arrays that are sharded somehow, one statement a line."""
    lines, names = (
        [f"a = reshard(a, {rng.choice(SPECS)})", f"b = reshard(b, {rng.choice(SPECS)})"],
        ["a", "b"],
    )
    for i in range(rng.randint(1, 5)):
        u, v = (rng.choice(names[-3:]) for _ in range(2))
        lines.append(f"v{i} = {rng.choice(LINES).format(u=u, v=v, p=rng.choice(SPECS))}; probe({i}, v{i})")
        names.append(f"v{i}")
    body = "\n    ".join(lines)
    return f"{HEADER}def f(a, b):\n    {body}\n    return a\n"


@asks_jax("transforms")
def jax_says(program: str) -> tuple[dict[int, tuple[Any, ...]], int | None, str]:
    """The specs in types at probes, and the line and class of what JAX raises, if it does."""
    specs: dict[int, tuple[Any, ...]] = {}

    def probe(number: int, value: Any) -> None:
        specs[number] = tuple(jax.typeof(value).sharding.spec)

    scope = {"jax": jax, "jnp": jnp, "np": np, "lax": lax, "P": PartitionSpec, "probe": probe}
    scope |= {"AbstractMesh": AbstractMesh, "AxisType": AxisType, "reshard": reshard}
    exec(compile(program, "<program>", "exec"), scope)  # the program is random, and ours
    shape = jax.ShapeDtypeStruct((8, 8), np.float32)
    try:
        with jax.sharding.use_abstract_mesh(scope["mesh"]):
            jax.eval_shape(scope["f"], shape, shape)
    except Exception as error:
        frames = traceback.extract_tb(sys.exc_info()[2])
        return specs, next(f.lineno for f in frames if f.filename == "<program>"), type(error).__name__
    return specs, None, ""


def test_types_of_carries_and_refusals() -> None:
    rng, tally = random.Random(0), Counter[str]()
    for _ in range(CASES):
        program = random_program(rng)
        specs, line, exception = jax_says(program)
        run = "x = jax.ShapeDtypeStruct((8, 8), np.float32)\nwith jax.sharding.use_abstract_mesh(mesh):\n    "
        found = evaluate(f"{program}{run}jax.eval_shape(f, x, x)\n")
        for number, spec in specs.items():
            ours = found.probes.get(number)
            tally["values"] += 1
            if isinstance(ours, Array) and ours.typed is not None:
                tally["known"] += 1
                entries = (*ours.typed.spec.entries, *(None,) * 2)[: len(spec)]
                assert list(map(entry_axes, entries)) == list(map(entry_axes, spec)), (number, ours, program)
        tally["rejected"] += line is not None
        rejected = [use for use in found.uses if isinstance(use.verdict, Rejected)]
        if rejected and isinstance(verdict := rejected[0].verdict, Rejected):
            claimed = rejected[0].place.resolve().line
            assert line is not None and line <= claimed, (line, rejected[0], program)
            if line == claimed:
                assert verdict.exception in (exception, "Exception"), (exception, rejected[0], program)
                tally["found"] += 1
    print(dict(tally))
    assert tally["known"] > 0.8 * tally["values"] and tally["found"] > 0.8 * tally["rejected"], tally
    assert 0.15 * CASES < tally["rejected"] < 0.85 * CASES
