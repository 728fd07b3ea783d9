"""Functions that join, split or create arrays."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.domain.values import Array, Const, Value, as_items, as_str, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import axis_of, given
from shardlint.inference.overlays.jax.explicit.primitives import (
    Open,
    Rule,
    Trace,
    entries_of,
    first,
    rank,
    shape_of,
)
from shardlint.inference.overlays.jax.explicit.type_conversion import meshless, replicated
from shardlint.laws.core.array_types import ArrayType
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import AxisType
from shardlint.laws.core.verdicts import Cause


def concatenate(t: Trace, call: Call) -> ArrayType:
    """`jnp.concatenate(arrays, axis)`: flattens the arrays if the axis is None."""
    arrays, axis = call.bound("arrays", "axis")
    parts = t.items(arrays)
    if is_none(axis):
        return t.concatenate([t.ravel(part) for part in parts], 0)
    return t.concatenate(parts, axis_of(axis, rank(parts[0])))


def lax_concatenate(t: Trace, call: Call) -> ArrayType:
    """`lax.concatenate(operands, dimension)`."""
    arrays, dimension = call.bound("operands", "dimension")
    parts = t.items(arrays)
    return t.concatenate(parts, axis_of(dimension, rank(parts[0])))


def append(t: Trace, call: Call) -> ArrayType:
    """`jnp.append(arr, values, axis)`."""
    one, other, axis = call.bound("arr", "values", "axis")
    parts = [t.operand(one), t.operand(other)]
    if not given(axis):
        return t.concatenate([t.ravel(part) for part in parts], 0)
    return t.concatenate(parts, axis_of(axis, rank(parts[0])))


def stack(t: Trace, call: Call) -> ArrayType:
    """`jnp.stack(arrays, axis)`."""
    arrays, axis = call.bound("arrays", "axis")
    parts = t.items(arrays)
    return t.stack(parts, axis_of(axis, rank(parts[0]) + 1))


def lax_stack(t: Trace, call: Call) -> ArrayType:
    """`lax.stack(operands, axis)`."""
    arrays, axis = call.bound("operands", "axis")
    parts = t.items(arrays)
    return t.stack(parts, axis_of(axis, rank(parts[0]) + 1))


def stacked_along(axis: int, least: int) -> Rule:
    """Return `jnp.vstack`, `jnp.hstack` or `jnp.dstack`: arrays of at least some rank, joined along an
    axis."""

    def rule(t: Trace, call: Call) -> ArrayType:
        parts = t.items(*call.bound("tup"))
        if any(rank(part) < least for part in parts):
            raise Open
        return t.concatenate(parts, 0 if rank(parts[0]) == 1 else axis)

    return rule


def block(t: Trace, call: Call) -> ArrayType:
    """`jnp.block(arrays)`: nested lists, the innermost joined along the last axis."""
    (arrays,) = call.bound("arrays")
    found, _ = _block(t, arrays)
    return found


def _block(t: Trace, value: Value | None) -> tuple[ArrayType, int]:
    """Return what nested lists are joined to, and their depth."""
    items = as_items(value)
    if items is None:
        return t.operand(value), 0
    if not items:
        raise Open
    parts, depths = zip(*(_block(t, item) for item in items), strict=True)
    depth = depths[0] + 1
    width = max(depth, *map(rank, parts))
    parts = tuple(t.broadcast_to(x, (1,) * (width - rank(x)) + shape_of(x)) for x in parts)
    return t.concatenate(parts, width - depth), depth


def split(t: Trace, call: Call) -> Sequence[ArrayType]:
    """`jnp.split(ary, indices_or_sections, axis)`: the sizes of the parts are those of the results."""
    a, axis = call.bound("ary", "axis")
    x = t.operand(a)
    position = axis_of(axis, rank(x))
    return t.split(x, [_shape(part)[position] for part in t.results], position)


def split_along(axis: int) -> Rule:
    """Return `jnp.vsplit`, `jnp.hsplit` or `jnp.dsplit`."""

    def rule(t: Trace, call: Call) -> Sequence[ArrayType]:
        (a,) = call.bound("ary")
        x = t.operand(a)
        position = 0 if rank(x) == 1 else axis
        return t.split(x, [_shape(part)[position] for part in t.results], position)

    return rule


def lax_split(t: Trace, call: Call) -> Sequence[ArrayType]:
    """`lax.split(operand, sizes, axis)`."""
    a, sizes, axis = call.bound("operand", "sizes", "axis")
    x = t.operand(a)
    return t.split(x, [t.size(item) for item in as_items(sizes) or ()], axis_of(axis, rank(x)))


def _shape(array: Array) -> Shape:
    if array.shape is None:
        raise Open
    return array.shape


def repeat(t: Trace, call: Call) -> ArrayType:
    """`jnp.repeat(a, repeats, axis)`: runs in full Auto mode, if the dimension is not sharded (else
    ValueError)."""
    a, axis, out = call.bound("a", "axis", "out_sharding")
    x = t.operand(a)
    if not given(axis):
        x = t.ravel(x)
    position = axis_of(axis, rank(x)) if given(axis) else 0
    if given(out):
        return t.iota(t.result_shape(), out)
    if t.context is None or AxisType.EXPLICIT not in t.context.types or x.sharding is None:
        raise Open
    if entries_of(x)[position] is not None:
        raise t.refusal(Cause.AMBIGUOUS, "ValueError", "out_sharding= for a sharded dimension", position)
    sharding = x.sharding if x.sharding.mesh is not None else replicated(t.context, shape_of(x))
    return ArrayType(t.result_shape(), None, sharding)


def broadcast_arrays(t: Trace, call: Call) -> Sequence[ArrayType]:
    """`jnp.broadcast_arrays(*args)`."""
    return t.broadcast_arrays(*(t.operand(arg) for arg in call.args))


def meshgrid(t: Trace, call: Call) -> Sequence[ArrayType]:
    """`jnp.meshgrid(*xi, indexing=)`: each vector broadcast along its dimension of the grid."""
    (indexing,) = call.bound("indexing")
    vectors = [t.operand(arg) for arg in call.args]
    if any(rank(x) != 1 for x in vectors):
        raise Open
    places = list(range(len(vectors)))
    if as_str(indexing) == "xy" and len(places) > 1:
        places[:2] = 1, 0
    if len(t.results) != len(vectors):
        # One of them is asked for (`spec_of_result`), and it is not known which.
        raise Open
    return [
        t.broadcast_in_dim(x, _shape(grid), (place,))
        for x, grid, place in zip(vectors, t.results, places, strict=True)
    ]


def unchanged(t: Trace, call: Call) -> Sequence[ArrayType]:
    """Return the types of a tree that is returned as it is."""
    return [t.operand(array) for array in t.results]


def made(t: Trace, call: Call) -> Sequence[ArrayType]:
    """Return the types of new arrays: replicated over the context's mesh, or sharded as ``out_sharding=``."""
    (out,) = call.bound(out_sharding=None)
    return [t.iota(_shape(array), out) for array in t.results]


def broadcast_constant(t: Trace, call: Call) -> ArrayType:
    """`jnp.ones(shape)`: a broadcast constant; a scalar is not broadcast, and has no mesh."""
    shape, (out,) = t.result_shape(), call.bound(out_sharding=None)
    if not shape and not given(out):
        return ArrayType((), None, meshless(()))
    return t.iota(shape, out)


def filled(t: Trace, call: Call) -> ArrayType:
    """`jnp.full(shape, fill_value)` of a number."""
    value, sharding = call.bound("fill_value", sharding=None)
    if not isinstance(value, Const) or given(sharding):
        raise Open
    return broadcast_constant(t, call)


def made_like(t: Trace, call: Call) -> ArrayType:
    """`jnp.zeros_like(a)` and its relatives: the type of the array, unless another shape or sharding is
    passed."""
    if any(map(given, call.bound("shape", device=None, out_sharding=None, sharding=None))):
        raise Open
    x = t.operand(first(call))
    assert x.sharding is not None
    return t.iota(shape_of(x)) if rank(x) and x.sharding.mesh is None else x


def glu(t: Trace, call: Call) -> ArrayType:
    """`jax.nn.glu(x, axis)`: one half times the sigmoid of the other."""
    a, axis = call.bound("x", "axis")
    x = t.operand(a)
    position = axis_of(axis, rank(x))
    half = t.result_shape()[position]
    return t.nary(*t.split(x, [half, half], position))
