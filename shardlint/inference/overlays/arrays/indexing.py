"""``x[key]``: basic and advanced indexing, with numpy's rules."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.domain.values import Array, Const, ListValue, Slice, Tuple, Value, as_dim, is_none
from shardlint.inference.overlays.arrays.dtypes import kind
from shardlint.inference.overlays.arrays.operands import (
    Stop,
    at_most,
    broadcast,
    operand,
    reject,
    unresolved,
)  # fmt: skip
from shardlint.laws.core.dims import Dim, Shape, floordiv, fresh, lower_bound
from shardlint.model.origins import origins_of, remembering


def index(array: Array, key: Value) -> Value:
    """Return ``array[key]``: Unknown if the kind of the key is unknown, or if there are too many indices."""
    try:
        shape = indexed(array.shape, key, array.numpy)
    except Stop as stop:
        return stop.answer("indexing")
    return Array(shape, array.dtype, array.weak, array.numpy)


def indexed(shape: Shape | None, key: Value, numpy: bool = False) -> Shape | None:
    """Return the shape of ``x[key]`` for an ``x`` of this shape. Stops where `index` returns Unknown."""
    items = key.items if isinstance(key, Tuple) else (key,)
    kinds = [_consumes(item, numpy) for item in items]
    if sum(n is None for n in kinds) > 1:
        reject("more than one ...")
    if shape is None:
        return None
    used = sum(n or 0 for n in kinds)
    if used > len(shape):
        reject(f"{used} indices into rank {len(shape)}")
    full: list[Value] = []
    rest: list[Value] = [_FULL] * (len(shape) - used)
    for item, n in zip(items, kinds, strict=True):
        full.extend(rest if n is None else [item])
    if None not in kinds:
        full.extend(rest)
    return _walk(shape, full, numpy)


_FULL = Slice(Const(None), Const(None), Const(None))


def _consumes(item: Value, numpy: bool) -> int | None:
    """Return the number of axes that an index consumes, or None for ``...``."""
    if isinstance(item, Const) and item.value is ...:
        return None
    if is_none(item):
        return 0
    if isinstance(item, Slice) or as_dim(item) is not None:
        return 1
    if isinstance(item, ListValue) and not numpy:
        reject("a list as an index")
    if isinstance(item, Array | ListValue | Tuple):
        chosen = operand(item, numpy=True)
        if chosen.dtype is None or chosen.shape is None:
            unresolved("an index is not known")
        if chosen.dtype == "bool":
            return len(chosen.shape)
        if kind(chosen.dtype) not in "iu" and chosen.shape != (0,):
            reject("an index that is not an integer")
        return 1
    return unresolved("an index is not known")


def _walk(shape: Shape, items: Sequence[Value], numpy: bool) -> Shape:
    """Return the shape after indexing.

    Advanced indices broadcast together. Their axes come where the first of them is, or in front if a slice or
    a new axis separates them.
    """
    dims: list[Dim] = []
    advanced: list[Shape] = []
    places: list[int] = []
    first, axis = 0, 0
    for place, item in enumerate(items):
        if is_none(item):
            dims.append(1)
        elif isinstance(item, Slice):
            dims.append(sliced(shape[axis], item))
            axis += 1
        else:
            chosen, taken = _advanced(item, shape, axis)
            if not places:
                first = len(dims)
            places.append(place)
            advanced.append(chosen)
            axis += taken
    if not any(advanced):
        return tuple(dims)
    together = places[-1] - places[0] == len(places) - 1
    at = first if together else 0
    joint = broadcast(advanced) or ()
    return (*dims[:at], *joint, *dims[at:])


def _advanced(item: Value, shape: Shape, axis: int) -> tuple[Shape, int]:
    """Return the shape that an integer or array index contributes, and the number of axes it consumes."""
    if as_dim(item) is not None:
        return (), 1
    chosen = operand(item, numpy=True)
    if chosen.dtype != "bool":
        return chosen.shape or (), 1
    if not chosen.shape:
        unresolved("a scalar mask")
    return (fresh(),), len(chosen.shape)


def sliced(size: Dim, item: Slice) -> Dim:
    """Return the length of a slice of an axis of this size; fresh if it is not provable."""
    step = 1 if is_none(item.step) else as_dim(item.step)
    if step == 0:
        reject("a slice step of 0")
    start, stop = as_dim(item.start), as_dim(item.stop)
    unknown_start = start is None and not is_none(item.start)
    unknown_stop = stop is None and not is_none(item.stop)
    if unknown_start or unknown_stop or not isinstance(step, int):
        # Without such an item the slice is empty, which is never intended.
        return 1 if item.single else fresh()
    if isinstance(size, int) and isinstance(start, int | None) and isinstance(stop, int | None):
        return remembering(len(range(size)[start:stop:step]), origins_of(size))
    if step < 0:
        return -floordiv(-size, -step) if start is None and stop is None else fresh()
    low = 0 if start is None else _clipped(start, size)
    high = size if stop is None else _clipped(stop, size)
    if low is None or high is None:
        return 1 if item.single else fresh()
    if at_most(high, low):
        return 0
    return floordiv(high - low + (step - 1), step) if at_most(low, high) else fresh()


def _clipped(bound: Dim, size: Dim) -> Dim | None:
    """Return the position of a slice bound in ``[0, size]``, or None if it is not provable."""
    if at_most(0, bound):
        if at_most(bound, size):
            return bound
        return size if at_most(size, bound) else None
    low = lower_bound(-bound)
    if low is not None and low >= 1:
        if at_most(-bound, size):
            return size + bound
        return 0 if at_most(size, -bound) else None
    return None
