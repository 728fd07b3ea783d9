"""Numbers in a body of shard_map that count within one device's part of a dimension.

An index along a dimension of which each device has a part (`argmax`) is a number within that part
(`Trait.INDEX`), until something that varies is added to it. What counts from 0 on each device alike
(`arange`, `Trait.NUMBERED`) is no position in the whole, beside data that all devices have gathered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shardlint.inference.domain.values import Array, ListValue, Value, as_int, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.arrays.dtypes import is_inexact
from shardlint.inference.overlays.jax.explicit import auto_layouts
from shardlint.inference.overlays.jax.explicit.rules import elementwise, joining
from shardlint.inference.overlays.jax.operations import rule_of
from shardlint.inference.overlays.jax.shard_map.part_operations import record_part
from shardlint.inference.overlays.jax.shard_map.reduced_values import SAME_VALUES
from shardlint.inference.overlays.jax.shard_map.split_dimensions import large, split_of
from shardlint.inference.overlays.jax.shard_map.varying import manual_axes, variation_of
from shardlint.inference.overlays.pytrees.prefixes import arrays_in
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import Mesh, Spec, entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.transforms.traits import Trait
from shardlint.laws.transforms.varying import NO_AXES, Axes
from shardlint.model.spans import Place
from shardlint.model.uses import Fact

_EXTREMES = frozenset(
    f"{owner}.{kind}"
    for owner in ("jax.numpy", "jax.lax", "jax.Array")
    for kind in ("argmax", "argmin", "nanargmax", "nanargmin")
)
_SORTS = frozenset({"jax.numpy.argsort", "jax.Array.argsort"})
_COUNTS = frozenset({
    "jax.numpy.arange", "jax.lax.iota", "jax.lax.broadcasted_iota",
    "jax.numpy.fft.fftfreq", "jax.numpy.fft.rfftfreq",
    "numpy.arange", "numpy.fft.fftfreq", "numpy.fft.rfftfreq",
})  # fmt: skip
#: Masks of the elements above, below or on a diagonal, which count both dimensions.
_DIAGONALS = frozenset(f"jax.numpy.{name}" for name in ("tri", "tril", "triu", "eye", "identity"))
#: Functions whose second argument has a number for each row of the first.
BY_ROW = frozenset({"optax.softmax_cross_entropy_with_integer_labels", "jax.numpy.take_along_axis"})
#: A loss whose labels, if they count the rows, tell that each row is to be set apart from the others.
_OWN_ROWS = "optax.softmax_cross_entropy_with_integer_labels"
#: Functions that pick elements by their places.
_PICKING = frozenset({"[]", "jax.numpy.take", "jax.numpy.take_along_axis", "jax.Array.take"})
_COUNTED = "numbers that count from 0 on each device"
_FIRST = "the first elements of an array, the same on each device,"
_JOINING = (joining.concatenate, joining.stack)
_CASTS = (elementwise.cast, elementwise.first_operand)
_CHOOSING = (elementwise.where, elementwise.select)


def numbered(call: Call, result: Value, name: str | None = None) -> Value:
    """Return the result of a call, marked if it is such a number; numbers that meet gathered data are
    recorded."""
    name, args = name or call.name, call.args
    if name in _EXTREMES or name in _SORTS:
        axes = _index_axes(call, name)
        if axes and isinstance(result, Array):
            result = replace(result, drawn_at=call.place)
        return _marked(
            _marked(result, axes), _sought(call, axes) if name in _EXTREMES else NO_AXES, Trait.EXTREME
        )
    if name == "jax.lax.top_k" and isinstance(result, ListValue) and len(result.items or ()) == 2 and args:
        assert result.items is not None
        result.items[1] = _marked(result.items[1], _parts_of(args[0], -1))
    if not isinstance(result, Array):
        return result
    if name in _COUNTS or name in _DIAGONALS:
        return _counted(call, result)
    rule = rule_of(name)
    if name == _OWN_ROWS:
        note_own_rows(call)
    if rule in auto_layouts.ELEMENTWISE or name in BY_ROW:
        note_numbers(call.interpreter, (*args, *call.kwargs.values()), call.place, by_row=name in BY_ROW)
    if rule in auto_layouts.ELEMENTWISE or rule in _JOINING or name in SAME_VALUES:
        result = stamped(result, (*args, *call.kwargs.values()))
    if name in _PICKING and args:
        return picked(result, args[0], args[1:])
    if (rule in _CASTS or name in SAME_VALUES) and args:
        return _marked(_marked(result, _indices(args[0])), _extremes(args[0]), Trait.EXTREME)
    if rule in _CHOOSING and len(args) == 3:
        one, other = args[1:]
        axes = _indices(one) | _indices(other)
        return _marked(result, frozenset(a for a in axes if _agrees(one, a) and _agrees(other, a)))
    return result


def note_numbers(
    interpreter: Evaluator, operands: Sequence[Value], place: Place | None, by_row: bool = False
) -> None:
    """Record numbers that count from 0 on each device, or the first elements of an array, which meet a
    dimension that is split, of data that is computed from that of all devices; or another than the first, in
    a body that moves no data."""
    arrays = [one for one in operands if isinstance(one, Array) and one.traits and one.shape]
    for one in arrays if place is not None else ():
        counted = one.drawn_at or place
        leading = one.variation.axes_of(Trait.LEADING)
        axes = one.variation.axes_of(Trait.NUMBERED) | leading
        for other in arrays if axes else ():
            spec = split_of(other)
            if spec is None or other is one or one.shape is None or other.shape is None:
                continue
            for at, (entry, size) in enumerate(zip(spec.entries, other.shape, strict=True)):
                met = large(interpreter, [axis for axis in entry_axes(entry) if axis in axes])
                beside = at if by_row else at - (len(other.shape) - len(one.shape))
                inside = 0 <= beside < len(one.shape)
                if met and inside and _is_same(one.shape[beside], size) and place and counted:
                    among = [axis for axis in met if axis in other.variation.axes_of(Trait.GATHERED)]
                    if among or (at > 0 and not one.variation.axes_of(Trait.ONE_HOT)):
                        what = _FIRST if leading else _COUNTED
                        _record_numbers(interpreter, what, among or met, at, counted, place, alone=not among)
                        return


def note_own_rows(call: Call) -> None:
    """Record a loss that sets each example on a device of a `pmap` apart from the others there, of as many
    columns as rows: the labels count these. What a `vmap` maps over is no batch."""
    context, (logits, labels) = (
        call.interpreter.context,
        call.bind("logits", "labels", axis=None, where=None)[:2],
    )
    if context.examples or not isinstance(logits, Array) or not isinstance(labels, Array):
        return
    own = logits.variation.surely & logits.variation.axes_of(Trait.SPLIT) & context.device_axes
    axes = (own & labels.variation.axes_of(Trait.NUMBERED)) - logits.variation.axes_of(Trait.GATHERED)
    if logits.shape is None or labels.shape is None or len(logits.shape) != 2 or len(labels.shape) != 1:
        return
    if all(_is_same(labels.shape[0], size) for size in logits.shape):
        text = (
            "these labels count this device's examples: the loss sets each apart from the others on this "
            "device only, and from none on the other devices along {axes}"
        )
        facts = (Fact("the loss is computed here", call.place),)
        at = labels.drawn_at or call.place
        record_part(call.interpreter, text, axes, at, alone=True, facts=facts)


def stamped(result: Value, operands: Sequence[Value]) -> Value:
    """Return a value that is computed element by element, marked if numbers that count from 0 on each device
    alike meet a part of a dimension in it, or in what it is computed from."""
    arrays = [array for one in operands for array in arrays_in(one)]
    if not isinstance(result, Array) or not any(one.traits for one in arrays):
        return result
    axes = {axis for one in arrays for axis in one.variation.axes_of(Trait.STAMPED)}
    counted = next((one.drawn_at for one in arrays if one.variation.axes_of(Trait.STAMPED)), None)
    for one in arrays:
        numbered = one.variation.axes_of(Trait.NUMBERED) if is_inexact(one.dtype) else NO_AXES
        for other in arrays if numbered else ():
            met = {axis for at in _beside(one, other) for axis in _parts_of(other, at)} & numbered
            counted = counted or (one.drawn_at if met else None)
            axes |= met
    traits = result.traits | {(Trait.STAMPED, axis) for axis in axes}
    return replace(result, traits=traits, drawn_at=counted) if axes else result


def _beside(one: Array, other: Array) -> list[int]:
    """Return the dimensions of an array that another one has too, of more than one element."""
    sizes = zip(reversed(one.shape or ()), reversed(other.shape or ()), strict=False)
    return [-1 - at for at, (size, beside) in enumerate(sizes) if _is_same(size, beside)]


def picked(result: Value, array: Value, keys: Sequence[Value]) -> Value:
    """Return what is picked from an array: of the places in the parts of all devices, one by a key that is
    not written is a place in one of them."""
    places = array.variation.axes_of(Trait.PLACES) if isinstance(array, Array) else NO_AXES
    if not isinstance(array, Array) or not isinstance(result, Array) or not (places or _indices(array)):
        return result
    result = replace(result, drawn_at=array.drawn_at)
    chosen = any(arrays_in(key) for key in keys)
    return _marked(
        _marked(result, _indices(array) | (places if chosen else NO_AXES)),
        NO_AXES if chosen else places,
        Trait.PLACES,
    )


def note_gathered(interpreter: Evaluator, array: Array, axes: Sequence[str]) -> None:
    """Record that parts are gathered which were computed with numbers that count from 0 on each device."""
    found = large(interpreter, sorted(array.variation.axes_of(Trait.STAMPED) & {*axes}))
    if found and array.drawn_at is not None:
        text = " and ".join(f'"{axis}"' for axis in found)
        silent = (
            f"numbers that count from 0 on each device meet a dimension of which each device along {text} "
            f"has a part, before the parts are gathered: is an offset of jax.lax.axis_index({text}) missing?"
        )
        record_of_value(interpreter, "jax.shard_map(number)", Accepted(), array.drawn_at, silent=silent)


def note_indices(call: Call, array: Array, mesh: Mesh, spec: Spec, name: str) -> None:
    """Record a result that is a number within one device's part, whichever that is."""
    named = {axis for entry in spec.entries for axis in entry_axes(entry)}
    among = [axis for axis in array.variation.axes_of(Trait.INDEX) if array.variation.never(axis)]
    axes = sorted(a for a in among if a not in named and equal(mesh.size_of(a), 1) is not True)
    if axes:
        text = " and ".join(f'"{axis}"' for axis in axes)
        silent = (
            f"{name} is an index within one device's part of a dimension, which is split over {text}, and "
            f"does not tell whose; add the place where the part begins: jax.lax.axis_index({text}) * its size"
        )
        place = array.drawn_at or array.origin or call.place
        record_of_value(call.interpreter, "jax.shard_map(number)", Accepted(), place, silent=silent)


def _record_numbers(
    interpreter: Evaluator,
    what: str,
    axes: Sequence[str],
    dimension: int,
    counted: Place,
    place: Place,
    *,
    alone: bool,
) -> None:
    also = "" if alone else ", and which is computed from all of them"
    text = (
        f"{what} meet dimension {dimension} of data, of which each device along {{axes}} has a part{also}: "
        "is an offset of jax.lax.axis_index({axes}) missing?"
    )
    facts = () if counted is place else (Fact("they meet such data here", place),)
    record_part(interpreter, text, axes, counted, alone=alone, kind="number", facts=facts)


def _counted(call: Call, result: Array) -> Array:
    """Return a range or mask, marked if it counts from 0."""
    if call.name.endswith(".arange") and len(call.args) > 1 and as_int(call.args[0]) != 0:
        return result
    if call.name.endswith(".arange") and "start" in call.kwargs:
        return result
    manual = manual_axes(call.interpreter.context) or ()
    axes = {axis for axis in manual if result.numpy or result.variation.never(axis)}
    traits = result.traits | {(Trait.NUMBERED, axis) for axis in axes}
    return replace(result, traits=traits, drawn_at=call.place)


def _index_axes(call: Call, name: str) -> Axes:
    """Return the axes over which the dimension is split that an index counts along."""
    given = call.argument(1, "axis")
    if not call.args or (given is not None and is_none(given)):
        return frozenset()
    if given is None:
        # Without an axis the index counts in the flat array.
        rank = len(call.args[0].shape or ()) if isinstance(call.args[0], Array) else 0
        return _parts_of(call.args[0], -1) if name in _SORTS or rank == 1 else frozenset()
    axis = as_int(given)
    return frozenset() if axis is None else _parts_of(call.args[0], axis)


def _parts_of(array: Value, axis: int) -> Axes:
    spec = split_of(array) if isinstance(array, Array) else None
    if spec is None or not -len(spec.entries) <= axis < len(spec.entries):
        return frozenset()
    return frozenset(entry_axes(spec.entries[axis]))


def _sought(call: Call, axes: Axes) -> Axes:
    """Return the axes, unless the index is that of the first element for which something is true."""
    first = call.args[0] if call.args else None
    return NO_AXES if not isinstance(first, Array) or first.dtype in (None, "bool") else axes


def _marked(result: Value, axes: Axes, trait: Trait = Trait.INDEX) -> Value:
    if not axes or not isinstance(result, Array):
        return result
    return replace(result, traits=result.traits | {(trait, axis) for axis in axes})


def _extremes(value: Value) -> Axes:
    return value.variation.axes_of(Trait.EXTREME) if isinstance(value, Array) else NO_AXES


def _indices(value: Value) -> Axes:
    return value.variation.axes_of(Trait.INDEX) if isinstance(value, Array) else frozenset()


def _agrees(value: Value, axis: str) -> bool:
    """Return whether a value is an index too, or the same on all devices."""
    return axis in _indices(value) or variation_of(value).never(axis)


def _is_same(one: object, other: object) -> bool:
    """Return whether two sizes are certainly equal, and not 1."""
    return equal(one, other) is True and equal(other, 1) is not True  # type: ignore[arg-type]
