"""Contractions: matmul, dot, tensordot, einsum, and the linear algebra of square matrices."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.domain.values import Array, Const, Tuple, Value, as_int, as_items, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import floating, real_part
from shardlint.inference.overlays.arrays.operands import (
    axes_of,
    broadcast,
    broadcast_dim,
    dtype_argument,
    given,
    is_numpy,
    known_int,
    known_rank,
    maximum,
    minimum,
    mixed,
    operand,
    operands,
    reject,
    result,
    same_dim,
    sequence,
    truth,
    unresolved,
)  # fmt: skip
from shardlint.inference.overlays.jax.explicit.rules import contractions as contraction_rules
from shardlint.inference.overlays.jax.explicit.rules import einsum as einsum_rules
from shardlint.inference.overlays.jax.explicit.rules import linalg as linalg_rules
from shardlint.inference.overlays.operations import MISSING, Operation
from shardlint.laws.core.dims import Dim, Shape, fresh, product

#: Parameters that every contraction of JAX accepts.
_CONTRACTION: dict[str, Value | None] = {
    "precision": None, "preferred_element_type": None, "out_sharding": None,
}  # fmt: skip


def contracted(call: Call, arrays: Sequence[Array], shape: Shape | None, preferred: Value | None) -> Array:
    """Return the result of a contraction, of the promoted dtype unless another one is preferred."""
    dtype, weak = mixed(call, arrays)
    if given(preferred):
        return result(call, shape, dtype_argument(preferred, None))
    return result(call, shape, dtype, weak)


def matmul_shape(a: Shape | None, b: Shape | None) -> Shape | None:
    """Return the shape of ``a @ b``. Rejects scalars and contracted sizes that provably differ."""
    if a == () or b == ():
        reject("a scalar operand")
    if a is None or b is None:
        return None
    rows = a if len(a) > 1 else (1, *a)
    columns = b if len(b) > 1 else (*b, 1)
    same_dim((rows[-1], columns[-2]))
    batch = broadcast([rows[:-2], columns[:-2]]) or ()
    return (*batch, *(a[-2:-1]), *(b[-1:] if len(b) > 1 else ()))


def matmul(call: Call) -> Value:
    """`matmul(a, b)`, ``a @ b``."""
    a, b, _, preferred, *_ = call.bind("a", "b", **_CONTRACTION)
    x, y = operands([a, b], is_numpy(call))
    return contracted(call, [x, y], matmul_shape(x.shape, y.shape), preferred)


def dot(call: Call) -> Value:
    """`dot(a, b)`: contracts the last axis of a with the last but one of b; a scalar operand multiplies."""
    a, b, _, preferred, *_ = call.bind("a", "b", **_CONTRACTION)
    x, y = operands([a, b], is_numpy(call))
    shape: Shape | None
    if x.shape is None or y.shape is None:
        shape = None
    elif not x.shape or not y.shape:
        shape = x.shape or y.shape
    else:
        at = max(len(y.shape) - 2, 0)
        same_dim((x.shape[-1], y.shape[at]))
        shape = (*x.shape[:-1], *y.shape[:at], *y.shape[at + 1 :])
    return contracted(call, [x, y], shape, preferred)


def vdot(call: Call) -> Value:
    """`vdot(a, b)`: flattens both operands."""
    a, b, _, preferred, *_ = call.bind("a", "b", **_CONTRACTION)
    x, y = operands([a, b], is_numpy(call))
    if x.shape is not None and y.shape is not None:
        same_dim((product(x.shape), product(y.shape)))
    return contracted(call, [x, y], (), preferred)


def inner(call: Call) -> Value:
    """`inner(a, b)`: contracts the last axes."""
    a, b, _, preferred, *_ = call.bind("a", "b", **_CONTRACTION)
    x, y = operands([a, b], is_numpy(call))
    shape: Shape | None
    if x.shape is None or y.shape is None:
        shape = None
    elif not x.shape or not y.shape:
        shape = x.shape or y.shape
    else:
        same_dim((x.shape[-1], y.shape[-1]))
        shape = (*x.shape[:-1], *y.shape[:-1])
    return contracted(call, [x, y], shape, preferred)


def outer(call: Call) -> Value:
    """`outer(a, b)`: flattens both operands."""
    a, b, _ = call.bind("a", "b", out=None)
    x, y = operands([a, b], is_numpy(call))
    dtype, weak = mixed(call, [x, y])
    if x.shape is None or y.shape is None:
        unresolved("a rank is not known")
    return result(call, (product(x.shape), product(y.shape)), dtype, weak)


def kron(call: Call) -> Value:
    """`kron(a, b)`: multiplies sizes, aligned at the last axis."""
    a, b = call.bind("a", "b")
    x, y = operands([a, b], is_numpy(call))
    dtype, weak = mixed(call, [x, y])
    first, second = known_rank(x), known_rank(y)
    rank = max(len(first), len(second))
    first, second = (1,) * (rank - len(first)) + first, (1,) * (rank - len(second)) + second
    return result(call, tuple(m * n for m, n in zip(first, second, strict=True)), dtype, weak)


def vecdot(call: Call) -> Value:
    """`vecdot(x1, x2, axis)`."""
    a, b, axis, _, preferred = call.bind(
        "x1", "x2", axis=Const(-1), precision=None, preferred_element_type=None
    )
    x, y = operands([a, b], is_numpy(call))
    first, second = known_rank(x), known_rank(y)
    if known_int(axis) != -1:
        unresolved("an axis other than the last")
    if not first or not second:
        reject("a scalar operand")
    same_dim((first[-1], second[-1]))
    return contracted(call, [x, y], broadcast([first[:-1], second[:-1]]), preferred)


def tensordot(call: Call) -> Value:
    """`tensordot(a, b, axes)`: axes are a number, or one list for each operand."""
    a, b, axes, _, preferred, _ = call.bind("a", "b", axes=Const(2), **_CONTRACTION)
    x, y = operands([a, b], is_numpy(call))
    first, second = known_rank(x), known_rank(y)
    if (count := as_int(axes)) is not None:
        if count > min(len(first), len(second)):
            reject("more axes than an operand has")
        left, right = tuple(range(len(first) - count, len(first))), tuple(range(count))
    else:
        pair = as_items(axes)
        if pair is None or len(pair) != 2:
            unresolved("the axes are not known")
        left, right = axes_of(pair[0], len(first)), axes_of(pair[1], len(second))
    if len(left) != len(right):
        reject("as many axes of one operand as of the other")
    for i, j in zip(left, right, strict=True):
        same_dim((first[i], second[j]))
    rest = [dim for i, dim in enumerate(first) if i not in left]
    rest += [dim for j, dim in enumerate(second) if j not in right]
    return contracted(call, [x, y], tuple(rest), preferred)


def einsum(call: Call) -> Value:
    """`einsum(subscripts, *operands)`."""
    if call.opaque or not call.args:
        unresolved("the subscripts are not known")
    subscripts = as_str(call.args[0])
    if subscripts is None:
        unresolved("the subscripts are not known")
    arrays = operands(call.args[1:], is_numpy(call))
    shape = einsum_shape(subscripts, [x.shape for x in arrays])
    for position, (term, x) in enumerate(zip(_terms(subscripts), arrays, strict=True), 1):
        if x.shape is None and "." not in term and not is_numpy(call):
            call.learn(position, "", tuple(fresh() for _ in term))
    return contracted(call, arrays, shape, call.kwargs.get("preferred_element_type"))


def einsum_shape(subscripts: str, shapes: Sequence[Shape | None]) -> Shape | None:
    """Return the shape of an einsum. A letter of an operand of unknown shape has a fresh size, unless another
    operand determines it.

    Rejects subscripts that do not fit the ranks, and a letter with two sizes.
    """
    terms, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = _terms(subscripts)
    if len(inputs) != len(shapes):
        reject("one term an operand")
    sizes: dict[str, Dim] = {}
    ellipses: list[Shape] = []
    vague: set[str] = set()
    for term, shape in zip(inputs, shapes, strict=True):
        if shape is None:
            vague.update(term)
            continue
        letters, ellipsis = _match(term, shape)
        if ellipsis is not None:
            ellipses.append(ellipsis)
        own = dict(letters)
        for letter, dim in letters:
            sizes[letter] = broadcast_dim(sizes[letter], dim) if letter in sizes else dim
        for letter in [letter for letter, dim in letters if dim != own[letter]]:
            # The size of a diagonal of a non-square matrix is left to JAX.
            sizes[letter] = fresh()
    if vague and "..." in terms and ("..." in output or not arrow):
        return None
    for letter in vague & sizes.keys():
        # A size of 1 broadcasts, so an unknown size takes precedence.
        if not isinstance(sizes[letter], int) or sizes[letter] == 1:
            sizes[letter] = fresh()
    batch = broadcast(ellipses) or ()
    if not arrow:
        plain = terms.replace("...", "").replace(",", "")
        output = "..." * ("..." in terms) + "".join(sorted(c for c in set(plain) if plain.count(c) == 1))
    return _output(output, sizes, batch, terms)


def _terms(subscripts: str) -> list[str]:
    """Return the letters of each operand."""
    return subscripts.replace(" ", "").partition("->")[0].split(",")


def _match(term: str, shape: Shape) -> tuple[list[tuple[str, Dim]], Shape | None]:
    """Return a term's letters with their sizes, and the dimensions that its ellipsis covers."""
    before, dots, after = term.partition("...")
    if len(before) + len(after) != len(shape) and not (dots and len(before) + len(after) < len(shape)):
        reject(f"{term!r} for an operand of rank {len(shape)}")
    tail = len(shape) - len(after)
    letters = [*zip(before, shape, strict=False), *zip(after, shape[tail:], strict=True)]
    return letters, shape[len(before) : tail] if dots else None


def _output(output: str, sizes: dict[str, Dim], batch: Shape, terms: str) -> Shape:
    dims: list[Dim] = []
    before, dots, after = output.partition("...")
    for part in (before, dots, after):
        if part == "...":
            dims.extend(batch)
            continue
        for letter in part:
            if letter not in terms:
                reject(f"{letter!r} is in no operand")
            dims.append(sizes.get(letter, fresh()))
    if len(set(before + after)) != len(before + after):
        reject("a letter is repeated in the output")
    return tuple(dims)


def multi_dot(call: Call) -> Value:
    """`linalg.multi_dot(arrays)`."""
    values, _ = call.bind("arrays", precision=None)
    arrays = sequence(values, is_numpy(call))
    if len(arrays) < 2:
        reject("fewer than two operands")
    shape = arrays[0].shape
    for x in arrays[1:]:
        shape = matmul_shape(shape, x.shape)
    return contracted(call, arrays, shape, None)


def _square(call: Call) -> tuple[Array, Shape]:
    x = operand(call.args[0] if call.args else call.kwargs.get("a"), is_numpy(call))
    shape = known_rank(x)
    if len(shape) < 2:
        reject("rank below 2")
    same_dim(shape[-2:])
    return x, shape


def matrices(call: Call, array: Array, split: frozenset[int]) -> frozenset[int]:
    """Return the dimensions of matrices that are split: LAPACK, or what stands for it, takes them whole."""
    rank = len(known_rank(array))
    return split & {rank - 2, rank - 1}


def square_like(call: Call) -> Value:
    """`linalg.inv(a)`, `cholesky(a)`: a square matrix, of the operand's shape."""
    x, shape = _square(call)
    return result(call, shape, floating(x.dtype, is_numpy(call)))


def determinant(call: Call) -> Value:
    """`linalg.det(a)`."""
    x, shape = _square(call)
    return result(call, shape[:-2], floating(x.dtype, is_numpy(call)))


def eigh(call: Call) -> Value:
    """`linalg.eigh(a)`: eigenvalues and eigenvectors."""
    x, shape = _square(call)
    dtype = floating(x.dtype, is_numpy(call))
    pair = (result(call, shape[:-1], real_part(dtype)), result(call, shape, dtype))
    return Tuple(pair, fields=("eigenvalues", "eigenvectors"))


def eigenvalues(call: Call) -> Value:
    """`linalg.eigvalsh(a)`."""
    x, shape = _square(call)
    return result(call, shape[:-1], real_part(floating(x.dtype, is_numpy(call))))


def log_determinant(call: Call) -> Value:
    """`linalg.slogdet(a)`: the sign, and the logarithm of the absolute value."""
    x, shape = _square(call)
    dtype = floating(x.dtype, is_numpy(call))
    pair = (result(call, shape[:-2], dtype), result(call, shape[:-2], real_part(dtype)))
    return Tuple(pair, fields=("sign", "logabsdet"))


def pseudo_inverse(call: Call) -> Value:
    """`linalg.pinv(a, rtol, hermitian)`."""
    x = operand(call.args[0] if call.args else call.kwargs.get("a"), is_numpy(call))
    shape = known_rank(x)
    if len(shape) < 2:
        reject("rank below 2")
    return result(call, (*shape[:-2], shape[-1], shape[-2]), floating(x.dtype, is_numpy(call)))


def solve(call: Call) -> Value:
    """`linalg.solve(a, b)`: a result of the shape of b, which is a vector only if its rank is 1."""
    a, b = call.bind("a", "b")
    x, y = operands([a, b], is_numpy(call))
    shape = solution(known_rank(x), known_rank(y), vector=len(known_rank(y)) == 1)
    dtype, _ = mixed(call, [x, y])
    return result(call, shape, floating(dtype, is_numpy(call)))


def solution(a: Shape, b: Shape, *, vector: bool) -> Shape:
    """Return the shape of the solution of systems of equations, whose right sides are vectors or matrices."""
    own = 1 if vector else 2
    if len(a) < 2 or len(b) < own:
        unresolved("operands without matrices")
    same_dim((*a[-2:], b[-own]))
    return (*(broadcast([a[:-2], b[:-own]]) or ()), *b[-own:])


def qr(call: Call) -> Value:
    """`linalg.qr(a, mode)`."""
    a, mode = call.bind("a", mode=Const("reduced"))
    x = operand(a, is_numpy(call))
    shape, how = known_rank(x), as_str(mode)
    if len(shape) < 2:
        reject("rank below 2")
    if how not in ("reduced", "complete", "r"):
        unresolved("the mode")
    *batch, m, n = shape
    inside = m if how == "complete" else minimum(m, n)
    dtype = floating(x.dtype, is_numpy(call))
    if how == "r":
        return result(call, (*batch, inside, n), dtype)
    pair = (result(call, (*batch, m, inside), dtype), result(call, (*batch, inside, n), dtype))
    return Tuple(pair, fields=("Q", "R"))


def svd(call: Call) -> Value:
    """`linalg.svd(a, full_matrices, compute_uv)`."""
    a, full, vectors, *_ = call.bind("a", full_matrices=None, compute_uv=None, hermitian=None)
    x = operand(a, is_numpy(call))
    shape = known_rank(x)
    if len(shape) < 2:
        reject("rank below 2")
    *batch, m, n = shape
    least, dtype = minimum(m, n), floating(x.dtype, is_numpy(call))
    values = result(call, (*batch, least), real_part(dtype))
    if not truth(vectors, True):
        return values
    left, right = ((m, m), (n, n)) if truth(full, True) else ((m, least), (least, n))
    parts = (result(call, (*batch, *left), dtype), values, result(call, (*batch, *right), dtype))
    return Tuple(parts, fields=("U", "S", "Vh"))


def cross(call: Call) -> Value:
    """`cross(a, b)` of three-vectors along the last axis."""
    a, b = call.bind("a", "b")
    x, y = operands([a, b], is_numpy(call))
    first, second = known_rank(x), known_rank(y)
    if not first or not second or first[-1] != 3 or second[-1] != 3:
        unresolved("vectors that are not known to have three components")
    dtype, _ = mixed(call, [x, y])
    return result(call, broadcast([first, second]), dtype)


def convolve(call: Call) -> Value:
    """`convolve(a, v, mode)` of vectors."""
    a, v, mode, *_ = call.bind("a", "v", mode=Const("full"), precision=None, preferred_element_type=None)
    x, y = operands([a, v], is_numpy(call))
    first, second = known_rank(x), known_rank(y)
    if len(first) != 1 or len(second) != 1:
        unresolved("operands that are not vectors")
    long, short = maximum(first[0], second[0]), minimum(first[0], second[0])
    sizes = {"full": first[0] + second[0] - 1, "same": long, "valid": long - short + 1}
    how = as_str(mode)
    if how not in sizes:
        unresolved("the mode")
    dtype, weak = mixed(call, [x, y])
    return result(call, (sizes[how],), dtype if is_numpy(call) else floating(dtype, False), weak)


#: Shared by `jax.numpy` and `numpy`.
OPERATIONS: tuple[Operation, ...] = (
    Operation("matmul", matmul, sharding=contraction_rules.matmul, reads_values=True),
    Operation("dot", dot, sharding=contraction_rules.dot, reads_values=True, methods="dot"),
    Operation("vdot", vdot, sharding=contraction_rules.vdot, reads_values=True),
    Operation("inner", inner, sharding=contraction_rules.inner, reads_values=True),
    Operation("outer", outer, sharding=contraction_rules.outer, reads_values=True),
    Operation("kron", kron, sharding=contraction_rules.kron, reads_values=True),
    Operation("vecdot", vecdot, sharding=MISSING, reads_values=True),
    Operation("tensordot", tensordot, sharding=contraction_rules.tensordot, reads_values=True),
    Operation("einsum", einsum, sharding=einsum_rules.einsum, reads_values=True),
    Operation("cross", cross, sharding=contraction_rules.cross, reads_values=True),
    Operation("convolve", convolve, sharding=MISSING, reads_values=True),
    Operation("linalg.multi_dot", multi_dot, sharding=contraction_rules.multi_dot, reads_values=True),
    Operation("linalg.inv", square_like, sharding=linalg_rules.inverse, reads_values=True, gathered=matrices),
    Operation(
        "linalg.cholesky", square_like, sharding=linalg_rules.cholesky, reads_values=True, gathered=matrices
    ),
    Operation(
        "linalg.det", determinant, sharding=linalg_rules.determinant, reads_values=True, gathered=matrices
    ),
    Operation(
        "linalg.slogdet",
        log_determinant,
        sharding=linalg_rules.determinant,
        reads_values=True,
        gathered=matrices,
    ),
    Operation("linalg.eigh", eigh, sharding=linalg_rules.symmetric, reads_values=True, gathered=matrices),
    Operation(
        "linalg.eigvalsh", eigenvalues, sharding=linalg_rules.symmetric, reads_values=True, gathered=matrices
    ),
    Operation(
        "linalg.pinv",
        pseudo_inverse,
        sharding=linalg_rules.pseudo_inverse,
        reads_values=True,
        gathered=matrices,
    ),
    Operation("linalg.solve", solve, sharding=linalg_rules.solve, reads_values=True, gathered=matrices),
    Operation("linalg.qr", qr, sharding=linalg_rules.decomposed, reads_values=True, gathered=matrices),
    Operation("linalg.svd", svd, sharding=linalg_rules.decomposed, reads_values=True, gathered=matrices),
)
