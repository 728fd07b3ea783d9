"""Elements of a device's part of a split dimension that are moved to other places in it, or meet those there.

A slice that lacks elements at one end of a part (`Trait.HEADLESS`, `Trait.TAILLESS`) is shifted against the
part: where it meets one that lacks them at the other end, or is padded at that end, no element comes from the
part of the next device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import Array, Const, Slice, Value, as_int, as_items, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.explicit import auto_layouts
from shardlint.inference.overlays.jax.explicit.rules import elementwise, joining
from shardlint.inference.overlays.jax.explicit.rules.layout import pad
from shardlint.inference.overlays.jax.operations import rule_of
from shardlint.inference.overlays.jax.shard_map.indices.global_indices import parts_of_key
from shardlint.inference.overlays.jax.shard_map.indices.local_numbers import BY_ROW
from shardlint.inference.overlays.jax.shard_map.part_operations import record_part
from shardlint.inference.overlays.jax.shard_map.reduced_values import SAME_VALUES
from shardlint.inference.overlays.jax.shard_map.split_dimensions import axes_along
from shardlint.inference.overlays.jax.shard_map.varying import manual_axes
from shardlint.inference.overlays.jax.transforms.taint import is_following
from shardlint.laws.core.dims import equal, product
from shardlint.laws.transforms.traits import Trait, Traits
from shardlint.laws.transforms.varying import NO_AXES, Axes

_JOINING = (joining.concatenate, joining.lax_concatenate)
_TEXT = (
    "elements are shifted within this device's part of dimension {dimension} only, which is split over "
    "{{axes}}: none comes from the part of another device"
)


def shifted(call: Call, name: str, result: Value) -> Value:
    """Return the result of a call or an operator, marked if it is a part that lacks elements at an end, or
    has others there; elements that are shifted within a part are recorded."""
    if not isinstance(result, Array) or is_following(call.interpreter.context):
        return result
    first = call.args[0] if call.args else None
    rule = rule_of(name)
    if isinstance(first, Array) and (name in SAME_VALUES or name == "[]" or rule is elementwise.cast):
        result = _with_all(first, result)
    if name == "[]" and isinstance(first, Array):
        return _sliced(call, first, _written(first, call.args[1]), result)
    if name == "jax.lax.slice_in_dim" and isinstance(first, Array):
        return _sliced(call, first, _in_dim(call, first), result)
    if rule is pad and isinstance(first, Array):
        return _padded(call, first, result)
    if rule in _JOINING:
        return _joined(call, result)
    if rule in auto_layouts.ELEMENTWISE or name in BY_ROW:
        _note_meeting(call, [*call.args, *call.kwargs.values()], by_row=name in BY_ROW)
    return result


def _axes(value: Value, trait: Trait) -> Axes:
    return value.variation.axes_of(trait) if isinstance(value, Array) else NO_AXES


def _written(array: Array, key: Value) -> Iterator[tuple[int, slice]]:
    """Yield the slices in brackets whose ends are known, each with its dimension."""
    for at, part in parts_of_key(array, key):
        if isinstance(part, Slice) and (found := _slice(part.start, part.stop, part.step)) is not None:
            yield at, found


def _in_dim(call: Call, array: Array) -> Iterator[tuple[int, slice]]:
    """Yield the slice of `lax.slice_in_dim`, if its ends are known, with its dimension."""
    ends = [call.argument(1, "start_index"), call.argument(2, "limit_index"), call.argument(3, "stride")]
    given, rank = call.argument(4, "axis"), len(array.shape or ())
    at, found = 0 if given is None else as_int(given), _slice(*[end or Const(None) for end in ends])
    if found is not None and at is not None and -rank <= at < rank:
        yield at % rank, found


def _slice(*ends: Value) -> slice | None:
    known = [None if is_none(end) else as_int(end) for end in ends]
    return None if known.count(None) > sum(map(is_none, ends)) else slice(*known)


def _sliced(call: Call, array: Array, slices: Iterator[tuple[int, slice]], result: Array) -> Array:
    """Return a slice of a part; what it keeps is more than a half, and so not another part of several."""
    traits = result.traits
    for at, each in slices:
        axes, size = axes_along(array, at), (array.shape or ())[at]
        if not isinstance(size, int):
            continue
        start, stop, step = each.indices(size)
        if start == 0 and step == 1 and 1 < stop < size:
            same = [axis for axis in manual_axes(call.interpreter.context) or () if _is_same(array, axis)]
            result = replace(result, drawn_at=call.place) if same else result
            traits |= {(Trait.LEADING, axis) for axis in same}
        if not axes:
            continue
        if step != 1 or 2 * (stop - start) <= size or stop - start == size:
            continue
        head, tail = start > 0, stop < size
        traits |= {(Trait.HEADLESS, axis) for axis in axes if head}
        traits |= {(Trait.TAILLESS, axis) for axis in axes if tail}
        led, trailed = _axes(array, Trait.LED), _axes(array, Trait.TRAILED)
        if (tail and not head and axes <= led - trailed) or (head and not tail and axes <= trailed - led):
            _record(call, array, at, axes)
    return result if traits == result.traits else replace(result, traits=traits)


def _is_same(array: Array, axis: str) -> bool:
    return array.numpy or array.variation.never(axis)


def _with_all(array: Array, result: Array) -> Array:
    """Return a result that has all elements of an array, marked as that."""
    leading = frozenset(trait for trait in array.traits if trait[0] is Trait.LEADING)
    if not leading or equal(product(array.shape or ()), product(result.shape or ())) is not True:
        return result
    return replace(result, traits=result.traits | leading, drawn_at=array.drawn_at)


def _padded(call: Call, array: Array, result: Array) -> Array:
    """Return a part that is padded."""
    widths = as_items(call.argument(1, "pad_width"))
    traits = result.traits
    for at, width in enumerate(widths or ()):
        pair = [as_int(end) for end in as_items(width) or ()]
        if at < len(array.shape or ()) and len(pair) == 2 and None not in pair:
            traits |= _filled(call, array, at, before=pair[0] != 0, after=pair[1] != 0)
    return result if traits == result.traits else replace(result, traits=traits, laid=array.laid)


def _joined(call: Call, result: Array) -> Array:
    """Return a part to which something was joined that is no other data of this device's."""
    items, rank = as_items(call.args[0]) if call.args else None, len(result.shape or ())
    given = call.argument(1, "dimension" if "dimension" in call.kwargs else "axis")
    at = 0 if given is None else as_int(given)
    if not items or at is None or not -rank <= at < rank:
        return result
    at %= rank
    parts = [one for one in items if isinstance(one, Array)]
    sizes = [one.shape[at] for one in parts if one.shape is not None and len(one.shape) == rank]
    lengths = [size for size in sizes if isinstance(size, int)]
    if len(lengths) < len(items) or 2 * max(lengths) <= sum(lengths):
        return result
    place = lengths.index(max(lengths))
    axes = axes_along(parts[place], at)
    if not axes or not all(_is_filling(one, at, axes) for one in parts[:place] + parts[place + 1 :]):
        return result
    found = _filled(call, parts[place], at, before=place > 0, after=place < len(parts) - 1)
    return replace(result, traits=result.traits | found, laid=parts[place].laid)


def _is_filling(value: Array, at: int, axes: Axes) -> bool:
    """Return whether a value is the same on all devices, or what each has of the same split dimension."""
    return axes.isdisjoint(_axes(value, Trait.SPLIT)) or axes_along(value, at) == axes


def _filled(call: Call, array: Array, at: int, *, before: bool, after: bool) -> Traits:
    """Return the traits of an array that has other elements before its first, or after its last."""
    axes = axes_along(array, at)
    headless, tailless = _axes(array, Trait.HEADLESS), _axes(array, Trait.TAILLESS)
    if (after and not before and axes <= headless - tailless) or (
        before and not after and axes <= tailless - headless
    ):
        _record(call, array, at, axes)
    ends = [trait for trait, filled in ((Trait.LED, before), (Trait.TRAILED, after)) if filled]
    return frozenset((trait, axis) for trait in ends for axis in axes)


def _note_meeting(call: Call, operands: Sequence[Value], *, by_row: bool) -> None:
    """Record parts that meet and lack elements at different ends."""
    arrays = [one for one in operands if isinstance(one, Array) and one.traits and one.shape]
    for one in arrays:
        headless = _axes(one, Trait.HEADLESS) - _axes(one, Trait.TAILLESS)
        for other in arrays if headless else ():
            axes = headless & (_axes(other, Trait.TAILLESS) - _axes(other, Trait.HEADLESS))
            lacking = 0 if by_row else len(other.shape or ()) - len(one.shape or ())
            for at in range(len(one.shape or ())) if axes else ():
                inside = 0 <= at + lacking < len(other.shape or ())
                met = axes & axes_along(one, at) & axes_along(other, at + lacking) if inside else NO_AXES
                if met:
                    _record(call, one, at, met, rows=True)
                    return


def _record(call: Call, array: Array, at: int, axes: Axes, *, rows: bool = False) -> None:
    """Record that elements are shifted; along the first of several dimensions, where examples may be queued
    on each device, only if ``rows`` says so."""
    if axes and (rows or at > 0 or len(array.shape or ()) == 1):
        record_part(call.interpreter, _TEXT.format(dimension=at), axes, call.place, alone=True)
