"""`jax.lax.linalg`: shapes and dtypes of results."""

from __future__ import annotations

from shardlint.inference.domain.values import Array, Tuple, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.contractions import matrices
from shardlint.inference.overlays.arrays.dtypes import real_part
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    known_rank,
    minimum,
    operand,
    reject,
    result,
    same_dim,
    truth,
    unresolved,
)
from shardlint.inference.overlays.jax.explicit.rules import linalg
from shardlint.inference.overlays.operations import Operation, library_table
from shardlint.laws.core.dims import Shape


def _matrices(call: Call) -> tuple[Array, Shape]:
    x = operand(call.argument(0, "x"))
    shape = known_rank(x)
    if len(shape) < 2:
        reject("rank below 2")
    if x.dtype is None or not x.dtype.startswith(("float", "complex")) or x.dtype == "float16":
        unresolved("a dtype that JAX does not decompose")
    return x, shape


def _cholesky(call: Call) -> Value:
    """`cholesky(x, symmetrize_input=)`."""
    x, shape = _matrices(call)
    return result(call, shape, x.dtype)


def _eigh(call: Call) -> Value:
    """`eigh(x)`: eigenvectors, and then eigenvalues."""
    x, shape = _matrices(call)
    if call.kwargs.keys() & {"subset_by_index"}:
        unresolved("a part of the eigenvalues")
    return Tuple((result(call, shape, x.dtype), result(call, shape[:-1], real_part(x.dtype))))


def _lu(call: Call) -> Value:
    """`lu(x)`: the factors in one matrix, the pivots, and the permutation of rows."""
    x, shape = _matrices(call)
    pivots = result(call, (*shape[:-2], minimum(*shape[-2:])), "int32")
    return Tuple((result(call, shape, x.dtype), pivots, result(call, shape[:-1], "int32")))


def _qr(call: Call) -> Value:
    """`qr(x, full_matrices=)`."""
    x, (*batch, m, n) = _matrices(call)
    if truth(call.kwargs.get("pivoting"), False):
        unresolved("pivots")
    inside = m if truth(call.kwargs.get("full_matrices"), True) else minimum(m, n)
    return Tuple((result(call, (*batch, m, inside), x.dtype), result(call, (*batch, inside, n), x.dtype)))


def _triangular_solve(call: Call) -> Value:
    """`triangular_solve(a, b, left_side=)`: a result like the right side."""
    a, b = operand(call.argument(0, "a")), operand(call.argument(1, "b"))
    first, second = known_rank(a), known_rank(b)
    if len(first) < 2 or not len(first) - 1 <= len(second) <= len(first):
        unresolved("operands of other ranks")
    if a.dtype != b.dtype:
        unresolved("operands of two dtypes")
    columns = len(second) == len(first) and truth(call.kwargs.get("left_side"), False)
    same_dim((*first[-2:], second[-2] if columns else second[-1]))
    for one, other in zip(first[:-2], second, strict=False):
        same_dim((one, other))
    return result(call, second, b.dtype)


OPERATIONS: tuple[Operation, ...] = (
    Operation("cholesky", _cholesky, sharding=linalg.cholesky, reads_values=True, gathered=matrices),
    Operation("eigh", _eigh, sharding=linalg.symmetric, reads_values=True, gathered=matrices),
    Operation("lu", _lu, sharding=linalg.decomposed, reads_values=True, gathered=matrices),
    Operation("qr", _qr, sharding=linalg.decomposed, reads_values=True, gathered=matrices),
    Operation(
        "triangular_solve",
        _triangular_solve,
        sharding=linalg.triangular_solve,
        reads_values=True,
        gathered=matrices,
    ),
)

TABLE: dict[str, Transfer] = library_table("jax.lax.linalg.", OPERATIONS)
