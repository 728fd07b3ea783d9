"""Functions that rearrange dimensions: reshapes, transposes, broadcasts, reversals, padding, tiling."""

from __future__ import annotations

from shardlint.inference.domain.values import Const, as_int, as_items, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import axes_of, axis_of, given, known_int, rolled_order
from shardlint.inference.overlays.jax.explicit.primitives import (
    Open,
    Rule,
    Trace,
    first,
    rank,
    replaced,
    shape_of,
)
from shardlint.inference.overlays.jax.explicit.rules.elementwise import SCALAR
from shardlint.laws.core.array_types import ArrayType
from shardlint.laws.core.dims import Shape, product


def reshape(t: Trace, call: Call) -> ArrayType:
    """`jnp.reshape(a, shape, order, *, copy, out_sharding)`."""
    a, order, out = call.bound("a", "order", "out_sharding")
    if given(order) and as_str(order) != "C":
        raise Open
    return t.reshape(t.operand(a), t.result_shape(), out)


def lax_reshape(t: Trace, call: Call) -> ArrayType:
    """`lax.reshape(operand, new_sizes, dimensions, out_sharding=)`."""
    a, dimensions, out = call.bound("operand", "dimensions", "out_sharding")
    if given(dimensions):
        raise Open
    return t.reshape(t.operand(a), t.result_shape(), out)


def ravel(t: Trace, call: Call) -> ArrayType:
    """`jnp.ravel(a, order, out_sharding=)`, ``x.flatten()``."""
    a, order, out = call.bound("a", "order", "out_sharding")
    if given(order) and as_str(order) != "C":
        raise Open
    return t.reshape(t.operand(a), t.result_shape(), out)


def transpose(t: Trace, call: Call) -> ArrayType:
    """`jnp.transpose(a, axes)`: reverses the dimensions without axes."""
    a, axes = call.bound("a", "axes")
    x = t.operand(a)
    return t.transpose(x, axes_of(axes, rank(x)) if given(axes) else range(rank(x))[::-1])


def lax_transpose(t: Trace, call: Call) -> ArrayType:
    """`lax.transpose(operand, permutation)`."""
    a, permutation = call.bound("operand", "permutation")
    x = t.operand(a)
    return t.transpose(x, axes_of(permutation, rank(x)))


def reversed_axes(t: Trace, call: Call) -> ArrayType:
    """``x.T``."""
    x = t.operand(call.args[0])
    return t.transpose(x, range(rank(x))[::-1])


def matrix_transpose(t: Trace, call: Call) -> ArrayType:
    """``x.mT``, `jnp.matrix_transpose(x)`."""
    x = t.operand(call.args[0])
    return _swapped(t, x, rank(x) - 2, rank(x) - 1)


def swapaxes(t: Trace, call: Call) -> ArrayType:
    """`jnp.swapaxes(a, axis1, axis2)`."""
    a, one, other = call.bound("a", "axis1", "axis2")
    x = t.operand(a)
    return _swapped(t, x, axis_of(one, rank(x)), axis_of(other, rank(x)))


def _swapped(t: Trace, x: ArrayType, one: int, other: int) -> ArrayType:
    order = list(range(rank(x)))
    order[one], order[other] = order[other], order[one]
    return t.transpose(x, order)


def moveaxis(t: Trace, call: Call) -> ArrayType:
    """`jnp.moveaxis(a, source, destination)`."""
    a, source, destination = call.bound("a", "source", "destination")
    x = t.operand(a)
    origins, targets = axes_of(source, rank(x)), axes_of(destination, rank(x))
    order = [i for i in range(rank(x)) if i not in origins]
    for target, origin in sorted(zip(targets, origins, strict=True)):
        order.insert(target, origin)
    return t.transpose(x, order)


def squeeze(t: Trace, call: Call) -> ArrayType:
    """`jnp.squeeze(a, axis)`: squeezes every dimension of size 1 without an axis."""
    a, axis = call.bound("a", "axis")
    x = t.operand(a)
    if given(axis):
        return t.squeeze(x, axes_of(axis, rank(x)))
    return t.squeeze(x, [i for i, size in enumerate(shape_of(x)) if t.same(size, 1)])


def lax_squeeze(t: Trace, call: Call) -> ArrayType:
    """`lax.squeeze(array, dimensions)`."""
    a, axes = call.bound("array", "dimensions")
    x = t.operand(a)
    return t.squeeze(x, axes_of(axes, rank(x)))


def expand_dims(t: Trace, call: Call) -> ArrayType:
    """`jnp.expand_dims(a, axis)`, `lax.expand_dims(array, dimensions)`."""
    a, axis = call.arguments.values()
    x = t.operand(a)
    items = as_items(axis)
    count = 1 if items is None else len(items)
    return t.expand_dims(x, axes_of(axis, rank(x) + count))


#: The positions where `atleast_nd` adds dimensions of size 1, by n and the array's rank.
_ADDED: dict[int, dict[int, tuple[int, ...]]] = {
    1: {0: (0,)},
    2: {0: (0, 1), 1: (0,)},
    3: {0: (0, 1, 2), 1: (0, 2), 2: (2,)},
}


def at_least(width: int) -> Rule:
    """Return `jnp.atleast_1d` or a relative, for one array: dimensions of size 1 at numpy's positions."""
    added = _ADDED[width]

    def rule(t: Trace, call: Call) -> ArrayType:
        if len(call.args) != 1:
            raise Open
        x = t.operand(call.args[0])
        return t.expand_dims(x, added[rank(x)]) if rank(x) in added else t.nary(x)

    return rule


def broadcast_to(t: Trace, call: Call) -> ArrayType:
    """`jnp.broadcast_to(array, shape, out_sharding=)`."""
    a, out = call.bound("array", "out_sharding")
    x, shape = t.operand(a), t.result_shape()
    if not given(out):
        return t.broadcast_to(x, shape)
    if shape_of(x) == shape:
        raise Open
    return t.broadcast_in_dim(x, shape, range(len(shape) - rank(x), len(shape)), out)


def broadcast(t: Trace, call: Call) -> ArrayType:
    """`lax.broadcast(operand, sizes)`: new dimensions in front."""
    a, out = call.bound("operand", "out_sharding")
    x, shape = t.operand(a), t.result_shape()
    return t.broadcast_in_dim(x, shape, range(len(shape) - rank(x), len(shape)), out)


def broadcast_in_dim(t: Trace, call: Call) -> ArrayType:
    """`lax.broadcast_in_dim(operand, shape, broadcast_dimensions, out_sharding=)`."""
    a, axes, out = call.bound("operand", "broadcast_dimensions", "out_sharding")
    shape = t.result_shape()
    return t.broadcast_in_dim(t.operand(a), shape, axes_of(axes, len(shape)), out)


def reverse(t: Trace, call: Call) -> ArrayType:
    """`lax.rev(operand, dimensions)`, `jnp.flip`, `jnp.flipud`, `jnp.fliplr`."""
    return t.reverse(t.operand(first(call)))


def tile(t: Trace, call: Call) -> ArrayType:
    """`jnp.tile(A, reps)`."""
    a, reps = call.bound("A", "reps")
    x = t.operand(a)
    items = as_items(reps)
    counts = [as_int(reps)] if items is None else [as_int(item) for item in items]
    if any(count is None for count in counts):
        raise Open
    known = [count for count in counts if count is not None]
    known = [1] * (rank(x) - len(known)) + known
    if len(known) > rank(x):
        x = t.expand_dims(x, range(len(known) - rank(x)))
    return t.tile(x, known)


def resize(t: Trace, call: Call) -> ArrayType:
    """`jnp.resize(a, new_shape)`: flattened, tiled, cut, and reshaped."""
    (a,) = call.bound("a")
    x = t.ravel(t.operand(a))
    (size,), total = shape_of(x), product(t.result_shape())
    if not isinstance(size, int) or not isinstance(total, int) or not size or not total:
        raise Open
    return t.reshape(t.slice(t.tile(x, [-(-total // size)]), (total,)), t.result_shape())


def pad(t: Trace, call: Call) -> ArrayType:
    """`jnp.pad(array, pad_width)` with a constant."""
    options = call.kwargs.keys() - {"array", "pad_width", "mode", "constant_values"}
    mode, value = call.argument(2, "mode"), call.kwargs.get("constant_values", Const(0))
    if options or as_str(mode or Const("constant")) != "constant" or not isinstance(value, Const):
        raise Open
    return t.pad(t.operand(call.argument(0, "array")), t.operand(value), t.result_shape())


def lax_pad(t: Trace, call: Call) -> ArrayType:
    """`lax.pad(operand, padding_value, padding_config)`."""
    a, value = call.bound("operand", "padding_value")
    return t.pad(t.operand(a), t.operand(value), t.result_shape())


def triangle(t: Trace, call: Call) -> ArrayType:
    """`jnp.tril(m, k)`: selects from m and zeros by a mask with m's sharding."""
    return t.nary(t.operand(first(call)), SCALAR)


def roll(t: Trace, call: Call) -> ArrayType:
    """`jnp.roll(a, shift, axis)` by a known shift: two slices, concatenated in the other order."""
    a, shift, axis = call.bound("a", "shift", "axis")
    x = t.operand(a)
    if not given(axis):
        return t.reshape(_rolled(t, t.ravel(x), known_int(shift), 0), shape_of(x))
    return _rolled(t, x, known_int(shift), axis_of(axis, rank(x)))


def _rolled(t: Trace, x: ArrayType, shift: int, axis: int) -> ArrayType:
    size = shape_of(x)[axis]
    if not isinstance(size, int) or not size:
        raise Open
    cut = -shift % size
    parts = [t.slice(x, replaced(shape_of(x), axis, length)) for length in (size - cut, cut)]
    return t.concatenate(parts, axis)


def one_hot(t: Trace, call: Call) -> ArrayType:
    """`jax.nn.one_hot(x, num_classes, axis=, out_sharding=)`: compares the labels with an iota."""
    a, axis, out = call.bound("x", "axis", out_sharding=None)
    x = t.operand(a)
    position = axis_of(axis, rank(x) + 1)
    if given(out):
        return t.one_hot(x, t.result_shape(), position, out)
    shape: Shape = tuple(size if i == position else 1 for i, size in enumerate(t.result_shape()))
    return t.nary(t.expand_dims(x, (position,)), t.iota(shape))


def rollaxis(t: Trace, call: Call) -> ArrayType:
    """`jnp.rollaxis(a, axis, start)`."""
    a, axis, start = call.bound("a", "axis", "start")
    x = t.operand(a)
    return t.transpose(x, rolled_order(axis_of(axis, rank(x)), known_int(start), rank(x)))


def rot90(t: Trace, call: Call) -> ArrayType:
    """`jnp.rot90(m, k, axes)`: reversals, and a transposition for odd k."""
    m, k, axes = call.bound("m", "k", "axes")
    x, turns = t.operand(m), known_int(k) % 4
    if not turns:
        return x
    one, other = axes_of(axes, rank(x)) if given(axes) else (0, 1)
    return t.reverse(x) if turns == 2 else _swapped(t, t.reverse(x), one, other)


def collapse(t: Trace, call: Call) -> ArrayType:
    """`lax.collapse(operand, start_dimension, stop_dimension)`."""
    return t.reshape(t.operand(first(call)), t.result_shape())


def broadcast_to_rank(t: Trace, call: Call) -> ArrayType:
    """`lax.broadcast_to_rank(x, rank)`: dimensions of size 1 in front."""
    x = t.operand(first(call))
    return t.expand_dims(x, range(len(t.result_shape()) - rank(x)))
