"""Siblings of one shape: reported where JAX holds some of them whole and splits at least as many."""

from __future__ import annotations

import itertools
import random

import pytest
from consequences import found, of_pages, value

from shardlint.model.findings import Severity

HEADER = """import re
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ('data', 'model'))
def sharding_of(path, _):
    name = '/'.join(key.key for key in path)
    for pattern, spec in RULES:
        if re.search(pattern, name):
            return NamedSharding(mesh, spec)
    return NamedSharding(mesh, P())
"""
PATTERNS = ("query", "key|value", "kernel", "up", "out", "scale")
SPECS = ("P()", "P(None, 'model')", "P('data', 'model')", "P('model')", "P(None)")
ALIKE = {"query", "key", "value", "q_proj"}
NAMES = ("query", "key", "value", "up", "out", "q_proj")


def program(rng: random.Random) -> str:
    """Return a program that places a tree by a table of patterns."""
    rules = ", ".join(f"(r'{p}', {rng.choice(SPECS)})" for p in rng.sample(PATTERNS, 3))
    names = rng.sample(NAMES, rng.randint(2, 4))
    leaves = ", ".join(f"'{n}': {{'kernel': jnp.ones(({rng.choice((8, 8, 16))}, 8))}}" for n in names)
    return (
        f"{HEADER}RULES = [{rules}]\nparams = {{{leaves}}}\n"
        "params = jax.device_put(params, jax.tree_util.tree_map_with_path(sharding_of, params))\n"
    )


def test_reported_where_a_sibling_is_whole() -> None:
    rng, reported = random.Random(7), 0
    for _ in range(40):
        text = program(rng)
        leaves = "[leaf['kernel'] for leaf in params.values()]"
        kernels = value(text, f"[(leaf.shape, leaf.sharding.is_fully_replicated) for leaf in {leaves}]")
        specs = value(text, f"[[*leaf.sharding.spec, None, None][:2] for leaf in {leaves}]")
        expected = any(
            one == other[::-1] != other and shapes[0] == shapes[1] and {*names} <= ALIKE
            for (one, other), shapes, names in zip(
                itertools.combinations(specs, 2),
                itertools.combinations([shape for shape, _ in kernels], 2),
                itertools.combinations(value(text, "[*params]"), 2),
                strict=True,
            )
        )
        for shape in {shape for shape, _ in kernels}:
            whole = [is_whole for other, is_whole in kernels if other == shape]
            expected = expected or 0 < sum(whole) <= len(whole) / 2
        assert bool(found(text, "SHL610")) == expected, text
        reported += expected
    assert reported > 5


def test_the_page_holds_a_kernel_whole() -> None:
    assert of_pages("SHL610", "bad.params['q_proj']['kernel'].sharding.is_fully_replicated")
    shardings = [f"good.params['{name}']['kernel'].sharding" for name in ("q_proj", "key")]
    assert of_pages("SHL610", " == ".join(shardings))


def test_of_two_that_differ_either_may_be_meant() -> None:
    text = f"{HEADER}RULES = [('key', P('model'))]\n"
    text += "params = {'query': jnp.ones((8, 8)), 'key': jnp.ones((8, 8))}\n"
    text += "params = jax.device_put(params, jax.tree_util.tree_map_with_path(sharding_of, params))\n"
    assert [finding.severity for finding in found(text, "SHL610")] == [Severity.INFO]


MODEL = """import flax.nnx as nnx
import jax, jax.numpy as jnp
from jax.sharding import AxisType
mesh = jax.make_mesh((2, 4), ('data', 'model'), axis_types=(AxisType.Auto,) * 2)
class Attention(nnx.Module):
    def __init__(self, rngs):
        for name, names in LAYERS.items():
            init = nnx.with_partitioning(nnx.initializers.ones, names)
            setattr(self, name, nnx.Linear(16, 16, use_bias=False, kernel_init=init, rngs=rngs))
@nnx.jit
def create():
    model = Attention(nnx.Rngs(0))
    state = nnx.state(model)
    nnx.update(model, jax.lax.with_sharding_constraint(state, nnx.get_partition_spec(state)))
    return model
"""
COLUMNS, ROWS = (None, "model"), ("model", None)


@pytest.mark.parametrize("key", [COLUMNS, ROWS])
@pytest.mark.parametrize("value_", [COLUMNS, ROWS])
def test_layers_of_nnx_that_are_split_crosswise(key: object, value_: object) -> None:
    layers = {"query": COLUMNS, "key": key, "value": value_, "out": ROWS}
    text = f"LAYERS = {layers}\n{MODEL}with jax.set_mesh(mesh):\n    model = create()\n"
    lying = "model.{}.kernel.value.sharding.spec == model.query.kernel.value.sharding.spec"
    alike = [name for name in ("key", "value") if value(text, lying.format(name))]
    reported = [one.message for one in found(text, "SHL610")]
    assert bool(reported) == (len(alike) < 2)
    if len(alike) == 1:
        odd = "value" if alike == ["key"] else "key"
        assert reported[0].startswith(f"`state['{odd}']['kernel']`")
