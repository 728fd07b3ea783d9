"""Functions that reduce dimensions, accumulate along them, or sort along them."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.domain.values import Const, Value, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import axes_of, axis_of, given, truth
from shardlint.inference.overlays.jax.explicit.primitives import Open, Trace, entries_of, rank, shape_of
from shardlint.inference.overlays.jax.explicit.rules.elementwise import SCALAR, chosen
from shardlint.laws.core.array_types import ArrayType
from shardlint.laws.core.verdicts import Cause


def reduced(t: Trace, x: ArrayType, axes: Sequence[int], keepdims: bool) -> ArrayType:
    """`lax.reduce`, with the dimensions restored in size 1 if ``keepdims``."""
    found = t.reduce(x, tuple(axes))
    return t.expand_dims(found, axes) if keepdims else found


def reduction(t: Trace, call: Call) -> ArrayType:
    """`jnp.sum` and its relatives (`jnp.reductions._reduction`)."""
    a, axis, keepdims, where = _bound(call)
    x = t.nary(t.operand(a))
    if where is not None and not is_none(where):
        x = chosen(t, where, a, Const(0))
    return reduced(t, x, axes_of(axis, rank(x)), truth(keepdims, False))


def mean(t: Trace, call: Call) -> ArrayType:
    """`jnp.mean`: a sum, divided by a number."""
    return t.nary(reduction(t, call), SCALAR)


def _bound(call: Call) -> tuple[Value | None, Value | None, Value | None, Value | None]:
    """Return the operand, axis, keepdims and where of a reduction."""
    args = [*call.args, None, None]
    if call.opaque or len(call.args) > 3:
        raise Open
    first = args[0] if args[0] is not None else call.kwargs.get("a")
    axis = args[1] if args[1] is not None else call.kwargs.get("axis")
    return first, axis, call.kwargs.get("keepdims"), call.kwargs.get("where")


def variance(t: Trace, call: Call) -> ArrayType:
    """`jnp.var` and `jnp.std`: the mean, the centered array, and the mean of its squares."""
    a, axis, keepdims, where = _bound(call)
    if given(where):
        raise Open
    x = t.nary(t.operand(a))
    axes = axes_of(axis, rank(x))
    centered = t.nary(x, reduced(t, x, axes, True))
    return reduced(t, centered, axes, truth(keepdims, False))


def spread_between(t: Trace, call: Call) -> ArrayType:
    """`jnp.ptp`: the maximum minus the minimum."""
    a, axis, keepdims, _ = _bound(call)
    x = t.nary(t.operand(a))
    one = reduced(t, x, axes_of(axis, rank(x)), truth(keepdims, False))
    return t.nary(one, one)


def softmax(t: Trace, call: Call) -> ArrayType:
    """`jax.nn.softmax`, `log_softmax`, `standardize`: an array combined with its reduction."""
    if given(call.kwargs.get("where")) or len(call.args) > 2:
        raise Open
    x = t.operand(call.args[0] if call.args else call.argument(None, "x"))
    axis = call.argument(1, "axis")
    axes = axes_of(Const(-1) if axis is None else axis, rank(x))
    return t.nary(x, reduced(t, x, axes, True))


def logsumexp(t: Trace, call: Call) -> ArrayType:
    """`logsumexp(a, axis, b, keepdims, return_sign, where)`."""
    a, axis, b, keepdims, sign, where = call.bind(
        "a", axis=None, b=None, keepdims=None, return_sign=None, where=None
    )
    if given(b) or given(where) or truth(sign, False):
        raise Open
    x = t.operand(a)
    axes = axes_of(axis, rank(x))
    centered = t.nary(x, reduced(t, x, axes, True))
    return reduced(t, centered, axes, truth(keepdims, False))


def norm(t: Trace, call: Call) -> ArrayType:
    """`jnp.linalg.norm(x, ord, axis, keepdims)` of vectors, or of all elements."""
    a, order, axis, keepdims = call.bind("x", ord=None, axis=None, keepdims=None)
    if given(order):
        raise Open
    x = t.operand(a)
    x = t.nary(x, x)
    return reduced(t, x, axes_of(axis, rank(x)), truth(keepdims, False))


def arg_extreme(t: Trace, call: Call) -> ArrayType:
    """`jnp.argmax(a, axis, out, keepdims)`: flattens the array without an axis."""
    a, axis, _, keepdims = call.bind("a", axis=None, out=None, keepdims=None)
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
    a, axis, _ = call.bind("operand", "axis", "index_dtype")
    x = t.operand(a)
    return t.arg_extreme(x, axis_of(axis, rank(x)))


def cumulative(t: Trace, call: Call) -> ArrayType:
    """`jnp.cumsum(a, axis)`: without an axis the array must be replicated, and is flattened."""
    a, axis, _, _ = call.bind("a", axis=None, dtype=None, out=None)
    x = t.operand(a)
    if not given(axis) or not rank(x):
        if any(entries_of(x)):
            raise t.refusal(Cause.UNSUPPORTED, "ShardingTypeError", "an axis, or a replicated array")
        return t.cumulative(t.ravel(x), 0)
    return t.cumulative(x, axis_of(axis, rank(x)))


def lax_cumulative(t: Trace, call: Call) -> ArrayType:
    """`lax.cumsum(operand, axis, reverse)`."""
    a, axis, _ = call.bind("operand", axis=Const(0), reverse=None)
    x = t.operand(a)
    return t.cumulative(x, axis_of(axis, rank(x)))


def ordered(t: Trace, call: Call) -> ArrayType:
    """`jnp.sort(a, axis)` and `jnp.argsort`: along the last axis; flattens the array if the axis is None."""
    a, axis, *_ = call.bind("a", axis=Const(-1), kind=None, order=None, stable=None, descending=None)
    x = t.operand(a)
    if is_none(axis):
        return t.sort(t.ravel(x), 0)
    return t.sort(x, axis_of(axis, rank(x)))


def order_of(t: Trace, call: Call) -> ArrayType:
    """`jnp.argsort(a, axis)`: an iota sorted along with the array."""
    found = ordered(t, call)
    assert found.sharding is not None
    return found if found.sharding.mesh is not None else t.iota(shape_of(found))


def lax_sort(t: Trace, call: Call) -> ArrayType:
    """`lax.sort(operand, dimension)` of one array."""
    a, dimension, *_ = call.bind("operand", dimension=Const(-1), is_stable=None, num_keys=None)
    x = t.operand(a)
    return t.sort(x, axis_of(dimension, rank(x)))


def top_k(t: Trace, call: Call) -> Sequence[ArrayType]:
    """`lax.top_k(operand, k, axis)`: values and indices."""
    a, k, axis = call.bind("operand", "k", axis=Const(-1))
    x = t.operand(a)
    found = t.top_k(x, t.size(k), axis_of(axis, rank(x)))
    return (found, found)


def lax_reduction(t: Trace, call: Call) -> ArrayType:
    """`lax.reduce_sum(operand, axes)` and its relatives."""
    a, axes, _ = call.bind("operand", "axes", out_sharding=None)
    if given(call.kwargs.get("out_sharding")):
        raise Open
    x = t.operand(a)
    return t.reduce(x, axes_of(axes, rank(x)))


def average(t: Trace, call: Call) -> ArrayType:
    """`jnp.average(a, axis)` without weights is the mean."""
    a, axis, weights, returned, keepdims = call.bind(
        "a", axis=None, weights=None, returned=None, keepdims=None
    )
    if given(weights) or truth(returned, False):
        raise Open
    x = t.operand(a)
    return t.nary(reduced(t, x, axes_of(axis, rank(x)), truth(keepdims, False)), SCALAR)


def trace(t: Trace, call: Call) -> ArrayType:
    """`jnp.trace(a, offset, axis1, axis2)`: the sum of what a mask selects."""
    a, _, one, other, *_ = call.bind("a", offset=None, axis1=Const(0), axis2=Const(1), dtype=None, out=None)
    x = t.operand(a)
    return t.reduce(t.nary(x, SCALAR), (axis_of(one, rank(x)), axis_of(other, rank(x))))


def compared(t: Trace, call: Call) -> ArrayType:
    """`jnp.allclose(a, b)`, `jnp.array_equal(a1, a2)`: whether all elements are alike."""
    first, second, *_ = call.bind("a", "b", rtol=None, atol=None, equal_nan=None)
    x, y = t.operand(first), t.operand(second)
    if rank(x) != rank(y) or not all(map(t.same, shape_of(x), shape_of(y))):
        raise Open
    return t.reduce(t.nary(x, y), tuple(range(rank(x))))
