"""`jax.numpy`: indices, and elements that are chosen, inserted or left out (JAX 0.10.2)."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import Const, Value, as_dim
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    arrays_tuple,
    axis_of,
    broadcast,
    given,
    known_int,
    known_rank,
    like,
    mixed,
    operand,
    operands,
    reject,
    result,
    same_dim,
    sequence,
    shape_of,
    size_of,
    strong,
    truth,
    unresolved,
)
from shardlint.inference.overlays.arrays.reductions import accumulated
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.operations import Dependence, Operation
from shardlint.laws.core.dims import Dim, Shape, floordiv, fresh, lower_bound, product


def _unraveled(call: Call) -> Value:
    """`unravel_index(indices, shape)`: the indices along each dimension."""
    indices, shape = call.bind("indices", "shape")
    x = operand(indices)
    return arrays_tuple([result(call, x.shape, x.dtype, x.weak)] * len(shape_of(shape)))


def _raveled(call: Call) -> Value:
    """`ravel_multi_index(multi_index, dims, mode, order, dtype=)`."""
    indices, _, *_, dtype = call.bind("multi_index", "dims", mode=None, order=None, dtype=None)
    if given(dtype):
        unresolved("a dtype")
    arrays = sequence(indices)
    return result(call, broadcast(x.shape for x in arrays), "int32")


def _diagonal_indices(call: Call) -> Value:
    """`diag_indices(n, ndim)`."""
    n, rank = call.bind("n", ndim=Const(2))
    return arrays_tuple([result(call, (size_of(n),), "int32")] * known_int(rank))


def _diagonal_of(call: Call) -> Value:
    """`diag_indices_from(arr)`: of an array whose dimensions are alike."""
    (array,) = call.bind("arr")
    shape = known_rank(operand(array))
    if len(shape) < 2:
        reject("rank below 2")
    return arrays_tuple([result(call, (same_dim(shape),), "int32")] * len(shape))


def _on_diagonal(call: Call) -> Value:
    """`diagflat(v, k)`: a matrix with all elements on a diagonal."""
    v, k = call.bind("v", k=Const(0))
    x = operand(v)
    size = product(known_rank(x)) + abs(known_int(k))
    return strong(call, x, (size, size))


def _count(size: Value | None) -> Dim:
    """Return how many elements are found: ``size``, or a number that depends on the data."""
    return size_of(size) if given(size) else fresh()


def _flat_nonzero(call: Call) -> Value:
    """`flatnonzero(a, size=)`: without a size, the number depends on the data."""
    _, size, _ = call.bind("a", size=None, fill_value=None)
    return result(call, (_count(size),), "int32")


def _extracted(call: Call) -> Value:
    """`extract(condition, arr, size=)`."""
    _, array, size, _ = call.bind("condition", "arr", size=None, fill_value=None)
    return strong(call, operand(array), (_count(size),))


def _compressed(call: Call) -> Value:
    """`compress(condition, a, axis, size=)`."""
    _, a, axis, size, *_ = call.bind("condition", "a", axis=None, size=None, fill_value=None, out=None)
    x = operand(a)
    shape, at = _flat_or(known_rank(x), axis) if given(axis) else ((0,), 0)
    return like(call, x, (*shape[:at], _count(size), *shape[at + 1 :]))


def _written(*names: str) -> Transfer:
    """Return a function whose result, a new array, is like the array that it writes into."""

    def transfer(call: Call) -> Value:
        first, *rest = names
        a, *_ = call.bind(first, *rest, axis=None, wrap=None, mode=None, inplace=None)
        x = operand(a)
        return like(call, x, x.shape)

    return transfer


def _flat_or(shape: Shape, axis: Value | None) -> tuple[Shape, int]:
    """Return a shape and the axis in it: that of the flattened array without an axis."""
    return (shape, axis_of(axis, len(shape))) if given(axis) else ((product(shape),), 0)


def _deleted(call: Call) -> Value:
    """`delete(arr, obj, axis)` of one element along an axis."""
    array, index, axis, _ = call.bind("arr", "obj", axis=None, assume_unique_indices=None)
    x = operand(array)
    shape, at = _flat_or(known_rank(x), axis)
    if as_dim(index) is None:
        unresolved("how many are left out")
    if not lower_bound(shape[at]):
        unresolved("an axis that may have no elements")
    return like(call, x, (*shape[:at], shape[at] - 1, *shape[at + 1 :]))


def _inserted(call: Call) -> Value:
    """`insert(arr, obj, values, axis)` in one place along an axis."""
    array, index, values, axis = call.bind("arr", "obj", "values", axis=None)
    x, new = operands([array, values])
    shape, at = _flat_or(known_rank(x), axis)
    if as_dim(index) is None:
        unresolved("where they are inserted")
    size, rank = known_rank(new), len(shape)
    if len(size) > rank:
        unresolved("values of a higher rank")
    count: Dim = size[0] if len(size) == rank else 1
    dtype = x.dtype if given(axis) or not x.weak else None
    return result(call, (*shape[:at], shape[at] + count, *shape[at + 1 :]), dtype, x.weak)


def _open_grid(call: Call) -> Value:
    """`ix_(*args)`: vectors, each along a dimension of its own."""
    if call.opaque or call.kwargs:
        unresolved("the arguments are not known")
    arrays = operands(call.args)
    if any(x.dtype == "bool" or x.dtype is None for x in arrays):
        unresolved("masks")
    found = []
    for at, x in enumerate(arrays):
        shape = known_rank(x)
        if len(shape) != 1:
            reject("an argument that is no vector")
        found.append(like(call, x, (*(1,) * at, *shape, *(1,) * (len(arrays) - at - 1))))
    return arrays_tuple(found)


def _partitioned(call: Call) -> Value:
    """`partition(a, kth, axis)`, `argpartition`."""
    a, _, axis = call.bind("a", "kth", axis=Const(-1))
    x = operand(a)
    shape = known_rank(x)
    axis_of(axis, len(shape))
    indices = call.name.endswith("argpartition")
    return result(call, shape, "int32") if indices else like(call, x, shape)


def _chosen(call: Call) -> Value:
    """`choose(a, choices)`: elements of the choices, which broadcast."""
    a, choices, *_ = call.bind("a", "choices", out=None, mode=None)
    numbers, arrays = operand(a), sequence(choices)
    if not arrays:
        reject("nothing to choose from")
    dtype, _ = mixed(call, arrays)
    return result(call, broadcast([numbers.shape, *(x.shape for x in arrays)]), dtype)


def _set(call: Call) -> Value:
    """`union1d(ar1, ar2, size=)` and its relatives: elements in a row."""
    one, other, pairs, _, size, _ = call.bind(
        "ar1", "ar2", return_indices=None, assume_unique=None, size=None, fill_value=None
    )
    if truth(pairs, False):
        unresolved("more than the values")
    dtype, weak = mixed(call, operands([one, other]))
    return result(call, (_count(size),), dtype, weak)


def _packed(resized: Callable[[Dim], Dim]) -> Transfer:
    """Return `packbits` or `unpackbits`: bytes, of another number along the axis."""

    def transfer(call: Call) -> Value:
        a, axis, count, _ = call.bind("a", axis=None, count=None, bitorder=None)
        if given(count):
            unresolved("a number of bits")
        shape, at = _flat_or(known_rank(operand(a)), axis)
        if not shape:
            unresolved("a scalar")
        return result(call, (*shape[:at], resized(shape[at]), *shape[at + 1 :]), "uint8")

    return transfer


def _piecewise(call: Call) -> Value:
    """`piecewise(x, condlist, funclist, ...)`: like the first."""
    x = operand(call.argument(0, "x"))
    return result(call, x.shape, x.dtype)


def _complex(call: Call) -> Value:
    """`sort_complex(a)`: of complex numbers, along the last dimension."""
    (a,) = call.bind("a")
    x = operand(a)
    return result(call, x.shape, None if x.dtype is None else "complex64")


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "unravel_index",
        _unraveled,
        sharding=unclaimed,
        reads_values=False,
        depends_on=Dependence.PERHAPS_NONE,
    ),
    Operation("ravel_multi_index", _raveled, sharding=unclaimed, reads_values=False),
    Operation("diag_indices", _diagonal_indices, sharding=unclaimed, reads_values=False),
    Operation(
        "diag_indices_from",
        _diagonal_of,
        sharding=unclaimed,
        reads_values=False,
        depends_on=Dependence.PERHAPS_NONE,
    ),
    Operation("diagflat", _on_diagonal, sharding=unclaimed, reads_values=True),
    Operation("flatnonzero", _flat_nonzero, sharding=unclaimed, reads_values=False),
    Operation("extract", _extracted, sharding=unclaimed, reads_values=False),
    Operation("compress", _compressed, sharding=unclaimed, reads_values=False),
    Operation("put", _written("a", "ind", "v"), sharding=unclaimed, reads_values=False),
    Operation("put_along_axis", _written("arr", "indices", "values"), sharding=unclaimed, reads_values=False),
    Operation("place", _written("arr", "mask", "vals"), sharding=unclaimed, reads_values=False),
    Operation("fill_diagonal", _written("a", "val"), sharding=unclaimed, reads_values=False),
    Operation("delete", _deleted, sharding=unclaimed, reads_values=False),
    Operation("insert", _inserted, sharding=unclaimed, reads_values=False),
    Operation("ix_", _open_grid, sharding=unclaimed, reads_values=True, depends_on=Dependence.ONE),
    Operation(
        "partition argpartition",
        _partitioned,
        sharding=unclaimed,
        reads_values=False,
        depends_on=Dependence.PERHAPS_NONE,
        gathered=accumulated,
    ),
    Operation("choose", _chosen, sharding=unclaimed, reads_values=False),
    Operation("union1d intersect1d setdiff1d setxor1d", _set, sharding=unclaimed, reads_values=False),
    Operation("packbits", _packed(lambda n: floordiv(n + 7, 8)), sharding=unclaimed, reads_values=True),
    Operation("unpackbits", _packed(lambda n: n * 8), sharding=unclaimed, reads_values=True),
    Operation(
        "piecewise",
        _piecewise,
        sharding=unclaimed,
        reads_values=False,
        depends_on=Dependence.PERHAPS_NONE,
    ),
    Operation("sort_complex", _complex, sharding=unclaimed, reads_values=True),
)
