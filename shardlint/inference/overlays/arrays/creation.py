"""Functions that create arrays from sizes, numbers or lists."""

from __future__ import annotations

import math
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    Const,
    Devices,
    Tuple,
    Value,
    as_dim,
    as_str,
    integer,
)  # fmt: skip
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import floating
from shardlint.inference.overlays.arrays.operands import (
    arrays_list,
    arrays_tuple,
    at_most,
    axis_of,
    broadcast,
    dtype_argument,
    given,
    is_numpy,
    known_int,
    known_rank,
    minimum,
    mixed,
    operand,
    operands,
    reject,
    result,
    shape_of,
    size_of,
    truth,
    unresolved,
)  # fmt: skip
from shardlint.inference.overlays.jax.explicit.rules import elementwise as elementwise_rules
from shardlint.inference.overlays.jax.explicit.rules import joining as joining_rules
from shardlint.inference.overlays.jax.sharding.mesh_arguments import device_array
from shardlint.inference.overlays.operations import MISSING, Dependence, Operation
from shardlint.laws.core.dims import Dim, fresh, product

#: Accepted everywhere, without effect on shapes. The evaluator judges the placement.
_PLACEMENT: dict[str, Value | None] = {"device": None, "out_sharding": None}


def filled(call: Call) -> Value:
    """`zeros(shape, dtype)`, `ones`, `empty`: the dtype is the default float if none is given."""
    shape, dtype, _, *_ = call.bind("shape", dtype=None, order=None, like=None, **_PLACEMENT)
    return result(call, shape_of(shape), dtype_argument(dtype, "float64"))


def full(call: Call) -> Value:
    """`full(shape, fill_value, dtype)`: the dtype is that of the fill value, weak if it is weak."""
    shape, value, dtype, *_ = call.bind("shape", "fill_value", dtype=None, order=None, **_PLACEMENT)
    fill = operand(value, is_numpy(call))
    if given(dtype):
        return result(call, shape_of(shape), dtype_argument(dtype, None))
    return result(call, shape_of(shape), fill.dtype, fill.weak)


def filled_like(call: Call) -> Value:
    """`zeros_like(a, dtype, shape)`, `ones_like`, `empty_like`."""
    return _like(call, *call.bind("a", dtype=None, shape=None, order=None, subok=None, **_PLACEMENT)[:3])


def full_like(call: Call) -> Value:
    """`full_like(a, fill_value, dtype, shape)`."""
    a, _, dtype, shape, *_ = call.bind(
        "a", "fill_value", dtype=None, shape=None, order=None, subok=None, **_PLACEMENT
    )
    return _like(call, a, dtype, shape)


def _like(call: Call, a: Value | None, dtype: Value | None, shape: Value | None) -> Value:
    x = operand(a, is_numpy(call))
    sizes = shape_of(shape) if given(shape) else x.shape
    if given(dtype):
        return result(call, sizes, dtype_argument(dtype, None))
    return result(call, sizes, x.dtype, x.weak)


def array(call: Call) -> Value:
    """`array(object, dtype, ...)`: lists of numbers and arrays, or a copy."""
    value, dtype, _, _, least, *_ = call.bind(
        "object", dtype=None, copy=None, order=None, ndmin=None, subok=None, like=None, **_PLACEMENT
    )
    return _array(call, value, dtype, least)


def asarray(call: Call) -> Value:
    """`asarray(a, dtype)`: like `array`."""
    value, dtype, *_ = call.bind("a", dtype=None, order=None, copy=None, like=None, **_PLACEMENT)
    return _array(call, value, dtype, None)


def _array(call: Call, value: Value | None, dtype: Value | None, rank: Value | None) -> Value:
    """Return an array of lists of numbers and arrays, of this rank at least."""
    devices = device_array(value) if is_numpy(call) and not given(dtype) and not given(rank) else None
    if devices is not None and (isinstance(value, Devices) or devices.ids):
        return replace(devices, numpy=True)
    x = operand(value, is_numpy(call))
    shape = x.shape
    if given(rank):
        least = known_int(rank)
        shape = (1,) * (least - len(known_rank(x))) + known_rank(x)
    if given(dtype):
        return result(call, shape, dtype_argument(dtype, None))
    if x.dtype is None or isinstance(value, Array | Const):
        return result(call, shape, x.dtype, x.weak)
    return result(call, shape, x.dtype, x.weak and shape == ())


def astype(call: Call) -> Value:
    """`astype(x, dtype)`."""
    x, dtype, *_ = call.bind("x", "dtype", copy=None, device=None, order=None, casting=None)
    source = operand(x, is_numpy(call))
    return result(call, source.shape, dtype_argument(dtype, "float64"))


def copy(call: Call) -> Value:
    """`copy(a)`: the same array."""
    a, _, _ = call.bind("a", order=None, subok=None)
    x = operand(a, is_numpy(call))
    return result(call, x.shape, x.dtype, x.weak)


def arange(call: Call) -> Value:
    """`arange(start, stop, step, dtype)`: has ceil((stop - start) / step) elements."""
    start, stop, step, dtype, *_ = call.bind("start", stop=None, step=None, dtype=None, **_PLACEMENT)
    if not given(stop):
        start, stop = Const(0), start
    start = start if given(start) else Const(0)
    step = step if given(step) else Const(1)
    kinds, _ = mixed(call, operands([start, stop, step], is_numpy(call)))
    size = _range_size(start, stop, step)
    default = "int64" if is_numpy(call) else "int32"
    return result(call, (size,), dtype_argument(dtype, default if kinds == "bool" else kinds))


def _range_size(start: Value | None, stop: Value | None, step: Value | None) -> Dim:
    low, high, by = as_dim(start), as_dim(stop), as_dim(step)
    if low is not None and high is not None and isinstance(by, int) and by:
        if by < 0:
            low, high, by = high, low, -by
        length = high - low
        if isinstance(length, int):
            return max(0, -(-length // by))
        return (length + (by - 1)) // by if at_most(0, length) else fresh()
    parts = [
        p.value for p in (start, stop, step) if isinstance(p, Const) and isinstance(p.value, int | float)
    ]
    if len(parts) == 3 and parts[2]:
        return max(0, math.ceil((parts[1] - parts[0]) / parts[2]))
    return fresh()


def linspace(call: Call) -> Value:
    """`linspace(start, stop, num, endpoint, retstep, dtype, axis)`."""
    start, stop, num, _, retstep, dtype, axis, *_ = call.bind(
        "start", "stop", num=Const(50), endpoint=None, retstep=None, dtype=None, axis=None, device=None
    )
    return _spaced(call, start, stop, num, retstep, dtype, axis)


def logspace(call: Call) -> Value:
    """`logspace(start, stop, num, endpoint, base, dtype, axis)`."""
    start, stop, num, _, _, dtype, axis = call.bind(
        "start", "stop", num=Const(50), endpoint=None, base=None, dtype=None, axis=None
    )
    return _spaced(call, start, stop, num, None, dtype, axis)


def geomspace(call: Call) -> Value:
    """`geomspace(start, stop, num, endpoint, dtype, axis)`."""
    start, stop, num, _, dtype, axis = call.bind(
        "start", "stop", num=Const(50), endpoint=None, dtype=None, axis=None
    )
    return _spaced(call, start, stop, num, None, dtype, axis)


def _spaced(
    call: Call, start: Value | None, stop: Value | None, num: Value | None, retstep: Value | None,
    dtype: Value | None, axis: Value | None,
) -> Value:  # fmt: skip
    ends = operands([start, stop], is_numpy(call))
    size = as_dim(num)
    shape = broadcast(end.shape for end in ends)
    if shape is not None:
        at = axis_of(axis or Const(0), len(shape) + 1)
        shape = (*shape[:at], fresh() if size is None else size, *shape[at:])
    kinds, _ = mixed(call, ends)
    points = result(call, shape, dtype_argument(dtype, floating(kinds, is_numpy(call))))
    if truth(retstep, False):
        return arrays_tuple([points, result(call, None, None)])
    return points


def eye(call: Call) -> Value:
    """`eye(N, M, k, dtype)`."""
    n, m, _, dtype, *_ = call.bind("N", M=None, k=None, dtype=None, order=None, **_PLACEMENT)
    rows = size_of(n)
    columns = size_of(m) if given(m) else rows
    return result(call, (rows, columns), dtype_argument(dtype, "float64"))


def identity(call: Call) -> Value:
    """`identity(n, dtype)`."""
    n, dtype = call.bind("n", dtype=None)
    rows = size_of(n)
    return result(call, (rows, rows), dtype_argument(dtype, "float64"))


def meshgrid(call: Call) -> Value:
    """`meshgrid(*xi, indexing, sparse)`: one array of rank len(xi) for each input."""
    extra = replace(call, args=())
    _, sparse, indexing = extra.bind(copy=None, sparse=None, indexing=Const("xy"))
    vectors = operands(call.args, is_numpy(call))
    if call.opaque or (order := as_str(indexing)) is None:
        unresolved("the inputs or the indexing are not known")
    sizes: list[Dim] = []
    for vector in vectors:
        shape = known_rank(vector)
        if len(shape) > 1:
            if not is_numpy(call):
                reject("arguments of rank above 1")
            unresolved("arguments of rank above 1")
        sizes.append(shape[0] if shape else 1)
    swap = order == "xy" and len(sizes) > 1
    places = [1, 0, *range(2, len(sizes))] if swap else list(range(len(sizes)))
    grid = [sizes[i] for i in places]
    dense = not truth(sparse, False)
    grids = []
    for i, vector in enumerate(vectors):
        shape = tuple(grid) if dense else tuple(d if places[j] == i else 1 for j, d in enumerate(grid))
        grids.append(result(call, shape, vector.dtype, vector.weak))
    return arrays_tuple(grids) if is_numpy(call) else arrays_list(grids)


def indices(call: Call) -> Value:
    """`indices(dimensions, dtype)`."""
    dimensions, dtype, sparse = call.bind("dimensions", dtype=None, sparse=None)
    if truth(sparse, False):
        unresolved("sparse")
    shape = shape_of(dimensions)
    return result(call, (len(shape), *shape), dtype_argument(dtype, "int64"))


def diag(call: Call) -> Value:
    """`diag(v, k)`: the matrix with a vector as its diagonal, or the diagonal of a matrix."""
    v, k = call.bind("v", k=Const(0))
    x, offset = operand(v, is_numpy(call)), known_int(k)
    shape = known_rank(x)
    if len(shape) == 1:
        size = shape[0] + abs(offset)
        return result(call, (size, size), x.dtype, x.weak)
    if len(shape) != 2:
        reject("rank is neither 1 nor 2")
    return result(call, (_diagonal_size(shape[0], shape[1], offset),), None if x.weak else x.dtype)


def diagonal(call: Call) -> Value:
    """`diagonal(a, offset, axis1, axis2)`: the diagonal is the last axis."""
    a, offset, first, second = call.bind("a", offset=Const(0), axis1=Const(0), axis2=Const(1))
    x = operand(a, is_numpy(call))
    shape = known_rank(x)
    i, j = axis_of(first, len(shape)), axis_of(second, len(shape))
    if i == j:
        reject("the axes are equal")
    rest = tuple(dim for at, dim in enumerate(shape) if at not in (i, j))
    size = _diagonal_size(shape[i], shape[j], known_int(offset))
    # Whether the result stays weakly typed depends on the sizes.
    return result(call, (*rest, size), None if x.weak else x.dtype)


def _diagonal_size(rows: Dim, columns: Dim, offset: int) -> Dim:
    rows, columns = (rows, columns - offset) if offset >= 0 else (rows + offset, columns)
    if isinstance(rows, int) and isinstance(columns, int):
        return max(0, min(rows, columns))
    size = minimum(rows, columns)
    return size if at_most(0, size) else fresh()


def tri_indices(call: Call) -> Value:
    """`tril_indices(n, k, m)`: two index vectors of the same unknown length."""
    call.bind("n", k=None, m=None)
    pair = result(call, (fresh(),), "int64")
    return arrays_tuple([pair, pair])


def shape(call: Call) -> Value:
    """`shape(a)`."""
    (a,) = call.bind("a")
    return Tuple(tuple(integer(dim) for dim in known_rank(operand(a, is_numpy(call)))))


def ndim(call: Call) -> Value:
    """`ndim(a)`."""
    (a,) = call.bind("a")
    return Const(len(known_rank(operand(a, is_numpy(call)))))


def size(call: Call) -> Value:
    """`size(a, axis)`."""
    a, axis = call.bind("a", axis=None)
    dims = known_rank(operand(a, is_numpy(call)))
    return integer(dims[axis_of(axis, len(dims))] if given(axis) else product(dims))


#: Shared by `jax.numpy` and `numpy`.
OPERATIONS: tuple[Operation, ...] = (
    Operation("zeros ones empty", filled, sharding=joining_rules.broadcast_constant, reads_values=False),
    Operation("full", full, sharding=joining_rules.filled, reads_values=True),
    Operation("zeros_like ones_like", filled_like, sharding=joining_rules.made_like, reads_values=False),
    Operation(
        "empty_like",
        filled_like,
        sharding=joining_rules.made_like,
        reads_values=False,
        parameters=("prototype",),
        numpy_parameters=("prototype",),
    ),
    Operation("full_like", full_like, sharding=joining_rules.made_like, reads_values=False),
    Operation("array", array, sharding=elementwise_rules.cast, reads_values=True),
    Operation("asarray", asarray, sharding=elementwise_rules.cast, reads_values=True),
    Operation(
        "astype", astype, sharding=elementwise_rules.first_operand, reads_values=True, methods="astype"
    ),
    Operation("copy", copy, sharding=elementwise_rules.first_operand, reads_values=True, methods="copy"),
    Operation("arange", arange, sharding=joining_rules.made, reads_values=False),
    Operation("logspace", logspace, sharding=joining_rules.made, reads_values=False),
    Operation("geomspace", geomspace, sharding=joining_rules.made, reads_values=False),
    Operation(
        "linspace",
        linspace,
        sharding=joining_rules.made,
        reads_values=False,
        depends_on=Dependence.PERHAPS_NONE,
    ),
    Operation("eye tri", eye, sharding=joining_rules.made, reads_values=False),
    Operation("identity", identity, sharding=joining_rules.made, reads_values=False),
    Operation(
        "meshgrid", meshgrid, sharding=joining_rules.meshgrid, reads_values=True, depends_on=Dependence.ONE
    ),
    Operation("indices", indices, sharding=joining_rules.made, reads_values=False),
    Operation("diag", diag, sharding=MISSING, reads_values=True),
    Operation("diagonal", diagonal, sharding=MISSING, reads_values=True, methods="diagonal"),
    Operation("tril_indices triu_indices", tri_indices, sharding=joining_rules.made, reads_values=False),
    Operation("shape", shape, sharding=None, reads_values=False),
    Operation("ndim", ndim, sharding=None, reads_values=False),
    Operation("size", size, sharding=None, reads_values=False),
)
