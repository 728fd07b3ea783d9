"""Updates of parts of an array: ``x.at[key].set(y)`` and its relatives, the sums of `jax.ops` by segments."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.domain.values import Slice, Tuple, Value, as_dim, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.indexing import sliced
from shardlint.inference.overlays.arrays.operands import given
from shardlint.inference.overlays.jax.explicit.primitives import (
    Open,
    Trace,
    entries_of,
    rank,
    shape_of,
)
from shardlint.inference.overlays.jax.explicit.rules.indexing import FULL, kind_of, spelled
from shardlint.inference.overlays.jax.explicit.type_conversion import meshless
from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import Dim, equal
from shardlint.laws.core.values import Entry, Spec, entry_axes
from shardlint.laws.core.verdicts import Cause
from shardlint.laws.propagation import Window

#: The type of an index that is a number.
_NUMBER = ArrayType((), None, meshless(()))


def updated(t: Trace, call: Call) -> ArrayType:
    """``x.at[key].set(y)`` and its relatives: the operands are the array, the key and the update."""
    array, key, update = call.args[:3]
    out = call.kwargs.get("out_sharding")
    if given(out):
        return t.iota(t.result_shape(), out)
    x = t.operand(array)
    items = spelled(key, rank(x))
    indices = [_index(t, item) for item in items]
    if isinstance(key, Tuple) and len(items) < len(key.items) and any(map(rank, filter(None, indices))):
        # Dots that stand for no dimension part the arrays around them.
        raise Open
    return _written(t, x, items, indices, t.operand(update))


def segmented(t: Trace, call: Call) -> ArrayType:
    """`jax.ops.segment_sum(data, segment_ids, num_segments)` and its relatives: an update of rows of a new
    array (`scatter._segment_update`)."""
    data, ids, bucket, out = call.bound("data", "segment_ids", "bucket_size", "out_sharding")
    result = t.iota(t.result_shape(), out)
    if given(out):
        return result
    rows, numbers = t.operand(data), t.operand(ids)
    if given(bucket) or t.context is None or ids is None:
        raise Open
    others = rank(result) - 1
    return _written(t, result, [ids, *[FULL] * others], [numbers, *[None] * others], rows)


def _index(t: Trace, item: Value) -> ArrayType | None:
    """Return the type of an index that is an array or a number."""
    kind = kind_of(item)
    if kind == "array":
        return t.operand(item)
    return _NUMBER if kind in ("integer", "scalar") else None


def _written(
    t: Trace, x: ArrayType, items: Sequence[Value], indices: Sequence[ArrayType | None], y: ArrayType
) -> ArrayType:
    """Scatter ``y`` into the parts of ``x`` at these indices (`scatter._scatter_impl`,
    `indexing._index_to_gather`). Arrays and the numbers beside them are broadcast together."""
    together = [i for i, index in enumerate(indices) if index is not None]
    arrays: list[ArrayType] = []
    if any(index is not None and rank(index) for index in indices):
        arrays = t.broadcast_arrays(*(index for index in indices if index is not None))
    contiguous = bool(together) and together[-1] - together[0] == len(together) - 1
    first = together[0] if contiguous else 0
    starts = _Starts()
    shape: list[Dim] = []
    entries: list[Entry] = []
    added: list[int] = []
    offset: list[int] = []
    collapsed: list[int] = []
    axis = -1
    for i, item in enumerate(items):
        if arrays and i == first:
            starts.append(*arrays)
            shape += shape_of(arrays[0])
            entries += entries_of(arrays[0])
        if is_none(item):
            added.append(len(shape))
            shape.append(1)
            entries.append(None)
            continue
        axis += 1
        if not isinstance(item, Slice):
            collapsed.append(axis)
            if not arrays:
                starts.append(_NUMBER)
            continue
        size, step = shape_of(x)[axis], 1 if is_none(item.step) else as_dim(item.step)
        length = sliced(size, item)
        if step != 1:
            starts.append(ArrayType((length,), None, meshless((length,))))
            collapsed.append(axis)
        else:
            offset.append(len(shape) - len(added))
            if not t.same(length, size):
                starts.append(_NUMBER)
        shape.append(length)
        entries.append(entries_of(x)[axis])
    if any(t.same(size, 0) for size in shape):
        raise Open
    where = starts.joined(t)
    spread = t.squeeze(_spread(t, x, y, shape, entries), added)
    return t.scatter(x, where, spread, Window(tuple(offset), tuple(collapsed), ()))


class _Starts:
    """The indices of a scatter: numbers, and arrays along dimensions that are theirs."""

    def __init__(self) -> None:
        self.parts: list[tuple[ArrayType, int]] = []
        self.shape: list[Dim] = []

    def append(self, *parts: ArrayType) -> None:
        """Append arrays of one shape, along the same dimensions."""
        self.parts += [(part, len(self.shape)) for part in parts]
        self.shape += shape_of(parts[0])

    def joined(self, t: Trace) -> ArrayType:
        """Return the indices along a new last dimension."""
        if not self.parts:
            return ArrayType((0,), None, meshless((0,)))
        if len(self.parts) == 1:
            return t.expand_dims(self.parts[0][0], (len(self.shape),))
        shape = (*self.shape, 1)
        parts = [t.broadcast_in_dim(part, shape, range(at, at + rank(part))) for part, at in self.parts]
        return t.concatenate(parts, len(self.shape))


def _spread(
    t: Trace, x: ArrayType, y: ArrayType, shape: Sequence[Dim], entries: Sequence[Entry]
) -> ArrayType:
    """Return an update of the shape and the sharding of the part that it goes to."""
    assert x.sharding is not None
    names = [name for entry in entries for name in entry_axes(entry)]
    if names and x.sharding.mesh is None:
        raise Open
    if len(names) > len(set(names)):
        detail = "indices that are not sharded along the axes of the array"
        raise t.refusal(Cause.CONFLICT, "DuplicateSpecError", detail)
    lead = len(shape) - rank(y)
    if lead < 0 or any(
        size != 1 and equal(size, wide) is False for size, wide in zip(shape_of(y), shape[lead:], strict=True)
    ):
        raise Open
    return t.broadcast_to(y, tuple(shape), TypeSharding(x.sharding.mesh or t.context, Spec(tuple(entries))))
