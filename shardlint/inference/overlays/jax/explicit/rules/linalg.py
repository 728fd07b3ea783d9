"""Decompositions and systems of equations of batches of matrices: `jnp.linalg`, `jax.scipy.linalg`,
`jax.lax.linalg`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shardlint.inference.domain.values import Const, Value, as_items
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import given, truth
from shardlint.inference.overlays.jax.explicit.primitives import (
    Open,
    Refused,
    Trace,
    entries_of,
    rank,
    shape_of,
)
from shardlint.laws.core.array_types import ArrayType
from shardlint.laws.core.verdicts import Cause

#: The size of the largest matrices whose determinant JAX writes out.
_WRITTEN_OUT = {"det": 3, "slogdet": 2}


def decomposed(t: Trace, call: Call) -> Sequence[ArrayType]:
    """`qr(a)`, `svd(a)`, `lu_factor(a)`: one primitive."""
    if given(call.kwargs.get("hermitian")):
        raise Open
    return _parts(t, _matrices(t, call))


def symmetric(t: Trace, call: Call) -> Sequence[ArrayType]:
    """`eigh(a)`, `eigvalsh(a)`: the matrices are made symmetric before."""
    return _parts(t, _symmetrized(t, call, _matrices(t, call)))


def cholesky(t: Trace, call: Call) -> ArrayType:
    """`jnp.linalg.cholesky(a)`, `lax.linalg.cholesky(x)`."""
    return _lower_factor(t, _symmetrized(t, call, _matrices(t, call)))


def scipy_cholesky(t: Trace, call: Call) -> ArrayType:
    """`jax.scipy.linalg.cholesky(a)`, `cho_factor(a)`: nothing is made symmetric."""
    return _lower_factor(t, _matrices(t, call))


def determinant(t: Trace, call: Call) -> Sequence[ArrayType]:
    """`det(a)`, `slogdet(a)`: those of small matrices are written out."""
    x = _matrices(t, call)
    *batch, _, n = shape_of(x)
    if not isinstance(n, int):
        raise Open
    if n > _WRITTEN_OUT[call.name.rpartition(".")[2]]:
        return _parts(t, x)
    element = t.squeeze(t.slice(x, (*batch, 1, 1)), (rank(x) - 2, rank(x) - 1))
    return [t.nary(element, element)] * len(t.results)


def pseudo_inverse(t: Trace, call: Call) -> Sequence[ArrayType]:
    """`jnp.linalg.pinv(a)`."""
    x = _matrices(t, call)
    if len(call.args) > 1 or call.kwargs.keys() - {"a"} or any(t.same(size, 0) for size in shape_of(x)):
        raise Open
    return _parts(t, x)


def inverse(t: Trace, call: Call) -> ArrayType:
    """`jnp.linalg.inv(a)`: solves for the identity, which is whole."""
    x = _matrices(t, call)
    one = t.iota(shape_of(x)[-2:])
    return _solved(t, x, t.broadcast_in_dim(one, shape_of(x), (rank(x) - 2, rank(x) - 1)))


def solve(t: Trace, call: Call) -> ArrayType:
    """`jnp.linalg.solve(a, b)`, `jax.scipy.linalg.solve(a, b, assume_a=)`."""
    a, b = _operands(t, call)
    kind = call.argument(7, "assume_a")
    if not given(kind):
        return _solved(t, a, b)
    if not isinstance(kind, Const):
        raise Open
    if kind.value != "pos":
        return _solved(t, a, b)
    factor = _lower_factor(t, a)
    if rank(a) > 2:
        raise Open
    return _by_factor(t, factor, b, lower=True)


def solve_triangular(t: Trace, call: Call) -> ArrayType:
    """`jax.scipy.linalg.solve_triangular(a, b, trans=)`."""
    a, b = _operands(t, call)
    trans = call.argument(2, "trans")
    if trans is not None and not isinstance(trans, Const):
        raise Open
    return _by_triangle(t, a, b, transpose=trans is not None and trans.value not in (0, "N"))


def solve_by_cholesky(t: Trace, call: Call) -> ArrayType:
    """`jax.scipy.linalg.cho_solve((c, lower), b)`."""
    pair = as_items(call.argument(0, "c_and_lower"))
    if pair is None or len(pair) != 2:
        raise Open
    return _by_factor(t, t.operand(pair[0]), t.operand(call.argument(1, "b")), truth(pair[1], False))


def solve_by_lu(t: Trace, call: Call) -> ArrayType:
    """`jax.scipy.linalg.lu_solve((lu, pivots), b)`."""
    pair = as_items(call.argument(0, "lu_and_piv"))
    if pair is None or len(pair) != 2 or given(call.argument(2, "trans")):
        raise Open
    lu, pivots, b = t.operand(pair[0]), t.operand(pair[1]), t.operand(call.argument(1, "b"))
    if entries_of(pivots) != (*entries_of(lu)[:-2], None):
        raise Open
    _check_mapped(t, lu, b, _is_vector(t, lu, b))
    _check_rows(t, lu, b)
    return _by_triangle(t, lu, _by_triangle(t, lu, b, transpose=False), transpose=False)


def triangular_solve(t: Trace, call: Call) -> ArrayType:
    """`lax.linalg.triangular_solve(a, b, left_side=, transpose_a=)`."""
    a, b = _operands(t, call)
    left = truth(call.kwargs.get("left_side"), False)
    transpose = truth(call.kwargs.get("transpose_a"), False)
    if rank(a) == rank(b):
        return t.triangular_solve(a, b, transpose=transpose, left=left)
    if rank(b) != rank(a) - 1:
        raise Open
    place = rank(b) if left else rank(b) - 1
    columns = t.expand_dims(b, (place,))
    return t.squeeze(t.triangular_solve(a, columns, transpose=transpose, left=left), (place,))


def _matrices(t: Trace, call: Call) -> ArrayType:
    """Return the first operand, whatever its parameter is called."""
    named = [value for name in ("a", "x", "A") if (value := call.argument(0, name)) is not None]
    x = t.operand(named[0] if named else None)
    if rank(x) < 2:
        raise Open
    return x


def _operands(t: Trace, call: Call) -> tuple[ArrayType, ArrayType]:
    a, b = t.operand(call.argument(0, "a")), t.operand(call.argument(1, "b"))
    if rank(a) < 2 or not rank(b):
        raise Open
    return a, b


def _parts(t: Trace, x: ArrayType) -> list[ArrayType]:
    """Return the types of the parts that one primitive takes matrices apart into."""
    shapes = [array.shape for array in t.results]
    return [t.linalg(x, shape) for shape in shapes if shape is not None]


def _symmetrized(t: Trace, call: Call, x: ArrayType) -> ArrayType:
    """`linalg.symmetrize`."""
    option: Value | None = call.kwargs.get("symmetrize_input")
    if not truth(option, True):
        return x
    order = (*range(rank(x) - 2), rank(x) - 1, rank(x) - 2)
    return t.nary(x, t.transpose(x, order))


def _lower_factor(t: Trace, x: ArrayType) -> ArrayType:
    """`linalg.cholesky`: the upper half is set to zero by a mask, which is whole along batches, too."""
    shape, matrix = shape_of(x), (rank(x) - 2, rank(x) - 1)
    factor, mask = t.linalg(x, shape), t.iota(shape[-2:])
    if rank(x) == 2:
        return t.select(mask, factor, factor)
    try:
        return t.select(t.broadcast_in_dim(mask, shape, matrix), factor, factor)
    except Refused as refused:
        # Each matrix is factored alone: only the mask is in the way.
        raise Refused(replace(refused.verdict, detail="batches that are not sharded")) from None


def _solved(t: Trace, a: ArrayType, b: ArrayType) -> ArrayType:
    """`linalg._solve`, for each matrix of a batch: decomposes, and permutes the rows of the right side."""
    _check_mapped(t, a, b, vector=rank(b) == 1)
    t.linalg(a, shape_of(a))
    _check_rows(t, a, b)
    return b if b.sharding is not None and b.sharding.mesh is not None else t.convert(b)


def _check_rows(t: Trace, a: ArrayType, b: ArrayType) -> None:
    """Refuse a right side whose rows are sharded: the permutation is a gather."""
    place = rank(a) - 2
    if entries_of(b)[place] is not None:
        raise t.refusal(Cause.AMBIGUOUS, "ShardingTypeError", "a right side with rows that are whole", place)


def _by_factor(t: Trace, factor: ArrayType, b: ArrayType, lower: bool) -> ArrayType:
    """`scipy.linalg._cho_solve`."""
    return _by_triangle(t, factor, _by_triangle(t, factor, b, transpose=not lower), transpose=lower)


def _by_triangle(t: Trace, a: ArrayType, b: ArrayType, *, transpose: bool) -> ArrayType:
    """`lax.linalg.triangular_solve` from the left, vectorized over batches."""
    vector = _is_vector(t, a, b)
    _check_mapped(t, a, b, vector)
    if not vector:
        return t.triangular_solve(a, b, transpose=transpose)
    columns = t.expand_dims(b, (rank(b),))
    return t.squeeze(t.triangular_solve(a, columns, transpose=transpose), (rank(b),))


def _is_vector(t: Trace, a: ArrayType, b: ArrayType) -> bool:
    """Return whether the right side of `jax.scipy.linalg` is a vector, or a batch of vectors."""
    return rank(b) == 1 or (rank(a) == rank(b) + 1 and t.same(shape_of(a)[-1], shape_of(b)[-1]))


def _check_mapped(t: Trace, a: ArrayType, b: ArrayType, vector: bool) -> None:
    """Refuse batches that are sharded differently: `jnp.vectorize` maps over both."""
    width = rank(a) - 2
    if rank(b) != width + (1 if vector else 2):
        raise Open
    for one, other in zip(shape_of(a)[:width], shape_of(b)[:width], strict=True):
        if not t.same(one, other) or t.same(one, 1):
            raise Open
    for i in range(width):
        if entries_of(a)[i] != entries_of(b)[i]:
            raise t.refusal(Cause.CONFLICT, "ValueError", "batches that lie along the same axes", i)
