"""Objects of libraries: their attributes, their items, calling them, and what they stand for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shardlint.inference.classes import class_attribute, stands_for
from shardlint.inference.overlays import devices
from shardlint.inference.overlays.array_attributes import array_attribute
from shardlint.inference.overlays.array_methods import at_index
from shardlint.inference.overlays.jax_devices import reshape_devices
from shardlint.inference.overlays.jax_sharding import sharding_attribute
from shardlint.inference.overlays.jax_specs import spec_attribute
from shardlint.inference.overlays.mesh_values import mesh_attribute
from shardlint.inference.overlays.py_objects import super_attribute
from shardlint.inference.overlays.registry import Transfer, merged
from shardlint.inference.values import (
    Array,
    Bound,
    ClassValue,
    Devices,
    DictValue,
    Instance,
    LibraryObject,
    MeshValue,
    Native,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.laws.values import Unknown
from shardlint.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.evaluator import Evaluator


def object_call(kind: str) -> Transfer | None:
    """What calling an object of a library's class does, or None."""
    found: Transfer | None = merged("CALLS").get(kind)
    return found


def delegate(value: Value) -> Value:
    """The value an object stands for in operators and indexing (`nnx.Param` for its array)."""
    if isinstance(value, LibraryObject):
        field = merged("DELEGATES").get(value.kind)
        if field is not None:
            return value.fields.get(field, Unknown(f"the value of {value.kind}"))
    if isinstance(value, Tuple) and any(isinstance(item, Instance) for item in value.items):
        # Sizes and names of axes may be members of enumerations.
        return replace(value, items=tuple(map(delegate, value.items)))
    return (stands_for(value) or value) if isinstance(value, Instance) else value


def as_argument(value: Value) -> Value:
    """What JAX and numpy get as an argument: the array a variable stands for. A tree keeps its class."""
    meant = delegate(value)
    return value if isinstance(meant, DictValue) else meant


def object_item(interpreter: Evaluator, receiver: LibraryObject, key: Value, place: Place) -> Value:
    """``receiver[key]`` for an object of a library's class."""
    if receiver.kind == "jax.Array.at":
        return at_index(receiver, key)
    method = merged("METHODS").get((receiver.kind, "__getitem__"))
    if method is not None:
        return interpreter.call(Native(f"{receiver.kind}.__getitem__", method), [receiver, key], {}, place)
    meant = delegate(receiver)
    if meant is receiver:
        return Unknown(f"indexed a {receiver.kind}")
    return interpreter.item(meant, key, place)


def object_attribute(interpreter: Evaluator, value: Value, name: str, place: Place) -> Value:
    """``value.name`` for arrays, devices, meshes, specs, shardings and library objects."""
    if isinstance(value, Array):
        return array_attribute(interpreter, value, name)
    if isinstance(value, Devices):
        return _devices_attribute(value, name)
    if isinstance(value, MeshValue):
        return mesh_attribute(interpreter, value, name, place)
    if isinstance(value, SpecValue):
        return spec_attribute(interpreter, value, name, place)
    if isinstance(value, ShardingValue):
        return sharding_attribute(interpreter, value, name, place)
    assert isinstance(value, LibraryObject)
    return _library_attribute(interpreter, value, name, place)


def _devices_attribute(value: Devices, name: str) -> Value:
    if name == "reshape":
        return Bound(Native("reshape", reshape_devices), value)
    if name in devices.ATTRIBUTES:
        found = devices.ATTRIBUTES[name](value)
        return replace(found, origin=value.origin) if isinstance(found, Devices) else found
    if name in devices.METHODS:
        return Bound(Native(name, devices.METHODS[name]), value)
    return Unknown(f"attribute `{name}` of devices")


def _library_attribute(interpreter: Evaluator, value: LibraryObject, name: str, place: Place) -> Value:
    if value.kind == "builtins.super":
        return super_attribute(interpreter, value, name, place)
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
    stands_for = delegate(value)
    if stands_for is not value:
        return interpreter.attribute(stands_for, name, place)
    return Unknown(f"`{value.kind}.{name}`")
