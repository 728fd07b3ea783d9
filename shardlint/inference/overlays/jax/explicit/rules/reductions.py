"""Functions that reduce dimensions, accumulate along them, or sort along them."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.domain.values import Const, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import axes_of, axis_of, given, truth
from shardlint.inference.overlays.jax.explicit.primitives import Open, Trace, entries_of, rank, shape_of
from shardlint.inference.overlays.jax.explicit.rules.elementwise import SCALAR, chosen
from shardlint.laws.core.array_types import ArrayType
from shardlint.laws.core.verdicts import Cause
from shardlint.laws.versions.era import since

#: Functions that reduce by a maximum or minimum.
_EXTREMES = {
    **dict.fromkeys(("max", "amax", "reduce_max"), "max"),
    **dict.fromkeys(("min", "amin", "reduce_min"), "min"),
}


def reduced(t: Trace, x: ArrayType, axes: Sequence[int], keepdims: bool) -> ArrayType:
    """`lax.reduce`, with the dimensions restored in size 1 if ``keepdims``."""
    found = t.reduce(x, tuple(axes))
    return t.expand_dims(found, axes) if keepdims else found


def reduction(t: Trace, call: Call) -> ArrayType:
    """`jnp.sum` and its relatives (`jnp.reductions._reduction`)."""
    a, axis, keepdims, where, initial = call.bound("a", "axis", "keepdims", where=None, initial=None)
    x = t.convert(t.operand(a))
    if given(where):
        x = chosen(t, where, a, Const(0))
    axes = axes_of(axis, rank(x))
    # A first value is combined with the result.
    name = None if given(initial) else call.name.rpartition(".")[2]
    if name in ("sum", "mean"):
        found = t.reduce_sum(x, axes)
    else:
        found = t.reduce(x, axes, operation=_EXTREMES.get(name or ""))
    return t.expand_dims(found, axes) if truth(keepdims, False) else found


def mean(t: Trace, call: Call) -> ArrayType:
    """`jnp.mean`: a sum, divided by a number."""
    return t.nary(reduction(t, call), SCALAR, operation="div")


def variance(t: Trace, call: Call) -> ArrayType:
    """`jnp.var` and `jnp.std`: the mean, the centered array, and the mean of its squares."""
    a, axis, keepdims, where = call.bound("a", "axis", "keepdims", "where")
    if given(where):
        raise Open
    x = t.nary(t.operand(a))
    axes = axes_of(axis, rank(x))
    centered = t.nary(x, reduced(t, x, axes, True))
    return reduced(t, centered, axes, truth(keepdims, False))


def spread_between(t: Trace, call: Call) -> ArrayType:
    """`jnp.ptp`: the maximum minus the minimum."""
    a, axis, keepdims = call.bound("a", "axis", "keepdims")
    x = t.nary(t.operand(a))
    one = reduced(t, x, axes_of(axis, rank(x)), truth(keepdims, False))
    return t.nary(one, one)


def softmax(t: Trace, call: Call) -> ArrayType:
    """`jax.nn.softmax`, `log_softmax`, `standardize`: an array combined with its reduction."""
    a, axis, where, mean, variance = call.bound("x", "axis", "where", mean=None, variance=None)
    if given(where) or given(mean) or given(variance):
        raise Open
    x = t.operand(a)
    axes = axes_of(axis, rank(x))
    return t.nary(x, reduced(t, x, axes, True))


def logsumexp(t: Trace, call: Call) -> ArrayType:
    """`logsumexp(a, axis, b, keepdims, return_sign, where)`."""
    a, axis, b, keepdims, sign, where = call.bound("a", "axis", "b", "keepdims", "return_sign", "where")
    if given(b) or given(where) or truth(sign, False):
        raise Open
    x = t.operand(a)
    axes = axes_of(axis, rank(x))
    centered = t.nary(x, reduced(t, x, axes, True))
    return reduced(t, centered, axes, truth(keepdims, False))


def norm(t: Trace, call: Call) -> ArrayType:
    """`jnp.linalg.norm(x, ord, axis, keepdims)` of vectors, or of all elements."""
    a, order, axis, keepdims = call.bound("x", "ord", "axis", "keepdims")
    if given(order):
        raise Open
    x = t.operand(a)
    x = t.nary(x, x)
    return reduced(t, x, axes_of(axis, rank(x)), truth(keepdims, False))


def arg_extreme(t: Trace, call: Call) -> ArrayType:
    """`jnp.argmax(a, axis, out, keepdims)`: flattens the array without an axis."""
    a, axis, keepdims = call.bound("a", "axis", "keepdims")
    x = t.operand(a)
    kept = truth(keepdims, False)
    if not given(axis):
        flat = t.ravel(x)
        found = t.arg_extreme(flat, 0)
        return t.reshape(found, (1,) * rank(x)) if kept else found
    position = axis_of(axis, rank(x))
    found = t.arg_extreme(x, position)
    return t.expand_dims(found, (position,)) if kept else found


def lax_arg_extreme(t: Trace, call: Call) -> ArrayType:
    """`lax.argmax(operand, axis, index_dtype)`."""
    a, axis = call.bound("operand", "axis")
    x = t.operand(a)
    return t.arg_extreme(x, axis_of(axis, rank(x)))


def cumulative(t: Trace, call: Call) -> ArrayType:
    """`jnp.cumsum(a, axis)`: without an axis the array must be replicated, and is flattened."""
    a, axis = call.bound("a", "axis")
    x = t.operand(a)
    if not given(axis) or not rank(x):
        if any(entries_of(x)):
            raise t.refusal(Cause.UNSUPPORTED, "ShardingTypeError", "an axis, or a replicated array")
        return t.cumulative(t.ravel(x), 0)
    return t.cumulative(x, axis_of(axis, rank(x)))


def lax_cumulative(t: Trace, call: Call) -> ArrayType:
    """`lax.cumsum(operand, axis, reverse)`."""
    a, axis = call.bound("operand", "axis")
    x = t.operand(a)
    return t.cumulative(x, axis_of(axis, rank(x)))


def histogram(t: Trace, call: Call) -> Sequence[ArrayType]:
    """`jnp.histogram(a, bins, out_sharding)`: of a replicated array, or as ``out_sharding`` asks (0.11.2)."""
    a, out = call.bound("a", "out_sharding")
    x = t.operand(a)
    sharded = any(entries_of(x))
    if sharded and (t.context is None or not since("0.11.2")):
        # Some of its steps meet arrays that are made without a mesh.
        raise Open
    if sharded and not given(out):
        raise t.refusal(Cause.AMBIGUOUS, "ShardingTypeError", "out_sharding= for a sharded array")
    return [t.iota(made.shape, out) for made in t.results if made.shape is not None]


def ordered(t: Trace, call: Call) -> ArrayType:
    """`jnp.sort(a, axis)` and `jnp.argsort`: along the last axis; flattens the array if the axis is None."""
    a, axis = call.bound("a", "axis")
    x = t.operand(a)
    if is_none(axis):
        return t.sort(0, t.ravel(x))
    return t.sort(axis_of(axis, rank(x)), x)


def order_of(t: Trace, call: Call) -> ArrayType:
    """`jnp.argsort(a, axis)`: an iota sorted along with the array."""
    found = ordered(t, call)
    assert found.sharding is not None
    return found if found.sharding.mesh is not None else t.iota(shape_of(found))


def lax_sort(t: Trace, call: Call) -> ArrayType:
    """`lax.sort(operand, dimension)` of one array."""
    a, dimension = call.bound("operand", "dimension")
    x = t.operand(a)
    return t.sort(axis_of(dimension, rank(x)), x)


def sort_key_val(t: Trace, call: Call) -> Sequence[ArrayType]:
    """`lax.sort_key_val(keys, values, dimension)`."""
    keys, values, dimension = call.bound("keys", "values", "dimension")
    x, y = t.operand(keys), t.operand(values)
    t.sort(axis_of(dimension, rank(x)), x, y)
    return (x, y)


def lexsort(t: Trace, call: Call) -> ArrayType:
    """`jnp.lexsort(keys, axis)`: an iota sorted along with the keys, the last one first."""
    keys, axis = call.bound("keys", "axis")
    operands = t.items(keys)[::-1]
    if not rank(operands[0]):
        return SCALAR
    indices = t.iota(shape_of(operands[0]))
    t.sort(axis_of(axis, rank(indices)), *operands, indices)
    return indices


def top_k(t: Trace, call: Call) -> Sequence[ArrayType]:
    """`lax.top_k(operand, k, axis)`: values and indices."""
    a, k, axis = call.bound("operand", "k", "axis")
    x = t.operand(a)
    found = t.top_k(x, t.size(k), axis_of(axis, rank(x)))
    return (found, found)


def approximate_k(t: Trace, call: Call) -> Sequence[ArrayType]:
    """`lax.approx_max_k(operand, k, reduction_dimension)`: values and indices."""
    a, k, axis = call.bound("operand", "k", "reduction_dimension")
    x = t.operand(a)
    found = t.top_k(x, t.size(k), axis_of(axis, rank(x)))
    return (found, found)


def lax_reduction(t: Trace, call: Call) -> ArrayType:
    """`lax.reduce_prod(operand, axes)` and its relatives."""
    a, axes = call.bound("operand", "axes")
    x = t.operand(a)
    return t.reduce(x, axes_of(axes, rank(x)), operation=call.name.rpartition("_")[2])


def lax_reduce(t: Trace, call: Call) -> ArrayType:
    """`lax.reduce(operands, init_values, computation, dimensions)` of one array."""
    operand, dimensions, out = call.bound("operands", "dimensions", "out_sharding")
    if given(out):
        raise Open
    x = t.operand(operand)
    return t.reduce(x, axes_of(dimensions, rank(x)))


def lax_sum(t: Trace, call: Call) -> ArrayType:
    """`lax.reduce_sum(operand, axes, out_sharding=)`."""
    a, axes, out = call.bound("operand", "axes", out_sharding=None)
    x = t.operand(a)
    return t.reduce_sum(x, axes_of(axes, rank(x)), out)


def lax_extreme(t: Trace, call: Call) -> ArrayType:
    """`lax.reduce_max(operand, axes, out_sharding=)`, `reduce_min`."""
    a, axes, out = call.bound("operand", "axes", out_sharding=None)
    x = t.operand(a)
    return t.reduce(x, axes_of(axes, rank(x)), out, _EXTREMES[call.name.rpartition(".")[2]])


def average(t: Trace, call: Call) -> ArrayType:
    """`jnp.average(a, axis)` without weights is the mean."""
    a, axis, weights, returned, keepdims = call.bound("a", "axis", "weights", "returned", "keepdims")
    if given(weights) or truth(returned, False):
        raise Open
    x = t.operand(a)
    return t.nary(reduced(t, x, axes_of(axis, rank(x)), truth(keepdims, False)), SCALAR)


def trace(t: Trace, call: Call) -> ArrayType:
    """`jnp.trace(a, offset, axis1, axis2)`: the sum of what a mask selects."""
    a, one, other = call.bound("a", "axis1", "axis2")
    x = t.operand(a)
    return t.reduce(t.nary(x, SCALAR), (axis_of(one, rank(x)), axis_of(other, rank(x))))


def trapezoid(t: Trace, call: Call) -> ArrayType:
    """`jnp.trapezoid(y, dx=, axis=)`: the sum, less half of the first and the last sample."""
    y, dx, axis = call.bound("y", "dx", "axis")
    x = t.operand(y)
    step = SCALAR if dx is None else t.operand(dx)
    if rank(step):
        raise Open
    last = rank(x) - 1
    order = [i for i in range(rank(x)) if i != axis_of(axis, rank(x))]
    x = t.transpose(x, [*order, axis_of(axis, rank(x))])
    total, sample = t.reduce(x, (last,)), t.at(x, last)
    return t.nary(step, t.nary(total, t.nary(SCALAR, t.nary(sample, sample))))


def compared(t: Trace, call: Call) -> ArrayType:
    """`jnp.allclose(a, b)`, `jnp.array_equal(a1, a2)`: whether all elements are alike."""
    first, second = call.bound("a", "b")
    x, y = t.operand(first), t.operand(second)
    if rank(x) != rank(y) or not all(map(t.same, shape_of(x), shape_of(y))):
        raise Open
    return t.reduce(t.nary(x, y), tuple(range(rank(x))))
