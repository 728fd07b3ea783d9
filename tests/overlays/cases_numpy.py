"""Random calls of the functions that `jax.numpy` and `numpy` share."""

from __future__ import annotations

from collections.abc import Callable

from cases_creation import (
    arange,
    array,
    array_ndmin,
    astype,
    diag,
    diagonal,
    eye,
    filled,
    filled_like,
    full,
    full_like,
    geomspace,
    identity,
    indices,
    linspace,
    logspace,
    meshgrid,
    size,
    tri_indices,
)
from cases_products import (
    bincount,
    convolve,
    cross,
    diff,
    digitize,
    dot,
    einsum,
    histogram,
    inner,
    interp,
    isin,
    lexsort,
    matmul,
    matrix,
    multi_dot,
    pair,
    polyval,
    searchsorted,
    select,
    sized,
    solve,
    square,
    take,
    take_along_axis,
    tensordot,
    trapezoid,
    unique,
    vdot,
    vecdot,
    where,
)
from overlay_harness import Case, Draw, Generator, dims

from shardlint.inference.domain.values import Array, Const, ListValue, Tuple, Value, integer


def arrays(d: Draw) -> Case:
    return [d.array()], {}


def unary(d: Draw) -> Case:
    return [d.operand()], {}


def array_of(low: int = 1, high: int = 3, dtype: str | None = None) -> Generator:
    return lambda d: ([d.array(d.shape(low, high), dtype)], {})


def integers(d: Draw) -> Case:
    return [d.array(dtype=d.pick("int32", "uint8", "bool"))], {}


def binary(d: Draw) -> Case:
    x = d.array(dtype=d.pick("int32", "int8") if d.chance(0.3) else None)
    y = Const(d.pick(2, 2.5)) if d.chance(0.2) else d.array(d.meeting(x.shape or ()))
    return ([y, x] if d.chance(0.3) else [x, y]), {}


def integer_pair(d: Draw) -> Case:
    x = d.array(dtype=d.pick("int32", "int8", "uint8"))
    y = Const(2) if d.chance(0.2) else d.array(d.meeting(x.shape or ()), d.pick("int32", "int8"))
    return [x, y], {}


def power(d: Draw) -> Case:
    x = d.array()
    return [x, Const(d.pick(2, 3, 2.0)) if d.chance(0.5) else d.array(d.meeting(x.shape or ()))], {}


def clip(d: Draw) -> Case:
    x = d.array()
    low, high = Const(d.pick(0, 0.5)), d.array(d.meeting(x.shape or ())) if d.chance(0.3) else Const(3)
    return [x, low, high], {}


def reduction(*extra: str) -> Generator:
    """Axis and keepdims, and what else there is."""

    def generate(d: Draw) -> Case:
        x = d.array(d.shape(0, 4))
        kwargs: dict[str, Value] = d.maybe(
            axis=lambda: d.axes(len(x.shape or ())), keepdims=lambda: Const(d.chance(0.5))
        )
        makers: dict[str, Callable[[], Value]] = {
            "dtype": lambda: Const("float32"), "initial": lambda: Const(0),
            "where": lambda: d.array(d.meeting(x.shape or ()), "bool"), "ddof": lambda: Const(1),
        }  # fmt: skip
        kwargs |= d.maybe(0.12, **{name: makers[name] for name in extra})
        if kwargs.keys() >= {"where"} and "initial" in extra:
            kwargs["initial"] = Const(0)
        return [x], kwargs

    return generate


def one_axis(*, keepdims: bool = False, none: bool = True, dtype: bool = False, least: int = 0) -> Generator:
    def generate(d: Draw) -> Case:
        x = d.array(d.shape(least, 3))
        kwargs: dict[str, Value] = d.maybe(0.7, axis=lambda: Const(d.axis(len(x.shape or ()))))
        if none and d.chance(0.1):
            kwargs["axis"] = Const(None)
        if keepdims:
            kwargs |= d.maybe(keepdims=lambda: Const(d.chance(0.5)))
        if dtype:
            kwargs |= d.maybe(0.2, dtype=lambda: Const("float32"))
        return [x], kwargs

    return generate


def median(d: Draw) -> Case:
    x = d.array(d.shape(0, 3))
    return [x], d.maybe(axis=lambda: d.axes(len(x.shape or ())), keepdims=lambda: Const(d.chance(0.5)))


def quantile(d: Draw) -> Case:
    x = d.array(d.shape(1, 3), d.float_dtype())
    q = Const(0.5) if d.chance(0.4) else d.array(d.shape(0, 1), "float32")
    return [x, q], d.maybe(
        axis=lambda: Const(d.axis(len(x.shape or ()))), keepdims=lambda: Const(d.chance(0.5))
    )


def average(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    kwargs = d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()))))
    return [x], kwargs | d.maybe(
        0.2, weights=lambda: d.array(x.shape, "float32"), returned=lambda: Const(True)
    )


def norm(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    return [x], d.maybe(
        axis=lambda: Const(d.axis(len(x.shape or ()))), keepdims=lambda: Const(d.chance(0.5)),
        ord=lambda: Const(d.pick(1, 2)),
    )  # fmt: skip


def fourier(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    return [x], d.maybe(0.3, n=lambda: Const(d.between(1, 6)), axis=lambda: Const(d.axis(len(x.shape or ()))))


def fourier_over(*, two: bool) -> Generator:
    def generate(d: Draw) -> Case:
        x = d.array(d.shape(2, 3))
        count = 2 if two else d.between(1, len(x.shape or ()))
        kwargs = d.maybe(0.3, axes=lambda: dims(range(-count, 0)))
        if two or kwargs:
            kwargs |= d.maybe(0.3, s=lambda: dims([d.between(1, 6) for _ in range(count)]))
        return [x], kwargs

    return generate


def frequencies(d: Draw) -> Case:
    return [integer(d.dim())], d.maybe(0.3, d=lambda: Const(0.5))


def trace(d: Draw) -> Case:
    x = d.array(d.shape(2, 4))
    return [x], d.maybe(0.3, offset=lambda: Const(1), axis1=lambda: Const(-1))


def reshape(d: Draw) -> Case:
    shape = d.shape(1, 4)
    target = list(shape)
    d.rng.shuffle(target)
    if len(target) > 1 and d.chance(0.5):
        target[:2] = [target[0] * target[1]]
    if d.chance(0.2):
        target.append(1)
    if d.chance(0.15):
        target[0] = d.dim()
    if d.chance(0.5):
        target[d.between(0, len(target) - 1)] = -1
    wanted = integer(target[0]) if len(target) == 1 and d.chance(0.5) else dims(target)
    return [d.array(shape), wanted], {}


def transpose(d: Draw) -> Case:
    x = d.array(d.shape(0, 4))
    rank = len(x.shape or ())
    order = Tuple(
        tuple(Const(a) for a in d.rng.sample(range(-rank, 0) if d.chance(0.2) else range(rank), rank))
    )
    return [x], d.maybe(0.6, axes=lambda: order)


def two_axes(d: Draw) -> Case:
    x = d.array(d.shape(1, 4))
    rank = len(x.shape or ())
    return [x, Const(d.axis(rank)), Const(d.axis(rank))], {}


def moveaxis(d: Draw) -> Case:
    if d.chance(0.5):
        return two_axes(d)
    x = d.array(d.shape(2, 4))
    rank = len(x.shape or ())
    pair = [Tuple(tuple(Const(a) for a in d.rng.sample(range(rank), 2))) for _ in range(2)]
    return [x, *pair], {}


def rollaxis(d: Draw) -> Case:
    x = d.array(d.shape(1, 4))
    return [x, Const(d.axis(len(x.shape or ())))], d.maybe(start=lambda: Const(d.between(-2, 3)))


def expand_dims(d: Draw) -> Case:
    x = d.array()
    rank = len(x.shape or ())
    if d.chance(0.3):
        return [x, Tuple((Const(0), Const(d.pick(1, -1))))], {}
    return [x, Const(d.axis(rank + 1))], {}


def squeeze(d: Draw) -> Case:
    shape = tuple(1 if d.chance(0.5) else dim for dim in d.shape(1, 4))
    ones = [i for i, dim in enumerate(shape) if dim == 1]
    x = d.array(shape)
    if d.chance(0.3):
        return [x], {}
    if ones and d.chance(0.8):
        chosen = d.rng.sample(ones, d.between(1, len(ones)))
        return [x, Const(chosen[0]) if len(chosen) == 1 else Tuple(tuple(map(Const, chosen)))], {}
    return [x, Const(d.axis(len(shape)))], {}


def broadcast_to(d: Draw) -> Case:
    target = d.shape(1, 4)
    return [d.array(d.meeting(target)), dims(target)], {}


def several(low: int = 1) -> Generator:
    def generate(d: Draw) -> Case:
        shape = d.shape()
        return [d.array(d.meeting(shape)) for _ in range(d.between(low, 3))], {}

    return generate


def broadcast_shapes(d: Draw) -> Case:
    shape = d.shape()
    return [dims(d.meeting(shape)) for _ in range(d.between(1, 3))], {}


def tile(d: Draw) -> Case:
    return [d.array(), integer(d.dim()) if d.chance(0.4) else dims(d.shape(1, 3))], {}


def repeat(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    return [x, integer(d.dim())], d.maybe(0.6, axis=lambda: Const(d.axis(len(x.shape or ()))))


def pad(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    rank = len(x.shape or ())
    one = Tuple((integer(d.dim()), Const(1)))
    widths = d.pick(integer(d.dim()), one, Tuple((one,)), Tuple(tuple(one for _ in range(rank))))
    return [x, widths], d.maybe(0.3, mode=lambda: Const("constant"))


def roll(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    return [x, Const(1)], d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()), 0)))


def rot90(d: Draw) -> Case:
    return [d.array(d.shape(2, 3))], d.maybe(k=lambda: Const(d.between(-1, 4)), axes=lambda: dims((1, 0)))


def resize(d: Draw) -> Case:
    return [d.array(d.shape(1, 2)), dims(d.shape(1, 3))], {}


def joinable(d: Draw, low: int = 1, high: int = 3) -> tuple[list[Array], int]:
    """Arrays that differ along one axis, mostly."""
    shape = d.shape(low, high)
    at = d.between(0, max(len(shape) - 1, 0))
    arrays = []
    for _ in range(d.between(1, 3)):
        dims_ = [d.dim() if (i == at and d.chance(0.6)) or d.chance(0.04) else n for i, n in enumerate(shape)]
        arrays.append(d.array(tuple(dims_)))
    return arrays, at


def group(d: Draw, arrays: list[Array]) -> Value:
    return ListValue(list(arrays)) if d.chance(0.5) else Tuple(tuple(arrays))


def concatenate(d: Draw) -> Case:
    arrays, at = joinable(d)
    kwargs: dict[str, Value] = {"axis": Const(at)} if at or d.chance(0.5) else {}
    if d.chance(0.08):
        kwargs = {"axis": Const(None)}
    return [group(d, arrays)], kwargs


def concat(d: Draw) -> Case:
    arrays, at = joinable(d)
    return [group(d, arrays)], {"axis": Const(at)}


def stack(d: Draw) -> Case:
    x = d.array()
    others = [d.array(x.shape if d.chance(0.95) else None) for _ in range(d.between(0, 2))]
    return [group(d, [x, *others])], d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()) + 1)))


def xstack(d: Draw) -> Case:
    shape = d.shape(0, 3)
    return [group(d, [d.array(shape) for _ in range(d.between(1, 3))])], {}


def append(d: Draw) -> Case:
    (a, *rest), at = joinable(d)
    return [a, rest[0] if rest else a], {"axis": Const(at)} if d.chance(0.7) else {}


def block(d: Draw) -> Case:
    m, n, k = d.dim(), d.dim(), d.dim()
    if d.chance(0.4):
        return [ListValue([d.array((m,)), d.array((n,))])], {}
    upper = ListValue([d.array((m, n)), d.array((m, k))])
    lower = ListValue([d.array((1, n)), d.array((1, k))])
    return [ListValue([upper, lower])], {}


def split(d: Draw) -> Case:
    parts = d.between(1, 3)
    shape = tuple(d.dim() * parts if d.chance(0.7) else d.dim() for _ in range(d.between(1, 3)))
    x = d.array(shape)
    if d.chance(0.4):
        cut = d.dim()
        sections: Value = ListValue([integer(cut), integer(cut + d.dim())])
    else:
        sections = Const(parts)
    return [x, sections], d.maybe(0.6, axis=lambda: Const(d.axis(len(shape))))


def xsplit(least: int) -> Generator:
    def generate(d: Draw) -> Case:
        shape = tuple(d.dim() * 2 for _ in range(d.between(least, 3)))
        return [d.array(shape), Const(2)], {}

    return generate


def unstack(d: Draw) -> Case:
    x = d.array((d.between(1, 4), *d.shape(0, 2)))
    return [x], {}


def folded(d: Draw) -> Case:
    """A plain tuple of sizes half the time: numpy's reductions of it are integers."""
    if d.chance(0.5):
        return [dims(d.shape(1, 3))], {}
    return reduction("where", "initial")(d)


_UNARY = (
    "negative sign positive floor ceil trunc conj conjugate abs "
    "absolute real imag sqrt exp exp2 expm1 log log1p sin "
    "cos tan arcsin arccos arctan asin acos atan sinh "
    "cosh tanh arcsinh arccosh arctanh asinh acosh atanh fabs cbrt "
    "isnan isinf isfinite logical_not isneginf isposinf signbit "
    "iscomplex isreal square rint deg2rad rad2deg degrees "
    "radians i0 log2 log10 reciprocal round around nan_to_num angle copy"
)
_BINARY = (
    "add subtract multiply maximum minimum fmax fmin "
    "floor_divide mod remainder fmod arctan2 atan2 logaddexp copysign "
    "nextafter divide true_divide float_power hypot logaddexp2 equal not_equal less less_equal greater "
    "greater_equal logical_and logical_or logical_xor isclose allclose array_equal"
)
_SHIFTED = (
    "bitwise_and bitwise_or bitwise_xor gcd lcm left_shift right_shift bitwise_left_shift bitwise_right_shift"
)
_ALL = ("where",)
_MEAN = ("where", "dtype")
_SUM = ("where", "initial", "dtype")

SHARED: dict[str, Generator] = {
    **dict.fromkeys(_UNARY.split(), unary),
    **dict.fromkeys(_BINARY.split(), binary),
    **dict.fromkeys(("invert", "bitwise_not", "bitwise_invert", "bitwise_count"), integers),
    **dict.fromkeys(_SHIFTED.split(), integer_pair),
    **dict.fromkeys(("power", "pow"), power),
    **dict.fromkeys(("real", "imag", "iscomplex", "isreal"), arrays),
    "clip": clip,
    **dict.fromkeys(("sum", "prod", "nansum", "nanprod"), reduction(*_SUM)),
    **dict.fromkeys(("max", "min", "amax", "amin"), reduction("where", "initial")),
    **dict.fromkeys(("all", "any"), reduction(*_ALL)),
    **dict.fromkeys(("mean", "nanmean"), reduction(*_MEAN)),
    **dict.fromkeys(("std", "var", "nanstd", "nanvar"), reduction("where", "ddof")),
    **dict.fromkeys(("ptp", "count_nonzero", "nanmax", "nanmin"), reduction()),
    **dict.fromkeys(("argmax", "argmin", "nanargmax", "nanargmin"), one_axis(keepdims=True)),
    **dict.fromkeys(("cumsum", "cumprod", "nancumsum", "nancumprod"), one_axis(dtype=True)),
    **dict.fromkeys(("median", "nanmedian"), median),
    **dict.fromkeys(("quantile", "percentile"), quantile),
    "average": average,
    "trace": trace,
    "linalg.norm": norm,
    **dict.fromkeys(("fft.fft", "fft.ifft", "fft.rfft", "fft.irfft", "fft.hfft", "fft.ihfft"), fourier),
    **dict.fromkeys(("fft.fft2", "fft.ifft2", "fft.rfft2", "fft.irfft2"), fourier_over(two=True)),
    **dict.fromkeys(("fft.fftn", "fft.ifftn", "fft.rfftn", "fft.irfftn"), fourier_over(two=False)),
    **dict.fromkeys(("fft.fftshift", "fft.ifftshift"), arrays),
    **dict.fromkeys(("fft.fftfreq", "fft.rfftfreq"), frequencies),
    **dict.fromkeys(("zeros", "ones", "empty"), filled),
    "full": full,
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like"), filled_like),
    "full_like": full_like,
    "array": array_ndmin,
    "asarray": array,
    "astype": astype,
    "arange": arange,
    "linspace": linspace,
    "logspace": logspace,
    "geomspace": geomspace,
    **dict.fromkeys(("eye", "tri"), eye),
    "identity": identity,
    "meshgrid": meshgrid,
    "indices": indices,
    "diag": diag,
    "diagonal": diagonal,
    **dict.fromkeys(("tril_indices", "triu_indices"), tri_indices),
    **dict.fromkeys(("shape", "ndim"), array_of(0, 3)),
    "size": size,
    "reshape": reshape,
    "ravel": array_of(0, 4),
    "transpose": transpose,
    "permute_dims": lambda d: (lambda case: (case[0], case[1] or {"axes": Tuple(())}))(transpose(d)),
    "matrix_transpose": array_of(2, 4),
    "swapaxes": two_axes,
    "moveaxis": moveaxis,
    "rollaxis": rollaxis,
    "expand_dims": expand_dims,
    "squeeze": squeeze,
    "broadcast_to": broadcast_to,
    "broadcast_arrays": several(),
    "broadcast_shapes": broadcast_shapes,
    "tile": tile,
    "repeat": repeat,
    "pad": pad,
    "roll": roll,
    "flip": one_axis(none=False),
    "fliplr": array_of(2, 3),
    "flipud": array_of(1, 3),
    "rot90": rot90,
    **dict.fromkeys(("atleast_1d", "atleast_2d", "atleast_3d"), several()),
    **dict.fromkeys(("tril", "triu"), array_of(1, 4)),
    "resize": resize,
    "concatenate": concatenate,
    "concat": concat,
    "stack": stack,
    **dict.fromkeys(("hstack", "vstack", "dstack", "column_stack"), xstack),
    "append": append,
    "block": block,
    **dict.fromkeys(("split", "array_split"), split),
    "hsplit": xsplit(1),
    "vsplit": xsplit(2),
    "dsplit": xsplit(3),
    "unstack": unstack,
    "matmul": matmul,
    "dot": dot,
    "vdot": vdot,
    "inner": inner,
    "outer": pair(),
    "kron": pair(),
    "vecdot": vecdot,
    "tensordot": tensordot,
    "einsum": einsum,
    "cross": cross,
    "convolve": convolve,
    "linalg.multi_dot": multi_dot,
    **dict.fromkeys(("linalg.inv", "linalg.cholesky", "linalg.det", "linalg.eigh"), square),
    **dict.fromkeys(("linalg.slogdet", "linalg.eigvalsh"), square),
    "linalg.pinv": matrix(),
    "linalg.solve": solve,
    "linalg.qr": matrix(),
    "linalg.svd": matrix(full=True),
    "where": where,
    **dict.fromkeys(("nonzero", "argwhere"), sized),
    "take": take,
    "take_along_axis": take_along_axis,
    "select": select,
    **dict.fromkeys(("sort", "argsort"), one_axis(least=1)),
    "searchsorted": searchsorted,
    "digitize": digitize,
    "isin": isin,
    "interp": interp,
    "bincount": bincount,
    "histogram": histogram,
    "diff": diff,
    "trapezoid": trapezoid,
    "polyval": polyval,
    "lexsort": lexsort,
    "unique": unique,
}

#: What numpy answers for plain integers is an integer.
NUMPY_ONLY: dict[str, Generator] = dict.fromkeys(("prod", "sum", "max", "min"), folded)


def cast(d: Draw) -> Case:
    return [d.operand()], {}
