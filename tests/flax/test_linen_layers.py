"""linen's layers against linen: parameter names, shapes and dtypes, outputs, and metadata."""

from __future__ import annotations

import random
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import pytest
from flax_calls import SCALE, Dtype, Flat, Named, call_of, flat_arrays, flat_specs, interpreter, values_of
from flax_cases import LINEN, Case, linen_case
from support.jax_answers import asks_jax

from shardlint.inference.domain.values import Array, DictValue, Tuple
from shardlint.inference.overlays.flax.linen import module
from shardlint.laws.core.dims import Dim, substitute, symbol

CASES = round(16 * SCALE)
#: The output, the variables, and the partition specs.
Real = tuple[tuple[tuple[int, ...], str], Flat, dict[tuple[str, ...], tuple[Any, ...]]]


def real_config(config: dict[str, Any]) -> dict[str, Any]:
    """The same arguments for the real library."""
    ones = nn.initializers.ones
    found: dict[str, Any] = {}
    for name, item in config.items():
        if isinstance(item, Named):
            found[name] = nn.with_partitioning(ones, item.names)
        else:
            found[name] = getattr(jnp, item.name) if isinstance(item, Dtype) else item
    return found


@asks_jax("flax")
def real(case: Case) -> Real | None:
    """What linen makes of a case, None where it refuses it."""
    try:
        return _real(case)
    except (ValueError, AssertionError, TypeError, ZeroDivisionError):
        return None


def _real(case: Case) -> Real:
    layer = getattr(nn, case.layer)(**real_config(case.config))
    x = jax.ShapeDtypeStruct(case.shape, case.dtype)
    output, variables = jax.eval_shape(layer.init_with_output, jax.random.key(0), x)
    arrays = {path_of(path): (leaf.shape, str(leaf.dtype)) for path, leaf in flatten(nn.unbox(variables))}
    specs = {path_of(path): tuple(leaf) for path, leaf in flatten(nn.get_partition_spec(variables))}
    return (output.shape, str(output.dtype)), arrays, specs


def flatten(tree: Any) -> list[tuple[Any, Any]]:
    return jax.tree_util.tree_flatten_with_path(tree, is_leaf=lambda leaf: isinstance(leaf, jax.P))[0]


def path_of(path: Any) -> tuple[str, ...]:
    return tuple(str(getattr(key, "key", getattr(key, "name", key))) for key in path)


def ours(
    case: Case, shape: tuple[Any, ...]
) -> tuple[Array, DictValue, dict[tuple[str, ...], tuple[Any, ...]]]:
    """What the overlay makes of it, for an input of this shape."""
    runner = interpreter()
    name = f"flax.linen.{case.layer}"
    layer = module.TABLE[name](call_of(runner, name, **values_of(runner, "linen", case.config)))
    start = module.METHODS[name, "init_with_output"]
    result = start(call_of(runner, name, layer, Array(()), Array(shape, case.dtype)))
    assert isinstance(result, Tuple)
    output, variables = result.items
    assert isinstance(output, Array), output
    assert isinstance(variables, DictValue)
    reader = "flax.linen.get_partition_spec"
    specs = module.TABLE[reader](call_of(runner, reader, variables))
    return output, variables, flat_specs(specs)


@pytest.mark.parametrize("layer", LINEN)
def test_layer_agrees_with_linen(layer: str) -> None:
    draw = random.Random(layer)
    accepted = 0
    for _ in range(CASES):
        case = linen_case(layer, draw)
        if (made := real(case)) is None:
            continue
        (shape, dtype), arrays, specs = made
        accepted += 1
        output, variables, found = ours(case, case.shape)
        assert flat_arrays(variables) == arrays, case
        assert found == specs, case
        assert (output.shape, output.dtype) == (shape, dtype), case
    assert accepted >= CASES // 2


@pytest.mark.parametrize("layer", [layer for layer in LINEN if layer not in ("Einsum",)])
def test_open_sizes_agree_with_linen(layer: str) -> None:
    """Evaluating with open batch sizes, then substituting, gives what linen gives for the sizes."""
    draw = random.Random(f"open {layer}")
    accepted = 0
    for _ in range(CASES):
        case = linen_case(layer, draw)
        if (made := real(case)) is None:
            continue
        (shape, dtype), arrays, _ = made
        accepted += 1
        sizes = {f"d{i}": size for i, size in enumerate(case.shape)}
        output, variables, _ = ours(case, tuple(symbol(name) for name in sizes))
        found = {
            path: (tuple(substitute(d, sizes) for d in dims), kind)
            for path, (dims, kind) in flat_arrays(variables).items()
        }
        assert known(found) == known(arrays, found), case
        assert output.shape is not None
        assert len(output.shape) == len(shape)
        assert output.dtype == dtype
        for mine, theirs in zip(output.shape, shape, strict=True):
            size = substitute(mine, sizes)
            assert not isinstance(size, int) or size == theirs, case
    assert accepted >= CASES // 2


#: As `Flat`, with a None for each size that is not known.
FlatKnown = dict[tuple[str, ...], tuple[tuple[Dim | None, ...], str]]


def known(arrays: Flat, like: Flat | None = None) -> FlatKnown:
    """Arrays with a None for each size that is not known (in ``like``)."""
    like = arrays if like is None else like
    assert like.keys() == arrays.keys()
    return {
        path: (
            tuple(d if isinstance(e, int) else None for d, e in zip(dims, like[path][0], strict=True)),
            kind,
        )
        for path, (dims, kind) in arrays.items()
    }
