"""Verdicts on names against JAX: programs raise what the evaluator says, or run where it says nothing."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pytest
from flax import nnx
from flax_calls import SCALE, run_program
from support.jax_answers import asks_jax

from shardlint.laws.core.verdicts import Rejected

HEADER = """
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
key = jax.random.key(0)
ones = nn.initializers.ones_init()
inputs = jnp.ones((4, 8))
"""

_ENTRIES = ("None", '"x"', '"y"', '("x", "y")', '"z"', "None")


def _names(draw: random.Random, rank: int) -> str:
    length = max(0, rank + draw.choice((-1, 0, 0, 0, 0, 1)))
    entries = [draw.choice(_ENTRIES) for _ in range(length)]
    inside = ", ".join(entries)
    if draw.random() < 0.2:
        return f"P({inside})"
    if draw.random() < 0.1:
        return draw.choice(('"x"', '"xy"', '"model"'))
    return f"({inside}{',' if entries else ''})"


def _layers(draw: random.Random, names: str) -> tuple[str, int]:
    """A layer with a place for its names, and the rank of the parameter they belong to."""
    size = draw.choice((8, 8, 8, 6, 3))
    return draw.choice(
        (
            (f"nn.Dense({size}, kernel_init={names})", 2),
            (f"nn.Dense({size}, use_bias=True, bias_init={names})", 1),
            (f"nn.DenseGeneral(({size}, 4), kernel_init={names})", 3),
            (f"nn.LayerNorm(scale_init={names})", 1),
            (f"nn.Dense({size}, use_bias=False, kernel_init={names})", 2),
        )
    )


def linen_program(draw: random.Random) -> str:
    """A random linen program whose last statement may raise."""
    placeholder, rank = _layers(draw, "INIT")
    mesh = draw.choice(("", "", "", ", mesh=mesh"))
    layer = placeholder.replace("INIT", f"nn.with_partitioning(ones, {_names(draw, rank)}{mesh})")
    context = draw.choice(("with jax.set_mesh(mesh):", "with jax.set_mesh(mesh):", "if True:", "with mesh:"))
    use = draw.choice(
        (
            "layer.init(key, inputs)",
            "jax.jit(layer.init)(key, inputs)",
            "jax.eval_shape(layer.init, key, inputs)",
            "nn.get_partition_spec(jax.eval_shape(layer.init, key, inputs))",
            "nn.get_sharding(layer.init(key, inputs), mesh)",
            "nn.unbox(layer.init(key, inputs))",
            "layer.apply(layer.init(key, inputs), inputs)",
        )
    )
    return f"layer = {layer}\n{context}\n    {use}"


def later_program(draw: random.Random) -> str:
    """A random linen program that makes its variables first and reads them under a mesh."""
    placeholder, rank = _layers(draw, "INIT")
    layer = placeholder.replace("INIT", f"nn.with_partitioning(ones, {_names(draw, rank)})")
    use = draw.choice(
        ("nn.unbox(variables)", "layer.apply(variables, inputs)", "jax.jit(nn.unbox)(variables)")
    )
    return f"layer = {layer}\nvariables = layer.init(key, inputs)\nwith jax.set_mesh(mesh):\n    {use}"


def nnx_program(draw: random.Random) -> str:
    """A random nnx program whose last statement may raise."""
    size = draw.choice((8, 8, 8, 6, 3))
    layer, rank = draw.choice(
        (
            (f"nnx.Linear(8, {size}, kernel_init=INIT, rngs=nnx.Rngs(0))", 2),
            (f"nnx.Linear({size}, 8, bias_init=INIT, rngs=nnx.Rngs(0))", 1),
            (f"nnx.LinearGeneral(8, ({size}, 4), kernel_init=INIT, rngs=nnx.Rngs(0))", 3),
            (f"nnx.Embed({size}, 8, embedding_init=INIT, rngs=nnx.Rngs(0))", 2),
            (f"nnx.Param(jnp.ones((8, {size})), out_sharding=NAMES)", 2),
            (f"nnx.Param(jnp.ones(({size},)), out_sharding=NAMES)", 1),
            (f"nnx.Variable(jnp.ones((8, {size})), sharding_names=NAMES)", 2),
            (f"nnx.Linear(8, {size}, kernel_metadata={{'out_sharding': NAMES}}, rngs=nnx.Rngs(0))", 2),
        )
    )
    names = _names(draw, rank)
    mesh = draw.choice(("", "", "", ", mesh=mesh"))
    layer = layer.replace("INIT", f"nnx.with_partitioning(ones, {names}{mesh})")
    layer = layer.replace("out_sharding=NAMES", f"out_sharding={names}{mesh}").replace("NAMES", names)
    context = draw.choice(("with jax.set_mesh(mesh):", "with jax.set_mesh(mesh):", "if True:", "with mesh:"))
    use = draw.choice(("LAYER", "LAYER", "nnx.jit(lambda: LAYER)()", "nnx.eval_shape(lambda: LAYER)"))
    if names.startswith('"'):
        # `nnx.eval_shape` looks at names once more, one letter an axis; that is not followed.
        use = use.replace("nnx.eval_shape", "nnx.jit") + ("()" if "eval_shape" in use else "")
    return f"{context}\n    {use.replace('LAYER', layer)}"


@asks_jax("flax")
def raised(text: str) -> str | None:
    """The exception class that the program ends with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(text, {})
        except Exception as error:
            return type(error).__name__
    return None


def claimed(text: str) -> str | None:
    """The exception class that the evaluator claims first."""
    _, uses = run_program(text)
    return next((use.verdict.exception for use in uses if isinstance(use.verdict, Rejected)), None)


@pytest.mark.parametrize("make", [linen_program, later_program, nnx_program])
def test_random_programs(make: Any) -> None:
    draw = random.Random(make.__name__)
    outcomes = []
    for _ in range(round(48 * SCALE)):
        text = HEADER + make(draw)
        real = raised(text)
        if real == "TypeError":
            # Outside jit, a value made before the mesh was set is not on it: decided by its placement.
            assert claimed(text) is None, text
            continue
        assert claimed(text) == real, text
        outcomes.append(real)
    assert outcomes.count(None) >= 3 * SCALE
    assert len(outcomes) - outcomes.count(None) >= 3 * SCALE


#: Where eager sharding is switched off, and names that no mesh has.
_SWITCHES = (
    "with nnx.use_eager_sharding(False):\n    NAMES",
    "with nnx.use_eager_sharding(False):\n    pass\nNAMES",
    "nnx.use_eager_sharding(False)\nNAMES",
    "nnx.use_eager_sharding(False)\nwith nnx.use_eager_sharding(False):\n    pass\nNAMES",
    "with nnx.use_eager_sharding(True):\n    NAMES",
)


@pytest.mark.parametrize("switching", _SWITCHES)
def test_eager_sharding_is_off_where_it_is_switched_off(switching: str) -> None:
    named = 'nnx.Param(jnp.ones((8, 8)), out_sharding=("z", None), mesh=mesh)'
    text = HEADER + switching.replace("NAMES", named) + "\n"
    try:
        assert claimed(text) == raised(text)
    finally:
        nnx.use_eager_sharding(True)
