"""`jax.scipy.linalg`: shapes and dtypes of results."""

from __future__ import annotations

from shardlint.inference.domain.values import Const, Tuple, Value, as_items
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.contractions import determinant, matrices, solution, square_like
from shardlint.inference.overlays.arrays.dtypes import floating
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    known_rank,
    minimum,
    mixed,
    operand,
    operands,
    result,
    unresolved,
)
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.jax.explicit.rules import linalg
from shardlint.inference.overlays.operations import Operation, library_table
from shardlint.laws.core.dims import equal


def _solved(call: Call, matrix: Value | None, b: Value | None) -> Value:
    """Return the solution of a system: like the right side, which is a vector or a matrix."""
    x, y = operands([matrix, b])
    first, second = known_rank(x), known_rank(y)
    if len(first) < 2 or not second:
        unresolved("operands without matrices")
    batch = len(first) == len(second) + 1 and equal(first[-1], second[-1])
    if batch is None:
        unresolved("a batch of vectors, or a matrix")
    dtype, _ = mixed(call, [x, y])
    return result(call, solution(first, second, vector=batch or len(second) == 1), floating(dtype, False))


def _solve_any(call: Call) -> Value:
    """`solve(a, b, assume_a=)`: a right side of matrices is no batch of vectors."""
    x, y = operands([call.argument(0, "a"), call.argument(1, "b")])
    if len(known_rank(y)) > 1 and len(known_rank(x)) != len(known_rank(y)):
        unresolved("batches")
    return _solved(call, x, y)


def _solve(call: Call) -> Value:
    """`solve_triangular(a, b)`."""
    return _solved(call, call.argument(0, "a"), call.argument(1, "b"))


def _solve_factored(call: Call) -> Value:
    """`cho_solve(c_and_lower, b)`, `lu_solve(lu_and_piv, b)`."""
    pair = as_items(call.argument(0, "c_and_lower" if call.name.endswith("cho_solve") else "lu_and_piv"))
    if pair is None or len(pair) != 2:
        unresolved("the factors are not known")
    return _solved(call, pair[0], call.argument(1, "b"))


def _square(call: Call) -> Value:
    """`cholesky(a)`, `inv(a)`, `expm(A)`: options change no shape."""
    a = call.argument(0, "A" if call.name.endswith("expm") else "a")
    return square_like(Call(call.interpreter, call.name, [] if a is None else [a], {}, call.place))


def _cho_factor(call: Call) -> Value:
    """`cho_factor(a, lower)`: the factor, and whether it is the lower one."""
    lower = call.argument(1, "lower")
    return Tuple((_square(call), Const(False) if lower is None else lower))


def _lu_factor(call: Call) -> Value:
    """`lu_factor(a)`: the factors in one matrix, and the pivots."""
    x = operand(call.argument(0, "a"))
    shape = known_rank(x)
    if len(shape) < 2:
        unresolved("an operand without matrices")
    pivots = (*shape[:-2], minimum(*shape[-2:]))
    return Tuple((result(call, shape, floating(x.dtype, False)), result(call, pivots, "int32")))


OPERATIONS: tuple[Operation, ...] = (
    Operation("cholesky", _square, sharding=linalg.scipy_cholesky, reads_values=True, gathered=matrices),
    Operation("inv", _square, sharding=linalg.inverse, reads_values=True, gathered=matrices),
    Operation("expm", _square, sharding=unclaimed, reads_values=True, gathered=matrices),
    Operation("det", determinant, sharding=linalg.determinant, reads_values=True, gathered=matrices),
    Operation("solve", _solve_any, sharding=linalg.solve, reads_values=True, gathered=matrices),
    Operation(
        "solve_triangular", _solve, sharding=linalg.solve_triangular, reads_values=True, gathered=matrices
    ),
    Operation("cho_solve", _solve_factored, sharding=linalg.solve_by_cholesky, reads_values=True),
    Operation("lu_solve", _solve_factored, sharding=linalg.solve_by_lu, reads_values=True),
    Operation("cho_factor", _cho_factor, sharding=linalg.scipy_cholesky, reads_values=True),
    Operation("lu_factor", _lu_factor, sharding=linalg.decomposed, reads_values=True, gathered=matrices),
)

TABLE: dict[str, Transfer] = library_table("jax.scipy.linalg.", OPERATIONS)
