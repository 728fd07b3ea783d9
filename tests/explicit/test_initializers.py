"""Initializers, bare and inside nnx's layers, with an ``out_sharding=``: verdicts and types beside JAX's."""

from __future__ import annotations

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import random
from contextlib import nullcontext
from typing import Any

import jax
from explicit_probes import evaluate

from shardlint.inference.values import Array
from shardlint.laws.verdicts import Rejected

PRELUDE = """
from functools import partial
import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

A, E = AxisType.Auto, AxisType.Explicit
auto = jax.make_mesh((4, 2), ("x", "y"), axis_types=(A, A))
expl = jax.make_mesh((4, 2), ("x", "y"), axis_types=(E, E))
mixed = jax.make_mesh((4, 2), ("x", "y"), axis_types=(E, A))
init = jax.nn.initializers
"""
INITIALIZERS = (
    "init.normal()", "init.uniform(0.1)", "init.truncated_normal()", "init.zeros", "init.ones",
    "init.lecun_normal()", "init.glorot_uniform()", "init.he_normal(dtype=jnp.bfloat16)", "init.constant(2)",
    "init.orthogonal()", "nnx.initializers.xavier_normal()", "nnx.initializers.zeros_init()",
    "init.variance_scaling(1.0, 'fan_in', 'normal')",
)  # fmt: skip
SPECS = (
    "P('x', 'y')", "P(None, 'y')", "P('x')", "P()", "P('x', 'x')", "P('z')", "P('x', 'y', None)",
    "P('x', None, 'y')", "P(('x', 'y'))", "P('y', 'x')", "NamedSharding(expl, P('x'))",
    "NamedSharding(auto, P('x'))", "None",
)  # fmt: skip
CALLS = (
    "({i})(jax.random.key(0), {s}, out_sharding={p})",
    "({i})(jax.random.key(0), {s}, jnp.float32, {p})",
    "jax.jit(lambda k: ({i})(k, {s}, out_sharding={p}))(jax.random.key(0))",
    "jax.vmap(lambda k: ({i})(k, {s}, out_sharding={p}))(jax.random.split(jax.random.key(0), 2))",
    "nnx.Param(({i})(nnx.Rngs(0).params(), {s}, out_sharding={p})).get_value()",
    "nnx.Linear(*{s}, kernel_init=partial({i}, out_sharding={p}), rngs=nnx.Rngs(0)).kernel.get_value()",
    "nnx.Embed(*{s}, embedding_init=partial({i}, out_sharding={p}), rngs=nnx.Rngs(0)).embedding.get_value()",
)
SHAPES = ("(8, 8)", "(8, 4)", "(16, 2)", "(5, 8)")


def _real(expression: str, context: str | None, scope: dict[str, Any]) -> Any:
    """The sharding in the result's type, or the exception."""
    with nullcontext() if context is None else jax.set_mesh(scope[context]):
        try:
            return jax.typeof(eval(expression, scope)).sharding
        except Exception as problem:
            return problem


def test_initializers_are_those_of_jax() -> None:
    scope: dict[str, Any] = {}
    exec(PRELUDE, scope)
    rng = random.Random(0)
    accepted = known = rejected = found = 0
    for _ in range(int(os.environ.get("SHARDLINT_EXPLICIT_SCALE", "1")) * 120):
        context = rng.choice((None, "auto", "expl", "expl", "expl", "mixed"))
        text = rng.choice(CALLS)
        for name, some in (("{i}", INITIALIZERS), ("{s}", SHAPES), ("{p}", SPECS)):
            text = text.replace(name, rng.choice(some))
        real = _real(text, context, scope)
        held = "if True:" if context is None else f"with jax.set_mesh({context}):"
        probes, uses = evaluate(f"{PRELUDE}\n{held}\n    probe(0, {text})\n")
        refused = [use.verdict for use in uses if isinstance(use.verdict, Rejected)]
        told = (text, context, real, refused)
        if isinstance(real, Exception):
            rejected += 1
            found += bool(refused)
            assert not refused or type(real).__name__ == refused[0].exception, told
            continue
        assert not refused, told
        value = probes.get(0)
        accepted += 1
        if isinstance(value, Array) and value.typed is not None:
            known += 1
            assert value.typed.spec.entries == tuple(real.spec), (*told, value.typed)
            names = () if value.typed.mesh is None else value.typed.mesh.names
            assert names == real.mesh.axis_names, (*told, value.typed)
    assert accepted >= 30 and rejected >= 30
    assert known >= 0.8 * accepted, (known, accepted)
    assert found >= 0.8 * rejected, (found, rejected)
