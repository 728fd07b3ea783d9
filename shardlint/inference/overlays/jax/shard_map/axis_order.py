"""Numbers of devices: the order of several axes in a collective, beside that of the specs of its shard_map,
and the slices of a dimension that devices take by their number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from shardlint.inference.domain.values import Array, Const, Tuple, Value, as_int
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import product
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.transforms.collectives import other_order
from shardlint.model.spans import Place

_INDEX = "axis_index"


def note_order(call: Call, function: str, axes: tuple[str, ...], place: Place) -> None:
    """Record a collective over axes in another order than that of the specs."""
    order = _order_of_specs(call.interpreter, axes)
    if order is not None:
        _record(call.interpreter, function, axes, order, place)


def disordered(call: Call, index: Array, axes: tuple[str, ...]) -> Array:
    """Return an index of devices, marked as what counts those along these axes: perhaps in another order than
    the specs do. As a number that tells devices apart, any will do."""
    return replace(index, indexed=(axes, call.place_of(0, "axis_name"), 1))


def combined_index(
    interpreter: Evaluator, symbol: str, x: Value, y: Value, result: Value, place: Place | None
) -> Value:
    """Return the result of an operator, marked if it is an index too: ``i * n`` is one with a stride, and
    ``i * n + j`` counts the devices of both axes, if ``n`` is the number of those that ``j`` counts."""
    if not isinstance(result, Array) or place is None:
        return result
    one, other = (value.indexed if isinstance(value, Array) else None for value in (x, y))
    if symbol == "*" and (one is None) is not (other is None):
        axes, at, stride = one or other or ((), place, 1)
        times = as_int(y if other is None else x)
        return result if times is None else replace(result, indexed=(axes, at, stride * times))
    if symbol == "+" and one is not None and other is not None:
        high, low = (one, other) if one[2] > other[2] else (other, one)
        bound = interpreter.context.bound_axes
        sizes = {} if isinstance(bound, Unknown) else dict(bound)
        if product(sizes.get(axis, 0) for axis in low[0]) * low[2] == high[2]:
            return replace(result, indexed=((*high[0], *low[0]), place, low[2]))
    return result


def note_use(interpreter: Evaluator, operands: Iterable[Value]) -> None:
    """Record operands that are such an index, and are computed with."""
    for one in operands:
        if isinstance(one, Tuple):
            note_use(interpreter, one.items)
        elif isinstance(one, Array) and one.indexed is not None:
            axes, place, _ = one.indexed
            order = _order_of_specs(interpreter, axes)
            if order is not None:
                _record(interpreter, _INDEX, axes, order, place)


#: Functions that take a slice of one dimension, with the positions of its start, size and dimension.
_SLICES = {
    "jax.lax.dynamic_slice_in_dim": ("start_index", "slice_size"),
    "jax.lax.dynamic_index_in_dim": ("index", None),
}


def note_slice(call: Call) -> None:
    """Record slices of a dimension, one for each device along an axis, that leave a part of it to nobody, if
    there are as many slices as devices along another axis."""
    if call.name not in _SLICES or not call.args or not isinstance(call.args[0], Array):
        return
    start, size = _SLICES[call.name]
    whole, index = call.args[0], call.argument(1, start)
    indexed = index.indexed if isinstance(index, Array) else None
    taken = 1 if size is None else as_int(call.argument(2, size))
    at = as_int(call.argument(2 if size is None else 3, "axis") or Const(0))
    shape, bound = whole.shape, call.interpreter.context.bound_axes
    if indexed is None or shape is None or at is None or isinstance(bound, Unknown):
        return
    axes, place, stride = indexed
    length = shape[at] if -len(shape) <= at < len(shape) else None
    sizes = dict(bound)
    ways = sizes.get(axes[0])
    if len(axes) != 1 or taken != stride or not isinstance(length, int) or not isinstance(ways, int):
        return
    others = [name for name, n in bound if name != axes[0] and isinstance(n, int) and n * stride == length]
    if ways * stride >= length or len(others) != 1 or not whole.variation.never(others[0]):
        return
    silent = (
        f'the {ways} devices along "{axes[0]}" take slices of {stride} by their numbers, and dimension '
        f'{at % len(shape)} has {length}: so many slices as devices along "{others[0]}"'
    )
    record_of_value(call.interpreter, "jax.lax(order)", Accepted(), place, silent=silent)


def _order_of_specs(interpreter: Evaluator, axes: tuple[str, ...]) -> tuple[str, ...] | None:
    context = interpreter.context
    if len(axes) < 2 or not context.orders or isinstance(context.bound_axes, Unknown):
        return None
    return other_order(axes, sorted(context.orders), dict(context.bound_axes))


def _record(
    interpreter: Evaluator, function: str, axes: tuple[str, ...], order: tuple[str, ...], place: Place
) -> None:
    ours, theirs = (", ".join(f'"{axis}"' for axis in one) for one in (axes, order))
    silent = f"`{function}` counts the devices in the order {ours}, but the specs split over {theirs}"
    record_of_value(interpreter, "jax.lax(order)", Accepted(), place, silent=silent)
