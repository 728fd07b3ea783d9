"""Elementwise functions of unreduced and reduced arrays: refused where JAX refuses, and typed alike."""

from __future__ import annotations

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import inspect
import random
from typing import Any

import jax
import jax.scipy.special
import pytest
from explicit_probes import evaluate
from support.jax_answers import asks_jax
from support.sizes import scale
from typed_programs import once

from shardlint.inference.domain.values import Array
from shardlint.inference.overlays.jax.explicit.rules import elementwise
from shardlint.inference.overlays.jax.operations import OPERATIONS
from shardlint.laws.core.verdicts import Rejected

PRELUDE = """
import jax
import jax.scipy.special
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
"""
SPECS = (
    'P("x", None, unreduced={"y"})',
    'P("x", None, unreduced={"y"})',
    'P(None, None, unreduced={"x", "y"})',
    'P("x", None, reduced={"y"})',
    'P(None, None, reduced={"x", "y"})',
    'P("x", None)',
    'P(None, None, reduced={"x"}, unreduced={"y"})',
)
LINEAR = (
    "a + b",
    "a - b",
    "a * b",
    "a / b",
    "-a",
    "a * 2.0",
    "a / 2.0",
    "2 / a",
    "a + 1",
    "1 - a",
    "a < b",
    "a // b",
)
FUNCTIONS = sorted(
    name.replace("jax.numpy", "jnp").replace("jax.lax", "lax")
    for name, operation in OPERATIONS.items()
    if operation.sharding in (elementwise.nary, elementwise.nary_as_given) and "integer" not in name
)
EXTREMES = (
    "lax.reduce_max(a, (0,))",
    "lax.reduce_min(a, (1,))",
    "jnp.max(a)",
    "jnp.min(a, axis=1)",
    "a.sum(0)",
    "a.mean()",
    "a.astype(jnp.bfloat16)",
)


scope = once(PRELUDE)


@asks_jax("explicit")
def real_type(text: str) -> list[Any]:
    """Return the spec in the type of an expression, or the class of what it raises."""
    with jax.set_mesh(scope()["mesh"]):
        try:
            spec = jax.eval_shape(lambda: eval(text, scope())).sharding.spec
        except Exception as problem:
            return [type(problem).__name__]
    return [repr(tuple(spec.partitions)), sorted(spec.unreduced), sorted(spec.reduced)]


def arity(name: str) -> int:
    """Return the number of a function's operands."""
    function = eval(name, {"jax": jax, "jnp": jax.numpy, "lax": jax.lax})
    if isinstance(function, jax.numpy.ufunc):
        return int(function.nin)
    parameters = inspect.signature(function).parameters.values()
    return sum(p.default is p.empty and p.kind is not p.VAR_KEYWORD for p in parameters)


def programs(rng: random.Random, count: int) -> list[str]:
    """Return expressions, each of two arrays."""
    texts = []
    for number in range(count):
        kind = rng.random()
        name = FUNCTIONS[number % len(FUNCTIONS)]
        form = rng.choice(LINEAR) if kind < 0.4 else rng.choice(EXTREMES) if kind < 0.5 else ""
        operands = ", ".join(f"jax.reshard(jnp.ones((8, 8)), {rng.choice(SPECS)})" for _ in range(2))
        form = form or name + ("(a)" if arity(name) == 1 else rng.choice(("(a, b)", "(a, b)", "(a, 2.0)")))
        texts.append(f"(lambda a, b: {form})({operands})")
    return texts


@pytest.mark.filterwarnings("ignore")
def test_unreduced_operands_follow_jax() -> None:
    size = scale("SHARDLINT_EXPLICIT_SCALE", 1 / 3)
    accepted = typed = rejected = found = 0
    for text in programs(random.Random(5), round(600 * size)):
        probes, uses = evaluate(
            f"{PRELUDE}\nwith jax.set_mesh(mesh):\n    probe(0, jax.jit(lambda: {text})())\n"
        )
        refused = [use.verdict for use in uses if isinstance(use.verdict, Rejected)]
        real = real_type(text)
        if real == ["TypeError"]:
            # Of integers only.
            continue
        if len(real) == 1:
            rejected, found = rejected + 1, found + bool(refused)
            assert not refused or refused[0].exception == real[0], (text, real, refused)
            continue
        accepted += 1
        assert not refused, (text, real, refused)
        value = probes.get(0)
        if isinstance(value, Array) and value.typed is not None:
            typed += 1
            spec = value.typed.spec
            assert [repr(spec.entries), sorted(spec.unreduced), sorted(spec.reduced)] == real, (text, spec)
    assert typed >= 0.7 * accepted, (typed, accepted)
    assert found >= 0.6 * rejected, (found, rejected)
