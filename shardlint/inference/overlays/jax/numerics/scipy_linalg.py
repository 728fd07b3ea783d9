"""`jax.scipy.linalg`: shapes and dtypes of results."""

from __future__ import annotations

from shardlint.inference.domain.values import Const, Tuple, Value, as_items, as_str, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.contractions import determinant, matrices, solution, square_like, svd
from shardlint.inference.overlays.arrays.dtypes import floating, real_part
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    known_rank,
    minimum,
    mixed,
    operand,
    operands,
    reject,
    result,
    same_dim,
    size_of,
    truth,
    unresolved,
)
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.jax.explicit.rules import linalg
from shardlint.inference.overlays.operations import Operation, library_table
from shardlint.laws.core.dims import Dim, equal


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


def _block_diagonal(call: Call) -> Value:
    """`block_diag(*arrs)`: a matrix with the arrays, as matrices, along its diagonal."""
    if call.opaque or call.kwargs:
        unresolved("the arguments are not known")
    arrays = operands(call.args)
    if not arrays:
        return result(call, (1, 0), "float32")
    rows: Dim = 0
    columns: Dim = 0
    for x in arrays:
        shape = known_rank(x)
        if len(shape) > 2:
            reject("rank above 2")
        height, width = (1,) * (2 - len(shape)) + shape
        rows, columns = rows + height, columns + width
    dtype, weak = mixed(call, arrays)
    return result(call, (rows, columns), None if weak else dtype)


def _toeplitz(call: Call) -> Value:
    """`toeplitz(c, r)`: a row for each element of the column, as long as the row."""
    column, row = call.bind("c", r=None)
    arrays = operands([column] if row is None or is_none(row) else [column, row])
    shapes = [known_rank(x) for x in arrays]
    if any(len(shape) != 1 for shape in shapes):
        unresolved("batches")
    dtype, weak = mixed(call, arrays)
    return result(call, (shapes[0][0], shapes[-1][0]), None if weak else dtype)


def _of_size(dtype: str) -> Transfer:
    """Return `hilbert(n)` or one of its relatives: a square matrix."""

    def transfer(call: Call) -> Value:
        n, scale, kind = call.bind("n", scale=None, dtype=None)
        if scale is not None or kind is not None:
            unresolved("options")
        size = size_of(n)
        return result(call, (size, size), dtype)

    return transfer


def _svd(call: Call) -> Value:
    """`svd(a, full_matrices, compute_uv)`: a plain tuple of what `jnp.linalg.svd` returns."""
    a, full, vectors, *_ = call.bind(
        "a", full_matrices=None, compute_uv=None, overwrite_a=None, check_finite=None, lapack_driver=None
    )
    found = svd(
        Call(
            call.interpreter,
            call.name,
            [a or Const(None), full or Const(True), vectors or Const(True)],
            {},
            call.place,
        )
    )
    return Tuple(found.items) if isinstance(found, Tuple) else found


def _eigh(call: Call) -> Value:
    """`eigh(a, lower=, eigvals_only=)`: eigenvalues, and eigenvectors behind them."""
    if call.kwargs.keys() - {"a", "lower", "eigvals_only", "check_finite"} or len(call.args) > 1:
        unresolved("options")
    x = operand(call.argument(0, "a"))
    shape = known_rank(x)
    if len(shape) < 2:
        unresolved("an operand without matrices")
    same_dim(shape[-2:])
    dtype = floating(x.dtype, False)
    values = result(call, shape[:-1], real_part(dtype))
    if truth(call.kwargs.get("eigvals_only"), False):
        return values
    return Tuple((values, result(call, shape, dtype)))


def _qr(call: Call) -> Value:
    """`qr(a, mode="full")`: orthogonal and upper triangular matrices, or the latter alone."""
    if call.kwargs.keys() - {"a", "mode"} or len(call.args) > 1:
        unresolved("options")
    x, how = operand(call.argument(0, "a")), as_str(call.kwargs.get("mode", Const("full")))
    shape = known_rank(x)
    if len(shape) < 2 or how not in ("full", "economic", "r"):
        unresolved("an operand without matrices, or a mode")
    *batch, m, n = shape
    inside = minimum(m, n) if how == "economic" else m
    dtype = floating(x.dtype, False)
    upper = result(call, (*batch, inside, n), dtype)
    return Tuple((upper,)) if how == "r" else Tuple((result(call, (*batch, m, inside), dtype), upper))


def _lu(call: Call) -> Value:
    """`lu(a, permute_l=False)`: a permutation, and triangular matrices."""
    if call.kwargs.keys() - {"a"} or len(call.args) > 1:
        unresolved("options")
    x = operand(call.argument(0, "a"))
    shape = known_rank(x)
    if len(shape) < 2:
        unresolved("an operand without matrices")
    *batch, m, n = shape
    inside, dtype = minimum(m, n), floating(x.dtype, False)
    sizes = ((m, m), (m, inside), (inside, n))
    kinds = (real_part(dtype), dtype, dtype)
    return Tuple(tuple(result(call, (*batch, *size), kind) for size, kind in zip(sizes, kinds, strict=True)))


def _root(call: Call) -> Value:
    """`sqrtm(A)`: a complex matrix."""
    (a,) = call.bind("A")
    shape = known_rank(operand(a))
    if len(shape) != 2:
        unresolved("an operand that is no matrix")
    same_dim(shape)
    return result(call, shape, "complex64")


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
    Operation("block_diag", _block_diagonal, sharding=unclaimed, reads_values=True),
    Operation("toeplitz", _toeplitz, sharding=unclaimed, reads_values=False),
    Operation("hilbert", _of_size("float32"), sharding=unclaimed, reads_values=False),
    Operation("hadamard", _of_size("int32"), sharding=unclaimed, reads_values=False),
    Operation("dft", _of_size("complex64"), sharding=unclaimed, reads_values=False),
    Operation("svd", _svd, sharding=linalg.decomposed, reads_values=True, gathered=matrices),
    Operation("eigh", _eigh, sharding=unclaimed, reads_values=True, gathered=matrices),
    Operation("qr", _qr, sharding=unclaimed, reads_values=True, gathered=matrices),
    Operation("lu", _lu, sharding=unclaimed, reads_values=True, gathered=matrices),
    Operation("sqrtm", _root, sharding=unclaimed, reads_values=True),
    Operation("lu_factor", _lu_factor, sharding=linalg.decomposed, reads_values=True, gathered=matrices),
)

TABLE: dict[str, Transfer] = library_table("jax.scipy.linalg.", OPERATIONS)
