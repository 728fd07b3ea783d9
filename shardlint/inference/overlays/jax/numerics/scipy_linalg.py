"""`jax.scipy.linalg`: shapes and dtypes of results."""

from __future__ import annotations

from shardlint.inference.domain.values import Const, Tuple, Value, as_items
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.contractions import determinant, matrices, square_like
from shardlint.inference.overlays.arrays.dtypes import floating
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    known_rank,
    mixed,
    operands,
    result,
    same_dim,
    unresolved,
)
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.operations import Operation, library_table


def _solved(call: Call, matrix: Value | None, b: Value | None) -> Value:
    """Return the solution of a system: like the right side, which is a vector or a matrix."""
    x, y = operands([matrix, b])
    first, second = known_rank(x), known_rank(y)
    if len(first) != 2 or len(second) not in (1, 2):
        unresolved("batches")
    same_dim((*first, second[0]))
    dtype, _ = mixed(call, [x, y])
    return result(call, second, floating(dtype, False))


def _solve(call: Call) -> Value:
    """`solve(a, b)`, `solve_triangular(a, b)`."""
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


OPERATIONS: tuple[Operation, ...] = (
    Operation("cholesky inv expm", _square, sharding=unclaimed, reads_values=True, gathered=matrices),
    Operation("det", determinant, sharding=unclaimed, reads_values=True, gathered=matrices),
    Operation("solve solve_triangular", _solve, sharding=unclaimed, reads_values=True, gathered=matrices),
    Operation("cho_solve lu_solve", _solve_factored, sharding=unclaimed, reads_values=True),
    Operation("cho_factor", _cho_factor, sharding=unclaimed, reads_values=True),
)

TABLE: dict[str, Transfer] = library_table("jax.scipy.linalg.", OPERATIONS)
