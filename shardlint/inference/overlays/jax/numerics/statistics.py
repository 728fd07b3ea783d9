"""`jax.numpy` and `jax.nn`: covariances, running sums, and edges of histograms (JAX 0.10.2)."""

from __future__ import annotations

from shardlint.inference.domain.values import Const, Value, as_dim
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import floating, summed
from shardlint.inference.overlays.arrays.operands import (
    axis_of,
    dtype_argument,
    given,
    known_rank,
    mixed,
    operand,
    operands,
    reject,
    result,
    truth,
    unresolved,
)
from shardlint.inference.overlays.arrays.reductions import accumulated
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.operations import Dependence, Operation
from shardlint.laws.core.dims import Dim, equal


def _covariance(call: Call) -> Value:
    """`cov(m, y, rowvar)`, `corrcoef(x, y, rowvar)`: of each two variables, which lie in rows."""
    first = "x" if call.name.endswith("corrcoef") else "m"
    m, y, rows, *_, dtype = (
        call.bind(
            first, y=None, rowvar=Const(True), bias=None, ddof=None, fweights=None, aweights=None, dtype=None
        )
        if first == "m"
        else call.bind(first, y=None, rowvar=Const(True), dtype=None)
    )
    arrays = operands([m, y] if given(y) else [m])
    if given(dtype):
        unresolved("a dtype")
    count: Dim = 0
    for x in arrays:
        shape = known_rank(x)
        if len(shape) > 2:
            reject("rank above 2")
        matrix = (1,) * (2 - len(shape)) + shape
        transposed = not truth(rows, True) and matrix[0] != 1
        if not truth(rows, True) and equal(matrix[0], 1) is None:
            unresolved("a matrix of one row")
        count = count + matrix[1 if transposed else 0]
    kind, _ = mixed(call, arrays)
    if (alone := equal(count, 1)) is None:
        unresolved("how many variables there are")
    return result(call, () if alone else (count, count), floating(kind, False))


def _running(call: Call) -> Value:
    """`cumulative_sum(x, axis=, include_initial=)`: an axis is needed but for vectors."""
    x, axis, dtype, first = call.bind("_x", axis=None, dtype=None, include_initial=None)
    array = operand(x)
    shape = known_rank(array)
    if not shape or (len(shape) > 1 and not given(axis)):
        reject("an axis")
    at = axis_of(axis, len(shape)) if given(axis) else 0
    size = shape[at] + 1 if truth(first, False) else shape[at]
    total = summed(array.dtype, False)
    if call.name.endswith("prod"):
        total = total if array.dtype == "bool" else array.dtype
    kind = dtype_argument(dtype, total)
    return result(call, (*shape[:at], size, *shape[at + 1 :]), kind)


def _edges(call: Call) -> Value:
    """`histogram_bin_edges(a, bins)`: one more than there are bins."""
    a, bins, *_ = call.bind("a", bins=Const(10), range=None, weights=None)
    count = as_dim(bins)
    if count is None:
        unresolved("the bins are not known")
    return result(call, (count + 1,), floating(operand(a).dtype, False))


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "cov corrcoef",
        _covariance,
        sharding=unclaimed,
        reads_values=False,
        depends_on=Dependence.PERHAPS_NONE,
    ),
    Operation(
        "cumulative_sum cumulative_prod",
        _running,
        sharding=unclaimed,
        reads_values=True,
        gathered=accumulated,
    ),
    Operation("histogram_bin_edges", _edges, sharding=unclaimed, reads_values=False),
)
