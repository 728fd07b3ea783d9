"""Assignments to nnx variables, states and layers: ``p.value = v``, ``p[...] = v``, ``state["w"] = v``.

From `flax.nnx.variablelib` and `flax.nnx.statelib` 0.12.8. A variable accepts any new value, whatever its old
shape; an assignment by index preserves shape and dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeGuard

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Const,
    DictValue,
    LibraryObject,
    MeshValue,
    SpecValue,
    Value,
    as_str,
)
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.evaluation.mutation import set_item
from shardlint.inference.overlays.arrays.operands import Stop, operand
from shardlint.inference.overlays.flax.nnx.variables import OLD_NAMES, VARIABLES, is_variable, variable_spec
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.placement.array_bytes import array_bytes
from shardlint.model.memory_uses import ASSIGNED, MadeUse
from shardlint.model.spans import Place
from shardlint.model.uses import Fact

#: The field of a layer with the shapes of its variables at construction.
MADE = "(made)"


def array_of(value: Value | None) -> Array:
    """Return the array that a variable holds after a value is assigned."""
    try:
        return operand(value)
    except Stop:
        return Array(None)


def assign(interpreter: Evaluator, variable: LibraryObject, value: Value | None, place: Place) -> None:
    """Assign a value to a variable; if the assignment may not happen, only the common parts stay known."""
    new, old = array_of(value), array_of(variable.fields.get("value"))
    _note_whole(interpreter, variable, new, place)
    changing(variable)
    if interpreter.certain(()):
        variable.fields["value"] = new
    elif (new.shape, new.dtype) == (old.shape, old.dtype):
        variable.fields["value"] = _somewhere(old)
    else:
        variable.fields["value"] = Array(None)


def _note_whole(interpreter: Evaluator, variable: LibraryObject, array: Array, place: Place) -> None:
    """Record an array that is whole on each device of a mesh whose axes are to split the variable."""
    sharding = array.sharding
    if sharding is None or interpreter.context.in_jit is not False:
        return
    if not isinstance(sharding.mesh, MeshValue) or not isinstance(sharding.spec, SpecValue):
        return
    mesh, spec = sharding.mesh.mesh, sharding.spec.spec
    names = variable_spec(interpreter, variable, place)
    if not isinstance(names, SpecValue) or not isinstance(names.spec, Spec) or not array.shape:
        return
    axes = {axis for entry in names.spec.entries for axis in entry_axes(entry)}
    several = {name for name in mesh.names if equal(mesh.size_of(name), 1) is False}
    certain = not any(isinstance(entry, Unknown) for entry in spec.entries)
    if axes and axes <= several and certain and not any(map(entry_axes, spec.entries)):
        shape, size = array.shape, array_bytes(array.shape, array.dtype)
        made = () if sharding.origin is None else (Fact("its sharding is made here", sharding.origin),)
        interpreter.record(
            MadeUse(
                place=place,
                environment=interpreter.environment(),
                verdict=Accepted(),
                facts=made,
                function=ASSIGNED,
                subject="the variable",
                shape=shape,
                dtype=array.dtype,
                total=size or 0,
                number=1,
                split=f"its names are {names.spec}",
                outside="every device",
            )
        )


def _somewhere(array: Array) -> Array:
    return replace(array, sharding=None, typed=None, committed=None)


def _set_part(
    interpreter: Evaluator, variable: LibraryObject, key: Value, value: Value, place: Place
) -> None:
    """``p[key] = value``: a whole array of the same type replaces the old one, others are cast to it."""
    old, new = array_of(variable.fields.get("value")), array_of(value)
    whole = isinstance(key, Const) and key.value is ... and (new.shape, new.dtype) == (old.shape, old.dtype)
    assign(interpreter, variable, new if whole else _somewhere(old), place)


def _set_variable_attribute(call: Call) -> Value:
    """``p.value = v``; any other attribute is metadata."""
    variable, name, value = call.bind("self", "name", "value")
    if not isinstance(variable, LibraryObject) or not isinstance(name, Const) or value is None:
        raise CannotBind(call.name)
    if name.value in ("value", "raw_value"):
        assign(call.interpreter, variable, value, call.place)
        return NONE
    field = "out_sharding" if name.value in OLD_NAMES else name.value
    certain = call.interpreter.certain(())
    changing(variable)
    variable.fields[field] = value if certain else call.unknown(f"`{field}` may be set")
    return NONE


def _set_variable_item(call: Call) -> Value:
    variable, key, value = call.bind("self", "key", "value")
    if not isinstance(variable, LibraryObject) or key is None or value is None:
        raise CannotBind(call.name)
    _set_part(call.interpreter, variable, key, value, call.place)
    return NONE


def _set_state(call: Call) -> Value:
    """``state[key] = value``, ``state.name = value``; a nested state is stored as its tree."""
    state, key, value = call.bind("self", "key", "value")
    if not isinstance(state, LibraryObject) or key is None or value is None:
        raise CannotBind(call.name)
    below = isinstance(value, LibraryObject) and value.kind == state.kind
    target = value.fields["tree"] if below and isinstance(value, LibraryObject) else value
    set_item(call.interpreter, state.fields["tree"], key, target, call.place)
    return NONE


# -- methods of variables ---------------------------------------------------------------------------------


def _set_value(call: Call) -> Value:
    """``p.set_value(value, index=)``, ``p.set_raw_value(value)``."""
    variable, value, index = call.args[0], call.argument(1, "value"), call.kwargs.get("index")
    if isinstance(variable, LibraryObject):
        if index is None:
            assign(call.interpreter, variable, value, call.place)
        else:
            _set_part(call.interpreter, variable, index, value or Unknown("no value"), call.place)
    return NONE


def _replace(call: Call) -> Value:
    """``p.replace(value, **metadata)``, ``p.copy(value, **metadata)``: a new variable."""
    variable, value = call.args[0], call.argument(1, "value")
    if not isinstance(variable, LibraryObject) or call.opaque:
        return call.unknown("the variable is not known")
    changed = {name: given for name, given in call.kwargs.items() if name != "value"}
    for old in OLD_NAMES:
        if old in changed:
            changed["out_sharding"] = changed.pop(old)
    if value is not None:
        changed["value"] = array_of(value.fields["value"] if is_held(value) else value)
    return LibraryObject(variable.kind, {**variable.fields, **changed}, call.place)


def is_held(value: Value) -> TypeGuard[LibraryObject]:
    """Return whether a value is a variable, whose array is meant."""
    return isinstance(value, LibraryObject) and is_variable(value)


def _copy_from(call: Call) -> Value:
    """``p.copy_from(other)``, ``p.update_from_state(other)``: the other's value and metadata."""
    variable, other = call.args[0], call.argument(1, "other") or call.argument(1, "variable_state")
    if isinstance(variable, LibraryObject):
        unknown: dict[str, Value] = {"out_sharding": Unknown("the metadata is not known")}
        fields = other.fields if other is not None and is_held(other) else unknown
        assign(call.interpreter, variable, fields.get("value", Unknown("another variable")), call.place)
        changing(variable)
        variable.fields.update({name: value for name, value in fields.items() if name != "value"})
    return NONE


def _set_metadata(call: Call) -> Value:
    """``p.set_metadata(mapping)``, ``(name, value)`` or ``(**metadata)``; the new metadata is unknown."""
    variable = call.args[0]
    if isinstance(variable, LibraryObject):
        changing(variable)
        variable.fields["out_sharding"] = Unknown("the metadata was set")
    return NONE


def _get_metadata(call: Call) -> Value:
    """``p.get_metadata()``: a dict of the metadata; ``p.get_metadata(name, default)``: a part of it."""
    variable = call.args[0]
    if not isinstance(variable, LibraryObject) or call.opaque:
        return call.unknown("the variable is not known")
    known = {name: value for name, value in variable.fields.items() if name != "value"}
    name, default = call.argument(1, "name"), call.argument(2, "default")
    if any(isinstance(value, Unknown) for value in known.values()):
        return call.unknown("the metadata is not known")
    sharding = {"out_sharding": known.pop("out_sharding")} if "out_sharding" in known else {}
    settings = [name for name in ("hijax", "ref", "eager_sharding") if name not in known]
    every = {**known, **dict.fromkeys(settings, Unknown("a setting of Flax")), **sharding}
    if name is None:
        return DictValue(dict(every.items()))
    text = as_str(name)
    found = None if text is None else every.get(text, default)
    return call.unknown("metadata that is not known") if found is None else found


# -- layers -----------------------------------------------------------------------------------------------


def shapes_of(fields: dict[str, Value]) -> Const:
    """Return the shapes of the variables among a layer's fields."""
    values = {name: value.fields.get("value") for name, value in fields.items() if is_held(value)}
    return Const({name: value.shape for name, value in values.items() if isinstance(value, Array)})


def is_altered(layer: LibraryObject) -> bool:
    """Return whether a layer has variables of other shapes than at construction, or stacked ones.

    If so, the result of a call does not follow from its arguments.
    """
    made = layer.fields.get(MADE)
    for name, shape in made.value.items() if isinstance(made, Const) else ():
        if (field := layer.fields.get(name)) is None or array_of(field).shape != shape:
            return True
    parts = (field for field in layer.fields.values() if isinstance(field, LibraryObject))
    return any(MADE in part.fields and is_altered(part) for part in parts)


_OF_VARIABLES: dict[str, Callable[[Call], Value]] = {
    "__setattr__": _set_variable_attribute,
    "__setitem__": _set_variable_item,
    "set_value": _set_value,
    "set_raw_value": _set_value,
    "replace": _replace,
    "copy": _replace,
    "copy_from": _copy_from,
    "update_from_state": _copy_from,
    "set_metadata": _set_metadata,
    "get_metadata": _get_metadata,
}
METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {
    **{(kind, name): method for kind in VARIABLES for name, method in _OF_VARIABLES.items()},
    **{("flax.nnx.State", name): _set_state for name in ("__setattr__", "__setitem__")},
}
