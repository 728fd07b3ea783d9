"""Random calls of `jax.scipy.linalg`, `jax.ops` and `jax.image`."""

from __future__ import annotations

from dataclasses import replace

from cases_lax import one
from cases_products import matrix, pair, solve, square
from overlay_harness import Case, Draw, Generator, dims

from shardlint.inference.domain.values import Array, Const, Tuple, integer


def factored(d: Draw) -> Case:
    """A factor, with whether it is the lower one, and a right side."""
    (a, b), kwargs = solve(d)
    return [Tuple((a, Const(True))), b], kwargs


def pivoted(d: Draw) -> Case:
    """A factor with its pivots, and a right side."""
    (a, b), kwargs = solve(d)
    assert isinstance(a, Array) and a.shape is not None
    return [Tuple((a, Array(a.shape[:-1], "int32"))), b], kwargs


def blocks(d: Draw) -> Case:
    return [d.array(d.shape(0, 2)) for _ in range(d.between(1, 3))], {}


def toeplitz(d: Draw) -> Case:
    column = d.array((d.dim(),))
    return [column, d.array((d.dim(),))] if d.chance(0.6) else [column], {}


def size(d: Draw) -> Case:
    return [Const(d.pick(1, 2, 4))], {}


def tall(d: Draw) -> Case:
    n = d.dim()
    x = Array((*d.shape(0, 1), n + d.dim(0), n), "float32")
    return [x], d.maybe(full_matrices=lambda: Const(False), compute_uv=lambda: Const(d.chance(0.5)))


def eigh(d: Draw) -> Case:
    args, _ = square(d)
    return args, d.maybe(eigvals_only=lambda: Const(d.chance(0.5)))


def qr(d: Draw) -> Case:
    args, _ = matrix()(d)
    return args, d.maybe(mode=lambda: Const(d.pick("full", "economic", "r")))


LINALG: dict[str, Generator] = {
    **dict.fromkeys(("cholesky", "inv", "expm", "det", "cho_factor"), square),
    **dict.fromkeys(("solve", "solve_triangular"), solve),
    "cho_solve": factored,
    "lu_solve": pivoted,
    "lu_factor": square,
    "block_diag": blocks,
    "toeplitz": toeplitz,
    **dict.fromkeys(("hilbert", "hadamard", "dft"), size),
    "svd": tall,
    "eigh": eigh,
    "qr": qr,
    "lu": matrix(),
    "sqrtm": lambda d: (lambda n: ([Array((n, n), "float32")], {}))(d.dim()),
}


def floats(generator: Generator) -> Generator:
    """The same operands, of floats."""

    def draw(d: Draw) -> Case:
        args, kwargs = generator(d)
        return [replace(arg, dtype="float32") if isinstance(arg, Array) else arg for arg in args], kwargs

    return draw


LAX_LINALG: dict[str, Generator] = {
    **dict.fromkeys(("cholesky", "eigh", "lu", "qr"), floats(square)),
    "triangular_solve": floats(solve),
}


def segments(d: Draw) -> Case:
    """Rows, the segment of each, and how many segments there are."""
    data = d.array(d.shape(0 if d.chance(0.1) else 1, 3))
    rows = d.dim() if d.chance(0.1) or not data.shape else data.shape[0]
    number = d.dim() if d.chance(0.9) else -1
    return [data, Array((rows,), "int32"), integer(number)], d.maybe(
        0.2, indices_are_sorted=lambda: Const(True)
    )


def resized(d: Draw) -> Case:
    """An image, and its size afterwards."""
    image = d.array(d.shape(1, 4))
    rank = len(image.shape or ()) + (1 if d.chance(0.1) else 0)
    method = Const(d.pick("nearest", "bilinear", "lanczos3"))
    return [image, dims(d.shape(rank, rank)), method], d.maybe(0.2, antialias=lambda: Const(False))


OPS: dict[str, Generator] = dict.fromkeys(
    ("segment_sum", "segment_prod", "segment_max", "segment_min"), segments
)
IMAGE: dict[str, Generator] = {"resize": resized}
SPECIAL: dict[str, Generator] = {
    **dict.fromkeys("erf erfc erfinv expit gammaln digamma ndtr log_ndtr i0 i0e i1 i1e entr".split(), one),
    **dict.fromkeys("xlogy xlog1py betaln".split(), pair()),
}
