"""`jax.numpy.linalg` and products of matrices with vectors, beside those that numpy shares (JAX 0.10.2)."""

from __future__ import annotations

from shardlint.inference.domain.values import Const, Tuple, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays import contractions, layout
from shardlint.inference.overlays.arrays.creation import diagonal
from shardlint.inference.overlays.arrays.dtypes import floating, is_inexact, real_part, summed
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    broadcast,
    dtype_argument,
    given,
    known_int,
    known_rank,
    minimum,
    mixed,
    operand,
    operands,
    reject,
    result,
    same_dim,
    truth,
    unresolved,
)
from shardlint.inference.overlays.arrays.reductions import reduced, spread
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.jax.explicit.rules import contractions as rules
from shardlint.inference.overlays.jax.explicit.rules import layout as layout_rules
from shardlint.inference.overlays.operations import Dependence, Operation
from shardlint.laws.core.dims import Shape, product

_LAST = (Const(-2), Const(-1))


def _outer(call: Call) -> Value:
    """`linalg.outer(x1, x2)` of vectors."""
    arrays = operands(call.bind("_x1", "_x2"))
    if any(len(known_rank(x)) != 1 for x in arrays):
        reject("operands that are no vectors")
    return contractions.outer(call)


def _matrices(value: Value | None) -> tuple[Shape, str | None]:
    """Return the shape and the dtype of an operand whose last two dimensions are those of matrices."""
    x = operand(value)
    shape = known_rank(x)
    if len(shape) < 2:
        reject("rank below 2")
    return shape, x.dtype


def _trace(call: Call) -> Value:
    """`linalg.trace(x, offset=, dtype=)`: of the matrices along the last two dimensions."""
    a, _, dtype = call.bind("_x", offset=None, dtype=None)
    shape, kind = _matrices(a)
    return result(call, shape[:-2], dtype_argument(dtype, summed(kind, False)))


def _diagonal(call: Call) -> Value:
    """`linalg.diagonal(x, offset=)`: of the matrices along the last two dimensions."""
    a, offset = call.bind("_x", offset=Const(0))
    return diagonal(
        Call(call.interpreter, call.name, [a or Const(None), offset or Const(0), *_LAST], {}, call.place)
    )


def _size(dtype: str | None, order: Value | None) -> str | None:
    """Return the dtype of a norm: of integers there are norms that are integers."""
    return spread(dtype, False) if is_inexact(dtype) or not given(order) else None


def _matrix_norm(call: Call) -> Value:
    """`linalg.matrix_norm(x, keepdims=, ord=)`."""
    a, keeps, order = call.bind("_x", keepdims=None, ord=None)
    shape, dtype = _matrices(a)
    return result(call, reduced(shape, Tuple(_LAST), truth(keeps, False)), _size(dtype, order))


def _vector_norm(call: Call) -> Value:
    """`linalg.vector_norm(x, axis=, keepdims=, ord=)`."""
    a, axis, keeps, order = call.bind("_x", axis=None, keepdims=None, ord=None)
    x = operand(a)
    return result(call, reduced(x.shape, axis, truth(keeps, False)), _size(x.dtype, order))


def _square(value: Value | None) -> tuple[Shape, str | None]:
    """Return the same of square matrices."""
    shape, dtype = _matrices(value)
    same_dim(shape[-2:])
    return shape, dtype


def _power(call: Call) -> Value:
    """`linalg.matrix_power(a, n)`."""
    a, n = call.bind("a", "n")
    shape, dtype = _square(a)
    times = known_int(n)
    return result(call, shape, floating(dtype, False) if times < 0 else dtype)


def _rank(call: Call) -> Value:
    """`linalg.matrix_rank(M)`: of each matrix."""
    a, *_ = call.bind("M", rtol=None, hermitian=None, tol=None)
    shape = known_rank(operand(a))
    if len(shape) < 2:
        unresolved("a vector")
    return result(call, shape[:-2], "int32")


def _condition(call: Call) -> Value:
    """`linalg.cond(x, p)`: of each matrix."""
    a, _ = call.bind("x", p=None)
    shape, dtype = _matrices(a)
    return result(call, shape[:-2], spread(dtype, False))


def _eigenvectors(call: Call) -> Value:
    """`linalg.eig(a)`: complex eigenvalues and eigenvectors."""
    (a,) = call.bind("a")
    shape, _ = _square(a)
    pair = (result(call, shape[:-1], "complex64"), result(call, shape, "complex64"))
    return Tuple(pair, fields=("eigenvalues", "eigenvectors"))


def _eigenvalues(call: Call) -> Value:
    """`linalg.eigvals(a)`: complex numbers."""
    (a,) = call.bind("a")
    shape, _ = _square(a)
    return result(call, shape[:-1], "complex64")


def _singular_values(call: Call) -> Value:
    """`linalg.svdvals(x)`."""
    (a,) = call.bind("_x")
    shape, dtype = _matrices(a)
    return result(call, (*shape[:-2], minimum(*shape[-2:])), spread(dtype, False))


def _inverted_tensor(call: Call) -> Value:
    """`linalg.tensorinv(a, ind)`: the dimensions behind ``ind`` first."""
    a, at = call.bind("a", ind=Const(2))
    x, first = operand(a), known_int(at)
    shape = known_rank(x)
    if first <= 0:
        reject("ind is not positive")
    same_dim((product(shape[:first]), product(shape[first:])))
    return result(call, (*shape[first:], *shape[:first]), floating(x.dtype, False))


def _least_squares(call: Call) -> Value:
    """`linalg.lstsq(a, b)`: the solution, of a column for each of b; residuals, rank and singular values."""
    a, b, _, as_numpy = call.bind("a", "b", rcond=None, numpy_resid=None)
    x, y = operands([a, b])
    first, second = known_rank(x), known_rank(y)
    if len(first) != 2 or not 1 <= len(second) <= 2:
        reject("a matrix, and a vector or a matrix")
    same_dim((first[0], second[0]))
    if truth(as_numpy, False):
        unresolved("residuals as numpy has them")
    dtype = floating(mixed(call, [x, y])[0], False)
    return Tuple(
        (
            result(call, (first[1], *second[1:]), dtype),
            result(call, second[1:] or (1,), real_part(dtype)),
            result(call, (), "int32"),
            result(call, (minimum(*first),), real_part(dtype)),
        )
    )


def _with_vectors(matrix_first: bool) -> Transfer:
    """Return `matvec(x1, x2)` or `vecmat(x1, x2)`."""

    def transfer(call: Call) -> Value:
        arrays = operands(call.bind("_x1", "_x2"))
        matrices, vectors = arrays if matrix_first else arrays[::-1]
        one, other = known_rank(matrices), known_rank(vectors)
        if len(one) < 2 or not other:
            reject("a matrix and a vector")
        same_dim((one[-1 if matrix_first else -2], other[-1]))
        batch = broadcast([one[:-2], other[:-1]]) or ()
        dtype, weak = mixed(call, arrays)
        return result(call, (*batch, one[-2 if matrix_first else -1]), dtype, weak)

    return transfer


OPERATIONS: tuple[Operation, ...] = (
    Operation("linalg.matmul", contractions.matmul, sharding=rules.matmul, reads_values=True),
    Operation("linalg.outer", _outer, sharding=rules.outer, reads_values=True),
    Operation("linalg.tensordot", contractions.tensordot, sharding=rules.tensordot, reads_values=True),
    Operation("linalg.vecdot", contractions.vecdot, sharding=unclaimed, reads_values=True),
    Operation("linalg.cross", contractions.cross, sharding=rules.cross, reads_values=True),
    Operation("matvec", _with_vectors(True), sharding=unclaimed, reads_values=True),
    Operation("vecmat", _with_vectors(False), sharding=unclaimed, reads_values=True),
    Operation("linalg.trace", _trace, sharding=unclaimed, reads_values=True),
    Operation("linalg.diagonal", _diagonal, sharding=unclaimed, reads_values=True),
    Operation(
        "linalg.matrix_transpose",
        layout.matrix_transpose,
        sharding=layout_rules.matrix_transpose,
        reads_values=True,
    ),
    Operation("linalg.matrix_norm", _matrix_norm, sharding=unclaimed, reads_values=True),
    Operation("linalg.vector_norm", _vector_norm, sharding=unclaimed, reads_values=True),
    Operation("linalg.matrix_power", _power, sharding=unclaimed, reads_values=False),
    Operation(
        "linalg.matrix_rank", _rank, sharding=unclaimed, reads_values=True, gathered=contractions.matrices
    ),
    Operation(
        "linalg.cond", _condition, sharding=unclaimed, reads_values=True, gathered=contractions.matrices
    ),
    Operation(
        "linalg.eig", _eigenvectors, sharding=unclaimed, reads_values=True, gathered=contractions.matrices
    ),
    Operation(
        "linalg.eigvals", _eigenvalues, sharding=unclaimed, reads_values=True, gathered=contractions.matrices
    ),
    Operation(
        "linalg.svdvals",
        _singular_values,
        sharding=unclaimed,
        reads_values=True,
        gathered=contractions.matrices,
    ),
    Operation("linalg.tensorinv", _inverted_tensor, sharding=unclaimed, reads_values=True),
    Operation(
        "linalg.lstsq",
        _least_squares,
        sharding=unclaimed,
        reads_values=True,
        depends_on=Dependence.PERHAPS_NONE,
    ),
)
