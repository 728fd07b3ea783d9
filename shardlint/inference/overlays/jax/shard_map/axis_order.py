"""The order of several axes in a collective, beside that of the specs of its shard_map."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from shardlint.inference.domain.values import Array, Tuple, Value, as_int
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
    """Return an index of devices, marked if it counts them in another order than the specs do, or may once it
    is combined with that of another axis. As a number that tells devices apart, any will do."""
    order = _order_of_specs(call.interpreter, axes)
    several = any(set(axes) < set(one) for one in call.interpreter.context.orders)
    if order is None and not (several and len(axes) == 1):
        return index
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
