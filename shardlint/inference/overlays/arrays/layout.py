"""Functions that rearrange one array: reshape, transpose, squeeze, broadcast_to, pad, tile, roll."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Const,
    Tuple,
    Value,
    as_dim,
    as_items,
    as_shape,
    as_size,
    shape_value,
)
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    arrays_list,
    arrays_tuple,
    axes_of,
    axis_of,
    broadcast,
    given,
    is_numpy,
    known_int,
    known_rank,
    like,
    normal_axis,
    operand,
    operands,
    reject,
    rolled_order,
    shape_of,
    unresolved,
)  # fmt: skip
from shardlint.inference.overlays.jax.explicit.rules import joining as joining_rules
from shardlint.inference.overlays.jax.explicit.rules import layout as layout_rules
from shardlint.inference.overlays.operations import Dependence, Operation
from shardlint.laws.core.dims import Dim, Shape, divisible, equal, floordiv, fresh, product
from shardlint.laws.core.values import Unknown


def reshaped(shape: Shape | None, target: Sequence[Value], numpy: bool = False) -> Shape:
    """Return the shape of a reshape; a single ``-1``, or a single unknown size, is the quotient of the rest.

    NumPy takes any negative number for -1.

    Rejects a reshape that changes the number of elements for every size.
    """
    dims = [as_size(item) for item in target]
    open_at = [i for i, dim in enumerate(dims) if dim is None or dim == -1]
    if sum(dim == -1 for dim in dims) > 1:
        reject("more than one -1")
    if any(isinstance(dim, int) and dim < -1 for dim in dims):
        if numpy:
            unresolved("a negative size")
        reject("a negative size")
    known = product(dim for dim in dims if dim is not None and dim != -1)
    if shape is None or len(open_at) > 1:
        return tuple(fresh() if dim is None or dim == -1 else dim for dim in dims)
    total = product(shape)
    if not open_at:
        if equal(total, known) is False:
            reject(f"{total} elements into a shape of {known}")
        return tuple(dim for dim in dims if dim is not None)
    if known == 0:
        reject("a -1 beside a size 0")
    if divisible(total, known) is False:
        reject(f"{total} elements do not divide by {known}")
    rest = floordiv(total, known)
    return tuple(rest if dim is None or dim == -1 else dim for dim in dims)


def target_items(value: Value | None) -> Sequence[Value]:
    """Return the items of a shape argument, which is a tuple or an integer."""
    items = as_items(value)
    if items is not None:
        return items
    if value is not None and as_size(value) is not None:
        return (value,)
    return unresolved("the shape is not known")


def reshape(call: Call) -> Value:
    """`reshape(a, shape)`."""
    if "newshape" in call.kwargs:
        unresolved("newshape")
    a, shape, *_ = call.bind("a", "shape", order=None, copy=None, out_sharding=None)
    x = operand(a, is_numpy(call))
    return like(call, x, reshaped(x.shape, target_items(shape), is_numpy(call)))


def ravel(call: Call) -> Value:
    """`ravel(a)`."""
    a, *_ = call.bind("a", order=None, out_sharding=None)
    x = operand(a, is_numpy(call))
    return like(call, x, (fresh() if x.shape is None else product(x.shape),))


def permuted(shape: Shape | None, axes: Value | None) -> Shape | None:
    """Return the shape after a transposition; without axes, the reversed shape."""
    if shape is None:
        if given(axes) and (items := as_items(axes)) is not None:
            return tuple(fresh() for _ in items)
        return None
    if not given(axes):
        return shape[::-1]
    order = axes_of(axes, len(shape))
    if len(order) != len(shape):
        reject("axes do not match the rank")
    return tuple(shape[axis] for axis in order)


def transpose(call: Call) -> Value:
    """`transpose(a, axes)`."""
    a, axes = call.bind("a", axes=None)
    x = operand(a, is_numpy(call))
    shape = permuted(x.shape, axes)
    if x.shape is None and shape is not None and not is_numpy(call):
        call.learn(0, "a", tuple(fresh() for _ in shape))
    return like(call, x, shape)


def matrix_transpose(call: Call) -> Value:
    """`matrix_transpose(x)`, ``x.mT``."""
    (a,) = call.bind("_x")
    x = operand(a, is_numpy(call))
    return like(call, x, swapped(x.shape, -2, -1))


def swapped(shape: Shape | None, first: int, second: int) -> Shape | None:
    """Return the shape with two axes exchanged."""
    if shape is None:
        return None
    dims = list(shape)
    i, j = normal_axis(first, len(dims)), normal_axis(second, len(dims))
    dims[i], dims[j] = dims[j], dims[i]
    return tuple(dims)


def swapaxes(call: Call) -> Value:
    """`swapaxes(a, axis1, axis2)`."""
    a, first, second = call.bind("a", "axis1", "axis2")
    x = operand(a, is_numpy(call))
    return like(call, x, swapped(x.shape, known_int(first), known_int(second)))


def moveaxis(call: Call) -> Value:
    """`moveaxis(a, source, destination)`."""
    a, source, destination = call.bind("a", "source", "destination")
    x = operand(a, is_numpy(call))
    shape = known_rank(x)
    origins, targets = axes_of(source, len(shape)), axes_of(destination, len(shape))
    if len(origins) != len(targets):
        reject("source and destination differ in length")
    order = [axis for axis in range(len(shape)) if axis not in origins]
    for target, origin in sorted(zip(targets, origins, strict=True)):
        order.insert(target, origin)
    return like(call, x, tuple(shape[axis] for axis in order))


def rollaxis(call: Call) -> Value:
    """`rollaxis(a, axis, start)`."""
    a, axis, start = call.bind("a", "axis", start=Const(0))
    x = operand(a, is_numpy(call))
    shape = known_rank(x)
    order = rolled_order(axis_of(axis, len(shape)), known_int(start), len(shape))
    return like(call, x, tuple(shape[i] for i in order))


def expanded(shape: Shape, axis: Value | None) -> Shape:
    """Return the shape with axes of size 1 inserted at these positions of the result."""
    items = as_items(axis)
    count = 1 if items is None else len(items)
    if not given(axis):
        unresolved("the axis is not known")
    axes = axes_of(axis, len(shape) + count)
    dims = iter(shape)
    return tuple(1 if i in axes else next(dims) for i in range(len(shape) + count))


def expand_dims(call: Call) -> Value:
    """`expand_dims(a, axis)`."""
    a, axis = call.bind("a", "axis")
    x = operand(a, is_numpy(call))
    return like(call, x, expanded(known_rank(x), axis))


def squeezed(shape: Shape, axis: Value | None) -> Shape | None:
    """Return the shape without axes of size 1; None if an open size leaves the rank open."""
    if given(axis):
        gone = axes_of(axis, len(shape))
        if any(equal(shape[i], 1) is False for i in gone):
            reject("a squeezed axis is not of size 1")
        return tuple(dim for i, dim in enumerate(shape) if i not in gone)
    if any(equal(dim, 1) is None for dim in shape):
        return None
    return tuple(dim for dim in shape if dim != 1)


def squeeze(call: Call) -> Value:
    """`squeeze(a, axis)`."""
    a, axis = call.bind("a", axis=None)
    x = operand(a, is_numpy(call))
    return like(call, x, squeezed(known_rank(x), axis))


def broadcast_to(call: Call) -> Value:
    """`broadcast_to(array, shape)`."""
    array, shape, *_ = call.bind("array", "shape", subok=None, out_sharding=None)
    x = operand(array, is_numpy(call))
    return like(call, x, stretched(x.shape, shape_of(shape)))


def stretched(shape: Shape | None, target: Shape) -> Shape:
    """Return the target shape. Rejects a target that the shape cannot be broadcast to."""
    if shape is not None:
        if len(shape) > len(target):
            reject("the target has too few axes")
        for dim, wanted in zip(shape[::-1], target[::-1], strict=False):
            if equal(dim, wanted) is False and equal(dim, 1) is False:
                reject(f"size {dim} does not stretch to {wanted}")
    return target


def broadcast_arrays(call: Call) -> Value:
    """`broadcast_arrays(*arrays)`."""
    if call.opaque:
        unresolved("the arguments are not known")
    arrays = operands(call.args, is_numpy(call))
    shape = broadcast(x.shape for x in arrays)
    stretched_arrays = [like(call, x, shape) for x in arrays]
    return arrays_tuple(stretched_arrays) if is_numpy(call) else arrays_list(stretched_arrays)


def tile(call: Call) -> Value:
    """`tile(A, reps)`: the shorter of shape and reps is padded with leading ones."""
    a, reps = call.bind("A", "reps")
    x = operand(a, is_numpy(call))
    shape, times = known_rank(x), shape_of(reps)
    rank = max(len(shape), len(times))
    shape, times = (1,) * (rank - len(shape)) + shape, (1,) * (rank - len(times)) + times
    return like(call, x, tuple(dim * n for dim, n in zip(shape, times, strict=True)))


def repeat(call: Call) -> Value:
    """`repeat(a, repeats, axis, total_repeat_length)`."""
    a, repeats, axis, total, _ = call.bind(
        "a", "repeats", axis=None, total_repeat_length=None, out_sharding=None
    )
    x = operand(a, is_numpy(call))
    shape = known_rank(x)
    if not given(axis):
        shape, at = (product(shape),), 0
    elif shape == ():
        unresolved("an axis of a scalar")
    else:
        at = axis_of(axis, len(shape))
    size = as_dim(total) if given(total) else _repeated(shape[at], repeats)
    return like(call, x, (*shape[:at], fresh() if size is None else size, *shape[at + 1 :]))


def _repeated(size: Dim, repeats: Value | None) -> Dim | None:
    if (times := as_dim(repeats)) is not None:
        return size * times
    items = as_items(repeats)
    counts = [as_dim(item) for item in items or ()]
    if not counts or any(n is None for n in counts):
        return None
    total: Dim = 0
    for n in counts:
        total = total + (n or 0)
    return size * total if len(counts) == 1 else total


def pad(call: Call) -> Value:
    """`pad(array, pad_width, mode, ...)`."""
    if not call.opaque and len(call.args) >= 2:
        array, widths = call.args[:2]
    else:
        array, widths, *_ = call.bind("array", "pad_width", mode=None, constant_values=None)  # type: ignore[assignment]
    x = operand(array, is_numpy(call))
    shape = known_rank(x)
    pairs = _pad_pairs(widths, len(shape))
    return like(call, x, tuple(low + dim + high for dim, (low, high) in zip(shape, pairs, strict=True)))


def _pad_pairs(widths: Value | None, rank: int) -> list[tuple[Dim, Dim]]:
    """Return a (before, after) pair for each axis, from an integer, a pair, or a list of pairs."""
    if (both := as_dim(widths)) is not None:
        return [(both, both)] * rank
    items = as_items(widths)
    if items is None:
        return [(fresh(), fresh()) for _ in range(rank)]
    rows = [_pad_pair(item) for item in items]
    nested = [as_items(item) is not None for item in items]
    if len(rows) == 2 and not any(nested):
        # Either a pair for all axes, or two rows with unknown items.
        widths_known = any(as_dim(item) is not None for item in items)
        return (
            [(rows[0][0], rows[1][0])] * rank if widths_known else [(fresh(), fresh()) for _ in range(rank)]
        )
    if len(rows) == 1:
        return rows * rank
    if len(rows) != rank:
        reject("pad widths do not match the rank")
    return rows


def _pad_pair(item: Value) -> tuple[Dim, Dim]:
    parts = as_items(item)
    if parts is None:
        width = as_dim(item)
        return (fresh(), fresh()) if width is None else (width, width)
    found = [fresh() if (dim := as_dim(part)) is None else dim for part in parts]
    if len(found) not in (1, 2):
        reject("a pad width is not a pair")
    return found[0], found[-1]


def unchanged(*names: str) -> Transfer:
    """Return a function whose result has the shape and dtype of its first argument; ``names`` are the other
    parameters."""

    def transfer(call: Call) -> Value:
        a, *_ = call.bind("a", **dict.fromkeys(names))
        x = operand(a, is_numpy(call))
        return like(call, x, x.shape)

    return transfer


def rot90(call: Call) -> Value:
    """`rot90(m, k, axes)`: an odd k exchanges the axes."""
    m, k, axes = call.bind("m", k=Const(1), axes=None)
    x = operand(m, is_numpy(call))
    shape = known_rank(x)
    plane = axes_of(axes, len(shape)) if given(axes) else (0, 1)
    if len(plane) != 2 or len(shape) < 2:
        reject("a plane has two axes")
    return like(call, x, swapped(shape, *plane) if known_int(k) % 2 else shape)


def atleast(rank: int) -> Transfer:
    """Return `atleast_1d`, `atleast_2d` or `atleast_3d`."""

    def transfer(call: Call) -> Value:
        if call.opaque or call.kwargs:
            unresolved("the arguments are not known")
        arrays = [raised(call, x, rank) for x in operands(call.args, is_numpy(call))]
        if len(arrays) == 1:
            return arrays[0]
        return arrays_tuple(arrays) if is_numpy(call) else arrays_list(arrays)

    return transfer


def raised(call: Call, x: Array, rank: int) -> Array:
    """Return the array with at least this rank; axes of size 1 are added where `numpy.atleast_3d` adds
    them."""
    shape = known_rank(x)
    if len(shape) >= rank:
        return like(call, x, shape)
    if rank == 3:
        return like(call, x, {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}[len(shape)])
    return like(call, x, (1,) * (rank - len(shape)) + shape)


def triangle(call: Call) -> Value:
    """`tril(m, k)`: the array itself, which must have a rank of at least 2."""
    m, _ = call.bind("m", k=None)
    x = operand(m, is_numpy(call))
    if x.shape is not None and len(x.shape) < 2:
        if is_numpy(call) and x.shape:
            return like(call, x, x.shape * 2)
        reject("rank below 2")
    return like(call, x, x.shape)


def resize(call: Call) -> Value:
    """`resize(a, new_shape)`."""
    a, shape = call.bind("a", "new_shape")
    return like(call, operand(a, is_numpy(call)), shape_of(shape))


def broadcast_shapes(call: Call) -> Value:
    """`broadcast_shapes(*shapes)`."""
    found = broadcast(shape_of(shape) for shape in call.args)
    return shape_value(found or ())


def set_in_place(call: Call) -> Value:
    """`np.ndarray.shape.__set__(x, (2, 3))`, `x.__setattr__("shape", (2, 3))`."""
    if call.args:
        call.interpreter.change_in_place(call.args[0], None, call.place)
    return NONE


def resize_in_place(call: Call) -> Value:
    """`x.resize(2, 3)`, also of a value that may be a numpy array: it changes in place."""
    if not call.args:
        raise CannotBind(call.name)
    receiver, *sizes = call.args
    changes = not isinstance(receiver, Array) or receiver.numpy or receiver.shape is None
    if changes and sizes:
        given = Tuple(tuple(sizes)) if len(sizes) > 1 else sizes[0]
        known = isinstance(receiver, Array) and receiver != Array(None)
        array = receiver if known else Unknown("it may be an array")
        call.interpreter.change_in_place(array, as_shape(given), call.place)
    if isinstance(receiver, Array) and receiver.numpy:
        return NONE
    # It may be something else with such a method, which gets the arguments.
    return call.interpreter.call(Unknown("`resize` of something unknown"), sizes, call.kwargs, call.place)


#: Shared by `jax.numpy` and `numpy`.
OPERATIONS: tuple[Operation, ...] = (
    Operation("reshape", reshape, sharding=layout_rules.reshape, reads_values=True),
    Operation("ravel", ravel, sharding=layout_rules.ravel, reads_values=True, methods="ravel"),
    Operation("transpose permute_dims", transpose, sharding=layout_rules.transpose, reads_values=True),
    Operation(
        "matrix_transpose", matrix_transpose, sharding=layout_rules.matrix_transpose, reads_values=True
    ),
    Operation("swapaxes", swapaxes, sharding=layout_rules.swapaxes, reads_values=True, methods="swapaxes"),
    Operation("moveaxis", moveaxis, sharding=layout_rules.moveaxis, reads_values=True),
    Operation("rollaxis", rollaxis, sharding=layout_rules.rollaxis, reads_values=True),
    Operation("expand_dims", expand_dims, sharding=layout_rules.expand_dims, reads_values=True),
    Operation("squeeze", squeeze, sharding=layout_rules.squeeze, reads_values=True, methods="squeeze"),
    Operation("broadcast_to", broadcast_to, sharding=layout_rules.broadcast_to, reads_values=True),
    Operation(
        "broadcast_arrays",
        broadcast_arrays,
        sharding=joining_rules.broadcast_arrays,
        reads_values=True,
        depends_on=Dependence.ONE,
    ),
    Operation("broadcast_shapes", broadcast_shapes, sharding=None, reads_values=False),
    Operation("tile", tile, sharding=layout_rules.tile, reads_values=True),
    Operation("repeat", repeat, sharding=joining_rules.repeat, reads_values=True, methods="repeat"),
    Operation("pad", pad, sharding=layout_rules.pad, reads_values=False),
    Operation("roll", unchanged("shift", "axis"), sharding=layout_rules.roll, reads_values=True),
    Operation(
        "flip",
        unchanged("axis"),
        sharding=layout_rules.reverse,
        reads_values=True,
        parameters=("m",),
        numpy_parameters=("m",),
    ),
    Operation(
        "fliplr flipud",
        unchanged(),
        sharding=layout_rules.reverse,
        reads_values=True,
        parameters=("m",),
        numpy_parameters=("m",),
    ),
    Operation("rot90", rot90, sharding=layout_rules.rot90, reads_values=True),
    Operation(
        "atleast_1d",
        atleast(1),
        sharding=layout_rules.at_least(1),
        reads_values=True,
        depends_on=Dependence.ONE,
    ),
    Operation(
        "atleast_2d",
        atleast(2),
        sharding=layout_rules.at_least(2),
        reads_values=True,
        depends_on=Dependence.ONE,
    ),
    Operation(
        "atleast_3d",
        atleast(3),
        sharding=layout_rules.at_least(3),
        reads_values=True,
        depends_on=Dependence.ONE,
    ),
    Operation("tril triu", triangle, sharding=layout_rules.triangle, reads_values=True),
    Operation("resize", resize, sharding=layout_rules.resize, reads_values=True),
)
