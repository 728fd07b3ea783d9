"""Indexing as a slice, a dynamic slice or a gather (`indexing.rewriting_take`), `take`, ``x.at[].get``."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.domain.values import (
    Array,
    Const,
    ShardingValue,
    Slice,
    Tuple,
    Value,
    as_dim,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.indexing import sliced
from shardlint.inference.overlays.arrays.operands import axis_of, given
from shardlint.inference.overlays.jax.explicit.primitives import (
    Open,
    Refused,
    Trace,
    entries_of,
    rank,
    shape_of,
)
from shardlint.inference.overlays.jax.explicit.type_conversion import meshless
from shardlint.laws.core.array_types import ArrayType
from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import entry_axes
from shardlint.laws.core.verdicts import Cause
from shardlint.laws.propagation import Window
from shardlint.laws.versions.era import since

#: The index that takes a whole dimension.
FULL = Slice(Const(None), Const(None), Const(None))


def indexed(t: Trace, call: Call) -> ArrayType:
    """``x[key]``."""
    array, key = call.args
    x = t.operand(array)
    items = spelled(key, rank(x))
    plain = {kind_of(item) for item in items} <= {"integer", "slice", "None"}
    if not t.eager or not plain or not any(entries_of(x)):
        return taken(t, x, key)
    if since("0.12.0") and _is_replicated(t, x):
        return _sliced(t, x, items, traced=True)
    # Of an array that is concrete, and lies on several devices, JAX gathers what is cut out.
    concrete = isinstance(array, Array) and isinstance(array.committed, ShardingValue)
    try:
        found = _cut(t, x, items)
    except Refused as refused:
        if not concrete and not _refused(t, x, items):
            raise Open from None
        refused.concrete = concrete
        raise
    if concrete or found == _sliced(t, x, items, traced=True):
        return found
    raise Open


def _is_replicated(t: Trace, x: ArrayType) -> bool:
    """Return whether all axes in an array's spec have one device (`NDIndexer.is_sharded`, JAX 0.12.0)."""
    mesh = None if x.sharding is None else x.sharding.mesh
    return mesh is not None and all(
        t.same(mesh.size_of(axis), 1) for entry in entries_of(x) for axis in entry_axes(entry)
    )


def _refused(t: Trace, x: ArrayType, items: Sequence[Value]) -> bool:
    """Return whether JAX refuses the slice of an array that is traced."""
    try:
        _sliced(t, x, items, traced=True)
    except Refused:
        return True
    return False


def taken(t: Trace, x: ArrayType, key: Value) -> ArrayType:
    """``x[key]`` of integers, slices, ``...`` and None; or of one array of integers."""
    items = spelled(key, rank(x))
    kinds = {kind_of(item) for item in items}
    if kinds <= {"integer", "slice", "None"}:
        return _sliced(t, x, items)
    if kinds <= {"scalar", "integer", "slice", "None"}:
        return _sliced(t, x, items, dynamic=True)
    return _gathered(t, x, items)


def spelled(key: Value, width: int) -> list[Value]:
    """Return the indices, with slices for ``...`` and for missing dimensions."""
    items = list(key.items) if isinstance(key, Tuple) else [key]
    used = sum(not is_none(item) and not _is_dots(item) for item in items)
    if used > width or sum(map(_is_dots, items)) > 1:
        raise Open
    rest: list[Value] = [FULL] * (width - used)
    if not any(map(_is_dots, items)):
        return [*items, *rest]
    at = next(i for i, item in enumerate(items) if _is_dots(item))
    return [*items[:at], *rest, *items[at + 1 :]]


def _is_dots(item: Value) -> bool:
    return isinstance(item, Const) and item.value is ...


def kind_of(item: Value) -> str:
    """Return the kind of an index: an array of rank 0 is a scalar."""
    if is_none(item):
        return "None"
    if isinstance(item, Slice):
        return "slice"
    if as_dim(item) is not None:
        return "integer"
    if isinstance(item, Array) and item.shape is not None and item.dtype is not None and item.dtype != "bool":
        return "array" if item.shape else "scalar"
    raise Open


def _sliced(
    t: Trace, x: ArrayType, items: Sequence[Value], *, dynamic: bool = False, traced: bool = False
) -> ArrayType:
    """Slice by static bounds, or scalars: one slice of all dimensions, then squeezed and expanded.

    ``traced`` tells of an array that is, though nothing around it is.
    """
    sizes: list[Dim] = []
    squeezed: list[int] = []
    added: list[int] = []
    starts: list[ArrayType] = []
    reversed_ = partial = False
    for item in items:
        if is_none(item):
            added.append(len(sizes) - len(squeezed) + len(added))
            continue
        size = shape_of(x)[len(sizes)]
        if isinstance(item, Slice):
            step = 1 if is_none(item.step) else as_dim(item.step)
            if not isinstance(step, int) or (dynamic and step not in (1, -1)):
                raise Open
            reversed_ = reversed_ or step < 0
            sizes.append(sliced(size, item))
        else:
            squeezed.append(len(sizes))
            sizes.append(1)
            if isinstance(item, Array):
                starts.append(t.operand(item))
        partial = partial or not t.same(sizes[-1], size)
    if t.eager and not traced and (partial or squeezed) and any(entries_of(x)):
        # For concrete arrays on several devices JAX uses a gather, or another kind of slice.
        raise Open
    shape = tuple(sizes)
    if dynamic:
        x = t.dynamic_slice(x, starts, shape)
    elif partial or squeezed:
        x = t.slice(x, shape)
    found = t.reverse(x) if reversed_ else x
    return t.expand_dims(t.squeeze(found, squeezed), added)


def _cut(t: Trace, x: ArrayType, items: Sequence[Value]) -> ArrayType:
    """Index a concrete array by integers and slices: one gather of what is cut (`_index_to_gather`)."""
    starts: list[int] = []
    collapsed: list[int] = []
    stepped: list[Dim] = []
    added: list[int] = []
    offset: list[int] = []
    shape: list[Dim] = []
    sizes: list[Dim] = []
    partial = False
    for item in items:
        if is_none(item):
            added.append(len(shape) + len(added))
            continue
        axis = len(sizes)
        size = shape_of(x)[axis]
        if not isinstance(item, Slice):
            starts.append(axis)
            collapsed.append(axis)
            sizes.append(1)
            partial = True
            continue
        length, step = sliced(size, item), 1 if is_none(item.step) else as_dim(item.step)
        whole = t.same(length, size)
        partial = partial or not whole or step not in (1, -1)
        if step == 1:
            if not whole:
                starts.append(axis)
            offset.append(len(shape))
            sizes.append(length)
        else:
            starts.append(axis)
            collapsed.append(axis)
            stepped.append(length)
            sizes.append(1)
        shape.append(length)
    if not partial or any(t.same(size, 0) for size in (*shape, *shape_of(x))):
        return _sliced(t, x, items, traced=True)
    indices = (*stepped, len(starts))
    window = Window(tuple(offset), tuple(collapsed), tuple(starts))
    found = t.gather(x, ArrayType(indices, None, meshless(indices)), window, tuple(sizes), tuple(shape))
    return t.expand_dims(found, added)


def _gathered(t: Trace, x: ArrayType, items: Sequence[Value]) -> ArrayType:
    """Index by one array of indices and whole slices."""
    arrays = [i for i, item in enumerate(items) if isinstance(item, Array)]
    whole = all(isinstance(item, Array) or item == FULL for item in items)
    if len(arrays) != 1 or not whole:
        raise Open
    axis = arrays[0]
    indices = t.operand(items[axis])
    assert x.sharding is not None
    if x.sharding.mesh is None and any(entries_of(indices)):
        raise Open
    # `_index_to_gather` computes the sharding of the slice itself.
    entries = (*entries_of(x)[:axis], *entries_of(indices), *entries_of(x)[axis + 1 :])
    named = [name for entry in entries for name in entry_axes(entry)]
    if len(named) > len(set(named)):
        detail = "indices that are not sharded along the axes of the array"
        raise t.refusal(Cause.CONFLICT, "DuplicateSpecError", detail, axis)
    return along(t, x, indices, axis)


def along(t: Trace, x: ArrayType, indices: ArrayType, axis: int) -> ArrayType:
    """`jnp.take(x, indices, axis)`: one gather of slices of length 1 along the axis."""
    shape, width = shape_of(x), rank(indices)
    if any(t.same(size, 0) for size in (*shape, *shape_of(indices))):
        raise Open
    offset = (*range(axis), *range(axis + width, rank(x) + width - 1))
    window = Window(offset, (axis,), (axis,))
    sizes: Shape = (*shape[:axis], 1, *shape[axis + 1 :])
    result = (*shape[:axis], *shape_of(indices), *shape[axis + 1 :])
    return t.gather(x, t.expand_dims(indices, (width,)), window, sizes, result)


def take(t: Trace, call: Call) -> ArrayType:
    """`jnp.take(a, indices, axis, mode=)`."""
    a, indices, axis, mode = call.bound("a", "indices", "axis", "mode")
    if given(mode) and as_str(mode) not in ("fill", "clip", "wrap"):
        raise Open
    x = t.operand(a)
    if not given(axis):
        return along(t, t.ravel(x), t.operand(indices), 0)
    return along(t, x, t.operand(indices), axis_of(axis, rank(x)))


def take_along_axis(t: Trace, call: Call) -> ArrayType:
    """`jnp.take_along_axis(arr, indices, axis)` of arrays that are equal in all other sizes."""
    a, wanted, axis = call.bound("arr", "indices", "axis")
    x, indices = t.operand(a), t.operand(wanted)
    if not given(axis) or rank(x) != rank(indices):
        raise Open
    position = axis_of(axis, rank(x))
    others = [i for i in range(rank(x)) if i != position]
    for i in others:
        size, other = shape_of(x)[i], shape_of(indices)[i]
        if not t.same(size, other) or t.same(size, 1) or t.same(size, 0):
            raise Open
    window = Window((), (position,), (position,), tuple(others), tuple(others))
    shape = shape_of(indices)
    found = t.reshape(indices, (*shape, 1))
    return t.gather(x, found, window, (1,) * rank(x), shape)


def gotten(t: Trace, call: Call) -> ArrayType:
    """``x.at[key].get(out_sharding=)``, which slices ignore."""
    array, key = call.args[:2]
    out = call.kwargs.get("out_sharding")
    shape = array.shape if isinstance(array, Array) else None
    if shape is None:
        raise Open
    kinds = {kind_of(item) for item in spelled(key, len(shape))} if given(out) else set()
    if kinds - {"integer", "slice", "None", "scalar"}:
        return t.iota(t.result_shape(), out)
    return taken(t, t.operand(array), key)
