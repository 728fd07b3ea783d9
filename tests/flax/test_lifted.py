"""Lifted transforms against Flax: the variables that `nn.scan` and `nn.vmap` make, and their names."""

from __future__ import annotations

import random
from typing import Any

import flax.linen as nn
import jax
import pytest
from flax_calls import SCALE, flat_arrays, flat_specs, run_program
from support.jax_answers import asks_jax
from support.tracing import run_traced

from shardlint.inference.domain.values import Array, LibraryObject, SpecValue, Value
from shardlint.inference.overlays.flax.common.metadata import PARTITIONED
from shardlint.inference.overlays.flax.linen.lifted import _is_named
from shardlint.laws.core.values import Spec, Unknown
from shardlint.laws.core.verdicts import Rejected

HEADER = """
import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

key = jax.random.key(0)
lecun = nn.initializers.lecun_normal()
x = jnp.ones((4, 8))


class Block(nn.Module):
    width: int = 8

    @nn.compact
    def __call__(self, x, _):
        h = nn.Dense(self.width, kernel_init=nn.with_partitioning(lecun, KERNEL))(x)
        scale = self.param("scale", nn.with_partitioning(nn.initializers.ones, SCALE), (8,))
        counter = self.variable("stats", "count", jnp.zeros, (3,))
        return nn.Dense(8, name="out")(h) * scale, h


class Plain(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(5, kernel_init=nn.with_partitioning(lecun, KERNEL))(nn.LayerNorm()(x))
"""

_NAMES = ('(None, "x")', '("x",)', 'P("y", "x")', '("x", None)', "()", '(("x", "y"), None)')
_SCALES = ('("x",)', "(None,)", "()", '("y",)')
_METADATA = (
    "metadata_params={nn.PARTITION_NAME: None}",
    'metadata_params={nn.PARTITION_NAME: "layers"}',
    'metadata_params={nn.meta.PARTITION_NAME: "z", "other": 1}',
    "metadata_params={}",
    "",
)


def program(draw: random.Random) -> str:
    """A random stack of modules; binds ``variables`` and ``y``."""
    axis = draw.choice((0, 0, 1))
    form = draw.randint(0, 5)
    shared = draw.choice(("0", "1", "None" if form in (2, 3, 5) else "0"))
    options = [
        f'variable_axes={{"params": {axis}, "stats": {shared}}}',
        'split_rngs={"params": True}',
        draw.choice(_METADATA[:3]) if draw.random() < 0.75 else draw.choice(_METADATA[3:]),
    ]
    header = HEADER.replace("KERNEL", draw.choice(_NAMES)).replace("SCALE", draw.choice(_SCALES))
    if form == 0:
        body = f"stack = nn.scan(Block, length={draw.randint(2, 5)}, {', '.join(filter(None, options))})"
        use = "y, variables = stack().init_with_output(key, x, None)"
    elif form == 1:
        body = f"stack = nn.scan(Block, in_axes=1, {', '.join(filter(None, options))})"
        use = "y, variables = stack(4).init_with_output(key, x, jnp.ones((2, 6)))"
    elif form == 2:
        body = f"stack = nn.vmap(Plain, {', '.join(filter(None, options))})"
        use = "y, variables = stack().init_with_output(key, jnp.ones((3, 4, 8)))"
    elif form == 3:
        options += ["in_axes=None", "out_axes=1", "axis_size=3"]
        body = f"stack = nn.vmap(Plain, {', '.join(filter(None, options))})"
        use = "y, variables = stack().init_with_output(key, x)"
    elif form == 4:
        layers = ", ".join(filter(None, options))
        body = f"""
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(8)(x)
        x, _ = nn.scan(Block, length=3, {layers})(6, name="layers")(x, None)
        x, hidden = nn.scan(Block, length=2, {layers})()(x, None)
        return nn.Dense(2)(x), hidden
"""
        use = "y, variables = Net().init_with_output(key, x)"
    else:
        layers = ", ".join(filter(None, options))
        body = f"""
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(8)(x)
        kernel = nn.with_partitioning(lecun, ("x",))
        return nn.vmap(nn.Dense, {layers})(6, kernel_init=kernel)(x)
"""
        use = "y, variables = Net().init_with_output(key, x)"
    return f"{header}\n{body}\n{use}\nspecs = nn.get_partition_spec(variables)\n"


def flatten(tree: Any) -> dict[tuple[str, ...], Any]:
    found = jax.tree_util.tree_flatten_with_path(tree, is_leaf=lambda leaf: isinstance(leaf, jax.P))[0]
    return {tuple(str(getattr(key, "key", key)) for key in path): leaf for path, leaf in found}


@asks_jax("flax")
def real_stack(text: str) -> tuple[Any, Any, Any] | None:
    """Return the variables, their specs and the shapes of the outputs; None where the axis has no name."""
    real: dict[str, Any] = {}
    try:
        run_traced(text, real)
    except nn.meta.errors.PartitioningUnspecifiedError:
        return None
    variables = flatten(nn.unbox(real["variables"])).items()
    return (
        {path: (tuple(leaf.shape), str(leaf.dtype)) for path, leaf in variables},
        {path: tuple(leaf) for path, leaf in flatten(real["specs"]).items()},
        {str(i): tuple(leaf.shape) for i, leaf in enumerate(jax.tree.leaves(real["y"]))},
    )


def test_random_stacks() -> None:
    draw, refused = random.Random("stacks"), 0
    for _ in range(round(24 * SCALE)):
        text = program(draw)
        real = real_stack(text)
        if real is None:
            refused += 1
            _, uses = run_program(text)
            assert [use.verdict.exception for use in uses if isinstance(use.verdict, Rejected)][:1] == [
                "PartitioningUnspecifiedError"
            ], text
            continue
        found, uses = run_program(text)
        assert not any(isinstance(use.verdict, Rejected) for use in uses), text
        arrays, specs, outputs = real
        assert flat_arrays(found["variables"]) == arrays, text
        assert flat_specs(found["specs"]) == specs, text
        assert {str(i): leaf.shape for i, leaf in enumerate(_arrays(found["y"]))} == outputs, text
    assert 2 * SCALE <= refused <= 12 * SCALE


def _arrays(value: Any) -> list[Array]:
    if isinstance(value, Array):
        return [value]
    return [leaf for item in value.items for leaf in _arrays(item)]


APPLIED = """
axes = {"params": 0, "stats": 0}
stack = nn.scan(Block, variable_axes=axes, split_rngs={"params": True}, length=3, METADATA)
variables = jax.eval_shape(stack().init, key, x, None)
y, h = jax.eval_shape(lambda v: stack().apply(v, x, None), variables)
"""


@pytest.mark.parametrize("metadata", _METADATA[:3])
def test_a_stack_is_applied(metadata: str) -> None:
    header = HEADER.replace("KERNEL", '(None, "x")').replace("SCALE", '("x",)')
    text = header + APPLIED.replace("METADATA", metadata)
    real: dict[str, Any] = {}
    exec(text, real)
    found, _ = run_program(text)
    assert isinstance(found["y"], Array)
    assert isinstance(found["h"], Array)
    assert (found["y"].shape, found["h"].shape) == (real["y"].shape, real["h"].shape)


def test_an_initializer_that_is_not_known_may_give_no_names() -> None:
    """What the initializer of a configuration makes is no reason to ask for the name of a stacked axis."""
    box: dict[str, Value] = {"value": Array((4, 8)), "names": Unknown("the initializer is not known")}
    assert not _is_named(LibraryObject(PARTITIONED, box))
    assert _is_named(LibraryObject(PARTITIONED, box | {"names": SpecValue(Spec(("x",)))}))
