"""Layers of linen inside shard_map: over what their results vary, and statistics of several devices."""

from __future__ import annotations

import random
import re

import jax
import pytest
from probing import SCALE, evaluate
from support.jax_answers import asks_jax

from shardlint.inference.domain.values import Array
from shardlint.laws.core.verdicts import Rejected

HEADER = """\
import jax, jax.numpy as jnp, numpy as np, flax.linen as nn
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
"""
#: Layers called with an array of 4 by 8 elements at least.
LAYERS = (
    "nn.Dense(6)", "nn.DenseGeneral((2, 3))", "nn.Conv(5, (3,))", "nn.LayerNorm()", "nn.RMSNorm()",
    "nn.GroupNorm(num_groups=2)", "nn.BatchNorm(use_running_average=False)", "nn.PReLU()",
    "nn.BatchNorm(use_running_average=True)", "nn.LayerNorm(use_scale=False, use_bias=False)",
    "nn.Einsum((8, 3), 'bd,df->bf')", "nn.SelfAttention(num_heads=2)",
    "nn.Sequential([nn.Dense(4), nn.relu, nn.Dense(2)])", "nn.Dropout(0.5, deterministic=True)",
    "nn.LayerNorm(axis_name='y')", "nn.BatchNorm(use_running_average=False, axis_name='x')",
)  # fmt: skip
SPECS = ("P()", "P('x')", "P('y')", "P(('x', 'y'))")


@asks_jax("transforms")
def varying(text: str) -> dict[int, frozenset[str]]:
    """Return the axes over which JAX says that what a program probes varies."""
    seen: dict[int, frozenset[str]] = {}
    exec(text, {"probe": lambda n, v: seen.update({n: frozenset(jax.typeof(v).mat.varying)})})
    return seen


@asks_jax("transforms")
def names_an_unbound_axis(text: str) -> bool:
    """Return whether a program ends with NameError."""
    try:
        exec(text, {})
    except NameError:
        return True
    return False


@pytest.mark.parametrize("layer", LAYERS)
def test_results_vary_as_jax_says(layer: str) -> None:
    draw, sure = random.Random(layer), 0
    for _ in range(round(3 * SCALE)):
        specs = draw.choice(SPECS), draw.choice(SPECS)
        mutable = ", mutable=['batch_stats']" if "average=False" in layer else ""
        text = f"""{HEADER}layer = {layer}
variables = {re.sub("axis_name='.'", "", layer)}.init(jax.random.key(0), jnp.ones((8, 8)))
def body(scale, x):
    probe(0, x)
    given = jax.tree.map(lambda v: v * scale[0], variables)
    y = layer.apply(given, x{mutable})
    probe(1, {"y[0]" if mutable else "y"})
    return jnp.zeros(())
f = jax.shard_map(body, mesh=mesh, in_specs=({", ".join(specs)}), out_specs=P())
jax.eval_shape(f, jnp.ones((8,)), jnp.ones((32, 8)))
"""
        probes = evaluate(text).probes
        for number, real in varying(text).items():
            ours = probes[number]
            assert isinstance(ours, Array), text
            assert ours.varying <= real, text
            assert ours.may_vary is None or real <= ours.may_vary, text
            sure += ours.may_vary == real and ours.varying == real
    assert sure > (2 if "Sequential" in layer else 5) * SCALE


@pytest.mark.parametrize("where", ["jit", "vmap", "other", "shard_map"])
@pytest.mark.parametrize(
    "norm",
    [
        "nn.BatchNorm(use_running_average=False, axis_name='x')",
        "nn.BatchNorm(use_running_average=True, axis_name='x')",
        "nn.BatchNorm(use_running_average=False)", "nn.LayerNorm(axis_name='x')",
        "nn.RMSNorm(axis_name='x')", "nn.GroupNorm(num_groups=2, axis_name='x')",
    ],
)  # fmt: skip
@pytest.mark.parametrize("step", ["init", "apply"])
def test_statistics_need_their_axis(where: str, norm: str, step: str) -> None:
    called = {
        "init": "layer.init(jax.random.key(0), x)",
        "apply": "layer.apply(variables, x, mutable=['batch_stats'])[0]",
    }[step]
    transformed = {
        "jit": "jax.eval_shape(jax.jit(f), jnp.ones((2, 8)))",
        "vmap": "jax.eval_shape(jax.vmap(f, axis_name='x'), jnp.ones((4, 2, 8)))",
        "other": "jax.eval_shape(jax.vmap(f, axis_name='z'), jnp.ones((4, 2, 8)))",
        "shard_map": "jax.eval_shape("
        "jax.shard_map(f, mesh=mesh, in_specs=P('x'), out_specs=P()), jnp.ones((4, 8)))",
    }[where]
    text = f"""{HEADER}plain = {norm.replace("axis_name='x'", "")}
{"variables = plain.init(jax.random.key(0), jnp.ones((2, 8)))" if step == "apply" else ""}
layer = {norm}
def f(x):
    made = {called}
    return jnp.zeros(())
{transformed}
"""
    rejected = [use.verdict for use in evaluate(text).uses if isinstance(use.verdict, Rejected)]
    assert names_an_unbound_axis(text) == bool(rejected)
    assert all(verdict.exception in ("NameError", "Exception") for verdict in rejected), rejected


@pytest.mark.parametrize("specs", [("P()", "P('x')"), ("P('y')", "P('x')"), ("P()", "P(('x', 'y'))")])
@pytest.mark.parametrize("axis", ["None", "'x'"])
@pytest.mark.parametrize("body", ["norm(x)", "norm(norm(x) * 2)", "nn.Dense(8)(norm(nn.Dense(8)(x)))"])
def test_changed_statistics_vary_as_jax_says(body: str, axis: str, specs: tuple[str, str]) -> None:
    text = f"""{HEADER}class Net(nn.Module):
    axis: str | None = None
    @nn.compact
    def __call__(self, x):
        norm = nn.BatchNorm(use_running_average=False, axis_name=self.axis)
        return {body}
variables = Net().init(jax.random.key(0), jnp.ones((8, 8)))
def body(scale, x):
    given = jax.tree.map(lambda v: v * scale[0], variables)
    y, changed = Net({axis}).apply(given, x, mutable=["batch_stats"])
    probe(0, changed["batch_stats"]["BatchNorm_0"]["mean"])
    probe(1, Net({axis}).apply(given, x, mutable="batch_stats")[1]["batch_stats"]["BatchNorm_0"]["var"])
    return jnp.zeros(())
f = jax.shard_map(body, mesh=mesh, in_specs=({", ".join(specs)}), out_specs=P())
jax.eval_shape(f, jnp.ones((8,)), jnp.ones((32, 8)))
"""
    probes = evaluate(text).probes
    real = varying(text)
    assert len(real) == 2
    for number, axes in real.items():
        ours = probes[number]
        assert isinstance(ours, Array), text
        assert ours.varying == ours.may_vary == axes, text
