"""Random numbers that are the same on all devices of a mesh axis, beside data that is split over it.

A draw from a key that does not vary over an axis is the same on all its devices (`Trait.DRAWN`). Where it
meets another part of the data on each of them (`Trait.SPLIT`), element by element, their rows are not drawn
independently: every device drops the same units, or adds the same noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shardlint.inference.domain.values import Array, Value, as_int
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.arrays import column_products
from shardlint.inference.overlays.arrays.methods import binary, unary
from shardlint.inference.overlays.jax import joined_parts
from shardlint.inference.overlays.jax.explicit import auto_layouts
from shardlint.inference.overlays.jax.explicit.device_lists import runs_eagerly
from shardlint.inference.overlays.jax.explicit.results import finish_operator
from shardlint.inference.overlays.jax.explicit.rules.contractions import at_operator
from shardlint.inference.overlays.jax.lax import loop_sums
from shardlint.inference.overlays.jax.layouts.operands_apart import note_elementwise, note_product
from shardlint.inference.overlays.jax.operations import rule_of
from shardlint.inference.overlays.jax.random import OPERATIONS
from shardlint.inference.overlays.jax.relevance import relevant
from shardlint.inference.overlays.jax.shard_map import split_dimensions, varying
from shardlint.inference.overlays.jax.shard_map.axis_order import chosen, combined_index, note_slice
from shardlint.inference.overlays.jax.shard_map.indices.global_indices import indexed
from shardlint.inference.overlays.jax.shard_map.indices.local_numbers import note_numbers, numbered, stamped
from shardlint.inference.overlays.jax.shard_map.indices.shifted_parts import shifted
from shardlint.inference.overlays.jax.shard_map.part_operations import (
    normalised,
    note_operation,
    transformed,
)
from shardlint.inference.overlays.jax.shard_map.reduced_values import (
    activated,
    divided,
    multiplied,
    rescaled,
    with_same_values,
)
from shardlint.inference.overlays.jax.shard_map.split_dimensions import split_of
from shardlint.inference.overlays.jax.shard_map.varying import manual_axes, variation_of
from shardlint.inference.overlays.jax.sharding.made_arrays import COUNTING, is_making, made, takes_from_host
from shardlint.inference.overlays.jax.sharding.movement import combined, computed_in_force, keeping_rows
from shardlint.inference.overlays.jax.transforms.stacked_copies import stacked
from shardlint.inference.overlays.numpy import known_numbers
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.transforms.traits import Trait
from shardlint.laws.transforms.varying import NO_AXES, Axes, never_over
from shardlint.model.spans import Place
from shardlint.model.uses import Fact

#: Functions that return keys, and those that permute what is given to them.
_NO_DRAWS = frozenset("key PRNGKey split fold_in clone key_data wrap_key_data permutation choice".split())
_DRAWS = frozenset(
    f"jax.random.{name}"
    for operation in OPERATIONS
    for name in operation.names.split()
    if name not in _NO_DRAWS
)
_DIVIDING = frozenset({"jax.numpy.divide", "jax.numpy.true_divide", "jax.lax.div"})
_MULTIPLYING = frozenset({"jax.numpy.multiply", "jax.lax.mul"})


def finish_call(call: Call, result: Value) -> Value:
    """Return the result of a call with its variation, as `varying.finish_call`, and its traits."""
    found = joined_parts.joined(call, varying.finish_call(call, result))
    if call.interpreter.context.bound_axes:
        note_slice(call)
        found = numbered(call, split_dimensions.followed(call, call.name, _drawn(call, found)))
        found = transformed(call, call.name, found)
        note_operation(call, call.name, found)
        found = shifted(call, call.name, indexed(call, call.name, found))
        found = loop_sums.followed(call, found)
        found = _joined(call, call.name, call.args, found)
        if not call.interpreter.context.orders or not (rule_of(call.name) or varying.computes(call.name)):
            return found
        return chosen(call.interpreter, call.name, (*call.args, *call.kwargs.values()), found)
    found = joined_parts.followed(call, call.name, call.args, found, None)
    if call.interpreter.context.in_jit is not True:
        if not runs_eagerly(call.interpreter):
            return found
        found = stacked(call, found)
        found = auto_layouts.followed_eagerly(call, call.name, found)
        host, alone = takes_from_host(call), call.interpreter.context.mesh is None
        if is_making(call.name) or call.name in _DRAWS or (host and alone):
            return made(call, found)
        if call.name not in COUNTING and not host:
            return found
        return computed_in_force(call.interpreter, found, (*call.args, *call.kwargs.values()))
    if is_making(call.name) or call.name in _DRAWS or call.name in COUNTING:
        return made(call, found)
    return auto_layouts.followed(call, call.name, found)


def _joined(call: Call, name: str, operands: Sequence[Value], result: Value) -> Value:
    layout = split_dimensions.split_of(result) if isinstance(result, Array) else None
    return joined_parts.followed(call, name, operands, result, layout)


def operated(interpreter: Evaluator, symbol: str, x: Value, y: Value, place: Place | None) -> Value:
    """Return the result of a binary operator on arrays."""
    result = finish_operator(interpreter, symbol, (x, y), binary(symbol, x, y), place)
    if place is not None:
        result = known_numbers.of_operator(Call(interpreter, symbol, [x, y], {}, place), result)
    read = relevant(interpreter, symbol, (x, y))
    found = varying.computed(interpreter, result, read, operator=symbol not in ("**", "%"))
    if symbol != "@" and interpreter.context.bound_axes:
        note_combined(interpreter, (x, y), found, place)
        note_numbers(interpreter, (x, y), place)
        found = divided(found, x, y) if symbol == "/" else multiplied(symbol, found, (x, y))
        found = stamped(found, (x, y))
    if interpreter.context.bound_axes:
        found = combined_index(interpreter, symbol, x, y, found, place)
    if interpreter.context.bound_axes and place is not None:
        found = split_dimensions.operated(interpreter, symbol, x, y, found, place)
        call, name = Call(interpreter, symbol, [x, y], {}, place), f"2 {symbol}"
        note_operation(call, name, found)
        if symbol in "-*/":
            for one, other in ((x, y), (y, x)) if symbol == "*" else ((x, y),):
                found = normalised(interpreter, symbol, one, other, found, place)
        found = rescaled(interpreter, symbol, x, y, found)
        found = loop_sums.added(interpreter, symbol, x, y, found)
        found = shifted(call, name, indexed(call, name, found))
    if interpreter.context.orders and (symbol not in ("==", "!=") or 0 not in (as_int(x), as_int(y))):
        # The first device is the same in every order.
        found = chosen(interpreter, f"2 {symbol}", (x, y), found)
    if place is not None:
        found = _joined(Call(interpreter, symbol, [x, y], {}, place), f"2 {symbol}", (x, y), found)
    product = Call(interpreter, symbol, [x, y], {}, place)  # type: ignore[arg-type]
    if symbol != "@":
        note_elementwise(product, f"2 {symbol}")
        return combined(interpreter, found, (x, y))
    found = note_product(product, f"2 {symbol}", at_operator, found)
    found = column_products.multiplied(interpreter, found, x, y, place)
    if _is_matrix(y) and (rows := keeping_rows(interpreter, found, x)) is not found:
        return rows
    return auto_layouts.as_far_as_known(product, f"2 {symbol}", found)


def negated(interpreter: Evaluator, symbol: str, x: Array, place: Place) -> Value:
    """Return the result of an operator of one array."""
    found = finish_operator(interpreter, symbol, (x,), unary(symbol, x), place)
    found = known_numbers.of_operator(Call(interpreter, symbol, [x], {}, place), found)
    found = varying.computed(interpreter, found, (x,), operator=True)
    if isinstance(found, Array) and x.traits:
        kept = frozenset(trait for trait in x.traits if trait[0] in split_dimensions.SCALES)
        found = replace(found, traits=found.traits | kept)
    if not interpreter.context.bound_axes:
        return found
    call, name = Call(interpreter, symbol, [x], {}, place), f"1 {symbol}"
    return indexed(call, name, split_dimensions.followed(call, name, found))


def _is_matrix(value: Value) -> bool:
    """Return whether a product with a value on the right has a row for each on the left."""
    return isinstance(value, Array) and value.shape is not None and len(value.shape) <= 2


def _drawn(call: Call, result: Value) -> Value:
    """Return the result of a call; what is drawn with a key that is equal on all devices is marked."""
    manual = manual_axes(call.interpreter.context)
    if not manual:
        return result
    if call.name in _DRAWS:
        key, *rest = (*call.args, *call.kwargs.values()) or (Unknown("no key"),)
        same = never_over(variation_of(key), manual)
        if same and isinstance(result, Array):
            for data in rest:
                met = same if _has_rows_of(data, result) else same & _examples(key) & _examples(data)
                _note(call.interpreter, met, data, _keys_made_at(key, call.place), call.place)
            traits = result.traits | {(Trait.DRAWN, axis) for axis in same if result.variation.never(axis)}
            return replace(result, traits=traits, drawn_at=_keys_made_at(key, call.place))
    elif call.name == "jax.random.split" and isinstance(result, Array):
        # Of keys that differ from device to device, it is where the program makes these.
        keyed = bool(result.variation.axes_of(Trait.KEYED))
        return replace(result, drawn_at=result.drawn_at if keyed else call.place)
    elif call.name in _DIVIDING and len(call.args) == 2:
        x, y = call.args
        return divided(rescaled(call.interpreter, "/", x, y, result), x, y)
    elif call.name in _MULTIPLYING and len(call.args) == 2:
        x, y = call.args
        result = rescaled(call.interpreter, "*", x, y, result)
    elif rule_of(call.name) in auto_layouts.ELEMENTWISE:
        note_combined(call.interpreter, (*call.args, *call.kwargs.values()), result, call.place)
    result = activated(call.name, result, call.args)
    return multiplied(call.name, with_same_values(call, result), call.args)


def note_combined(
    interpreter: Evaluator, operands: Sequence[Value], result: Value, place: Place | None
) -> None:
    """Record an operation, element by element, on split data and random numbers that are not."""
    for one in operands:
        if isinstance(one, Array) and one.traits and place is not None and isinstance(result, Array):
            same = one.variation.axes_of(Trait.DRAWN)
            for other in operands if same else ():
                aligned = _is_aligned(one, result) and _is_aligned(other, result)
                met = same & _examples(one) & _examples(other)
                if aligned:
                    met |= frozenset(axis for axis in same if _is_drawn_along(axis, one, other))
                _note(interpreter, met, other, one.drawn_at or place, place)


def note_layer(interpreter: Evaluator, key: Value | None, data: Value, place: Place, used_at: Place) -> None:
    """Record a layer that draws with a key as many numbers as its data has; ``place`` is where it gets the
    key."""
    manual = manual_axes(interpreter.context)
    if manual and isinstance(key, Array) and isinstance(data, Array):
        same = never_over(variation_of(key), manual)
        met = same if _has_rows_of(data, data) else same & _examples(key) & _examples(data)
        _note(interpreter, met, data, _keys_made_at(key, place), used_at)


def _keys_made_at(key: Value, place: Place) -> Place:
    """Return the place where a body makes a key for each of the examples of a `vmap`, which is to be changed;
    that of the draw for other keys."""
    made = isinstance(key, Array) and key.drawn_at if _examples(key) else None
    return made or place


def _examples(value: Value) -> Axes:
    """Return the axes that split a dimension along which a `vmap` maps over a value and others."""
    return value.variation.axes_of(Trait.EXAMPLE) if isinstance(value, Array) else NO_AXES


def _note(interpreter: Evaluator, same: Axes, data: Value, place: Place, used_at: Place) -> None:
    """Record random numbers that are the same along axes over which ``data`` is split."""
    if not same or not isinstance(data, Array):
        return
    bound = interpreter.context.bound_axes
    sizes = {} if isinstance(bound, Unknown) else dict(bound)
    split = data.variation.axes_of(Trait.SPLIT) & same
    axes = sorted(axis for axis in split if equal(sizes.get(axis, 1), 1) is not True)
    if not axes:
        return
    named = " and ".join(f'"{axis}"' for axis in axes)
    facts = [] if used_at is place else [Fact("they meet data that is split here", used_at)]
    silent = f"the key is the same on all devices along {named}, and so are these random numbers"
    record_of_value(interpreter, "jax.random(equal)", Accepted(), place, facts=facts, silent=silent)


def _is_drawn_along(axis: str, drawn: Array, data: Value) -> bool:
    """Return whether there are as many draws as data along the dimension that an axis splits, if that is
    known: one number for all of a dimension is to be the same on all devices."""
    spec = split_of(data) if isinstance(data, Array) else None
    if spec is None or not isinstance(data, Array) or drawn.shape is None or data.shape is None:
        return True
    sizes = zip(spec.entries, drawn.shape, data.shape, strict=True)
    return all(equal(mine, theirs) is not False for entry, mine, theirs in sizes if axis in entry_axes(entry))


def _is_aligned(operand: Value, result: Array) -> bool:
    """Return whether an operand has as many dimensions as a result, the first of the same size."""
    shape = operand.shape if isinstance(operand, Array) else None
    return len(shape or ()) == len(result.shape or ()) and _has_rows_of(operand, result)


def _has_rows_of(data: Value, result: Array) -> bool:
    """Return whether the first dimension of both has the same size, other than 1."""
    if not isinstance(data, Array) or not data.shape or not result.shape:
        return False
    return equal(data.shape[0], result.shape[0]) is True and equal(data.shape[0], 1) is not True
