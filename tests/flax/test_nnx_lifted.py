"""nnx's transforms against Flax: stacks of objects, their metadata, and the optimizers made of them."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from typing import Any

from flax_calls import SCALE, run_program
from support.jax_answers import asks_jax

from shardlint.inference.domain.values import Array, Instance, LibraryObject
from shardlint.inference.overlays.flax.common.metadata import names_of
from shardlint.laws.core.values import Spec
from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.flax.logical_axes import Mistake
from shardlint.model.uses import LogicalAxesUse

HEADER = """
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))


class Block(nnx.Module):
    def __init__(self, rngs):
        self.w = nnx.Param(nnx.initializers.ones(rngs.params(), (8, 8)), out_sharding=NAMES)
        self.inner = nnx.Linear(8, 4, rngs=rngs)

    def __call__(self, x):
        return self.inner(x @ self.w)
"""

_NAMES = ('(None, "x")', '("x",)', 'P("y", "x")', '("x", None)', "()", "(None, None)")
_METADATA = (
    "",
    "transform_metadata={nnx.PARTITION_NAME: None}",
    'transform_metadata={nnx.PARTITION_NAME: "layers"}',
    "transform_metadata={}",
)
_OPTIMIZERS = (
    "adam(1e-3)",
    "adamw(1e-3)",
    "sgd(0.1, momentum=0.9)",
    "chain(optax.clip(1.0), optax.lion(0.1))",
)


def program(draw: random.Random) -> str:
    """A random stack; binds ``stack``, and ``y`` where it is applied. Its last statement may raise."""
    count, axis = draw.choice((2, 3, 4, 8)), draw.choice((0, 0, 1))
    options = [draw.choice(_METADATA), f"out_axes={axis}" if axis else ""]
    how = draw.choice(("fork", "split_rngs", "axis_size", "lambda"))
    if how == "axis_size":
        options += [f"axis_size={count}", "in_axes=None"]
    written = ", ".join(filter(None, options))
    rngs = "nnx.Rngs(0)" if how in ("split_rngs", "axis_size") else f"nnx.Rngs(0).fork(split={count})"
    split = f"@nnx.split_rngs(splits={count})\n" if how == "split_rngs" else ""
    make = f"\n\n{split}@nnx.vmap({written})\ndef make(rngs):\n    return Block(rngs)\n"
    if how == "lambda":
        make = f"\nmake = nnx.vmap(lambda rngs: Block(rngs), {written})\n"
    lines = [f"stack = make({rngs})"]
    if axis == 0:
        apply = (
            "y = nnx.scan(lambda block, x: x @ block.w, in_axes=(0, nnx.Carry), out_axes=nnx.Carry)(stack, x)"
        )
        lines += [
            "x = jnp.ones((3, 8))",
            draw.choice((apply, "y = nnx.vmap(lambda b, x: b(x), in_axes=(0, None))(stack, x)")),
        ]
    if draw.random() < 0.7:
        lines.append(f"nnx.Optimizer(stack, optax.{draw.choice(_OPTIMIZERS)}, wrt=nnx.Param)")
    body = "\n    ".join(lines)
    return HEADER.replace("NAMES", draw.choice(_NAMES)) + make + f"\nwith jax.set_mesh(mesh):\n    {body}\n"


def _weight(stack: Any) -> LibraryObject:
    assert isinstance(stack, Instance)
    weight = stack.attributes["w"]
    assert isinstance(weight, LibraryObject)
    return weight


@asks_jax("flax")
def real_stack(text: str) -> tuple[str, tuple[int, ...], tuple[Any, ...], tuple[int, ...] | None, bool]:
    """Return how a program ends, its weight's shape and names, the shape of ``y``, whether names moved."""
    real: dict[str, Any] = {}
    outcome = "accepted"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(text, real)
        except Exception as error:
            outcome = type(error).__name__
    weight = real["stack"].w
    y = tuple(real["y"].shape) if "y" in real else None
    return outcome, tuple(weight.shape), tuple(weight.out_sharding or ()), y, _is_shifted(real["stack"])


def test_random_stacks() -> None:
    draw, outcomes = random.Random("nnx stacks"), Counter[str]()
    for _ in range(round(24 * SCALE)):
        text = program(draw)
        outcome, shape, entries, y, is_shifted = real_stack(text)
        found, uses = run_program(text)
        rejected = [use.verdict.exception for use in uses if isinstance(use.verdict, Rejected)]
        assert rejected[:1] == ([] if outcome == "accepted" else [outcome]), text
        outcomes[outcome] += 1
        weight = _weight(found["stack"])
        array = weight.fields["value"]
        assert isinstance(array, Array)
        assert array.shape == shape, text
        names = names_of(weight.fields["out_sharding"]).spec
        assert isinstance(names, Spec)
        assert names.entries == entries, text
        if y is not None:
            assert isinstance(found["y"], Array)
            assert found["y"].shape == y, text
        unnamed = any(isinstance(use, LogicalAxesUse) and use.mistake is Mistake.UNNAMED_AXIS for use in uses)
        assert unnamed == is_shifted, text
    assert 10 * SCALE <= outcomes["accepted"] <= 21 * SCALE


def _is_shifted(stack: Any) -> bool:
    """Whether the names of the stack's weight lie on other dimensions than they were written for."""
    value = stack.w.get_value()
    names = tuple(None if name == "layers" else name for name in stack.w.out_sharding or ())
    held = tuple(value.sharding.spec)
    return any(names) and (*names, *(None,) * 9)[: value.ndim] != (*held, *(None,) * 9)[: value.ndim]
