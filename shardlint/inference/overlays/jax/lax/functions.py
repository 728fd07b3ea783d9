"""`jax.lax` without control flow, convolutions and collectives; see `shapes` for functions on shapes."""

from __future__ import annotations

from dataclasses import replace

from shardlint.inference.domain.values import Array, Const, Value, as_items, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays import reductions
from shardlint.inference.overlays.arrays.contractions import contracted, matmul_shape
from shardlint.inference.overlays.arrays.dtypes import bits, narrowed
from shardlint.inference.overlays.arrays.elementwise import (
    binary_function,
    boolean,
    inexact,
    real,
    same,
    unary_function,
)  # fmt: skip
from shardlint.inference.overlays.arrays.operands import (
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
    shape_of,
    size_of,
    truth,
    unresolved,
)  # fmt: skip
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.jax.explicit.rules import contractions as contraction_rules
from shardlint.inference.overlays.jax.explicit.rules import elementwise as elementwise_rules
from shardlint.inference.overlays.jax.explicit.rules import joining as joining_rules
from shardlint.inference.overlays.jax.explicit.rules import reductions as reduction_rules
from shardlint.inference.overlays.jax.lax import shapes
from shardlint.inference.overlays.jax.lax.shapes import with_axis
from shardlint.inference.overlays.operations import Operation, library_table
from shardlint.inference.overlays.pytrees.trees import tree_map
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Unknown


def dot_general(call: Call) -> Value:
    """`dot_general(lhs, rhs, ((contract, contract), (batch, batch)))`: batch axes, then those of lhs, then of
    rhs."""
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
    return _product(call, x, y, (*batch, *left, *right), preferred)


def _product(call: Call, x: Array, y: Array, shape: Shape | None, preferred: Value | None) -> Array:
    """Return a product; lax has its own promotion (different 16-bit floats do not widen, weak types
    count)."""
    found = contracted(call, [x, y], shape, preferred)
    unlike = x.dtype != y.dtype and (x.weak or y.weak or found.dtype not in (x.dtype, y.dtype))
    return replace(found, dtype=None, weak=False) if unlike and not given(preferred) else found


def _places(value: Value, shape: Shape) -> tuple[int, ...]:
    if (items := as_items(value)) is None:
        unresolved("the dimensions are not known")
    return axes_of(value, len(shape)) if items else ()


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
    return _product(call, x, y, matmul_shape(x.shape, y.shape), preferred)


def batch_matmul(call: Call) -> Value:
    """`batch_matmul(lhs, rhs)`: equal batch axes."""
    lhs, rhs, _ = call.bind("lhs", "rhs", precision=None)
    x, y = operands([lhs, rhs])
    return contracted(call, [x, y], matmul_shape(x.shape, y.shape), None)


def reduce_axes(rule: reductions.DtypeRule) -> Transfer:
    """`reduce_sum(operand, axes)` and its relatives."""

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
    """`cumsum(operand, axis, reverse)`: like the operand."""
    operand_, axis, _ = call.bind("operand", axis=Const(0), reverse=None)
    x = operand(operand_)
    normal_axis(known_int(axis), len(known_rank(x)))
    return like(call, x, x.shape)


def top_k(call: Call) -> Value:
    """`top_k(operand, k, axis)`: values and int32 indices."""
    operand_, k, axis = call.bind("operand", "k", axis=Const(-1))
    return _of_largest(call, operand_, k, axis)


def approximate_k(call: Call) -> Value:
    """`approx_max_k(operand, k, reduction_dimension)`: as `top_k`, unless they are not aggregated."""
    operand_, k, axis, _, _, aggregate = call.bind(
        "operand",
        "k",
        reduction_dimension=Const(-1),
        recall_target=None,
        reduction_input_size_override=None,
        aggregate_to_topk=None,
    )
    if not truth(aggregate, True):
        unresolved("how many are returned is the implementation's choice")
    return _of_largest(call, operand_, k, axis)


def _of_largest(call: Call, values: Value | None, k: Value | None, axis: Value | None) -> Value:
    x = operand(values)
    shape = known_rank(x)
    count = size_of(k)
    found = with_axis(shape, axis_of(axis, len(shape)), count)
    return arrays_list([like(call, x, found), result(call, found, "int32", x.weak)])


def ragged_dot(call: Call) -> Value:
    """`ragged_dot(lhs, rhs, group_sizes)`: each group of rows by a matrix of its own."""
    lhs, rhs, groups, _, preferred, *_ = call.bind(
        "lhs",
        "rhs",
        "group_sizes",
        precision=None,
        preferred_element_type=None,
        group_offset=None,
        out_sharding=None,
    )
    x, y, sizes = operands([lhs, rhs, groups])
    left, right, counted = known_rank(x), known_rank(y), known_rank(sizes)
    if (len(left), len(right), len(counted)) != (2, 3, 1):
        unresolved("products of other ranks are not followed")
    same_dim((left[1], right[1]))
    same_dim((right[0], counted[0]))
    return _product(call, x, y, (left[0], right[2]), preferred)


def select(call: Call) -> Value:
    """`select(pred, on_true, on_false)`: like the cases, which have the same type."""
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
    """`clamp(min, x, max)`: like x."""
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
    """`bitcast_convert_type(operand, new_dtype)` between dtypes of the same width."""
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
    keys, values, *_ = call.bind("keys", "values", dimension=Const(-1), is_stable=None, num_keys=None)
    return arrays_tuple(like(call, x, x.shape) for x in operands([keys, values]))


def integer_pow(call: Call) -> Value:
    """`integer_pow(x, y)`."""
    value, _ = call.bind("x", "y")
    x = operand(value)
    return like(call, x, x.shape)


def complex_(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Return complex64."""
    return "complex64", weak


def betainc(call: Call) -> Value:
    """`betainc(a, b, x)`: of one dtype and shape."""
    arrays = operands(call.bind("a", "b", "x"))
    return result(call, same_shape([x.shape for x in arrays]), arrays[-1].dtype, all(x.weak for x in arrays))


def reduce_precision(call: Call) -> Value:
    """`reduce_precision(operand, exponent_bits, mantissa_bits)`: like the operand."""
    value, *_ = call.bind("operand", "exponent_bits", "mantissa_bits")
    x = operand(value)
    return like(call, x, x.shape)


def rng_uniform(call: Call) -> Value:
    """`rng_uniform(a, b, shape)`: numbers of the dtype of their bounds."""
    low, _, shape = call.bind("a", "b", "shape")
    return result(call, shape_of(shape), operand(low).dtype)


def empty(call: Call) -> Value:
    """`empty(shape, dtype, out_sharding=)`."""
    shape, dtype, _ = call.bind("shape", "dtype", out_sharding=None)
    return result(call, shape_of(shape), dtype_argument(dtype, None))


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "acos acosh asin asinh atan atanh logistic rsqrt bessel_i0e bessel_i1e digamma erf erf_inv "
        "erfc lgamma cos cosh exp exp2 expm1 log log1p reciprocal sin sinh sqrt tan tanh cbrt ceil floor "
        "round",
        unary_function(inexact),
        sharding=elementwise_rules.nary_as_given,
        reads_values=True,
    ),
    Operation(
        "bitwise_not clz population_count neg sign square",
        unary_function(same),
        sharding=elementwise_rules.nary_as_given,
        reads_values=True,
    ),
    Operation(
        "abs real imag", unary_function(real), sharding=elementwise_rules.nary_as_given, reads_values=True
    ),
    Operation("conj", unary_function(complex_), sharding=elementwise_rules.nary_as_given, reads_values=True),
    Operation(
        "is_finite", unary_function(boolean), sharding=elementwise_rules.nary_as_given, reads_values=True
    ),
    Operation(
        "add max min bitwise_and bitwise_or bitwise_xor sub mul div rem pow atan2 shift_left "
        "shift_right_logical shift_right_arithmetic",
        binary_function(same),
        sharding=elementwise_rules.nary_as_given,
        reads_values=True,
    ),
    Operation(
        "nextafter",
        binary_function(same),
        sharding=elementwise_rules.nary_as_given,
        reads_values=True,
        parameters=("x1", "x2"),
    ),
    Operation(
        "igammac igamma_grad_a random_gamma_grad",
        binary_function(same),
        sharding=elementwise_rules.composed,
        reads_values=True,
        parameters=("a", "x"),
    ),
    Operation(
        "polygamma",
        binary_function(same),
        sharding=elementwise_rules.composed,
        reads_values=True,
        parameters=("m", "x"),
    ),
    Operation(
        "zeta",
        binary_function(same),
        sharding=elementwise_rules.composed,
        reads_values=True,
        parameters=("x", "q"),
    ),
    Operation(
        "reduce_precision", reduce_precision, sharding=elementwise_rules.first_operand, reads_values=True
    ),
    Operation("betainc", betainc, sharding=elementwise_rules.composed, reads_values=True),
    Operation("rng_uniform", rng_uniform, sharding=unclaimed, reads_values=True),
    Operation("empty", empty, sharding=joining_rules.made, reads_values=False),
    Operation(
        "igamma",
        binary_function(same),
        sharding=elementwise_rules.nary_as_given,
        reads_values=True,
        parameters=("a", "x"),
    ),
    Operation(
        "eq ne lt le gt ge",
        binary_function(boolean),
        sharding=elementwise_rules.nary_as_given,
        reads_values=True,
    ),
    Operation(
        "complex", binary_function(complex_), sharding=elementwise_rules.nary_as_given, reads_values=True
    ),
    Operation(
        "reduce_prod reduce_and reduce_or reduce_xor",
        reduce_axes(reductions.same_dtype),
        sharding=reduction_rules.lax_reduction,
        reads_values=True,
    ),
    Operation(
        "reduce_sum",
        reduce_axes(reductions.same_dtype),
        sharding=reduction_rules.lax_sum,
        reads_values=True,
    ),
    Operation(
        "reduce_max reduce_min",
        reduce_axes(reductions.same_dtype),
        sharding=reduction_rules.lax_extreme,
        reads_values=True,
    ),
    Operation(
        "cumsum cumprod cummax cummin cumlogsumexp",
        cumulative,
        sharding=reduction_rules.lax_cumulative,
        reads_values=True,
        gathered=reductions.accumulated,
    ),
    Operation("argmax argmin", arg_reduce, sharding=reduction_rules.lax_arg_extreme, reads_values=True),
    Operation("reduce", reduce_, sharding=reduction_rules.lax_reduce, reads_values=False),
    Operation("dot_general", dot_general, sharding=contraction_rules.dot_general, reads_values=True),
    Operation("dot", dot, sharding=contraction_rules.lax_dot, reads_values=True),
    Operation("batch_matmul", batch_matmul, sharding=contraction_rules.batch_matmul, reads_values=True),
    Operation("ragged_dot", ragged_dot, sharding=contraction_rules.ragged_dot, reads_values=True),
    Operation(
        "top_k", top_k, sharding=reduction_rules.top_k, reads_values=True, gathered=reductions.accumulated
    ),
    Operation(
        "approx_max_k approx_min_k",
        approximate_k,
        sharding=reduction_rules.approximate_k,
        reads_values=True,
    ),
    Operation("select", select, sharding=elementwise_rules.select, reads_values=True),
    Operation("select_n", select_n, sharding=elementwise_rules.select_n, reads_values=True),
    Operation("clamp", clamp, sharding=elementwise_rules.clamp, reads_values=True),
    Operation("iota", iota, sharding=joining_rules.made, reads_values=False),
    Operation("broadcasted_iota", broadcasted_iota, sharding=joining_rules.made, reads_values=False),
    Operation(
        "convert_element_type",
        convert_element_type,
        sharding=elementwise_rules.first_operand,
        reads_values=True,
    ),
    Operation(
        "bitcast_convert_type",
        bitcast_convert_type,
        sharding=elementwise_rules.first_operand,
        reads_values=True,
    ),
    Operation(
        "stop_gradient",
        each_leaf,
        sharding=elementwise_rules.first_operand,
        reads_values=True,
        parameters=("x",),
    ),
    Operation("optimization_barrier", each_leaf, sharding=joining_rules.unchanged, reads_values=True),
    Operation("full", full, sharding=joining_rules.filled, reads_values=True),
    Operation("full_like", full_like, sharding=joining_rules.made_like, reads_values=False),
    Operation(
        "sort", sort, sharding=reduction_rules.lax_sort, reads_values=True, gathered=reductions.ordered
    ),
    Operation("sort_key_val", sort_key_val, sharding=reduction_rules.sort_key_val, reads_values=True),
    Operation("integer_pow", integer_pow, sharding=elementwise_rules.nary_as_given, reads_values=True),
)

TABLE: dict[str, Transfer] = library_table("jax.lax.", (*OPERATIONS, *shapes.OPERATIONS))
