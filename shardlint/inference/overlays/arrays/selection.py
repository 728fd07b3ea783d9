"""Functions that select elements: where, take, sort, searchsorted, select, unique and their relatives."""

from __future__ import annotations

from shardlint.inference.domain.values import Array, Const, Value, as_dim
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import floating
from shardlint.inference.overlays.arrays.operands import (
    arrays_tuple,
    axis_of,
    broadcast,
    broadcast_dim,
    dtype_argument,
    given,
    is_numpy,
    known_int,
    known_rank,
    like,
    mixed,
    operand,
    operands,
    reject,
    result,
    same_shape,
    sequence,
    truth,
    unresolved,
)  # fmt: skip
from shardlint.inference.overlays.arrays.reductions import ordered
from shardlint.inference.overlays.jax.explicit.rules import elementwise as elementwise_rules
from shardlint.inference.overlays.jax.explicit.rules import indexing as indexing_rules
from shardlint.inference.overlays.jax.explicit.rules import reductions as reduction_rules
from shardlint.inference.overlays.jax.explicit.rules import slicing as slicing_rules
from shardlint.inference.overlays.operations import MISSING, Dependence, Operation
from shardlint.laws.core.dims import Dim, Shape, fresh, lower_bound, product


def where(call: Call) -> Value:
    """`where(condition, x, y)`; with a condition alone, one index vector for each axis."""
    condition, x, y, size, _ = call.bind("_condition", _x=None, _y=None, size=None, fill_value=None)
    chosen = operand(condition, is_numpy(call))
    if not given(x) and not given(y):
        return _nonzero(call, chosen, size)
    arrays = operands([x, y], is_numpy(call))
    dtype, weak = mixed(call, arrays)
    return result(call, broadcast([chosen.shape, *(a.shape for a in arrays)]), dtype, weak)


def nonzero(call: Call) -> Value:
    """`nonzero(a, size)`: one index vector for each axis."""
    a, size, _ = call.bind("a", size=None, fill_value=None)
    return _nonzero(call, operand(a, is_numpy(call)), size)


def _nonzero(call: Call, x: Array, size: Value | None) -> Value:
    found = as_dim(size) if given(size) else None
    vector = result(call, (fresh() if found is None else found,), "int64")
    return arrays_tuple([vector] * len(known_rank(x)))


def argwhere(call: Call) -> Value:
    """`argwhere(a, size)`: rows of indices."""
    a, size, _ = call.bind("a", size=None, fill_value=None)
    rows = as_dim(size) if given(size) else None
    rank = len(known_rank(operand(a, is_numpy(call))))
    return result(call, (fresh() if rows is None else rows, rank), "int64")


def take(call: Call) -> Value:
    """`take(a, indices, axis)`: the shape of the indices replaces the axis."""
    a, indices, axis, *_ = call.bind(
        "a", "indices", axis=None, out=None, mode=None, unique_indices=None, indices_are_sorted=None,
        fill_value=None,
    )  # fmt: skip
    x, at = operands([a, indices], is_numpy(call))
    if not given(axis):
        return like(call, x, at.shape)
    shape = known_rank(x)
    place = axis_of(axis, len(shape))
    return like(call, x, (*shape[:place], *known_rank(at), *shape[place + 1 :]))


def take_along_axis(call: Call) -> Value:
    """`take_along_axis(arr, indices, axis)`: the indices' size along the axis; the other axes broadcast."""
    a, indices, axis, *_ = call.bind(
        "arr", "indices", axis=Const(-1), mode=None, fill_value=None, wrap_negative_indices=None
    )
    x, at = operands([a, indices], is_numpy(call))
    if not given(axis):
        return like(call, x, at.shape)
    shape, chosen = known_rank(x), known_rank(at)
    if len(shape) != len(chosen):
        reject("ranks differ")
    place = axis_of(axis, len(shape))
    pairs = enumerate(zip(shape, chosen, strict=True))
    return like(call, x, tuple(n if i == place else broadcast_dim(m, n) for i, (m, n) in pairs))


def select(call: Call) -> Value:
    """`select(condlist, choicelist, default)`."""
    conditions, choices, default = call.bind("condlist", "choicelist", default=Const(0))
    tests, values = sequence(conditions, is_numpy(call)), sequence(choices, is_numpy(call))
    arrays = [*values, operand(default, is_numpy(call))]
    dtype, weak = mixed(call, arrays)
    return result(call, broadcast(a.shape for a in (*tests, *arrays)), dtype, weak)


def sort(call: Call) -> Value:
    """`sort(a, axis)`; flattens if the axis is None."""
    a, axis, *_ = call.bind("a", axis=Const(-1), kind=None, order=None, stable=None, descending=None)
    x = operand(a, is_numpy(call))
    return like(call, x, _sorted(x, axis))


def argsort(call: Call) -> Value:
    """`argsort(a, axis)`: integers."""
    a, axis, _, _, _, _, dtype = call.bind(
        "a", axis=Const(-1), kind=None, order=None, stable=None, descending=None, dtype=None
    )
    x = operand(a, is_numpy(call))
    return result(call, _sorted(x, axis), dtype_argument(dtype, "int64"))


def _sorted(x: Array, axis: Value | None) -> Shape:
    shape = known_rank(x)
    if not given(axis):
        return (product(shape),)
    axis_of(axis, len(shape))
    return shape


def searchsorted(call: Call) -> Value:
    """`searchsorted(a, v)`: integers, in the shape of v."""
    _, v, *_ = call.bind("a", "v", side=None, sorter=None, method=None)
    return result(call, operand(v, is_numpy(call)).shape, "int64")


def digitize(call: Call) -> Value:
    """`digitize(x, bins)`: integers, in the shape of x."""
    x, *_ = call.bind("x", "bins", right=None, method=None)
    return result(call, operand(x, is_numpy(call)).shape, "int64")


def isin(call: Call) -> Value:
    """`isin(element, test_elements)`: bool, in the shape of the elements."""
    x, *_ = call.bind("element", "test_elements", assume_unique=None, invert=None, method=None)
    return result(call, operand(x, is_numpy(call)).shape, "bool")


def interp(call: Call) -> Value:
    """`interp(x, xp, fp)`: floating, in the shape of x."""
    x, _, fp, *_ = call.bind("x", "xp", "fp", left=None, right=None, period=None)
    arrays = operands([x, fp], is_numpy(call))
    if is_numpy(call):
        return result(call, arrays[0].shape, "float64")
    dtype, _ = mixed(call, arrays)
    return result(call, arrays[0].shape, floating(dtype, False))


def bincount(call: Call) -> Value:
    """`bincount(x, length=)`: ``length`` counts; without it, the number depends on the data."""
    _, weights, _, length, _ = call.bind("x", weights=None, minlength=None, length=None, out_sharding=None)
    size = as_dim(length) if given(length) else None
    dtype = operand(weights, is_numpy(call)).dtype if given(weights) else "int64"
    return result(call, (fresh() if size is None else size,), dtype)


def histogram(call: Call) -> Value:
    """`histogram(a, bins)`: the counts of so many bins, or of those between given edges, and the edges."""
    a, bins, _, weights, density, _ = call.bind(
        "a", bins=Const(10), range=None, weights=None, density=None, out_sharding=None
    )
    x, numpy = operand(a, is_numpy(call)), is_numpy(call)
    edges: Dim | None = as_dim(bins)
    if edges is not None:
        edges = edges + 1
    elif isinstance(bins, Array) and bins.shape is not None and len(bins.shape) == 1 and not numpy:
        (edges,) = bins.shape
    else:
        unresolved("the bins are not known")
    kind = floating(x.dtype, numpy)
    counts = kind if not numpy else None if given(weights) or given(density) else "int64"
    if given(weights) and not numpy:
        kind = counts = floating(mixed(call, operands([a, weights]))[0], False)
    return arrays_tuple([result(call, (edges - 1,), counts), result(call, (edges,), kind)])


def diff(call: Call) -> Value:
    """`diff(a, n, axis)`: n shorter along the axis."""
    a, n, axis = call.bind("a", n=Const(1), axis=Const(-1))
    x, times = operand(a, is_numpy(call)), known_int(n)
    shape = known_rank(x)
    if times == 0:
        # It is returned, whatever the axis.
        return like(call, x, shape)
    if not shape:
        reject("a scalar")
    at = axis_of(axis, len(shape))
    left: Dim = shape[at] - times
    low = lower_bound(left)
    if low is None or low < 0:
        left = max(0, left) if isinstance(left, int) else fresh()
    return like(call, x, (*shape[:at], left, *shape[at + 1 :]))


def trapezoid(call: Call) -> Value:
    """`trapezoid(y, x, dx, axis)`."""
    y, x, _, axis = call.bind("y", x=None, dx=None, axis=Const(-1))
    values = operand(y, is_numpy(call))
    shape = known_rank(values)
    if given(x):
        unresolved("sample points")
    at = axis_of(axis, len(shape))
    return result(call, shape[:at] + shape[at + 1 :], floating(values.dtype, is_numpy(call)))


def polyval(call: Call) -> Value:
    """`polyval(p, x)`: the coefficients lie along the first axis of p; the other axes broadcast with x."""
    p, x, _ = call.bind("p", "x", unroll=None)
    arrays = operands([p, x], is_numpy(call))
    coefficients = known_rank(arrays[0])
    if not coefficients:
        unresolved("coefficients without an axis")
    dtype, weak = mixed(call, arrays)
    return result(call, broadcast([coefficients[1:], arrays[1].shape]), dtype, weak)


def lexsort(call: Call) -> Value:
    """`lexsort(keys)`: integers, in the shape of one key."""
    keys, _ = call.bind("keys", axis=Const(-1))
    arrays = sequence(keys, is_numpy(call))
    if not arrays:
        reject("no keys")
    return result(call, same_shape([known_rank(x) for x in arrays]), "int64")


def unique(call: Call) -> Value:
    """`unique(ar, size=)` of the flattened array: without a size, the number depends on the data."""
    a, index, inverse, counts, axis, _, size, *_ = call.bind(
        "ar", return_index=None, return_inverse=None, return_counts=None, axis=None, equal_nan=None,
        size=None, fill_value=None, sorted=None,
    )  # fmt: skip
    if given(axis) or any(truth(flag, False) for flag in (index, inverse, counts)):
        unresolved("more than the values")
    x = operand(a, is_numpy(call))
    found = as_dim(size) if given(size) else None
    return like(call, x, (fresh() if found is None else found,))


#: Shared by `jax.numpy` and `numpy`.
OPERATIONS: tuple[Operation, ...] = (
    Operation("where", where, sharding=elementwise_rules.where, reads_values=True),
    Operation("nonzero", nonzero, sharding=MISSING, reads_values=True, methods="nonzero"),
    Operation("argwhere", argwhere, sharding=MISSING, reads_values=False),
    Operation("take", take, sharding=indexing_rules.take, reads_values=True, methods="take"),
    Operation("take_along_axis", take_along_axis, sharding=indexing_rules.take_along_axis, reads_values=True),
    Operation("select", select, sharding=elementwise_rules.select_first, reads_values=True),
    Operation("sort", sort, sharding=reduction_rules.ordered, reads_values=True, gathered=ordered),
    Operation(
        "argsort",
        argsort,
        sharding=reduction_rules.order_of,
        reads_values=True,
        depends_on=Dependence.PERHAPS_NONE,
        methods="argsort",
        gathered=ordered,
    ),
    Operation("searchsorted", searchsorted, sharding=MISSING, reads_values=True, methods="searchsorted"),
    Operation("digitize", digitize, sharding=MISSING, reads_values=True),
    Operation("isin", isin, sharding=MISSING, reads_values=True),
    Operation("interp", interp, sharding=MISSING, reads_values=True),
    Operation("bincount", bincount, sharding=MISSING, reads_values=True),
    Operation("histogram", histogram, sharding=reduction_rules.histogram, reads_values=True),
    Operation("diff", diff, sharding=slicing_rules.difference, reads_values=True),
    Operation("trapezoid", trapezoid, sharding=reduction_rules.trapezoid, reads_values=True),
    Operation("polyval", polyval, sharding=MISSING, reads_values=True),
    Operation(
        "lexsort",
        lexsort,
        sharding=reduction_rules.lexsort,
        reads_values=True,
        depends_on=Dependence.PERHAPS_NONE,
    ),
    Operation("unique", unique, sharding=MISSING, reads_values=False),
)
