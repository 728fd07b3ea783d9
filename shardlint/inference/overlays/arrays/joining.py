"""Functions that join or split arrays: concatenate, stack, split and their relatives."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from shardlint.inference.domain.values import Array, Const, Value, as_dim, as_int, as_items
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.layout import raised
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    arrays_list,
    arrays_tuple,
    at_most,
    axis_of,
    dtype_argument,
    given,
    is_numpy,
    known_rank,
    like,
    listed,
    mixed,
    operand,
    reject,
    result,
    same_dim,
    sequence,
    unresolved,
)  # fmt: skip
from shardlint.inference.overlays.jax.explicit.rules import joining as joining_rules
from shardlint.inference.overlays.jax.explicit.rules import slicing as slicing_rules
from shardlint.inference.overlays.operations import Operation
from shardlint.laws.core.dims import Dim, Shape, divisible, floordiv, fresh, product
from shardlint.model.origins import origins_of, remembering

#: Splitting into more parts than this is not followed.
_MAX_PARTS = 64


def joined(shapes: Sequence[Shape], axis: int) -> Shape:
    """Return the shape of a concatenation. Rejects shapes that do not fit."""
    if len({len(shape) for shape in shapes}) != 1:
        reject("ranks differ")
    total: Dim = 0
    for shape in shapes:
        total = total + shape[axis]
    return tuple(total if i == axis else same_dim(dims) for i, dims in enumerate(zip(*shapes, strict=True)))


def _join(call: Call, arrays: Sequence[Array], axis: Value | None, dtype: Value | None) -> Array:
    if not arrays:
        reject("nothing to join")
    kinds, weak = mixed(call, arrays)
    if given(dtype):
        kinds, weak = dtype_argument(dtype, None), False
    flat = axis is not None and not given(axis)
    if any(x.shape is None for x in arrays):
        if flat:
            return result(call, (fresh(),), kinds, weak)
        rank = next((len(x.shape) for x in arrays if x.shape is not None), None)
        return result(call, None if rank is None else tuple(fresh() for _ in range(rank)), kinds, weak)
    shapes = [known_rank(x) for x in arrays]
    if flat:
        return result(call, joined([(product(shape),) for shape in shapes], 0), kinds, weak)
    if not shapes[0]:
        reject("scalars cannot be concatenated")
    return result(call, joined(shapes, axis_of(axis or Const(0), len(shapes[0]))), kinds, weak)


def concatenate(call: Call) -> Value:
    """`concatenate(arrays, axis, dtype)`; flattens if the axis is None."""
    values, axis, dtype, *_ = call.bind("arrays", axis=Const(0), dtype=None, out=None, casting=None)
    return _join(call, sequence(values, is_numpy(call)), axis, dtype)


def stack(call: Call) -> Value:
    """`stack(arrays, axis)`."""
    values, axis, _, dtype = call.bind("arrays", axis=Const(0), out=None, dtype=None)
    return _stack(call, sequence(values, is_numpy(call)), axis, dtype)


def _stack(call: Call, arrays: Sequence[Array], axis: Value | None, dtype: Value | None) -> Array:
    if not arrays:
        reject("nothing to stack")
    kinds, weak = mixed(call, arrays)
    if given(dtype):
        kinds, weak = dtype_argument(dtype, None), False
    known = [x.shape for x in arrays if x.shape is not None]
    if not known:
        return result(call, None, kinds, weak)
    if len({len(shape) for shape in known}) != 1:
        reject("ranks differ")
    shape = tuple(same_dim(dims) for dims in zip(*known, strict=True))
    at = axis_of(axis, len(shape) + 1)
    return result(call, (*shape[:at], len(arrays), *shape[at:]), kinds, weak)


def stacked_at_least(rank: int, axis_of_rank: Callable[[int], int]) -> Transfer:
    """Return `hstack`, `vstack` or `dstack`: raise each array to the rank, then concatenate."""

    def transfer(call: Call) -> Value:
        values, dtype, _ = call.bind("tup", dtype=None, casting=None)
        arrays = [raised(call, x, rank) for x in sequence(values, is_numpy(call))]
        if not arrays:
            reject("nothing to join")
        return _join(call, arrays, Const(axis_of_rank(len(known_rank(arrays[0])))), dtype)

    return transfer


def column_stack(call: Call) -> Value:
    """`column_stack(tup)`: vectors become columns."""
    (values,) = call.bind("tup")
    arrays = []
    for x in sequence(values, is_numpy(call)):
        shape = known_rank(x)
        arrays.append(x if len(shape) >= 2 else like(call, x, (shape[0] if shape else 1, 1)))
    return _join(call, arrays, Const(1), None)


def append(call: Call) -> Value:
    """`append(arr, values, axis)`; flattens if there is no axis."""
    a, b, axis = call.bind("arr", "values", axis=Const(None))
    return _join(call, [operand(a, is_numpy(call)), operand(b, is_numpy(call))], axis, None)


def block(call: Call) -> Value:
    """`block(arrays)`: nested lists, the innermost joined along the last axis."""
    (values,) = call.bind("arrays")
    return _block(call, values)


def _block(call: Call, value: Value | None) -> Array:
    items = as_items(value)
    if items is None:
        return operand(value, is_numpy(call))
    parts = [_block(call, item) for item in items]
    depth = _list_depth(value)
    rank = max(depth, *(len(known_rank(part)) for part in parts))
    same_rank = [like(call, x, (1,) * (rank - len(known_rank(x))) + known_rank(x)) for x in parts]
    return _join(call, same_rank, Const(-depth), None)


def _list_depth(value: Value | None) -> int:
    items = as_items(value)
    return 0 if not items else 1 + _list_depth(items[0])


def split(call: Call) -> Value:
    """`split(ary, sections_or_indices, axis)`: equal parts, or cuts at the given indices."""
    a, sections, axis = call.bind("ary", "indices_or_sections", axis=Const(0))
    return arrays_list(_parts(call, operand(a, is_numpy(call)), sections, axis, even=True))


def array_split(call: Call) -> Value:
    """`array_split(ary, sections, axis)`: in an uneven split the first parts are one longer."""
    a, sections, axis = call.bind("ary", "indices_or_sections", axis=Const(0))
    return arrays_list(_parts(call, operand(a, is_numpy(call)), sections, axis, even=False))


def split_along(axis_of_rank: Callable[[int], int], least: int) -> Transfer:
    """Return `hsplit`, `vsplit` or `dsplit`."""

    def transfer(call: Call) -> Value:
        a, sections = call.bind("ary", "indices_or_sections")
        x = operand(a, is_numpy(call))
        rank = len(known_rank(x))
        if rank < least:
            reject(f"rank below {least}")
        return arrays_list(_parts(call, x, sections, Const(axis_of_rank(rank)), even=True))

    return transfer


def _parts(call: Call, x: Array, sections: Value | None, axis: Value | None, *, even: bool) -> list[Array]:
    shape = known_rank(x)
    at = axis_of(axis, len(shape))
    sizes = _part_sizes(shape[at], sections, even)
    return [like(call, x, (*shape[:at], size, *shape[at + 1 :])) for size in sizes]


def _part_sizes(size: Dim, sections: Value | None, even: bool) -> list[Dim]:
    count = as_int(sections)
    if count is not None:
        if count < 1:
            reject("no parts")
        if count > _MAX_PARTS:
            unresolved("too many parts")
        if even and divisible(size, count) is False:
            reject(f"{size} does not divide into {count} parts")
        if even or divisible(size, count):
            return [floordiv(size, count)] * count
        if isinstance(size, int):
            return [size // count + (i < size % count) for i in range(count)]
        return [fresh() for _ in range(count)]
    items = listed(sections)
    if items is None:
        unresolved("the number of parts is not known")
    cuts = [as_dim(item) for item in items]
    if all(isinstance(cut, int) for cut in cuts) and isinstance(size, int):
        edges = [0, *(cut for cut in cuts if isinstance(cut, int)), size]
        return [
            remembering(len(range(size)[lo:hi]), origins_of(size)) for lo, hi in itertools.pairwise(edges)
        ]
    return [_between(lo, hi, size) for lo, hi in zip([0, *cuts], [*cuts, size], strict=True)]


def _between(low: Dim | None, high: Dim | None, size: Dim) -> Dim:
    """Return the length of ``range(size)[low:high]``; fresh if it is not provable."""
    if low is None or high is None or not (at_most(0, low) and at_most(low, high) and at_most(high, size)):
        return fresh()
    return high - low


def unstack(call: Call) -> Value:
    """`unstack(x, axis)`: one array for each index of the axis."""
    a, axis = call.bind("x", axis=Const(0))
    x = operand(a, is_numpy(call))
    shape = known_rank(x)
    at = axis_of(axis, len(shape))
    size = shape[at]
    if not isinstance(size, int) or size > _MAX_PARTS:
        unresolved("the number of parts is not known")
    return arrays_tuple([like(call, x, shape[:at] + shape[at + 1 :])] * size)


#: Shared by `jax.numpy` and `numpy`.
OPERATIONS: tuple[Operation, ...] = (
    Operation("concatenate concat", concatenate, sharding=joining_rules.concatenate, reads_values=True),
    Operation("stack", stack, sharding=joining_rules.stack, reads_values=True),
    Operation(
        "hstack",
        stacked_at_least(1, lambda rank: 0 if rank == 1 else 1),
        sharding=joining_rules.stacked_along(1, 1),
        reads_values=True,
    ),
    Operation(
        "vstack",
        stacked_at_least(2, lambda rank: 0),
        sharding=joining_rules.stacked_along(0, 2),
        reads_values=True,
    ),
    Operation(
        "dstack",
        stacked_at_least(3, lambda rank: 2),
        sharding=joining_rules.stacked_along(2, 3),
        reads_values=True,
    ),
    Operation("column_stack", column_stack, sharding=joining_rules.stacked_along(1, 2), reads_values=True),
    Operation("append", append, sharding=joining_rules.append, reads_values=True),
    Operation("block", block, sharding=joining_rules.block, reads_values=True),
    Operation("split", split, sharding=joining_rules.split, reads_values=True),
    Operation("array_split", array_split, sharding=joining_rules.split, reads_values=True),
    Operation(
        "hsplit",
        split_along(lambda rank: 0 if rank == 1 else 1, 1),
        sharding=joining_rules.split_along(1),
        reads_values=True,
    ),
    Operation(
        "vsplit", split_along(lambda rank: 0, 2), sharding=joining_rules.split_along(0), reads_values=True
    ),
    Operation(
        "dsplit", split_along(lambda rank: 2, 3), sharding=joining_rules.split_along(2), reads_values=True
    ),
    Operation("unstack", unstack, sharding=slicing_rules.unstacked, reads_values=True),
)
