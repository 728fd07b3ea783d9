"""Layouts on Auto axes, followed inside `jax.jit` through functions that keep all elements.

What is computed element by element from arrays of one layout has it too; an array whose elements are only
rearranged has the layout that it would have on Explicit axes, whose rules are asked.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    ListValue,
    MeshValue,
    SpecValue,
    Tuple,
    Value,
    as_items,
)
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.inference.overlays.arrays.column_products import contracted, multiplied
from shardlint.inference.overlays.arrays.operands import Stop
from shardlint.inference.overlays.jax.explicit.gathered_operands import note_choice, note_cut, note_operand
from shardlint.inference.overlays.jax.explicit.primitives import Open, Refused, Rule, Trace
from shardlint.inference.overlays.jax.explicit.rules import (
    contractions,
    elementwise,
    joining,
    reductions,
    slicing,
)
from shardlint.inference.overlays.jax.explicit.rules import layout as rearranging
from shardlint.inference.overlays.jax.explicit.rules.einsum import einsum
from shardlint.inference.overlays.jax.explicit.rules.indexing import take
from shardlint.inference.overlays.jax.layouts.operands_apart import (
    note_elementwise,
    note_product,
    note_update,
)
from shardlint.inference.overlays.jax.operations import rule_of
from shardlint.inference.overlays.jax.sharding.movement import (
    OPEN,
    combined,
    computed_from_gathered,
    computed_in_force,
    keeping_rows,
    laid,
    layout,
    lying_alike,
    updated,
)
from shardlint.inference.overlays.pytrees.prefixes import NO_PATH, arrays_in, map_arrays
from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import AxisType, Entry, Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Rejected
from shardlint.model.spans import Place

#: The rules of functions that combine their operands element by element.
ELEMENTWISE: tuple[Rule, ...] = (
    elementwise.nary,
    elementwise.nary_as_given,
    elementwise.where,
    elementwise.select,
    elementwise.raised,
    elementwise.activated,
    elementwise.cast,
    elementwise.first_operand,
)
#: Those of functions that multiply, and add up along dimensions that both operands have.
CONTRACTIONS: tuple[Rule, ...] = (
    contractions.matmul,
    contractions.dot,
    contractions.tensordot,
    contractions.inner,
    contractions.outer,
    contractions.vdot,
    contractions.dot_general,
    contractions.at_operator,
    einsum,
)
#: Those of functions that return a new array, not their operand, but for `jnp.concatenate` of one.
COMPUTING: tuple[Rule, ...] = (
    *ELEMENTWISE[:6],
    *CONTRACTIONS[:6],
    joining.concatenate,
    joining.stack,
)
#: Those of functions whose result has the elements of their operand in the same order, or transposed.
_REARRANGING: tuple[Rule, ...] = (
    rearranging.reshape,
    rearranging.lax_reshape,
    rearranging.ravel,
    rearranging.transpose,
    rearranging.lax_transpose,
    rearranging.swapaxes,
    rearranging.moveaxis,
    rearranging.squeeze,
    rearranging.lax_squeeze,
    rearranging.expand_dims,
    rearranging.matrix_transpose,
)
#: Those of functions whose result is their operand but for a part: it cannot have another layout for nothing.
_UPDATING: tuple[Rule, ...] = (
    slicing.update,
    slicing.update_along,
    slicing.update_index,
)
#: Those of products that have a row for each of their first operand, if the second is a matrix.
_PRODUCTS: tuple[Rule, ...] = (contractions.matmul, contractions.dot)
#: Those of functions that reduce along some dimensions, or compare along one, and keep the others.
_REDUCING: tuple[Rule, ...] = (
    reductions.reduction,
    reductions.mean,
    reductions.variance,
    reductions.logsumexp,
    reductions.norm,
    reductions.softmax,
    reductions.arg_extreme,
)
#: Those of functions that go along some dimensions, or place elements along them, and keep the others.
_ALONG: tuple[Rule, ...] = (
    reductions.cumulative,
    reductions.lax_cumulative,
    reductions.ordered,
    reductions.order_of,
    joining.concatenate,
    joining.lax_concatenate,
    joining.stack,
    joining.repeat,
    rearranging.pad,
    rearranging.lax_pad,
    rearranging.roll,
    rearranging.reverse,
    rearranging.tile,
    rearranging.triangle,
    rearranging.broadcast_to,
    slicing.dynamic,
    slicing.dynamic_along,
)
#: Layers whose result has a row for each of their operand.
LAYERS = tuple(
    f"{library}.{layer}"
    for library in ("flax.linen", "flax.nnx")
    for layer in ("Dense", "Linear", "Embed", "LayerNorm", "RMSNorm", "Dropout")
)
_RESHAPES = (rearranging.reshape, rearranging.lax_reshape)


def followed(call: Call, name: str, result: Value) -> Value:
    """Return the result of a function or method in the layout that it certainly has inside jit."""
    note_operand(call, name)
    note_cut(call, name)
    rule = rule_of(name)
    found = _laid_out(call, name, rule, result)
    return keeping_gathered(call, name, found) if rule in (*_REARRANGING, *_ALONG) else found


def _laid_out(call: Call, name: str, rule: Rule | None, result: Value) -> Value:
    if rule is not None and (made := _made_of_made(call)) is not None:
        return map_arrays(result, lambda array, _: replace(array, made=made), NO_PATH)
    if rule in ELEMENTWISE:
        note_elementwise(call, name)
        return combined(call.interpreter, result, (*call.args, *call.kwargs.values()))
    result = note_product(call, name, rule, result)
    if rule in (take, *_REDUCING):
        result = computed_from_gathered(result, call.args)
    if rule is None and name.startswith(LAYERS):
        given = [one for one in call.args if isinstance(one, Array)]
        return keeping_rows(call.interpreter, result, given[0]) if given else result
    if rule in _PRODUCTS and len(call.args) > 1:
        other = call.args[1]
        result = multiplied(call.interpreter, result, call.args[0], other, call.place)
        plain = isinstance(other, Array) and len(other.shape or (0, 0, 0)) <= 2
        if plain and (rows := keeping_rows(call.interpreter, result, call.args[0])) is not result:
            return rows
    if rule is einsum:
        result = contracted(call, result)
    if rule in CONTRACTIONS or rule in _REDUCING or rule in _ALONG:
        return as_far_as_known(call, name, result)
    if rule in _UPDATING and len(call.args) > 1:
        note_update(call, name)
        return updated(call.interpreter, call.args[0], result, call.args[1], call.place)
    if rule not in _REARRANGING or not isinstance(result, Array) or not call.args:
        return result
    array = call.args[0]
    if not isinstance(array, Array):
        return result
    if array.made is not None:
        return replace(result, made=array.made)
    known = None if array.laid is None else layout(array.laid)
    if known is None or array.laid is None or call.interpreter.context.in_jit is not True:
        return as_far_as_known(call, name, result)
    mesh, spec = known
    typed = Mesh(mesh.names, mesh.sizes, (AxisType.EXPLICIT,) * len(mesh.names))

    def as_typed(value: Value) -> Value:
        if value is not array or array.shape is None:
            return value
        entries = (*spec.entries, *(None,) * (len(array.shape) - len(spec.entries)))
        return replace(array, typed=TypeSharding(typed, Spec(entries)), numpy=False)

    asked = spec_of_result(call, rule, typed, result, as_typed)
    found = asked if isinstance(asked, Spec) else None
    if found is None and rule in _RESHAPES:
        found = _in_few_groups(mesh, spec, array.shape, result.shape)
    elif found is not None and not {*found.entries} <= {*spec.entries, None}:
        # Where dimensions of different axes are merged, the compiler chooses what stays (JAX 0.10.2).
        return result
    if found is None:
        return result
    return laid(result, replace(array.laid, spec=SpecValue(found)))


def keeping_gathered(call: Call, name: str, result: Value) -> Value:
    """Return the result of a call, which has the gathered rows of its first operand if it would be split
    along its first dimension as they were."""
    array, rule = call.args[0] if call.args else None, rule_of(name)
    if not isinstance(array, Array) or array.gathered is None or not array.shape or rule is None:
        return result
    if not isinstance(result, Array) or not result.shape:
        return result
    axes, mesh = array.gathered.axes, array.gathered.mesh
    mesh = replace(mesh, types=(AxisType.EXPLICIT,) * len(mesh.names))
    entries = (axes, *(None,) * (len(array.shape) - 1))
    split = replace(array, typed=TypeSharding(mesh, Spec(entries)), numpy=False)
    found = spec_of_result(call, rule, mesh, result, lambda value: split if value is array else value)
    kept = isinstance(found, Spec) and {*entry_axes(found.entries[0])} == {*axes}
    return replace(result, gathered=array.gathered) if kept else result


def as_far_as_known(call: Call, name: str, result: Value) -> Value:
    """Return the result of a call inside jit with the layout of those of its dimensions that come from a
    dimension of which it is known, as on Explicit axes.

    Each dimension of which it is not known lies along an axis of its own: where that axis is in the result,
    the layout is not known either, and what would have to be moved is refused.
    """
    arrays = [one for arg in call.args for one in arrays_in(arg) if one.shape is not None]
    homes = [one.laid for one in arrays if one.laid is not None and isinstance(one.laid.mesh, MeshValue)]
    rule = rule_of(name)
    if (
        rule is None
        or not homes
        or call.interpreter.context.in_jit is not True
        or not isinstance(result, Array)
    ):
        return result
    home = homes[0]
    assert isinstance(home.mesh, MeshValue)
    mesh = home.mesh.mesh
    if any(one.mesh != home.mesh for one in homes) or set(mesh.types) != {AxisType.AUTO}:
        return result
    held = {id(one): _known_entries(one) for one in arrays}
    names = iter(f"dimension {i}" for i in itertools.count())
    wholes = {
        key: tuple(next(names) if isinstance(entry, Unknown) else entry for entry in entries)
        for key, entries in held.items()
    }
    free = {entry for entries in wholes.values() for entry in entries if isinstance(entry, str)} - {
        *mesh.names
    }
    typed = Mesh(
        (*mesh.names, *free),
        (*mesh.sizes, *(1,) * len(free)),
        (AxisType.EXPLICIT,) * len((*mesh.names, *free)),
    )

    def as_typed(array: Array, _: str = "") -> Array:
        if id(array) not in wholes:
            return array
        return replace(array, typed=TypeSharding(typed, Spec(wholes[id(array)])), numpy=False)

    def all_typed(value: Value) -> Value:
        holds = isinstance(value, Tuple | ListValue) and any(id(one) in wholes for one in arrays_in(value))
        return map_arrays(value, as_typed, NO_PATH) if holds or isinstance(value, Array) else value

    found = spec_of_result(call, rule, typed, result, all_typed)
    if not isinstance(found, Spec):
        return result
    entries = tuple(OPEN if free & {*entry_axes(entry)} else entry for entry in found.entries)
    if rule not in _REARRANGING:
        # Of a part of a dimension that is split, the compiler chooses the layout.
        kept = {pair for one in arrays for pair in zip(wholes[id(one)], one.shape or (), strict=False)}
        pairs = zip(entries, result.shape or (), strict=False)
        entries = tuple(
            entry if (entry, size) in kept or not entry_axes(entry) else OPEN for entry, size in pairs
        )
    if rule in CONTRACTIONS:
        # Who asks for a product in another layout may move its operands instead: it is not wholly certain.
        entries = tuple(entry if entry_axes(entry) else OPEN for entry in entries)
        entries = entries if OPEN in entries else (*entries[:1], *(OPEN,) * (len(entries) - 1))
    if not any(map(entry_axes, entries)):
        return result
    return replace(result, laid=replace(home, spec=SpecValue(Spec(entries))))


def _known_entries(array: Array) -> tuple[Entry, ...]:
    """Return what splits each dimension of an array of known rank, as far as it is known."""
    rank = len(array.shape or ())
    if array.laid is None or not isinstance(array.laid.spec, SpecValue):
        return (OPEN,) * rank
    return (*array.laid.spec.spec.entries, *(None,) * rank)[:rank]


def _made_of_made(call: Call) -> Place | None:
    """Return where an array was made, if all those that a call inside jit is given are made from nothing: so
    is what it returns, of which the compiler knows no layout either."""
    found = None
    for given in (*call.args, *dict.values(call.kwargs)):
        for one in filter(lambda one: one.shape, arrays_in(given)):
            if one.made is None:
                return None
            found = found or one.made
    return found


def followed_eagerly(call: Call, name: str, result: Value) -> Value:
    """Return the result of a function outside of jit where its operands certainly lie."""
    note_operand(call, name)
    note_choice(call, name)
    rule = rule_of(name)
    if rule in (elementwise.cast, elementwise.first_operand):
        return lying_alike(result, call.args[:1]) if "device" not in call.kwargs else result
    operands = (*call.args, *dict.values(call.kwargs))
    if rule in ELEMENTWISE:
        result = lying_alike(result, operands)
    if rule in COMPUTING and (rule is not joining.concatenate or len(as_items(call.args[0]) or ()) > 1):
        return computed_in_force(call.interpreter, result, operands)
    if rule is joining.made_like and not call.kwargs.keys() & {"shape", "device"}:
        return lying_alike(result, call.args[:1]) if len(call.args) < 3 else result
    return result


def spec_of_result(
    call: Call, rule: Rule, mesh: Mesh, result: Array, typed: Callable[[Value], Value]
) -> Spec | Rejected | None:
    """Return the spec of a call's result, one of several perhaps, as on Explicit axes, or their refusal; None
    if neither is known.

    ``typed`` returns an operand with its layout in its type.
    """
    args = [typed(value) for value in call.args]
    kwargs = {key: typed(value) for key, value in call.kwargs.items()}
    asked = Call(call.interpreter, call.name, args, kwargs, call.place)
    for key, value in call.arguments.items():
        asked.arguments[key] = None if value is None else typed(value)
    try:
        found = rule(Trace(mesh, [result], eager=False), asked)
    except Refused as refused:
        return refused.verdict
    except (Open, Stop, CannotBind):
        return None
    kinds = (found,) if isinstance(found, ArrayType) else found if isinstance(found, Sequence) else ()
    kind = next((one for one in kinds if isinstance(one, ArrayType) and one.shape == result.shape), None)
    if kind is None or kind.sharding is None or len(kind.sharding.spec.entries) != len(result.shape or ()):
        return None
    return kind.sharding.spec


def _in_few_groups(mesh: Mesh, spec: Spec, before: Shape | None, after: Shape | None) -> Spec | None:
    """Return the spec of an array whose first dimension is taken apart into groups, fewer than the devices
    that it is split over: they share each group, so the groups are split unevenly."""
    if not before or after is None or len(after) != len(before) + 1 or after[2:] != before[1:]:
        return None
    entry: Entry = spec.entries[0] if spec.entries else None
    ways = 1
    for axis in entry_axes(entry):
        size = mesh.size_of(axis) if axis in mesh.names else None
        if not isinstance(size, int):
            return None
        ways *= size
    groups, rows = after[:2]
    if not isinstance(groups, int) or not isinstance(before[0], int) or not isinstance(rows, int):
        return None
    if groups < 2 or groups * rows != before[0] or before[0] % ways or ways % groups:
        return None
    return Spec((entry, None, *spec.entries[1:]))
