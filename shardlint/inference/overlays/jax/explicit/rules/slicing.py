"""The slices of `jax.lax`, static and dynamic, and the parts of an array along one dimension."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.domain.values import Value, as_items
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import axis_of, known_int, truth
from shardlint.inference.overlays.jax.explicit.primitives import Open, Trace, first, rank, replaced, shape_of
from shardlint.laws.core.array_types import ArrayType


def sliced(t: Trace, call: Call) -> ArrayType:
    """`lax.slice(operand, ...)`, `lax.slice_in_dim(operand, ...)`."""
    return t.slice(t.operand(first(call)), t.result_shape())


def indexed(t: Trace, call: Call) -> ArrayType:
    """`lax.index_in_dim(operand, index, axis, keepdims)`."""
    a, axis, keepdims = call.bound("operand", "axis", "keepdims")
    x = t.operand(a)
    position = axis_of(axis, rank(x))
    found = t.slice(x, replaced(shape_of(x), position, 1))
    return found if truth(keepdims, True) else t.squeeze(found, (position,))


def dynamic(t: Trace, call: Call) -> ArrayType:
    """`lax.dynamic_slice(operand, start_indices, slice_sizes)`."""
    a, starts = call.bound("operand", "start_indices")
    return t.dynamic_slice(t.operand(a), _starts(t, starts), t.result_shape())


def dynamic_along(t: Trace, call: Call) -> ArrayType:
    """`lax.dynamic_slice_in_dim(operand, start_index, slice_size, axis)`."""
    a, start = call.bound("operand", "start_index")
    return t.dynamic_slice(t.operand(a), [t.operand(start)], t.result_shape())


def dynamic_index(t: Trace, call: Call) -> ArrayType:
    """`lax.dynamic_index_in_dim(operand, index, axis, keepdims)`."""
    a, index, axis, keepdims = call.bound("operand", "index", "axis", "keepdims")
    x = t.operand(a)
    position = axis_of(axis, rank(x))
    found = t.dynamic_slice(x, [t.operand(index)], replaced(shape_of(x), position, 1))
    return found if truth(keepdims, True) else t.squeeze(found, (position,))


def update(t: Trace, call: Call) -> ArrayType:
    """`lax.dynamic_update_slice(operand, update, start_indices)`."""
    a, new, starts = call.bound("operand", "update", "start_indices")
    return t.dynamic_update_slice(t.operand(a), t.operand(new), _starts(t, starts))


def update_along(t: Trace, call: Call) -> ArrayType:
    """`lax.dynamic_update_slice_in_dim(operand, update, start_index, axis)`."""
    a, new, start = call.bound("operand", "update", "start_index")
    x, y = t.operand(a), t.operand(new)
    if rank(x) != rank(y):
        raise Open
    return t.dynamic_update_slice(x, y, [t.operand(start)])


def _starts(t: Trace, starts: Value | None) -> list[ArrayType]:
    items = as_items(starts)
    if items is None:
        raise Open
    return [t.operand(item) for item in items]


def unstacked(t: Trace, call: Call) -> Sequence[ArrayType]:
    """`jnp.unstack(x, axis=)`."""
    a, axis = call.bound("x", "axis")
    x = t.operand(a)
    return [t.unstack(x, axis_of(axis, rank(x)))] * len(t.results)


def update_index(t: Trace, call: Call) -> ArrayType:
    """`lax.dynamic_update_index_in_dim(operand, update, index, axis)`."""
    a, new, index, axis = call.bound("operand", "update", "index", "axis")
    x, y = t.operand(a), t.operand(new)
    if rank(x) != rank(y):
        y = t.expand_dims(y, (axis_of(axis, rank(x)),))
    return t.dynamic_update_slice(x, y, [t.operand(index)])


def difference(t: Trace, call: Call) -> ArrayType:
    """`jnp.diff(a, n, axis)`: two slices, n times."""
    a, n, axis = call.bound("a", "n", "axis")
    x = t.operand(a)
    at = axis_of(axis, rank(x))
    for _ in range(known_int(n)):
        part = t.slice(x, replaced(shape_of(x), at, shape_of(x)[at] - 1))
        x = t.nary(part, part)
    return x
