"""Functions that return a new array, on the mesh that is set, beside JAX: not `jnp.concatenate` of one."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType

from shardlint.inference.overlays.jax.explicit.auto_layouts import COMPUTING
from shardlint.inference.overlays.jax.operations import rule_of

FUNCTIONS = [
    f"{module}.{name}"
    for module in ("jax.numpy", "jax.lax", "jax.nn", "jax.scipy.special")
    for name in dir(importlib.import_module(module))
    if rule_of(f"{module}.{name}") in COMPUTING
]
DTYPES = ("float32", "int32", "uint8", "bool", "complex64")


def arguments() -> Iterator[tuple[Any, ...]]:
    """Yield arguments that were made while no mesh was set."""
    for dtype, shape in itertools.product(DTYPES, ((4, 4), ())):
        x = jnp.ones(shape, dtype)
        yield from ((x,), (x, x), (x, 1), (x, x, x), ([x, x],), ((x, x, x),))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_committed(name: str) -> None:
    module, _, last = name.rpartition(".")
    function: Callable[..., Any] = getattr(importlib.import_module(module), last)
    given, tried = list(arguments()), 0
    with jax.set_mesh(jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)):
        for args in given:
            try:
                result = function(*args)
            except (TypeError, ValueError, OverflowError, NotImplementedError):
                continue
            arrays = [leaf for leaf in jax.tree.leaves(result) if isinstance(leaf, jax.Array)]
            assert all(leaf.committed and leaf.sharding.is_fully_replicated for leaf in arrays), args
            tried += bool(arrays)
    assert tried, name


def test_one_array_joined_is_that_array() -> None:
    x = jnp.ones((4, 4))
    with jax.set_mesh(jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)):
        assert not jnp.concatenate([x]).committed
