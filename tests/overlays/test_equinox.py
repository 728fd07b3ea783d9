"""Equinox's modules, layers, trees and transforms, beside Equinox itself."""

from __future__ import annotations

import random
from collections.abc import Callable

import equinox as eqx
import jax
import pytest
from equinox_programs import LAYERS, PRELUDE, TREES
from support.checking import uses
from support.sizes import size
from support.tracing import run_traced

from shardlint.laws.core.verdicts import Api
from shardlint.model.uses import Placement

#: Layers of each kind; the environment may ask for more.
CASES = size("SHARDLINT_EQUINOX_CASES", 3, 5)
Leaf = tuple[object, str | None]


def real_leaves(expression: str) -> list[Leaf]:
    """Shape and dtype of each array in what an expression makes."""
    names: dict[str, object] = {"__name__": "__main__"}
    run_traced(PRELUDE + f"value = {expression}", names)
    arrays = jax.tree.leaves(eqx.filter(names["value"], eqx.is_array))
    return [(array.shape, str(array.dtype)) for array in arrays]


def our_leaves(expression: str) -> list[Leaf]:
    """The same as `filter_shard` of it meets them."""
    text = f"{PRELUDE}\nvalue = {expression}\neqx.filter_shard(value, whole)\n"
    eager = [use for use in uses(text) if isinstance(use, Placement) and use.api is Api.CONSTRAINT_EAGER]
    return [(use.shape, use.dtype) for use in eager]


@pytest.mark.parametrize("expression", TREES)
def test_trees_agree_with_equinox(expression: str) -> None:
    assert our_leaves(expression) == real_leaves(expression)


@pytest.mark.parametrize("layer", LAYERS)
def test_layers_agree_with_equinox(layer: Callable[[random.Random], str]) -> None:
    expressions = {layer(random.Random(f"{layer.__name__}/{number}")) for number in range(CASES)}
    for expression in sorted(expressions):
        ours, real = our_leaves(expression), real_leaves(expression)
        assert [shape for shape, _ in ours] == [shape for shape, _ in real], expression
        assert all(dtype in (None, other) for (_, dtype), (_, other) in zip(ours, real, strict=True)), (
            expression
        )
