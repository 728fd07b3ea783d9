"""Functions that reduce axes (sum, mean, argmax, norm) or accumulate along them (cumsum)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import Array, Const, Value, as_dim, as_items, integer
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import floating, real_part, summed
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    arrays_tuple,
    axes_of,
    axis_of,
    broadcast,
    dtype_argument,
    given,
    is_numpy,
    known_rank,
    mixed,
    operand,
    operands,
    result,
    truth,
    unresolved,
)  # fmt: skip
from shardlint.inference.overlays.jax.explicit.rules import reductions as reduction_rules
from shardlint.inference.overlays.operations import MISSING, Dependence, Operation
from shardlint.laws.core.dims import Shape, equal, product

#: A rule maps the operand's dtype, and whether numpy computes, to the result's dtype.
DtypeRule = Callable[[str | None, bool], str | None]


def reduced(shape: Shape | None, axis: Value | None, keepdims: bool) -> Shape | None:
    """Return the shape after reducing the axes; None (or a missing argument) reduces all."""
    if shape is None:
        return None if keepdims or given(axis) else ()
    gone = axes_of(axis, len(shape))
    if keepdims:
        return tuple(1 if i in gone else dim for i, dim in enumerate(shape))
    return tuple(dim for i, dim in enumerate(shape) if i not in gone)


def reduction(rule: DtypeRule, *names: str) -> Transfer:
    """Return a reduction; ``names`` are its parameters after the array."""

    def transfer(call: Call) -> Value:
        defaults = dict.fromkeys(names)
        a, *rest = call.bind("a", **defaults)
        options = dict(zip(names, rest, strict=True))
        x = operand(a, is_numpy(call))
        shape = x.shape
        if given(where := options.get("where")) and shape is not None:
            combined = broadcast([shape, operand(where).shape])
            if combined != shape:
                unresolved("the mask reshapes the operand")
        shape = reduced(shape, options.get("axis"), truth(options.get("keepdims"), False))
        dtype = x.dtype
        if not truth(options.get("promote_integers"), True):
            dtype = "int32" if dtype == "bool" else dtype
        else:
            dtype = rule(dtype, is_numpy(call))
        return result(call, shape, dtype_argument(options.get("dtype"), dtype))

    return transfer


def same_dtype(dtype: str | None, numpy: bool) -> str | None:
    """Keep the operand's dtype."""
    return dtype


def spread(dtype: str | None, numpy: bool) -> str | None:
    """Return a real floating dtype: variances and norms."""
    return real_part(floating(dtype, numpy))


def flag(dtype: str | None, numpy: bool) -> str | None:
    """Return bool."""
    return "bool"


def count(dtype: str | None, numpy: bool) -> str | None:
    """Return the default integer."""
    return "int64" if numpy else "int32"


def arg_reduction(call: Call) -> Value:
    """`argmax(a, axis, out, keepdims)`: integers; flattens if there is no axis."""
    a, axis, _, keepdims = call.bind("a", axis=None, out=None, keepdims=None)
    x = operand(a, is_numpy(call))
    keep = truth(keepdims, False) if given(keepdims) else False
    if x.shape == () and is_numpy(call):
        unresolved("an axis of a scalar")
    if given(axis) and x.shape is not None:
        axis_of(axis, len(x.shape))
    return result(call, reduced(x.shape, axis, keep), count(x.dtype, is_numpy(call)))


def folded(reduce: Callable[[list[int]], int], otherwise: Transfer) -> Transfer:
    """Return numpy's reduction; of a list of plain integers it is an integer, often a size
    (``np.prod(shape)``)."""

    def transfer(call: Call) -> Value:
        items = as_items(call.args[0]) if len(call.args) == 1 and not call.kwargs else None
        dims = None if items is None else [as_dim(item) for item in items]
        if dims and reduce is math.prod and all(dim is not None for dim in dims):
            return integer(product(dim for dim in dims if dim is not None))
        known = [dim for dim in dims or [] if isinstance(dim, int)]
        if known and dims is not None and len(known) == len(dims):
            return Const(reduce(known))
        return otherwise(call)

    return transfer


def _place_of_most(sizes: list[int]) -> int:
    return sizes.index(max(sizes))


def _place_of_least(sizes: list[int]) -> int:
    return sizes.index(min(sizes))


def cumulative(call: Call) -> Value:
    """`cumsum(a, axis, dtype)`: flattens if there is no axis."""
    a, axis, dtype, _ = call.bind("a", axis=None, dtype=None, out=None)
    x = operand(a, is_numpy(call))
    shape = x.shape
    if shape == ():
        shape = (1,)
    if given(axis) and shape is not None:
        axis_of(axis, len(shape))
    elif shape is not None:
        shape = (product(shape),)
    kind = summed(x.dtype, is_numpy(call)) if is_numpy(call) or x.dtype == "bool" else x.dtype
    return result(call, shape, dtype_argument(dtype, kind))


def accumulated(call: Call, array: Array, split: frozenset[int]) -> frozenset[int]:
    """Return the dimension along which values are accumulated; without an axis every one."""
    (axis,) = call.bound("axis")
    return split & {axis_of(axis, len(known_rank(array)))} if given(axis) else split


def ordered(call: Call, array: Array, split: frozenset[int]) -> frozenset[int]:
    """Return the dimensions along which values are put in order; without an axis every one.

    Where others are left, XLA splits these instead if it can, and moves less (JAX 0.10.2 and 0.12.0.1).
    """
    (axis,) = call.bound("dimension") if call.name == "jax.lax.sort" else call.bound("axis")
    shape = known_rank(array)
    if not given(axis):
        return split
    at = axis_of(axis, len(shape))
    alone = all(equal(size, 1) is True for place, size in enumerate(shape) if place != at)
    return split & {at} if alone else frozenset()


def median(call: Call) -> Value:
    """`median(a, axis, out, overwrite_input, keepdims)`."""
    a, axis, _, _, keepdims = call.bind("a", axis=None, out=None, overwrite_input=None, keepdims=None)
    x = operand(a, is_numpy(call))
    if x.shape == () and given(keepdims):
        unresolved("keepdims of a scalar")
    return result(call, reduced(x.shape, axis, truth(keepdims, False)), floating(x.dtype, is_numpy(call)))


def quantile(call: Call) -> Value:
    """`quantile(a, q, axis, ...)`: the shape of q precedes the reduced shape."""
    a, q, axis, _, _, _, keepdims = call.bind(
        "a", "q", axis=None, out=None, overwrite_input=None, method=None, keepdims=None
    )
    x, points = operands([a, q], is_numpy(call))
    rest = reduced(x.shape, axis, truth(keepdims, False))
    shape = None if rest is None or points.shape is None else (*points.shape, *rest)
    dtype, _ = mixed(call, [x, points] if is_numpy(call) else [x])
    return result(call, shape, floating(dtype, is_numpy(call)))


def average(call: Call) -> Value:
    """`average(a, axis, weights)`."""
    a, axis, weights, returned, keepdims = call.bind(
        "a", axis=None, weights=None, returned=None, keepdims=None
    )
    values = operands([a, weights] if given(weights) else [a], is_numpy(call))
    values[0] = replace(values[0], dtype=floating(values[0].dtype, is_numpy(call)))
    dtype, _ = mixed(call, values)
    shape = reduced(values[0].shape, axis, truth(keepdims, False))
    mean = result(call, shape, floating(dtype, is_numpy(call)))
    return arrays_tuple([mean, mean]) if truth(returned, False) else mean


def norm(call: Call) -> Value:
    """`linalg.norm(x, ord, axis, keepdims)`: floating and real."""
    x, order, axis, keepdims = call.bind("x", ord=None, axis=None, keepdims=None)
    array = operand(x, is_numpy(call))
    if given(order) and not given(axis) and len(known_rank(array)) > 2:
        unresolved("ord without an axis")
    shape = reduced(array.shape, axis, truth(keepdims, False))
    return result(call, shape, spread(array.dtype, is_numpy(call)))


def logsumexp(call: Call) -> Value:
    """`logsumexp(a, axis, b, keepdims, return_sign, where)`."""
    a, axis, b, keepdims, signed, _ = call.bind(
        "a", axis=None, b=None, keepdims=None, return_sign=None, where=None
    )
    values = operands([a, b] if given(b) else [a])
    dtype, _ = mixed(call, values)
    shape = reduced(broadcast(v.shape for v in values), axis, truth(keepdims, False))
    total = result(call, shape, floating(dtype, False))
    return arrays_tuple([total, total]) if truth(signed, False) else total


def trace(call: Call) -> Value:
    """`trace(a, offset, axis1, axis2, dtype)`."""
    a, _, first, second, dtype, _ = call.bind(
        "a", offset=None, axis1=Const(0), axis2=Const(1), dtype=None, out=None
    )
    x = operand(a, is_numpy(call))
    if x.shape is None:
        return result(call, None, None)
    rank = len(x.shape)
    gone = {axis_of(first, rank), axis_of(second, rank)}
    if len(gone) == 1:
        unresolved("the axes are equal")
    shape = tuple(dim for i, dim in enumerate(x.shape) if i not in gone)
    return result(call, shape, dtype_argument(dtype, summed(x.dtype, is_numpy(call))))


def allclose(call: Call) -> Value:
    """`allclose(a, b)`, `array_equal(a, b)`: a scalar bool."""
    call.bind("a", "b", rtol=None, atol=None, equal_nan=None)
    return result(call, (), "bool")


_SUM = ("axis", "dtype", "out", "keepdims", "initial", "where", "promote_integers")
_MAX = ("axis", "out", "keepdims", "initial", "where")
_ALL = ("axis", "out", "keepdims", "where")
_MEAN = ("axis", "dtype", "out", "keepdims", "where")
_STD = ("axis", "dtype", "out", "ddof", "keepdims", "where", "mean", "correction")


#: Shared by `jax.numpy` and `numpy`.
OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "sum",
        reduction(summed, *_SUM),
        sharding=reduction_rules.reduction,
        reads_values=True,
        methods="sum",
        numpy_parameters=("a",),
        in_numpy=folded(sum, reduction(summed, *_SUM)),
    ),
    Operation(
        "prod",
        reduction(summed, *_SUM),
        sharding=reduction_rules.reduction,
        reads_values=True,
        methods="prod",
        numpy_parameters=("a",),
        in_numpy=folded(math.prod, reduction(summed, *_SUM)),
    ),
    Operation(
        "nansum nanprod", reduction(summed, *_SUM), sharding=reduction_rules.reduction, reads_values=True
    ),
    Operation(
        "max",
        reduction(same_dtype, *_MAX),
        sharding=reduction_rules.reduction,
        reads_values=True,
        methods="max",
        numpy_parameters=("a",),
        in_numpy=folded(max, reduction(same_dtype, *_MAX)),
    ),
    Operation(
        "min",
        reduction(same_dtype, *_MAX),
        sharding=reduction_rules.reduction,
        reads_values=True,
        methods="min",
        numpy_parameters=("a",),
        in_numpy=folded(min, reduction(same_dtype, *_MAX)),
    ),
    Operation(
        "amax amin", reduction(same_dtype, *_MAX), sharding=reduction_rules.reduction, reads_values=True
    ),
    Operation(
        "all any",
        reduction(flag, *_ALL),
        sharding=reduction_rules.reduction,
        reads_values=True,
        methods="all any",
    ),
    Operation(
        "mean nanmean",
        reduction(floating, *_MEAN),
        sharding=reduction_rules.mean,
        reads_values=True,
        methods="mean",
    ),
    Operation(
        "std var nanstd nanvar",
        reduction(spread, *_STD),
        sharding=reduction_rules.variance,
        reads_values=True,
        methods="std var",
    ),
    Operation(
        "nanmax nanmin",
        reduction(same_dtype, "axis", "out", "keepdims"),
        sharding=reduction_rules.reduction,
        reads_values=True,
    ),
    Operation(
        "ptp",
        reduction(same_dtype, "axis", "out", "keepdims"),
        sharding=reduction_rules.spread_between,
        reads_values=True,
        methods="ptp",
    ),
    Operation(
        "count_nonzero",
        reduction(count, "axis", "keepdims"),
        sharding=reduction_rules.reduction,
        reads_values=True,
    ),
    *(
        Operation(
            name,
            arg_reduction,
            sharding=reduction_rules.arg_extreme,
            reads_values=True,
            methods=name,
            numpy_parameters=("a",),
            in_numpy=folded(place, arg_reduction),
        )
        for name, place in (("argmax", _place_of_most), ("argmin", _place_of_least))
    ),
    Operation("nanargmax nanargmin", arg_reduction, sharding=reduction_rules.arg_extreme, reads_values=True),
    Operation(
        "cumsum cumprod nancumsum nancumprod",
        cumulative,
        sharding=reduction_rules.cumulative,
        reads_values=True,
        methods="cumsum cumprod",
        gathered=accumulated,
    ),
    Operation("median nanmedian", median, sharding=MISSING, reads_values=True, gathered=ordered),
    Operation("quantile percentile", quantile, sharding=MISSING, reads_values=True, gathered=ordered),
    Operation(
        "average",
        average,
        sharding=reduction_rules.average,
        reads_values=False,
        depends_on=Dependence.PERHAPS_NONE,
    ),
    Operation("trace", trace, sharding=reduction_rules.trace, reads_values=True, methods="trace"),
    Operation("allclose", allclose, sharding=reduction_rules.compared, reads_values=True),
    Operation(
        "array_equal",
        allclose,
        sharding=reduction_rules.compared,
        reads_values=False,
        depends_on=Dependence.PERHAPS_NONE,
        parameters=("a1", "a2"),
        numpy_parameters=("a1", "a2"),
    ),
    Operation("linalg.norm", norm, sharding=reduction_rules.norm, reads_values=True),
)
