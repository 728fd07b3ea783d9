"""The order of several axes in a collective, beside that of the specs of its shard_map."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from shardlint.inference.domain.values import Array, Tuple, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.recording import record_of_value
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
    """Return an index of devices, marked if it counts them in another order than the specs do. As a number
    that tells devices apart, any will do."""
    if _order_of_specs(call.interpreter, axes) is None:
        return index
    return replace(index, indexed=(axes, call.place_of(0, "axis_name")))


def note_use(interpreter: Evaluator, operands: Iterable[Value]) -> None:
    """Record operands that are such an index, and are computed with."""
    for one in operands:
        if isinstance(one, Tuple):
            note_use(interpreter, one.items)
        elif isinstance(one, Array) and one.indexed is not None:
            axes, place = one.indexed
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
