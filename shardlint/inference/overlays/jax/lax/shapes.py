"""Functions of `jax.lax` that slice, join and rearrange arrays."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.domain.values import Array, Const, Slice, Value, as_items
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays import joining, layout
from shardlint.inference.overlays.arrays.indexing import sliced
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    arrays_list,
    at_most,
    axis_of,
    given,
    known_int,
    known_rank,
    like,
    normal_axis,
    operand,
    reject,
    result,
    same_shape,
    sequence,
    shape_of,
    signed_row,
    size_of,
    unresolved,
)  # fmt: skip
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.jax.explicit.rules import joining as joining_rules
from shardlint.inference.overlays.jax.explicit.rules import layout as layout_rules
from shardlint.inference.overlays.jax.explicit.rules import slicing as slicing_rules
from shardlint.inference.overlays.operations import Operation
from shardlint.laws.core.dims import Dim, Shape, equal, floordiv, product


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
    return like(call, x, with_axis(shape, at, size))


def with_axis(shape: Shape, axis: int, *sizes: Dim) -> Shape:
    """Return the shape with an axis replaced by these sizes."""
    return (*shape[:axis], *sizes, *shape[axis + 1 :])


def index_in_dim(call: Call) -> Value:
    """`index_in_dim(operand, index, axis, keepdims)`, and its dynamic counterpart."""
    operand_, _, axis, keepdims, _ = call.bind(
        "operand", "index", axis=Const(0), keepdims=Const(True), allow_negative_indices=None
    )
    x = operand(operand_)
    shape = known_rank(x)
    at = axis_of(axis, len(shape))
    if not isinstance(keepdims, Const):
        unresolved("keepdims is not known")
    return like(call, x, with_axis(shape, at, 1) if keepdims.value else with_axis(shape, at))


def dynamic_slice(call: Call) -> Value:
    """`dynamic_slice(operand, start_indices, slice_sizes)`: an array of the requested sizes."""
    operand_, _, sizes, _ = call.bind("operand", "start_indices", "slice_sizes", allow_negative_indices=None)
    x = operand(operand_)
    wanted = shape_of(sizes)
    if x.shape is not None and len(x.shape) != len(wanted):
        reject("one size an axis")
    _fit(wanted, x.shape)
    return like(call, x, wanted)


def dynamic_slice_in_dim(call: Call) -> Value:
    """`dynamic_slice_in_dim(operand, start, size, axis)`."""
    operand_, _, size, axis, _ = call.bind(
        "operand", "start_index", "slice_size", axis=Const(0), allow_negative_indices=None
    )
    x = operand(operand_)
    shape = known_rank(x)
    wanted = with_axis(shape, axis_of(axis, len(shape)), size_of(size))
    _fit(wanted, shape)
    return like(call, x, wanted)


def _fit(part: Shape | None, whole: Shape | None) -> None:
    """Reject a part that is longer than the whole array along one of its dimensions."""
    if part is None or whole is None:
        return
    if len(part) != len(whole) or any(at_most(b + 1, a) for a, b in zip(part, whole, strict=True)):
        reject("a slice longer than the array")


def updated(*names: str, slices: bool = True) -> Transfer:
    """Return `dynamic_update_slice` or a relative: like the operand, never weak; the part has its rank if
    ``slices``."""

    def transfer(call: Call) -> Value:
        operand_, update, *_ = call.bind("operand", *names, allow_negative_indices=None)
        x = operand(operand_)
        if slices:
            _fit(operand(update).shape, x.shape)
        return result(call, x.shape, x.dtype)

    return transfer


def searched(call: Call, array: Array, split: frozenset[int]) -> frozenset[int]:
    """Return the dimensions of a slice, read or written, that starts where the data say: no device knows
    whether its part holds it.

    XLA makes a static slice of one that starts where the program says, so that little moves; and where one
    row is written, each device writes it or keeps its part (JAX 0.6.2 to 0.12.0.1).
    """
    shape, part = known_rank(array), call.arguments.get("update")
    if "start_indices" in call.arguments:
        starts = dict(enumerate(as_items(call.arguments["start_indices"]) or ()))
    else:
        start = call.arguments.get("start_index", call.arguments.get("index"))
        starts = {} if start is None else {axis_of(call.arguments["axis"], len(shape)): start}
    if part is not None:
        sizes = known_rank(operand(part))
    elif "slice_sizes" in call.arguments:
        sizes = shape_of(call.arguments["slice_sizes"])
    else:
        sizes = shape_of(call.arguments.get("slice_size") or Const(1)) * len(shape)
    return frozenset(
        at
        for at, start in starts.items()
        if at in split
        and is_data(start)
        and equal(sizes[at], shape[at]) is False
        and (part is None or equal(sizes[at], 1) is False)
    )


def is_data(start: Value) -> bool:
    """Return whether an index is known to the data alone, and not to the compiler."""
    return isinstance(start, Array) and not start.numpy and start.made is None


def concatenate(call: Call) -> Value:
    """`concatenate(operands, dimension)`."""
    values, dimension = call.bind("operands", "dimension")
    return _joined(call, sequence(values), dimension)


def _joined(call: Call, arrays: Sequence[Array], dimension: Value | None) -> Value:
    if not arrays:
        reject("nothing to join")
    shapes = [known_rank(x) for x in arrays]
    if len(arrays) == 1:
        # It is returned, whatever the dimension.
        return like(call, arrays[0], shapes[0])
    return like(call, arrays[0], joining.joined(shapes, axis_of(dimension, len(shapes[0]))))


def split(call: Call) -> Value:
    """`split(operand, sizes, axis)`."""
    operand_, sizes, axis = call.bind("operand", "sizes", axis=Const(0))
    x = operand(operand_)
    shape = known_rank(x)
    at = axis_of(axis, len(shape))
    return arrays_list(like(call, x, with_axis(shape, at, size)) for size in shape_of(sizes))


def broadcast(call: Call) -> Value:
    """`broadcast(operand, sizes)`: adds leading dimensions."""
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
    """`broadcast_to_rank(x, rank)`: adds leading ones."""
    value, rank = call.bind("x", "rank")
    x = operand(value)
    return like(call, x, (1,) * (known_int(rank) - len(known_rank(x))) + known_rank(x))


def reshape(call: Call) -> Value:
    """`reshape(operand, new_sizes)`."""
    operand_, sizes, _, _ = call.bind("operand", "new_sizes", dimensions=None, out_sharding=None)
    x = operand(operand_)
    return like(call, x, layout.reshaped(x.shape, layout.target_items(sizes)))


def collapse(call: Call) -> Value:
    """`collapse(operand, start, stop)`: merges these axes."""
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
    return like(call, x, layout.permuted(x.shape, order))


def squeeze(call: Call) -> Value:
    """`squeeze(array, dimensions)`."""
    array, dimensions = call.bind("array", "dimensions")
    x = operand(array)
    return like(call, x, layout.squeezed(known_rank(x), dimensions))


def expand_dims(call: Call) -> Value:
    """`expand_dims(array, dimensions)`."""
    array, dimensions = call.bind("array", "dimensions")
    x = operand(array)
    return like(call, x, layout.expanded(known_rank(x), dimensions))


def pad(call: Call) -> Value:
    """`pad(operand, padding_value, [(low, high, interior), ...])`."""
    operand_, _, config = call.bind("operand", "padding_value", "padding_config")
    x = operand(operand_)
    rows = [signed_row(row, 3) for row in as_items(config) or ()]
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


def rev(call: Call) -> Value:
    """`rev(operand, dimensions)`."""
    operand_, _ = call.bind("operand", "dimensions")
    x = operand(operand_)
    return like(call, x, x.shape)


def stack(call: Call) -> Value:
    """`stack(operands, axis)`: arrays of one shape along a new axis."""
    values, axis = call.bind("operands", axis=Const(0))
    arrays = sequence(values)
    if not arrays:
        reject("nothing to stack")
    shape = same_shape([known_rank(x) for x in arrays]) or ()
    at = axis_of(axis, len(shape) + 1)
    return like(call, arrays[0], (*shape[:at], len(arrays), *shape[at:]))


def unstack(call: Call) -> Value:
    """`unstack(x, axis)`: a slice for each index along an axis."""
    value, axis = call.bind("x", axis=Const(0))
    x = operand(value)
    shape = known_rank(x)
    at = axis_of(axis, len(shape))
    count = shape[at]
    if not isinstance(count, int):
        unresolved("how many slices there are")
    return arrays_list([like(call, x, with_axis(shape, at))] * count)


def tile(call: Call) -> Value:
    """`tile(operand, reps)`: a number of repetitions for each dimension."""
    value, reps = call.bind("operand", "reps")
    x = operand(value)
    shape, times = known_rank(x), shape_of(reps)
    if len(shape) != len(times):
        reject("a number for each dimension")
    return like(call, x, tuple(n * count for n, count in zip(shape, times, strict=True)))


OPERATIONS: tuple[Operation, ...] = (
    Operation("slice", slice_, sharding=slicing_rules.sliced, reads_values=True),
    Operation("slice_in_dim", slice_in_dim, sharding=slicing_rules.sliced, reads_values=True),
    Operation("index_in_dim", index_in_dim, sharding=slicing_rules.indexed, reads_values=True),
    Operation(
        "dynamic_index_in_dim",
        index_in_dim,
        sharding=slicing_rules.dynamic_index,
        reads_values=True,
        gathered=searched,
    ),
    Operation(
        "dynamic_slice", dynamic_slice, sharding=slicing_rules.dynamic, reads_values=True, gathered=searched
    ),
    Operation(
        "dynamic_slice_in_dim",
        dynamic_slice_in_dim,
        sharding=slicing_rules.dynamic_along,
        reads_values=True,
        gathered=searched,
    ),
    Operation(
        "dynamic_update_slice",
        updated("update", "start_indices"),
        sharding=slicing_rules.update,
        reads_values=True,
        gathered=searched,
    ),
    Operation(
        "dynamic_update_slice_in_dim",
        updated("update", "start_index", "axis"),
        sharding=slicing_rules.update_along,
        reads_values=True,
        gathered=searched,
    ),
    Operation(
        "dynamic_update_index_in_dim",
        updated("update", "index", "axis", slices=False),
        sharding=slicing_rules.update_index,
        reads_values=True,
    ),
    Operation("concatenate", concatenate, sharding=joining_rules.lax_concatenate, reads_values=True),
    Operation("split", split, sharding=joining_rules.lax_split, reads_values=True),
    Operation("broadcast", broadcast, sharding=layout_rules.broadcast, reads_values=True),
    Operation(
        "broadcast_in_dim", broadcast_in_dim, sharding=layout_rules.broadcast_in_dim, reads_values=True
    ),
    Operation(
        "broadcast_to_rank", broadcast_to_rank, sharding=layout_rules.broadcast_to_rank, reads_values=True
    ),
    Operation("broadcast_shapes", layout.broadcast_shapes, sharding=None, reads_values=False),
    Operation("reshape", reshape, sharding=layout_rules.lax_reshape, reads_values=True),
    Operation("collapse", collapse, sharding=layout_rules.collapse, reads_values=True),
    Operation("transpose", transpose, sharding=layout_rules.lax_transpose, reads_values=True),
    Operation("squeeze", squeeze, sharding=layout_rules.lax_squeeze, reads_values=True),
    Operation("expand_dims", expand_dims, sharding=layout_rules.expand_dims, reads_values=True),
    Operation("stack", stack, sharding=joining_rules.lax_stack, reads_values=True),
    Operation("unstack", unstack, sharding=slicing_rules.unstacked, reads_values=True),
    Operation("tile", tile, sharding=unclaimed, reads_values=True),
    Operation("rev", rev, sharding=layout_rules.reverse, reads_values=True),
    Operation("pad", pad, sharding=layout_rules.lax_pad, reads_values=True),
)
