"""Objects of libraries: attributes, items, calls, and delegation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shardlint.inference.domain.builtin_bases import mixed_in_value
from shardlint.inference.domain.classes import class_attribute
from shardlint.inference.domain.havoc import forget_contents
from shardlint.inference.domain.values import (
    Bound,
    ClassValue,
    DictValue,
    Instance,
    LibraryObject,
    ListValue,
    Native,
    Tuple,
    Value,
)
from shardlint.inference.overlays.arrays.methods import at_index
from shardlint.inference.overlays.registry import Transfer, merged
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator


def object_call(kind: str) -> Transfer | None:
    """Return the function that evaluates calls of an object of a library's class, or None."""
    found: Transfer | None = merged("CALLS").get(kind)
    return found


def delegate(value: Value) -> Value:
    """Return the value that an object delegates to in operators and indexing (for `nnx.Param` its array)."""
    if isinstance(value, LibraryObject):
        field = merged("DELEGATES").get(value.kind)
        if field is not None:
            return value.fields.get(field, Unknown(f"the value of {value.kind}"))
    if isinstance(value, Tuple) and any(isinstance(item, Instance) for item in value.items):
        # Sizes and names of axes may be members of enumerations.
        return replace(value, items=tuple(map(delegate, value.items)))
    return (mixed_in_value(value) or value) if isinstance(value, Instance) else value


def as_argument(value: Value) -> Value:
    """Return an argument as JAX and numpy receive it: of a variable, its array. A tree keeps its class."""
    delegated = delegate(value)
    tree = isinstance(value, Instance) and isinstance(delegated, Tuple | ListValue)
    return value if tree or isinstance(delegated, DictValue) else delegated


def object_item(interpreter: Evaluator, receiver: LibraryObject, key: Value, place: Place) -> Value:
    """Return ``receiver[key]`` for an object of a library's class."""
    if receiver.kind == "jax.Array.at":
        return at_index(receiver, key)
    method = merged("METHODS").get((receiver.kind, "__getitem__"))
    if method is not None:
        return interpreter.call(Native(f"{receiver.kind}.__getitem__", method), [receiver, key], {}, place)
    delegated = delegate(receiver)
    if delegated is receiver:
        return Unknown(f"indexed a {receiver.kind}")
    return interpreter.item(delegated, key, place)


def object_attribute(interpreter: Evaluator, value: Value, name: str, place: Place) -> Value:
    """Return ``value.name`` for arrays, devices, meshes, specs, shardings and library objects."""
    reader = merged("READERS").get(value.kind if isinstance(value, LibraryObject) else type(value))
    if reader is not None:
        read: Value = reader(interpreter, value, name, place)
        return read
    assert isinstance(value, LibraryObject)
    return _library_attribute(interpreter, value, name, place)


def _library_attribute(interpreter: Evaluator, value: LibraryObject, name: str, place: Place) -> Value:
    reader = merged("ATTRIBUTES").get(value.kind)
    found: Value | None = reader(value, name) if reader is not None else value.fields.get(name)
    if found is not None:
        return found
    own = value.fields.get("__class__")
    if isinstance(own, ClassValue) and class_attribute(own, name) is not None:
        return Unknown(f"`{own.name}.{name}` is not followed")
    method = merged("METHODS").get((value.kind, name))
    if method is not None:
        return Bound(Native(f"{value.kind}.{name}", method), value)
    mixed_in_value = delegate(value)
    if mixed_in_value is not value:
        return interpreter.attribute(mixed_in_value, name, place)
    # It may be something that the object holds.
    forget_contents(value)
    return Unknown(f"`{value.kind}.{name}`")
