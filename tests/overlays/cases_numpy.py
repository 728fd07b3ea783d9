"""Random calls of the functions that `jax.numpy` and `numpy` share."""

from __future__ import annotations

from collections.abc import Callable

from overlay_harness import Case, Draw, Generator, dims
from shardlint.inference.values import Array, Const, ListValue, Tuple, Value, integer


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
    x = d.array(d.shape(1, 3), d.float())
    q = Const(0.5) if d.chance(0.4) else d.array(d.shape(0, 1), "float32")
    return [x, q], d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()))), keepdims=lambda: Const(d.chance(0.5)))


def average(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    kwargs = d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()))))
    return [x], kwargs | d.maybe(0.2, weights=lambda: d.array(x.shape, "float32"), returned=lambda: Const(True))


def norm(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    return [x], d.maybe(
        axis=lambda: Const(d.axis(len(x.shape or ()))), keepdims=lambda: Const(d.chance(0.5)),
        ord=lambda: Const(d.pick(1, 2)),
    )  # fmt: skip


def trace(d: Draw) -> Case:
    x = d.array(d.shape(2, 4))
    return [x], d.maybe(0.3, offset=lambda: Const(1), axis1=lambda: Const(-1))


def shape_argument(d: Draw) -> Value:
    shape = d.shape(0, 3, least=0)
    if len(shape) == 1 and d.chance(0.5):
        return integer(shape[0])
    return ListValue(list(dims(shape).items)) if d.chance(0.2) else dims(shape)


def filled(d: Draw) -> Case:
    return [shape_argument(d)], d.maybe(dtype=d.dtype_value)


def full(d: Draw) -> Case:
    return [shape_argument(d), Const(d.pick(1, 1.5, True))], d.maybe(dtype=d.dtype_value)


def filled_like(d: Draw) -> Case:
    return [d.operand()], d.maybe(0.3, dtype=d.dtype_value, shape=lambda: dims(d.shape()))


def full_like(d: Draw) -> Case:
    args, kwargs = filled_like(d)
    return [*args, Const(d.pick(1, 2.5))], kwargs


def array_like(d: Draw) -> Value:
    """A scalar, an array, or nested lists of numbers or of arrays alike."""
    kind = d.int(0, 4)
    if kind == 0:
        return d.operand()
    if kind == 1:
        return ListValue([Const(d.pick(1, 2.5, True)) for _ in range(d.int(0, 3))])
    if kind == 2:
        return ListValue([ListValue([Const(1), Const(2)]) for _ in range(d.int(1, 3))])
    if kind == 3:
        x = d.array()
        return ListValue([x, Array(x.shape, d.dtype(), numpy=d.numpy)])
    return d.array()


def array(d: Draw) -> Case:
    return [array_like(d)], d.maybe(0.3, dtype=d.dtype_value)


def array_ndmin(d: Draw) -> Case:
    args, kwargs = array(d)
    return args, kwargs | d.maybe(0.2, ndmin=lambda: Const(d.int(0, 3)))


def astype(d: Draw) -> Case:
    return [d.array(), d.dtype_value()], {}


def arange(d: Draw) -> Case:
    kind = d.int(0, 3)
    if kind == 0:
        return [integer(d.dim())], d.maybe(0.3, dtype=d.dtype_value)
    if kind == 1:
        low = d.dim()
        return [integer(low), integer(low + d.dim())], {}
    if kind == 2:
        return [Const(d.int(-3, 3)), integer(d.dim()), Const(d.pick(1, 2, 3, -1))], {}
    return [Const(0.5), Const(d.pick(3, 4.25)), Const(d.pick(1, 0.5))], {}


def linspace(d: Draw) -> Case:
    ends: list[Value] = [Const(0), Const(d.pick(1, 1.5))]
    if d.chance(0.3):
        ends[0] = d.array(d.shape(0, 2))
    return [*ends, integer(d.dim())], d.maybe(0.25, dtype=lambda: Const("float32"), retstep=lambda: Const(True))


def logspace(d: Draw) -> Case:
    return [Const(0), Const(d.pick(1, 1.5)), integer(d.dim())], d.maybe(0.25, dtype=lambda: Const("float32"))


def eye(d: Draw) -> Case:
    return [integer(d.dim())], d.maybe(M=lambda: integer(d.dim()), dtype=d.dtype_value)


def identity(d: Draw) -> Case:
    return [integer(d.dim())], d.maybe(dtype=d.dtype_value)


def meshgrid(d: Draw) -> Case:
    vectors = [d.array(d.shape(0, 1)) for _ in range(d.int(0, 3))]
    return vectors, d.maybe(indexing=lambda: Const(d.pick("xy", "ij")), sparse=lambda: Const(d.chance(0.5)))


def indices(d: Draw) -> Case:
    return [dims(d.shape(1, 3))], {}


def diag(d: Draw) -> Case:
    return [d.array(d.shape(1, 2))], d.maybe(k=lambda: Const(d.int(-2, 2)))


def diagonal(d: Draw) -> Case:
    shape = d.shape(2, 4)
    if d.chance(0.6):
        shape = (shape[0],) * len(shape)
    return [d.array(shape)], d.maybe(offset=lambda: Const(d.int(-2, 2)), axis1=lambda: Const(-1))


def tri_indices(d: Draw) -> Case:
    return [integer(d.dim())], {}


def size(d: Draw) -> Case:
    x = d.array()
    return [x], d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()))))


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
        target[d.int(0, len(target) - 1)] = -1
    wanted = integer(target[0]) if len(target) == 1 and d.chance(0.5) else dims(target)
    return [d.array(shape), wanted], {}


def transpose(d: Draw) -> Case:
    x = d.array(d.shape(0, 4))
    rank = len(x.shape or ())
    order = Tuple(tuple(Const(a) for a in d.rng.sample(range(-rank, 0) if d.chance(0.2) else range(rank), rank)))
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
    return [x, Const(d.axis(len(x.shape or ())))], d.maybe(start=lambda: Const(d.int(-2, 3)))


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
        chosen = d.rng.sample(ones, d.int(1, len(ones)))
        return [x, Const(chosen[0]) if len(chosen) == 1 else Tuple(tuple(map(Const, chosen)))], {}
    return [x, Const(d.axis(len(shape)))], {}


def broadcast_to(d: Draw) -> Case:
    target = d.shape(1, 4)
    return [d.array(d.meeting(target)), dims(target)], {}


def several(low: int = 1) -> Generator:
    def generate(d: Draw) -> Case:
        shape = d.shape()
        return [d.array(d.meeting(shape)) for _ in range(d.int(low, 3))], {}

    return generate


def broadcast_shapes(d: Draw) -> Case:
    shape = d.shape()
    return [dims(d.meeting(shape)) for _ in range(d.int(1, 3))], {}


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
    return [d.array(d.shape(2, 3))], d.maybe(k=lambda: Const(d.int(-1, 4)), axes=lambda: dims((1, 0)))


def resize(d: Draw) -> Case:
    return [d.array(d.shape(1, 2)), dims(d.shape(1, 3))], {}


def joinable(d: Draw, low: int = 1, high: int = 3) -> tuple[list[Array], int]:
    """Arrays that differ along one axis, mostly."""
    shape = d.shape(low, high)
    at = d.int(0, max(len(shape) - 1, 0))
    arrays = []
    for _ in range(d.int(1, 3)):
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
    others = [d.array(x.shape if d.chance(0.95) else None) for _ in range(d.int(0, 2))]
    return [group(d, [x, *others])], d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()) + 1)))


def xstack(d: Draw) -> Case:
    shape = d.shape(0, 3)
    return [group(d, [d.array(shape) for _ in range(d.int(1, 3))])], {}


def append(d: Draw) -> Case:
    (a, *rest), at = joinable(d)
    return [a, rest[0] if rest else a], {"axis": Const(at)} if d.chance(0.7) else {}


def block(d: Draw) -> Case:
    m, n, k = d.dim(), d.dim(), d.dim()
    if d.chance(0.4):
        return [ListValue([d.array((m,)), d.array((n,))])], {}
    rows = [ListValue([d.array((m, n)), d.array((m, k))]), ListValue([d.array((1, n)), d.array((1, k))])]
    return [ListValue(rows)], {}


def split(d: Draw) -> Case:
    parts = d.int(1, 3)
    shape = tuple(d.dim() * parts if d.chance(0.7) else d.dim() for _ in range(d.int(1, 3)))
    x = d.array(shape)
    if d.chance(0.4):
        cut = d.dim()
        sections: Value = ListValue([integer(cut), integer(cut + d.dim())])
    else:
        sections = Const(parts)
    return [x, sections], d.maybe(0.6, axis=lambda: Const(d.axis(len(shape))))


def xsplit(least: int) -> Generator:
    def generate(d: Draw) -> Case:
        shape = tuple(d.dim() * 2 for _ in range(d.int(least, 3)))
        return [d.array(shape), Const(2)], {}

    return generate


def unstack(d: Draw) -> Case:
    x = d.array((d.int(1, 4), *d.shape(0, 2)))
    return [x], {}


def product_pair(d: Draw) -> tuple[Array, Array]:
    """Two operands of matmul."""
    batch, (m, k, n) = d.shape(0, 2), (d.dim(), d.dim(), d.dim())
    a = (k,) if d.chance(0.2) else (*d.meeting(batch), m, k)
    b = (k,) if d.chance(0.2) else (*d.meeting(batch), k if d.chance(0.95) else d.dim(), n)
    return d.array(a), d.array(b)


def matmul(d: Draw) -> Case:
    return list(product_pair(d)), {} if d.numpy else d.maybe(0.2, preferred_element_type=lambda: Const("float32"))


def dot(d: Draw) -> Case:
    k = d.dim()
    if d.chance(0.1):
        return [d.array(), d.array(())], {}
    a, b = (*d.shape(0, 2), k), (*d.shape(0, 2), k, *d.shape(1, 1))
    return [d.array(a), d.array(b if d.chance(0.8) else (k,))], {}


def vdot(d: Draw) -> Case:
    shape = d.shape()
    return [d.array(shape), d.array(shape)], {}


def inner(d: Draw) -> Case:
    k = d.dim()
    return [d.array((*d.shape(0, 2), k)), d.array((*d.shape(0, 2), k))], {}


def pair(low: int = 0, high: int = 2) -> Generator:
    return lambda d: ([d.array(d.shape(low, high)), d.array(d.shape(low, high))], {})


def vecdot(d: Draw) -> Case:
    shape = d.shape(1, 3)
    return [d.array(shape), d.array((*d.meeting(shape[:-1]), shape[-1]))], {}


def tensordot(d: Draw) -> Case:
    shared = d.shape(1, 2)
    a, b = d.array((*d.shape(0, 2), *shared)), d.array((*shared, *d.shape(0, 2)))
    if d.chance(0.5):
        return [a, b, Const(len(shared))], {}
    rank = len(a.shape or ())
    left = Tuple(tuple(Const(rank - len(shared) + i) for i in range(len(shared))))
    return [a, b, Tuple((left, Tuple(tuple(Const(i) for i in range(len(shared))))))], {}


_EINSUMS = (
    "ij,jk->ik", "bij,bjk->bik", "ij,jk", "i,i", "ii->i", "ii", "ij->ji", "...ij,...jk->...ik", "bthd,bshd->bhts",
    "...d,df->...f", "ab,ab->", "i,j->ij", "bqhd,bkhd->bhqk", "...i,...i", "btd, dnh -> btnh", "ij->", "i...->...",
    "abc->cab", "ij,j->i", "a...b,b->...a",
)  # fmt: skip


def einsum(d: Draw) -> Case:
    text = d.pick(*_EINSUMS)
    letters: dict[str, object] = {}
    batch = d.shape(0, 2)
    arrays = []
    for term in text.replace(" ", "").partition("->")[0].split(","):
        shape: list = []
        for letter in term.replace("...", "."):
            if letter == ".":
                shape.extend(d.meeting(batch))
            else:
                shape.append(letters.setdefault(letter, d.dim()) if d.chance(0.98) else d.dim())
        arrays.append(d.array(tuple(shape)))
    return [Const(text), *arrays], {} if d.numpy else d.maybe(0.2, preferred_element_type=lambda: Const("float32"))


def cross(d: Draw) -> Case:
    shape = d.shape(0, 2)
    return [d.array((*shape, 3)), d.array((*d.meeting(shape), 3))], {}


def convolve(d: Draw) -> Case:
    return [d.array((d.dim(),)), d.array((d.dim(),))], d.maybe(0.7, mode=lambda: Const(d.pick("full", "same", "valid")))


def multi_dot(d: Draw) -> Case:
    sizes = [d.dim() for _ in range(d.int(3, 4))]
    return [ListValue([d.array((m, n), "float32") for m, n in zip(sizes, sizes[1:], strict=False)])], {}


def square(d: Draw) -> Case:
    n = 1 if d.numpy else d.dim()
    return [d.array((*d.shape(0, 1), n, n), d.pick("float32", "int32"))], {}


def solve(d: Draw) -> Case:
    n = 1 if d.numpy else d.dim()
    return [d.array((n, n), "float32"), d.array((n,) if d.chance(0.5) else (n, d.dim()), "float32")], {}


def matrix(*, full: bool = False) -> Generator:
    def generate(d: Draw) -> Case:
        x = d.array((*d.shape(0, 1), d.dim(), d.dim()), "float32")
        return [x], d.maybe(full_matrices=lambda: Const(False), compute_uv=lambda: Const(d.chance(0.5))) if full else {}

    return generate


def where(d: Draw) -> Case:
    shape = d.shape()
    condition = d.array(d.meeting(shape), "bool")
    if d.numpy and d.chance(0.2):
        return [d.array(d.shape(1, 2), "bool")], {}
    return [condition, *(d.array(d.meeting(shape)) if d.chance(0.7) else Const(d.pick(1, 2.5)) for _ in "xy")], {}


def sized(d: Draw) -> Case:
    return [d.array(d.shape(1, 3), "bool")], {} if d.numpy else {"size": integer(d.dim())}


def take(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    at = Array(d.shape(0, 2), "int32", numpy=d.numpy) if not d.numpy else Const(0)
    return [x, at], d.maybe(0.7, axis=lambda: Const(d.axis(len(x.shape or ()))))


def take_along_axis(d: Draw) -> Case:
    x = d.array(tuple(d.dim(2) for _ in range(d.int(1, 3))))
    shape = x.shape or ()
    axis = d.axis(len(shape), 0)
    chosen = tuple(d.dim() if i == axis % len(shape) else 1 if d.chance(0.2) else n for i, n in enumerate(shape))
    return [x, Array(chosen, "int32", numpy=d.numpy)], {"axis": Const(axis)}


def select(d: Draw) -> Case:
    shape = d.shape()
    count = d.int(1, 2)
    tests = [d.array(d.meeting(shape), "bool") for _ in range(count)]
    return [ListValue(tests), ListValue([d.array(d.meeting(shape)) for _ in range(count)])], {}


def searchsorted(d: Draw) -> Case:
    return [d.array((d.dim(),), "float32"), d.array(dtype="float32")], {}


def digitize(d: Draw) -> Case:
    return [d.array(dtype="float32"), d.array((d.dim(),), "float32")], {}


def isin(d: Draw) -> Case:
    return [d.array(d.shape(1, 3), "int32"), d.array(d.shape(1, 2), "int32")], {}


def interp(d: Draw) -> Case:
    n = d.dim()
    return [d.array(dtype="float32"), d.array((n,), "float32"), d.array((n,), "float32")], {}


def bincount(d: Draw) -> Case:
    return [d.array((d.dim(),), "int32")], {} if d.numpy else {"length": integer(d.dim())}


def diff(d: Draw) -> Case:
    x = d.array(d.shape(1, 3), d.pick("float32", "int32"))
    return [x], d.maybe(n=lambda: Const(d.int(0, 3)), axis=lambda: Const(d.axis(len(x.shape or ()))))


def trapezoid(d: Draw) -> Case:
    x = d.array(d.shape(1, 3), d.float())
    return [x], d.maybe(axis=lambda: Const(d.axis(len(x.shape or ()))))


def polyval(d: Draw) -> Case:
    return [d.array((d.dim(),), "float32"), d.array(dtype="float32")], {}


def lexsort(d: Draw) -> Case:
    x = d.array((d.dim(),))
    return [Tuple((x, x))], {}


def unique(d: Draw) -> Case:
    return [d.array(d.shape(1, 2))], {} if d.numpy else {"size": integer(d.dim())}


def folded(d: Draw) -> Case:
    """A plain tuple of sizes half the time: numpy's reductions of it are integers."""
    if d.chance(0.5):
        return [dims(d.shape(1, 3))], {}
    return reduction("where", "initial")(d)


_UNARY = (
    "negative sign positive floor ceil trunc conj conjugate abs absolute real imag sqrt exp exp2 expm1 log log1p sin "
    "cos tan arcsin arccos arctan asin acos atan sinh cosh tanh arcsinh arccosh arctanh asinh acosh atanh fabs cbrt "
    "isnan isinf isfinite logical_not isneginf isposinf signbit iscomplex isreal square rint deg2rad rad2deg degrees "
    "radians i0 log2 log10 reciprocal round around nan_to_num angle copy"
)
_BINARY = (
    "add subtract multiply maximum minimum fmax fmin floor_divide mod remainder fmod arctan2 atan2 logaddexp copysign "
    "nextafter divide true_divide float_power hypot logaddexp2 equal not_equal less less_equal greater "
    "greater_equal logical_and logical_or logical_xor isclose allclose array_equal"
)
_ALL = ("where",)
_MEAN = ("where", "dtype")
_SUM = ("where", "initial", "dtype")

SHARED: dict[str, Generator] = {
    **dict.fromkeys(_UNARY.split(), unary),
    **dict.fromkeys(_BINARY.split(), binary),
    **dict.fromkeys(("invert", "bitwise_not", "bitwise_count"), integers),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm", "left_shift", "right_shift"), integer_pair),
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
    **dict.fromkeys(("cumsum", "cumprod"), one_axis(dtype=True)),
    **dict.fromkeys(("median", "nanmedian"), median),
    **dict.fromkeys(("quantile", "percentile"), quantile),
    "average": average,
    "trace": trace,
    "linalg.norm": norm,
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



def drawn(count: int) -> Generator:
    """A distribution with so many parameters."""

    def generate(d: Draw) -> Case:
        values = [Const(0.5) for _ in range(count)]
        return values, {"size": shape_argument(d)} if d.chance(0.7) else {}

    return generate


def sizes(d: Draw) -> Case:
    return list(dims(d.shape()).items), {}


def sized_draw(d: Draw) -> Case:
    return [shape_argument(d)], {}


def randint(d: Draw) -> Case:
    return [Const(0), Const(9)], {"size": shape_argument(d)}


def binomial(d: Draw) -> Case:
    return [Const(3), Const(0.5)], {"size": shape_argument(d)}


def permutation(d: Draw) -> Case:
    return [integer(d.dim()) if d.chance(0.5) else d.array(d.shape(1, 2))], {}


def choice(d: Draw) -> Case:
    return [integer(d.dim()) if d.chance(0.5) else d.array(d.shape(1, 1))], {"size": shape_argument(d)}


RANDOM: dict[str, Generator] = {
    **dict.fromkeys(("normal", "uniform", "lognormal", "gamma", "beta"), drawn(2)),
    **dict.fromkeys(("exponential", "poisson"), drawn(1)),
    "binomial": binomial,
    **dict.fromkeys(("standard_normal", "random", "random_sample"), sized_draw),
    **dict.fromkeys(("randn", "rand"), sizes),
    "randint": randint,
    "permutation": permutation,
    "choice": choice,
}
