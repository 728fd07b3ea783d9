"""Random calls of `jax.lax` but for control flow."""

from __future__ import annotations

from dataclasses import replace

import cases_numpy as shared
from overlay_harness import Case, Draw, Generator, dims, function

from shardlint.inference.domain.values import Array, Const, External, ListValue, Tuple, Value, integer
from shardlint.inference.overlays.arrays.methods import binary


def floats(d: Draw) -> Case:
    return [Const(2.5) if d.chance(0.1) else d.array(dtype=d.pick("float32", "bfloat16", "float16"))], {}


def unary(d: Draw) -> Case:
    return [d.array(dtype=d.pick("float32", "bfloat16", "int32", "bool", "complex64"))], {}


def complexes(d: Draw) -> Case:
    return [d.array(dtype=d.pick("float32", "complex64"))], {}


def bits(d: Draw) -> Case:
    return [d.array(dtype=d.pick("int32", "uint8", "int8"))], {}


def alike(dtypes: tuple[str, ...]) -> Generator:
    """Two arrays of one dtype whose shapes are equal, mostly."""

    def generate(d: Draw) -> Case:
        dtype = d.pick(*dtypes)
        x = Array(d.shape(), dtype)
        return [x, x if d.chance(0.7) else Array(d.meeting(x.shape or ()), dtype)], {}

    return generate


_NUMBERS = ("float32", "bfloat16", "int32")
_INTEGERS = ("int32", "uint8")


def reduced(dtypes: tuple[str, ...]) -> Generator:
    def generate(d: Draw) -> Case:
        x = Array(d.shape(1, 4), d.pick(*dtypes))
        rank = len(x.shape or ())
        return [x, Tuple(tuple(map(Const, d.rng.sample(range(rank), d.between(1, rank)))))], {}

    return generate


def cumulative(d: Draw) -> Case:
    x = d.array(d.shape(1, 3), d.pick("float32", "int32"))
    return [x], d.maybe(axis=lambda: Const(d.between(0, len(x.shape or ()) - 1)))


def arg_reduced(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    return [x, Const(d.between(0, len(x.shape or ()) - 1)), External("jax.numpy.int32")], {}


ADD = function("add", lambda call: binary("+", call.args[0], call.args[1]), lambda a, b: a + b)


def reduce(d: Draw) -> Case:
    x = Array(d.shape(1, 3), "float32")
    return [x, Const(0.0), ADD, Tuple((Const(0),))], {}


def dot_general(d: Draw) -> Case:
    batch, shared_dims = d.shape(0, 2), d.shape(0, 2)
    a, b = (*batch, *d.shape(0, 2), *shared_dims), (*batch, *shared_dims, *d.shape(0, 2))
    if d.chance(0.05):
        b = d.shape(0, 3)
    tail = len(a) - len(shared_dims)
    contract = Tuple((ints(range(tail, len(a))), ints(range(len(batch), len(batch) + len(shared_dims)))))
    numbers = Tuple((contract, Tuple((ints(range(len(batch))),) * 2)))
    kwargs = d.maybe(0.2, preferred_element_type=lambda: External("jax.numpy.float32"))
    return [d.array(a), d.array(b), numbers], kwargs


def ints(values: object) -> Tuple:
    return Tuple(tuple(Const(v) for v in values))  # type: ignore[attr-defined]


def dot(d: Draw) -> Case:
    k = d.dim()
    a = (k,) if d.chance(0.3) else (d.dim(), k)
    b = (k,) if d.chance(0.3) else (k, d.dim())
    return [d.array(a), d.array(b)], {}


def batch_matmul(d: Draw) -> Case:
    batch, m, k, n = d.shape(0, 2), d.dim(), d.dim(), d.dim()
    return [Array((*batch, m, k), "float32"), Array((*batch, k, n), "float32")], {}


def slice_(d: Draw) -> Case:
    lows, sizes, shape = [], [], []
    for _ in range(d.between(1, 3)):
        low, size = d.dim(0, 3), d.dim(0, 4)
        lows.append(low)
        sizes.append(low + size)
        shape.append(low + size + d.dim(0, 3))
    kwargs = d.maybe(strides=lambda: ints(d.pick(1, 2, 3) for _ in shape))
    return [d.array(tuple(shape)), dims(lows), dims(sizes)], kwargs


def slice_in_dim(d: Draw) -> Case:
    low, size = d.dim(0, 3), d.dim(0, 4)
    x = d.array((low + size + d.dim(0, 3), *d.shape(0, 1)))
    stop = Const(None) if d.chance(0.2) else integer(low + size) if d.chance(0.8) else Const(-1)
    return [x, Const(None) if d.chance(0.2) else integer(low), stop], d.maybe(
        stride=lambda: Const(d.pick(1, 2))
    )


def index_in_dim(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    rank = len(x.shape or ())
    return [x, Const(0)], d.maybe(axis=lambda: Const(d.axis(rank)), keepdims=lambda: Const(d.chance(0.5)))


def bigger(d: Draw) -> tuple[Array, tuple]:
    """An array, and sizes no larger than its own."""
    sizes = d.shape(1, 3)
    return d.array(tuple(n + d.dim(0, 2) if d.chance(0.7) else n for n in sizes)), sizes


def dynamic_slice(d: Draw) -> Case:
    x, sizes = bigger(d)
    return [x, ints(0 for _ in sizes), dims(sizes)], {}


def dynamic_slice_in_dim(d: Draw) -> Case:
    x, sizes = bigger(d)
    at = d.between(0, len(sizes) - 1)
    return [x, Const(0), integer(sizes[at])], {"axis": Const(at)}


def dynamic_update_slice(d: Draw) -> Case:
    x, sizes = bigger(d)
    return [x, replace(x, shape=sizes), ints(0 for _ in sizes)], {}


def dynamic_update_in_dim(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    at = d.between(0, len(x.shape or ()) - 1)
    shape = tuple(1 if i == at else n for i, n in enumerate(x.shape or ()))
    return [x, replace(x, shape=shape), Const(0), Const(at)], {}


def concatenate(d: Draw) -> Case:
    arrays, at = shared.joinable(d)
    return [ListValue([replace(x, dtype="float32", weak=False) for x in arrays]), Const(at)], {}


def split(d: Draw) -> Case:
    sizes = d.shape(1, 3)
    total = sum(sizes[1:], sizes[0])
    return [d.array((total, *d.shape(0, 2))), dims(sizes)], {}


def broadcast(d: Draw) -> Case:
    return [d.array(), dims(d.shape())], {}


def broadcast_in_dim(d: Draw) -> Case:
    target = d.shape(1, 4)
    places = sorted(d.rng.sample(range(len(target)), d.between(0, len(target))))
    shape = tuple(1 if d.chance(0.3) else d.dim() if d.chance(0.05) else target[i] for i in places)
    return [d.array(shape), dims(target), ints(places)], {}


def broadcast_to_rank(d: Draw) -> Case:
    return [d.array(), Const(d.between(3, 5))], {}


def collapse(d: Draw) -> Case:
    x = d.array(d.shape(2, 4))
    start = d.between(0, len(x.shape or ()) - 1)
    return [x, Const(start)], d.maybe(stop_dimension=lambda: Const(len(x.shape or ())))


def transpose(d: Draw) -> Case:
    x = d.array(d.shape(1, 4))
    rank = len(x.shape or ())
    return [x, ints(d.rng.sample(range(rank), rank))], {}


def squeeze(d: Draw) -> Case:
    shape = (1, *d.shape(0, 2), 1)
    return [d.array(shape), ints(d.pick((0,), (0, len(shape) - 1), (-1,)))], {}


def expand_dims(d: Draw) -> Case:
    return [d.array(), ints(d.pick((0,), (0, 1), (-1,)))], {}


def rev(d: Draw) -> Case:
    return [d.array(d.shape(1, 3)), ints((0,))], {}


def pad(d: Draw) -> Case:
    x = Array(d.shape(1, 3), "float32")
    rows: list[Value] = [
        Tuple((integer(d.dim(0, 3)), Const(d.between(-1, 2)), Const(d.pick(0, 0, 1)))) for _ in x.shape or ()
    ]
    return [x, Const(0.0), ListValue(rows)], {}


def top_k(d: Draw) -> Case:
    k = d.dim()
    return [d.array((*d.shape(0, 2), k + d.dim(0, 3))), integer(k)], {}


def approximate_k(d: Draw) -> Case:
    k, rest = d.dim(), d.shape(0, 2)
    kwargs = d.maybe(0.3, reduction_dimension=lambda: Const(d.pick(-1, len(rest))))
    return [Array((*rest, k + d.dim(0, 3)), d.pick("float32", "bfloat16")), integer(k)], kwargs


def ragged_dot(d: Draw) -> Case:
    groups, rows, shared, columns = d.dim(), d.dim(), d.dim(), d.dim()
    other = shared if d.chance(0.9) else d.dim()
    kwargs = d.maybe(0.2, preferred_element_type=lambda: External("jax.numpy.float32"))
    sizes = Array((groups,), "int32")
    return [Array((rows, shared), "float32"), Array((groups, other, columns), "float32"), sizes], kwargs


def select(d: Draw) -> Case:
    shape = d.shape()
    x = Array(shape, d.dtype())
    return [Array(shape if d.chance(0.5) else (), "bool"), x, x], {}


def clamp(d: Draw) -> Case:
    x = Array(d.shape(), "float32")
    return [Const(0.0), x, Const(1.0)], {}


def dtype_value(d: Draw) -> Value:
    return d.pick(External("jax.numpy.float32"), External("jax.numpy.int32"), Const("bfloat16"))


def convert(d: Draw) -> Case:
    return [d.array(), dtype_value(d)], {}


def bitcast(d: Draw) -> Case:
    dtype = External(f"jax.numpy.{d.pick('float32', 'int32', 'uint32')}")
    return [d.array(dtype=d.pick("float32", "int32")), dtype], {}


def iota(d: Draw) -> Case:
    return [dtype_value(d), integer(d.dim())], {}


def broadcasted_iota(d: Draw) -> Case:
    shape = d.shape(1, 3)
    return [dtype_value(d), dims(shape), Const(d.between(0, len(shape) - 1))], {}


def one(d: Draw) -> Case:
    return [d.array()], {}


def full(d: Draw) -> Case:
    return [dims(d.shape()), Const(d.pick(1, 2.5))], d.maybe(dtype=lambda: dtype_value(d))


def full_like(d: Draw) -> Case:
    return [d.array(), Const(1)], d.maybe(dtype=lambda: dtype_value(d), shape=lambda: dims(d.shape()))


def lax_sort(d: Draw) -> Case:
    x = d.array(d.shape(1, 3))
    return [x], d.maybe(dimension=lambda: Const(d.axis(len(x.shape or ()))))


def sort_key_val(d: Draw) -> Case:
    shape = d.shape(1, 2)
    return [d.array(shape), d.array(shape)], {}


def integer_pow(d: Draw) -> Case:
    return [d.array(dtype=d.pick("float32", "int32")), Const(2)], {}


def reshape(d: Draw) -> Case:
    """Shapes that fit: JAX finds others out only when it lowers."""
    shape = d.shape(1, 4)
    return [d.array(shape), dims((shape[0] * shape[-1], *shape[1:-1]) if len(shape) > 1 else (1, *shape))], {}


def windows(d: Draw, count: int) -> tuple[list, list, Value]:
    """Strides, dilations and a padding of some spatial axes."""
    steps, holes = [d.between(1, 3) for _ in range(count)], [d.between(1, 2) for _ in range(count)]
    pairs = ListValue([ints((d.between(0, 2), d.between(0, 2))) for _ in range(count)])
    return steps, holes, d.pick(Const("SAME"), Const("VALID"), pairs)


def conv(d: Draw) -> Case:
    count = d.between(1, 2)
    features = d.dim()
    x = Array((d.dim(), features, *(d.dim(3, 9) for _ in range(count))), "float32")
    kernel = Array((d.dim(), features, *(d.dim(1, 3) for _ in range(count))), "float32")
    steps, _, padding = windows(d, count)
    return [x, kernel, ints(steps), padding if isinstance(padding, Const) else Const("SAME")], {}


def conv_general(d: Draw) -> Case:
    count = d.between(1, 2)
    features, groups = d.dim(), d.pick(1, 1, 2)
    spatial = [d.dim(3, 9) for _ in range(count)]
    window = [d.dim(1, 3) for _ in range(count)]
    steps, holes, padding = windows(d, count)
    letters = "HW"[:count]
    if d.chance(0.6):
        numbers: Value = Tuple((Const(f"N{letters}C"), Const(f"{letters}IO"), Const(f"N{letters}C")))
        shape, kernel = (d.dim(), *spatial, features * groups), (*window, features, d.dim() * groups)
    else:
        numbers = Tuple((Const(f"NC{letters}"), Const(f"OI{letters}"), Const(f"N{letters}C")))
        shape, kernel = (d.dim(), features * groups, *spatial), (d.dim() * groups, features, *window)
    kwargs: dict[str, Value] = {"dimension_numbers": numbers}
    if groups > 1:
        kwargs["feature_group_count"] = Const(groups)
    kwargs |= d.maybe(0.3, rhs_dilation=lambda: ints(holes))
    if isinstance(padding, ListValue):
        kwargs |= d.maybe(0.2, lhs_dilation=lambda: ints(2 for _ in spatial))
    return [Array(shape, "float32"), Array(kernel, "float32"), ints(steps), padding], kwargs


def conv_padded(d: Draw) -> Case:
    (x, kernel, steps, _), _ = conv(d)
    assert isinstance(x, Array) and x.shape is not None
    count = len(x.shape) - 2
    pairs = ListValue([ints((d.between(0, 2), d.between(0, 2))) for _ in range(count)])
    return [x, kernel, steps, pairs, Const(None), Const(None)], {}


def reduce_window(d: Draw) -> Case:
    shape = tuple(d.dim(2, 9) for _ in range(d.between(1, 3)))
    steps, _, padding = windows(d, len(shape))
    args: list[Value] = [Array(shape, "float32"), Const(0.0), ADD, ints(d.between(1, 3) for _ in shape)]
    return args, {"window_strides": ints(steps), "padding": padding}


_LAX_FLOAT = (
    "acos acosh asin asinh atan atanh cos cosh exp exp2 "
    "expm1 log log1p logistic reciprocal rsqrt sin sinh sqrt tan "
    "tanh bessel_i0e bessel_i1e cbrt ceil digamma erf erf_inv erfc floor lgamma round is_finite"
)

LAX: dict[str, Generator] = {
    **dict.fromkeys(_LAX_FLOAT.split(), floats),
    **dict.fromkeys(("neg", "sign", "square", "abs"), unary),
    **dict.fromkeys(("conj", "real", "imag"), complexes),
    **dict.fromkeys(("bitwise_not", "clz", "population_count"), bits),
    **dict.fromkeys(("add", "sub", "mul", "div", "rem", "max", "min"), alike(_NUMBERS)),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), alike(_NUMBERS)),
    **dict.fromkeys(("pow", "atan2", "nextafter", "igamma"), alike(("float32", "bfloat16"))),
    "complex": alike(("float32",)),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), alike(_INTEGERS)),
    **dict.fromkeys(("shift_left", "shift_right_logical", "shift_right_arithmetic"), alike(_INTEGERS)),
    **dict.fromkeys(("reduce_sum", "reduce_prod", "reduce_max", "reduce_min"), reduced(("float32", "int8"))),
    **dict.fromkeys(("reduce_and", "reduce_or", "reduce_xor"), reduced(("bool", "int32"))),
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"), cumulative),
    **dict.fromkeys(("argmax", "argmin"), arg_reduced),
    "reduce": reduce,
    "dot_general": dot_general,
    "dot": dot,
    "batch_matmul": batch_matmul,
    "slice": slice_,
    "slice_in_dim": slice_in_dim,
    **dict.fromkeys(("index_in_dim", "dynamic_index_in_dim"), index_in_dim),
    "dynamic_slice": dynamic_slice,
    "dynamic_slice_in_dim": dynamic_slice_in_dim,
    "dynamic_update_slice": dynamic_update_slice,
    **dict.fromkeys(("dynamic_update_slice_in_dim", "dynamic_update_index_in_dim"), dynamic_update_in_dim),
    "concatenate": concatenate,
    "split": split,
    "broadcast": broadcast,
    "broadcast_in_dim": broadcast_in_dim,
    "broadcast_to_rank": broadcast_to_rank,
    "broadcast_shapes": shared.broadcast_shapes,
    "reshape": reshape,
    "collapse": collapse,
    "transpose": transpose,
    "squeeze": squeeze,
    "expand_dims": expand_dims,
    "rev": rev,
    "pad": pad,
    "top_k": top_k,
    "approx_max_k": approximate_k,
    "approx_min_k": approximate_k,
    "ragged_dot": ragged_dot,
    **dict.fromkeys(("select", "select_n"), select),
    "clamp": clamp,
    "iota": iota,
    "broadcasted_iota": broadcasted_iota,
    "convert_element_type": convert,
    "bitcast_convert_type": bitcast,
    **dict.fromkeys(("stop_gradient", "optimization_barrier"), one),
    "full": full,
    "full_like": full_like,
    "sort": lax_sort,
    "sort_key_val": sort_key_val,
    "integer_pow": integer_pow,
    "conv": conv,
    "conv_general_dilated": conv_general,
    "conv_with_general_padding": conv_padded,
    "reduce_window": reduce_window,
}
