"""nnx's layers against nnx: parameter names, shapes and dtypes, outputs, and metadata."""

from __future__ import annotations

import random
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from flax_calls import SCALE, Dtype, Flat, Named, call_of, flat_arrays, flat_specs, interpreter, values_of
from flax_cases import NNX, Case, nnx_case
from support.jax_answers import asks_jax

from shardlint.inference.domain.values import Array, LibraryObject
from shardlint.inference.overlays.flax.linen.module_runs import NOT_EAGER
from shardlint.inference.overlays.flax.nnx import module
from shardlint.laws.core.dims import substitute, symbol

CASES = round(16 * SCALE)
Specs = dict[tuple[str, ...], tuple[Any, ...]]
#: The output, the variables, and the partition specs.
Real = tuple[tuple[tuple[int, ...], str], Flat, Specs]


def real_config(config: dict[str, Any]) -> dict[str, Any]:
    """The same arguments for the real library."""
    ones = nnx.initializers.ones
    found: dict[str, Any] = {}
    for name, item in config.items():
        if isinstance(item, Named):
            found[name] = nnx.with_partitioning(ones, item.names)
        else:
            found[name] = getattr(jnp, item.name) if isinstance(item, Dtype) else item
    return found


@asks_jax("flax")
def real(case: Case) -> Real | None:
    """What nnx makes of a case, None where it refuses it."""
    try:
        return _real(case)
    except (ValueError, AssertionError, TypeError, ZeroDivisionError):
        return None


def _real(case: Case) -> Real:
    with nnx.use_eager_sharding(False):
        layer = nnx.eval_shape(lambda: getattr(nnx, case.layer)(**real_config(case.config), rngs=nnx.Rngs(0)))
        state = nnx.state(layer, (nnx.Param, nnx.BatchStat))
        arrays = {
            tuple(map(str, path)): (leaf.get_value().shape, str(leaf.get_value().dtype))
            for path, leaf in nnx.to_flat_state(state)
        }
        specs = {
            tuple(map(str, path)): tuple(leaf.get_value())
            for path, leaf in nnx.to_flat_state(nnx.get_partition_spec(state))
        }
        x = jax.ShapeDtypeStruct(case.shape, case.dtype)
        output = nnx.eval_shape(lambda layer, x: layer(x, **case.call), layer, x)
    return (output.shape, str(output.dtype)), arrays, specs


def ours(case: Case, shape: tuple[Any, ...]) -> tuple[Array, Flat, Specs]:
    """What the overlay makes of it, for an input of this shape."""
    runner = interpreter()
    runner.switches.add(NOT_EAGER)
    name = f"flax.nnx.{case.layer}"
    layer = module.TABLE[name](call_of(runner, name, **values_of(runner, "nnx", case.config)))
    assert isinstance(layer, LibraryObject), layer
    state = module.TABLE["flax.nnx.state"](call_of(runner, "flax.nnx.state", layer))
    specs = module.TABLE["flax.nnx.get_partition_spec"](call_of(runner, "get_partition_spec", state))
    arguments = values_of(runner, "nnx", case.call)
    output = module.CALLS[name](call_of(runner, name, layer, Array(shape, case.dtype), **arguments))
    assert isinstance(output, Array), output
    return output, flat_arrays(state), flat_specs(specs)


@pytest.mark.parametrize("layer", NNX)
def test_layer_agrees_with_nnx(layer: str) -> None:
    draw = random.Random(layer)
    accepted = 0
    for _ in range(CASES):
        case = nnx_case(layer, draw)
        if (made := real(case)) is None:
            continue
        (shape, dtype), arrays, specs = made
        accepted += 1
        output, found, found_specs = ours(case, case.shape)
        assert found == arrays, case
        assert found_specs == specs, case
        assert (output.shape, output.dtype) == (shape, dtype), case
    assert accepted >= CASES // 2


@pytest.mark.parametrize("layer", [layer for layer in NNX if layer != "Einsum"])
def test_open_sizes_agree_with_nnx(layer: str) -> None:
    """Evaluating with an open input, then substituting its sizes, gives what nnx gives for them."""
    draw = random.Random(f"open {layer}")
    for _ in range(CASES):
        case = nnx_case(layer, draw)
        if (made := real(case)) is None:
            continue
        (shape, dtype), _, _ = made
        sizes = {f"d{i}": size for i, size in enumerate(case.shape)}
        output, _, _ = ours(case, tuple(symbol(name) for name in sizes))
        assert output.shape is not None
        assert output.dtype == dtype
        for mine, theirs in zip(output.shape, shape, strict=True):
            size = substitute(mine, sizes)
            assert not isinstance(size, int) or size == theirs, case
