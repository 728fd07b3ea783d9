"""`jax.lax` but for control flow, convolutions and collectives."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.calls import Call
from shardlint.inference.overlays import reductions, shapes_joining, shapes_layout
from shardlint.inference.overlays.arrays import (
    Transfer,
    arrays_list,
    arrays_tuple,
    axes_of,
    axis_of,
    dtype_argument,
    given,
    known_int,
    known_rank,
    like,
    normal_axis,
    operand,
    operands,
    reject,
    result,
    same_dim,
    same_shape,
    sequence,
    shape_of,
    signed_dims,
    table,
    unresolved,
)  # fmt: skip
from shardlint.inference.overlays.dtypes import bits, narrowed
from shardlint.inference.overlays.elementwise import (
    binary_function,
    boolean,
    inexact,
    real,
    same,
    unary_function,
)  # fmt: skip
from shardlint.inference.overlays.indexing import sliced
from shardlint.inference.overlays.products import contracted, matmul_shape
from shardlint.inference.overlays.trees import tree_map
from shardlint.inference.values import Array, Const, Slice, Value, as_items, is_none
from shardlint.laws.dims import Dim, Shape, equal, floordiv, product
from shardlint.laws.values import Unknown


def dot_general(call: Call) -> Value:
    """`dot_general(lhs, rhs, ((contract, contract), (batch, batch)))`: batch, then lhs, then rhs."""
    lhs, rhs, numbers, _, preferred, _ = call.bind(
        "lhs", "rhs", "dimension_numbers", precision=None, preferred_element_type=None, out_sharding=None
    )
    x, y = operands([lhs, rhs])
    pairs = [as_items(part) for part in as_items(numbers) or ()]
    if len(pairs) != 2 or any(pair is None or len(pair) != 2 for pair in pairs):
        unresolved("the dimension numbers are not known")
    first, second = known_rank(x), known_rank(y)
    (lhs_sum, rhs_sum), (lhs_batch, rhs_batch) = (
        (_places(pair[0], first), _places(pair[1], second)) for pair in pairs if pair is not None
    )
    for mine, others in ((lhs_sum, rhs_sum), (lhs_batch, rhs_batch)):
        if len(mine) != len(others):
            reject("as many dimensions of one side as of the other")
    for i, j in zip((*lhs_sum, *lhs_batch), (*rhs_sum, *rhs_batch), strict=True):
        same_dim((first[i], second[j]))
    batch = [same_dim((first[i], second[j])) for i, j in zip(lhs_batch, rhs_batch, strict=True)]
    left = [dim for i, dim in enumerate(first) if i not in lhs_sum + lhs_batch]
    right = [dim for j, dim in enumerate(second) if j not in rhs_sum + rhs_batch]
    return contracted(call, [x, y], (*batch, *left, *right), preferred)


def _places(value: Value, shape: Shape) -> tuple[int, ...]:
    return axes_of(value, len(shape)) if as_items(value) else ()


def dot(call: Call) -> Value:
    """`dot(lhs, rhs)` of vectors and matrices."""
    lhs, rhs, numbers, _, preferred, _ = call.bind(
        "lhs", "rhs", dimension_numbers=None, precision=None, preferred_element_type=None, out_sharding=None
    )
    x, y = operands([lhs, rhs])
    if given(numbers):
        unresolved("dimension numbers")
    if any(x.shape is not None and len(x.shape) not in (1, 2) for x in (x, y)):
        reject("ranks other than 1 and 2")
    return contracted(call, [x, y], matmul_shape(x.shape, y.shape), preferred)


def batch_matmul(call: Call) -> Value:
    """`batch_matmul(lhs, rhs)`: equal batch axes."""
    lhs, rhs, _ = call.bind("lhs", "rhs", precision=None)
    x, y = operands([lhs, rhs])
    return contracted(call, [x, y], matmul_shape(x.shape, y.shape), None)


def slice_(call: Call) -> Value:
    """`slice(operand, start_indices, limit_indices, strides)`."""
    operand_, starts, limits, strides = call.bind("operand", "start_indices", "limit_indices", strides=None)
    x = operand(operand_)
    shape, low, high = known_rank(x), shape_of(starts), shape_of(limits)
    steps = shape_of(strides) if given(strides) else (1,) * len(shape)
    if not len(shape) == len(low) == len(high) == len(steps):
        reject("one index an axis")
    return like(
        call, x, tuple(-floordiv(lo - hi, step) for lo, hi, step in zip(low, high, steps, strict=True))
    )


def slice_in_dim(call: Call) -> Value:
    """`slice_in_dim(operand, start, limit, stride, axis)`, as a Python slice of one axis."""
    operand_, start, limit, stride, axis = call.bind(
        "operand", "start_index", "limit_index", stride=Const(1), axis=Const(0)
    )
    x = operand(operand_)
    shape = known_rank(x)
    at = axis_of(axis, len(shape))
    none = Const(None)
    size = sliced(shape[at], Slice(start or none, limit or none, stride or none))
    return like(call, x, _with(shape, at, size))


def _with(shape: Shape, axis: int, *sizes: Dim) -> Shape:
    """The shape with these sizes in place of an axis."""
    return (*shape[:axis], *sizes, *shape[axis + 1 :])


def index_in_dim(call: Call) -> Value:
    """`index_in_dim(operand, index, axis, keepdims)`, and its dynamic kin."""
    operand_, _, axis, keepdims, _ = call.bind(
        "operand", "index", axis=Const(0), keepdims=Const(True), allow_negative_indices=None
    )
    x = operand(operand_)
    shape = known_rank(x)
    at = axis_of(axis, len(shape))
    if not isinstance(keepdims, Const):
        unresolved("keepdims is not known")
    return like(call, x, _with(shape, at, 1) if keepdims.value else _with(shape, at))


def dynamic_slice(call: Call) -> Value:
    """`dynamic_slice(operand, start_indices, slice_sizes)`: the sizes asked for."""
    operand_, _, sizes, _ = call.bind("operand", "start_indices", "slice_sizes", allow_negative_indices=None)
    x = operand(operand_)
    wanted = shape_of(sizes)
    if x.shape is not None and len(x.shape) != len(wanted):
        reject("one size an axis")
    return like(call, x, wanted)


def dynamic_slice_in_dim(call: Call) -> Value:
    """`dynamic_slice_in_dim(operand, start, size, axis)`."""
    operand_, _, size, axis, _ = call.bind(
        "operand", "start_index", "slice_size", axis=Const(0), allow_negative_indices=None
    )
    x = operand(operand_)
    shape = known_rank(x)
    (length,) = shape_of(size)
    return like(call, x, _with(shape, axis_of(axis, len(shape)), length))


def updated(*names: str) -> Transfer:
    """`dynamic_update_slice` and its kin: as the operand, never weak."""

    def transfer(call: Call) -> Value:
        operand_, *_ = call.bind("operand", *names, allow_negative_indices=None)
        x = operand(operand_)
        return result(call, x.shape, x.dtype)

    return transfer


def concatenate(call: Call) -> Value:
    """`concatenate(operands, dimension)`."""
    values, dimension = call.bind("operands", "dimension")
    return _joined(call, sequence(values), dimension)


def _joined(call: Call, arrays: Sequence[Array], dimension: Value | None) -> Value:
    if not arrays:
        reject("nothing to join")
    shapes = [known_rank(x) for x in arrays]
    return like(call, arrays[0], shapes_joining.joined(shapes, axis_of(dimension, len(shapes[0]))))


def split(call: Call) -> Value:
    """`split(operand, sizes, axis)`."""
    operand_, sizes, axis = call.bind("operand", "sizes", axis=Const(0))
    x = operand(operand_)
    shape = known_rank(x)
    at = axis_of(axis, len(shape))
    return arrays_list(like(call, x, _with(shape, at, size)) for size in shape_of(sizes))


def broadcast(call: Call) -> Value:
    """`broadcast(operand, sizes)`: sizes in front."""
    operand_, sizes, _ = call.bind("operand", "sizes", out_sharding=None)
    x = operand(operand_)
    return like(call, x, (*shape_of(sizes), *known_rank(x)))


def broadcast_in_dim(call: Call) -> Value:
    """`broadcast_in_dim(operand, shape, broadcast_dimensions)`."""
    operand_, shape, places, _ = call.bind("operand", "shape", "broadcast_dimensions", out_sharding=None)
    x, target = operand(operand_), shape_of(shape)
    if x.shape is not None:
        items = as_items(places)
        if items is not None and len(items) != len(x.shape):
            reject("one place an axis")
        for dim, item in zip(x.shape, items or (), strict=False):
            wanted = target[normal_axis(known_int(item), len(target))]
            if equal(dim, wanted) is False and equal(dim, 1) is False:
                reject(f"size {dim} does not stretch to {wanted}")
    return like(call, x, target)


def broadcast_to_rank(call: Call) -> Value:
    """`broadcast_to_rank(x, rank)`: ones in front."""
    value, rank = call.bind("x", "rank")
    x = operand(value)
    return like(call, x, (1,) * (known_int(rank) - len(known_rank(x))) + known_rank(x))


def reshape(call: Call) -> Value:
    """`reshape(operand, new_sizes)`."""
    operand_, sizes, _, _ = call.bind("operand", "new_sizes", dimensions=None, out_sharding=None)
    x = operand(operand_)
    return like(call, x, shapes_layout.reshaped(x.shape, shapes_layout.target_items(sizes)))


def collapse(call: Call) -> Value:
    """`collapse(operand, start, stop)`: these axes become one."""
    operand_, start, stop = call.bind("operand", "start_dimension", stop_dimension=None)
    x = operand(operand_)
    shape = known_rank(x)
    low, high, _ = slice(known_int(start), known_int(stop, len(shape))).indices(len(shape))
    if high <= low:
        unresolved("no axes to collapse")
    return like(call, x, (*shape[:low], product(shape[low:high]), *shape[high:]))


def transpose(call: Call) -> Value:
    """`transpose(operand, permutation)`."""
    operand_, order = call.bind("operand", "permutation")
    x = operand(operand_)
    return like(call, x, shapes_layout.permuted(x.shape, order))


def squeeze(call: Call) -> Value:
    """`squeeze(array, dimensions)`."""
    array, dimensions = call.bind("array", "dimensions")
    x = operand(array)
    return like(call, x, shapes_layout.squeezed(known_rank(x), dimensions))


def expand_dims(call: Call) -> Value:
    """`expand_dims(array, dimensions)`."""
    array, dimensions = call.bind("array", "dimensions")
    x = operand(array)
    return like(call, x, shapes_layout.expanded(known_rank(x), dimensions))


def pad(call: Call) -> Value:
    """`pad(operand, padding_value, [(low, high, interior), ...])`."""
    operand_, _, config = call.bind("operand", "padding_value", "padding_config")
    x = operand(operand_)
    rows = [signed_dims(row) for row in as_items(config) or ()]
    shape = known_rank(x)
    if as_items(config) is None:
        unresolved("the padding is not known")
    if len(rows) != len(shape) or any(len(row) != 3 for row in rows):
        reject("three numbers an axis")
    if any(
        inside != 0 and equal(dim, 0) is not False for dim, (_, _, inside) in zip(shape, rows, strict=True)
    ):
        unresolved("interior padding of a size that may be 0")
    sizes = (lo + dim + hi + (dim - 1) * inside for dim, (lo, hi, inside) in zip(shape, rows, strict=True))
    return like(call, x, tuple(sizes))


def reduce_axes(rule: reductions.DtypeRule) -> Transfer:
    """`reduce_sum(operand, axes)` and its kin."""

    def transfer(call: Call) -> Value:
        operand_, axes, _ = call.bind("operand", "axes", out_sharding=None)
        x = operand(operand_)
        if axes is None or is_none(axes):
            unresolved("the axes are not given")
        return result(call, reductions.reduced(x.shape, axes, False), rule(x.dtype, False))

    return transfer


def arg_reduce(call: Call) -> Value:
    """`argmax(operand, axis, index_dtype)`."""
    operand_, axis, dtype = call.bind("operand", "axis", "index_dtype")
    x = operand(operand_)
    return result(call, reductions.reduced(x.shape, axis, False), dtype_argument(dtype, None))


def reduce_(call: Call) -> Value:
    """`reduce(operands, init_values, computation, dimensions)` of arrays and trees of them."""
    values, _, _, dimensions, _ = call.bind(
        "operands", "init_values", "computation", "dimensions", out_sharding=None
    )
    if values is None or isinstance(values, Unknown):
        unresolved("the operands are not known")

    def one(leaf: Value) -> Value:
        x = operand(leaf)
        return like(call, x, reductions.reduced(x.shape, dimensions, False))

    return tree_map(one, values)


def cumulative(call: Call) -> Value:
    """`cumsum(operand, axis, reverse)`: as the operand."""
    operand_, axis, _ = call.bind("operand", axis=Const(0), reverse=None)
    x = operand(operand_)
    normal_axis(known_int(axis), len(known_rank(x)))
    return like(call, x, x.shape)


def top_k(call: Call) -> Value:
    """`top_k(operand, k, axis)`: values and int32 indices."""
    operand_, k, axis = call.bind("operand", "k", axis=Const(-1))
    x = operand(operand_)
    shape = known_rank(x)
    (count,) = shape_of(k)
    found = _with(shape, axis_of(axis, len(shape)), count)
    return arrays_list([like(call, x, found), result(call, found, "int32", x.weak)])


def select(call: Call) -> Value:
    """`select(pred, on_true, on_false)`: as the cases, which are alike."""
    _, yes, no = call.bind("pred", "on_true", "on_false")
    arrays = operands([yes, no])
    shape = same_shape([x.shape for x in arrays])
    return result(call, shape, arrays[0].dtype, all(x.weak for x in arrays))


def select_n(call: Call) -> Value:
    """`select_n(which, *cases)`."""
    if call.opaque or len(call.args) < 2:
        unresolved("the cases are not known")
    arrays = operands(call.args[1:])
    shape = same_shape([x.shape for x in arrays])
    return result(call, shape, arrays[0].dtype, all(x.weak for x in arrays))


def clamp(call: Call) -> Value:
    """`clamp(min, x, max)`: as x."""
    _, value, _ = call.bind("min", "x", "max")
    x = operand(value)
    return like(call, x, x.shape)


def iota(call: Call) -> Value:
    """`iota(dtype, size)`."""
    dtype, size = call.bind("dtype", "size")
    return result(call, shape_of(size), dtype_argument(dtype, None))


def broadcasted_iota(call: Call) -> Value:
    """`broadcasted_iota(dtype, shape, dimension)`."""
    dtype, shape, _, _ = call.bind("dtype", "shape", "dimension", out_sharding=None)
    return result(call, shape_of(shape), dtype_argument(dtype, None))


def convert_element_type(call: Call) -> Value:
    """`convert_element_type(operand, new_dtype)`: Python's types stay weak."""
    operand_, dtype = call.bind("operand", "new_dtype")
    x = operand(operand_)
    return result(call, x.shape, dtype_argument(dtype, x.dtype))


def bitcast_convert_type(call: Call) -> Value:
    """`bitcast_convert_type(operand, new_dtype)` between dtypes of one width."""
    operand_, dtype = call.bind("operand", "new_dtype")
    x, wanted = operand(operand_), narrowed(dtype_argument(dtype, None))
    if wanted is None or x.dtype is None or bits(wanted) != bits(x.dtype):
        unresolved("a view of another width")
    return result(call, x.shape, wanted)


def each_leaf(call: Call) -> Value:
    """`stop_gradient(tree)`, `optimization_barrier(tree)`: the tree itself."""
    (tree,) = call.bind("_x")
    return Unknown("nothing given") if tree is None else tree


def full(call: Call) -> Value:
    """`full(shape, fill_value, dtype)`."""
    shape, value, dtype, _ = call.bind("shape", "fill_value", dtype=None, sharding=None)
    fill = operand(value)
    if given(dtype):
        return result(call, shape_of(shape), dtype_argument(dtype, None))
    return result(call, shape_of(shape), fill.dtype, fill.weak)


def full_like(call: Call) -> Value:
    """`full_like(x, fill_value, dtype, shape)`."""
    value, _, dtype, shape, _ = call.bind("x", "fill_value", dtype=None, shape=None, sharding=None)
    x = operand(value)
    sizes = shape_of(shape) if given(shape) else x.shape
    if given(dtype):
        return result(call, sizes, dtype_argument(dtype, None))
    return result(call, sizes, x.dtype, x.weak)


def sort(call: Call) -> Value:
    """`sort(operand, dimension)` of an array or a tuple of them."""
    value, dimension, *_ = call.bind("operand", dimension=Const(-1), is_stable=None, num_keys=None)
    if (items := as_items(value)) is not None:
        return arrays_tuple(like(call, x, x.shape) for x in operands(items))
    x = operand(value)
    axis_of(dimension, len(known_rank(x)))
    return like(call, x, x.shape)


def sort_key_val(call: Call) -> Value:
    """`sort_key_val(keys, values)`."""
    keys, values, *_ = call.bind("keys", "values", dimension=None, is_stable=None, num_keys=None)
    return arrays_tuple(like(call, x, x.shape) for x in operands([keys, values]))


def rev(call: Call) -> Value:
    """`rev(operand, dimensions)`."""
    operand_, _ = call.bind("operand", "dimensions")
    x = operand(operand_)
    return like(call, x, x.shape)


def integer_pow(call: Call) -> Value:
    """`integer_pow(x, y)`."""
    value, _ = call.bind("x", "y")
    x = operand(value)
    return like(call, x, x.shape)


def complex_(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """complex64."""
    return "complex64", weak


_INEXACT = (
    "acos acosh asin asinh atan atanh cos cosh exp exp2 expm1 log log1p logistic reciprocal rsqrt sin sinh sqrt "
    "tan tanh bessel_i0e bessel_i1e cbrt ceil digamma erf erf_inv erfc floor lgamma round"
)
_SAME = "bitwise_not clz population_count neg sign square"
_PAIRS = (
    "add sub mul div rem pow max min atan2 nextafter igamma bitwise_and bitwise_or bitwise_xor shift_left "
    "shift_right_logical shift_right_arithmetic"
)
_FUNCTIONS: dict[str, Transfer] = {
    **{name: unary_function(inexact) for name in _INEXACT.split()},
    **{name: unary_function(same) for name in _SAME.split()},
    **{name: unary_function(real) for name in ("abs", "real", "imag")},
    "conj": unary_function(complex_),
    "is_finite": unary_function(boolean),
    **{name: binary_function(same) for name in _PAIRS.split()},
    **{name: binary_function(boolean) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "complex": binary_function(complex_),
    **{
        f"reduce_{name}": reduce_axes(reductions.kept)
        for name in ("sum", "prod", "max", "min", "and", "or", "xor")
    },
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"), cumulative),
    **dict.fromkeys(("argmax", "argmin"), arg_reduce),
    "reduce": reduce_,
    "dot_general": dot_general,
    "dot": dot,
    "batch_matmul": batch_matmul,
    "slice": slice_,
    "slice_in_dim": slice_in_dim,
    "index_in_dim": index_in_dim,
    "dynamic_index_in_dim": index_in_dim,
    "dynamic_slice": dynamic_slice,
    "dynamic_slice_in_dim": dynamic_slice_in_dim,
    "dynamic_update_slice": updated("update", "start_indices"),
    "dynamic_update_slice_in_dim": updated("update", "start_index", "axis"),
    "dynamic_update_index_in_dim": updated("update", "index", "axis"),
    "concatenate": concatenate,
    "split": split,
    "broadcast": broadcast,
    "broadcast_in_dim": broadcast_in_dim,
    "broadcast_to_rank": broadcast_to_rank,
    "broadcast_shapes": shapes_layout.broadcast_shapes,
    "reshape": reshape,
    "collapse": collapse,
    "transpose": transpose,
    "squeeze": squeeze,
    "expand_dims": expand_dims,
    "rev": rev,
    "pad": pad,
    "top_k": top_k,
    "select": select,
    "select_n": select_n,
    "clamp": clamp,
    "iota": iota,
    "broadcasted_iota": broadcasted_iota,
    "convert_element_type": convert_element_type,
    "bitcast_convert_type": bitcast_convert_type,
    "stop_gradient": each_leaf,
    "optimization_barrier": each_leaf,
    "full": full,
    "full_like": full_like,
    "sort": sort,
    "sort_key_val": sort_key_val,
    "integer_pow": integer_pow,
}

TABLE: dict[str, Transfer] = table("jax.lax.", _FUNCTIONS)
