"""Numbers of devices: the order of several axes in a collective, beside that of the specs of its shard_map,
and the slices of a dimension that devices take by their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from shardlint.inference.domain.values import Array, Const, Tuple, Value, as_int
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.explicit import auto_layouts
from shardlint.inference.overlays.jax.operations import rule_of
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import product
from shardlint.laws.core.values import Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.transforms.collectives import ORDERED, other_order
from shardlint.laws.transforms.traits import Trait
from shardlint.model.spans import Place


def reordered(
    call: Call, function: str, axes: tuple[str, ...], array: Array, result: Array, place: Place
) -> Array:
    """Return the result of a collective over axes, marked if it counts them in another order than the specs
    do. What was taken apart in that order is put together by it again."""
    if _is_marked(array):
        if function == "all_gather" and array.indexed is not None and array.indexed[0] != axes:
            _record(call.interpreter, array.indexed)
        return _unmarked(result)
    # What a spec did not split lies in the order of what did.
    split = array.variation.axes_of(Trait.SPLIT).issuperset(axes)
    ordered = function == "psum_scatter" or (split and function in ORDERED)
    if not ordered or _order_of_specs(call.interpreter, axes) is None:
        return result
    return _marked(result, Trait.SHUFFLED if function == "all_gather" else Trait.COUNTED, (axes, place, 0))


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


#: Functions whose result does not depend on the order of what is reduced.
_REDUCTIONS = frozenset("sum mean max min prod any all var std amax amin logsumexp sort".split())


def chosen(interpreter: Evaluator, name: str, operands: Iterable[Value], result: Value) -> Value:
    """Return the result of an operation, marked if it is computed from what is in another order than that of
    the specs. It is recorded where it meets parts that the specs made."""
    arrays = list(_arrays(operands))
    marks = [one for one in arrays if _is_marked(one) or _is_index(interpreter, one)]
    if not marks or not isinstance(result, Array) or (result.indexed is not None and result.indexed[2]):
        return result
    axes, place, _ = marks[0].indexed or ((), None, 0)
    counted = [one for one in marks if not one.variation.axes_of(Trait.SHUFFLED)]
    shuffled = len(counted) < len(marks)
    if place is None or name.startswith("jax.random.") or (len(marks) > 1 and not _is_elementwise(name)):
        # A number that tells devices apart may be any, and sums do not depend on the order.
        return _unmarked(result)
    parts = [one for one in arrays if one not in marks]
    if counted and any(one.variation.axes_of(Trait.SPLIT).issuperset(axes) for one in parts):
        _record(interpreter, (axes, place, 0))
        return _unmarked(result)
    if shuffled and name.rpartition(".")[2] in _REDUCTIONS:
        return _unmarked(result)
    return _marked(result, Trait.SHUFFLED if shuffled else Trait.COUNTED, (axes, place, 0))


def note_returned(interpreter: Evaluator, array: Array, spec: Spec) -> None:
    """Record a result of a body that is in another order than that of the specs."""
    if array.indexed is None or not _is_marked(array):
        return
    together = any(set(array.indexed[0]) <= set(entry_axes(entry)) for entry in spec.entries)
    if together or array.variation.axes_of(Trait.SHUFFLED):
        _record(interpreter, array.indexed)


_MARKS = frozenset({Trait.COUNTED, Trait.SHUFFLED})


def _is_marked(array: Array) -> bool:
    return any(trait in _MARKS for trait, _ in array.traits)


def _marked(array: Array, trait: Trait, source: tuple[tuple[str, ...], Place, int]) -> Array:
    traits = _unmarked(array).traits | {(trait, axis) for axis in source[0]}
    return replace(array, traits=traits, indexed=source)


def _unmarked(array: Array) -> Array:
    traits = frozenset(pair for pair in array.traits if pair[0] not in _MARKS)
    return replace(array, traits=traits, indexed=None)


def _is_index(interpreter: Evaluator, array: Array) -> bool:
    """Return whether an array is a number of devices in another order than that of the specs."""
    return array.indexed is not None and _order_of_specs(interpreter, array.indexed[0]) is not None


def _is_elementwise(name: str) -> bool:
    return rule_of(name) in auto_layouts.ELEMENTWISE


def _arrays(operands: Iterable[Value]) -> Iterator[Array]:
    for one in operands:
        if isinstance(one, Tuple):
            yield from _arrays(one.items)
        elif isinstance(one, Array):
            yield one


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


def _record(interpreter: Evaluator, source: tuple[tuple[str, ...], Place, int]) -> None:
    axes, place, _ = source
    order = _order_of_specs(interpreter, axes)
    if order is not None:
        ours, theirs = (", ".join(f'"{axis}"' for axis in one) for one in (axes, order))
        silent = f"this counts the devices in the order {ours}, but the specs split over {theirs}"
        record_of_value(interpreter, "jax.lax(order)", Accepted(), place, silent=silent)
