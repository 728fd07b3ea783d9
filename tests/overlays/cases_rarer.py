"""Random calls of the functions of `jax.numpy` that numpy does not share with it here."""

from __future__ import annotations

import cases_numpy as shared
from cases_products import convolve, cross, matmul, matrix, square, tensordot, vecdot
from overlay_harness import Case, Draw, Generator, dims

from shardlint.inference.domain.values import Array, Const, ListValue, Tuple, Value, integer


def window(d: Draw) -> Case:
    return [integer(d.dim())], {}


def kaiser(d: Draw) -> Case:
    return [integer(d.dim()), Const(8.0)], {}


def gradient(d: Draw) -> Case:
    x = d.array(tuple(d.dim(2) for _ in range(d.between(1, 3))))
    steps: list[Value] = [Const(d.pick(1, 0.5))] if d.chance(0.3) else []
    return [x, *steps], d.maybe(axis=lambda: d.axes(len(x.shape or ())))


def unwrap(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    return [x], d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()))))


def ediff1d(d: Draw) -> Case:
    x = d.array(d.shape(0, 2), d.pick("float32", "int32"))
    return [x], d.maybe(
        0.2,
        to_end=lambda: Array((d.dim(),), x.dtype),
        to_begin=lambda: Array((d.dim(),), x.dtype),
    )


def cov(d: Draw) -> Case:
    shape = d.shape(1, 2)
    args = [d.array(shape)]
    if d.chance(0.3):
        args.append(d.array(shape))
    return args, d.maybe(0.3, rowvar=lambda: Const(d.chance(0.5)))


def running(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    rank = len(x.shape or ())
    kwargs = d.maybe(0.3, include_initial=lambda: Const(True), dtype=lambda: Const("float32"))
    return [x], kwargs | ({"axis": Const(d.axis(rank))} if rank > 1 or d.chance(0.5) else {})


def edges(d: Draw) -> Case:
    return [d.array(dtype=d.pick("float32", "int32"))], d.maybe(bins=lambda: integer(d.dim()))


def unravel(d: Draw) -> Case:
    indices = Const(3) if d.chance(0.2) else d.array(dtype=d.pick("int32", "uint8"))
    return [indices, dims(d.shape(1, 3))], {}


def ravel_multi(d: Draw) -> Case:
    rank = d.between(1, 3)
    shape = d.shape(0, 2)
    return [
        Tuple(tuple(d.array(shape, "int32") for _ in range(rank))),
        dims([9 for _ in range(rank)]),
    ], {"mode": Const("clip")}


def diagonal_indices(d: Draw) -> Case:
    return [integer(d.dim())], d.maybe(ndim=lambda: Const(d.between(1, 3)))


def cube(d: Draw) -> Case:
    return [d.array((d.dim(),) * d.between(2, 3))], {}


def diagflat(d: Draw) -> Case:
    return [d.array()], d.maybe(k=lambda: Const(d.between(-2, 2)))


def flatnonzero(d: Draw) -> Case:
    return [d.array()], {"size": integer(d.dim())}


def extract(d: Draw) -> Case:
    shape = d.shape(1, 2)
    return [d.array(shape, "bool"), d.array(shape)], {"size": integer(d.dim())}


def compress(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    return [d.array((d.dim(),), "bool"), x], {"size": integer(d.dim())} | d.maybe(
        0.6, axis=lambda: Const(d.axis(len(x.shape or ())))
    )


def put(d: Draw) -> Case:
    n = d.dim()
    return [d.array(d.shape(1, 3)), d.array((n,), "int32"), d.array((n,))], {"inplace": Const(False)}


def put_along(d: Draw) -> Case:
    x = d.array(d.shape(1, 3), "float32")
    return [x, Array(x.shape, "int32"), Array(x.shape, "float32"), Const(d.axis(len(x.shape or ())))], {
        "inplace": Const(False)
    }


def place(d: Draw) -> Case:
    x = d.array()
    return [x, Array(x.shape, "bool"), d.array((d.dim(),))], {"inplace": Const(False)}


def fill_diagonal(d: Draw) -> Case:
    return [d.array((d.dim(),) * d.between(2, 3)), d.operand()], {"inplace": Const(False)}


def delete(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    index: Value = Const(0) if d.chance(0.7) else Tuple((Const(0),))
    return [x, index], d.maybe(0.7, axis=lambda: Const(d.axis(len(x.shape or ()))))


def insert(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    if d.chance(0.4):
        return [x, Const(0), d.operand()], d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()))))
    at = d.between(0, len(x.shape or ()) - 1)
    n = d.dim()
    rest = tuple(size for i, size in enumerate(x.shape or ()) if i != at)
    values = d.array((n, *rest) if at == 0 else rest)
    return [x, Const(0), values], {"axis": Const(at)}


def open_grid(d: Draw) -> Case:
    return [d.array((d.dim(),), "int32") for _ in range(d.between(1, 3))], {}


def partition(d: Draw) -> Case:
    x = d.array(d.shape(1, 3), d.pick("float32", "int32"))
    return [x, Const(0)], d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()))))


def choose(d: Draw) -> Case:
    shape = d.shape()
    choices = [d.array(d.meeting(shape)) for _ in range(d.between(1, 3))]
    return [d.array(d.meeting(shape), "int32"), shared.group(d, choices)], {"mode": Const("clip")}


def sets(d: Draw) -> Case:
    return [d.array(d.shape(1, 2), "int32"), d.array(d.shape(1, 2), "int32")], {"size": integer(d.dim())}


def packed(d: Draw) -> Case:
    x = d.array(d.shape(1, 3), "uint8")
    return [x], d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()))))


def piecewise(d: Draw) -> Case:
    x = d.array()
    return [x, ListValue([Array(x.shape, "bool")]), ListValue([Const(1), Const(2)])], {}


def coefficients(d: Draw) -> Case:
    return [d.array((d.dim(),)), d.array((d.dim(),))], {}


def derived(d: Draw) -> Case:
    return [d.array((d.dim(4, 7),))], d.maybe(m=lambda: Const(d.between(1, 3)))


def fitted(d: Draw) -> Case:
    n = d.dim(3)
    y = (n,) if d.chance(0.6) else (n, d.dim())
    return [d.array((n,), "float32"), d.array(y, "float32"), Const(d.between(1, 2))], {}


def zeros(d: Draw) -> Case:
    return [d.array((d.dim(2),), "float32")], {"strip_zeros": Const(False)}


def vander(d: Draw) -> Case:
    return [d.array((d.dim(),))], d.maybe(N=lambda: integer(d.dim()), increasing=lambda: Const(True))


def scaled(d: Draw) -> Case:
    x = d.array(dtype=d.pick("float32", "bfloat16", "int32"))
    return [x, d.array(d.meeting(x.shape or ()), "int32")], {}


def vectors(d: Draw) -> Case:
    return [d.array((d.dim(),)), d.array((d.dim(),))], {}


def trace(d: Draw) -> Case:
    return [d.array(d.shape(2, 4))], d.maybe(0.3, offset=lambda: Const(1))


def matrix_norm(d: Draw) -> Case:
    return [d.array(d.shape(2, 3), "float32")], d.maybe(
        keepdims=lambda: Const(True), ord=lambda: Const(d.pick(1, "fro"))
    )


def vector_norm(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    return [x], d.maybe(
        axis=lambda: Const(d.axis(len(x.shape or ()))), keepdims=lambda: Const(True), ord=lambda: Const(1)
    )


def power(d: Draw) -> Case:
    n = d.dim()
    return [d.array((*d.shape(0, 1), n, n), d.pick("float32", "int32")), Const(d.between(0, 4))], {}


def tensorinv(d: Draw) -> Case:
    m, n = d.dim(), d.dim()
    return [d.array((m, n, m * n), "float32")], {}


def least_squares(d: Draw) -> Case:
    n = d.dim()
    m = n + d.dim(0)
    return [d.array((m, n), "float32"), d.array((m,) if d.chance(0.5) else (m, d.dim()), "float32")], {}


def matvec(d: Draw) -> Case:
    batch, m, n = d.shape(0, 1), d.dim(), d.dim()
    return [d.array((*batch, m, n)), d.array((*d.meeting(batch), n))], {}


def vecmat(d: Draw) -> Case:
    batch, m, n = d.shape(0, 1), d.dim(), d.dim()
    return [d.array((*d.meeting(batch), n)), d.array((*batch, n, m))], {}


WINDOWS: dict[str, Generator] = {
    **dict.fromkeys(("bartlett", "blackman", "hamming", "hanning"), window),
    "kaiser": kaiser,
}
NUMPY: dict[str, Generator] = {
    **WINDOWS,
    "gradient": gradient,
    "unwrap": unwrap,
    "ediff1d": ediff1d,
    "correlate": convolve,
    **dict.fromkeys(("cov", "corrcoef"), cov),
    **dict.fromkeys(("cumulative_sum", "cumulative_prod"), running),
    "histogram_bin_edges": edges,
    "unravel_index": unravel,
    "ravel_multi_index": ravel_multi,
    "diag_indices": diagonal_indices,
    "diag_indices_from": cube,
    "diagflat": diagflat,
    "flatnonzero": flatnonzero,
    "extract": extract,
    "compress": compress,
    "put": put,
    "put_along_axis": put_along,
    "place": place,
    "fill_diagonal": fill_diagonal,
    "delete": delete,
    "insert": insert,
    "ix_": open_grid,
    **dict.fromkeys(("partition", "argpartition"), partition),
    "choose": choose,
    **dict.fromkeys(("union1d", "intersect1d", "setdiff1d", "setxor1d"), sets),
    **dict.fromkeys(("packbits", "unpackbits"), packed),
    "piecewise": piecewise,
    **dict.fromkeys(("sort_complex", "sinc", "spacing", "frexp", "modf"), shared.arrays),
    **dict.fromkeys(("heaviside", "divmod", "array_equiv"), shared.binary),
    "ldexp": scaled,
    **dict.fromkeys(("nanquantile", "nanpercentile"), shared.quantile),
    **dict.fromkeys(("polyadd", "polysub", "polymul"), coefficients),
    **dict.fromkeys(("polyder", "polyint"), derived),
    "polyfit": fitted,
    "poly": lambda d: ([d.array((d.dim(),), "float32")], {}),
    "roots": zeros,
    "vander": vander,
    "linalg.matmul": matmul,
    "linalg.outer": vectors,
    "linalg.tensordot": lambda d: (lambda case: (case[0][:2], {"axes": case[0][2]}))(tensordot(d)),
    "linalg.vecdot": vecdot,
    "linalg.cross": cross,
    **dict.fromkeys(("linalg.trace", "linalg.diagonal"), trace),
    "linalg.matrix_transpose": shared.array_of(2, 4),
    "linalg.matrix_norm": matrix_norm,
    "linalg.vector_norm": vector_norm,
    "linalg.matrix_power": power,
    **dict.fromkeys(("linalg.matrix_rank", "linalg.cond", "linalg.svdvals"), matrix()),
    **dict.fromkeys(("linalg.eig", "linalg.eigvals"), square),
    "linalg.tensorinv": tensorinv,
    "linalg.lstsq": least_squares,
    "matvec": matvec,
    "vecmat": vecmat,
}
