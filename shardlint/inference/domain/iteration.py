"""Items of values with a known length."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from shardlint.inference.domain.builtin_bases import mixed_in_value, seen_as
from shardlint.inference.domain.class_names import python_class
from shardlint.inference.domain.classes import class_attribute
from shardlint.inference.domain.havoc import forget_contents
from shardlint.inference.domain.lattice import join, options
from shardlint.inference.domain.values import (
    Array,
    ClassValue,
    Const,
    Devices,
    DictValue,
    External,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    SetValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_int,
)
from shardlint.laws.core.values import Junk, Marker, Spec, Unknown
from shardlint.laws.placement.partition_spec import equal_specs
from shardlint.model.spans import Place

#: Loops over at most this many known items are unrolled.
MAX_UNROLLED = 64
#: The kind of a collection of ``count`` items, of which only what is true of ``each`` is known.
ALIKE = "a collection of similar items"
#: The most values in nested containers.
_MAX_NESTED = 10_000


def iterate(value: Value) -> tuple[Value, ...] | None:
    """Return the items of a value, or None if they are unknown or too many."""
    items: tuple[Value, ...] | None = None
    if type(value) is Instance:
        value = seen_as(value, "__iter__")
    if isinstance(value, Tuple):
        items = value.items
    elif isinstance(value, ListValue):
        items = None if value.items is None else tuple(value.items)
    elif isinstance(value, DictValue):
        items = None if value.items is None else tuple(constant(key) for key in value.items)
    elif isinstance(value, LibraryObject) and value.kind in VIEWS:
        items = viewed(value)
    elif isinstance(value, SetValue):
        # The order is undefined, so at most one item is known.
        known = value.items is not None and len(value.items) < 2
        items = tuple(constant(item) for item in value.items or ()) if known else None
    elif isinstance(value, ClassValue) and value.members is not None:
        items = tuple(dict.fromkeys(value.members.values()))
    elif isinstance(value, Const) and isinstance(value.value, str):
        items = tuple(Const(c) for c in value.value[: MAX_UNROLLED + 1])
    elif isinstance(value, Const) and isinstance(value.value, bytes):
        items = tuple(Const(number) for number in value.value[: MAX_UNROLLED + 1])
    elif isinstance(value, SpecValue) and not value.spec.unreduced and not value.spec.reduced:
        # JAX raises for a spec with reductions; its entries are `spec.partitions`.
        items = spec_items(value)
    elif isinstance(value, Array) and value.shape and isinstance(value.shape[0], int):
        each = element(value)
        items = (each,) * min(value.shape[0], MAX_UNROLLED + 1)
        if isinstance(value.numbers, tuple) and isinstance(each, Array):
            items = tuple(replace(each, numbers=number) for number in value.numbers)
    elif isinstance(value, Devices) and value.shape and isinstance(value.shape[0], int):
        items = _rows_of(value, min(value.shape[0], MAX_UNROLLED + 1))
    elif isinstance(value, LibraryObject) and value.kind == ALIKE:
        count = as_int(value.fields["count"])
        items = None if count is None else (value.fields["each"],) * min(count, MAX_UNROLLED + 1)
    return items if items is not None and len(items) <= MAX_UNROLLED else None


def _rows_of(devices: Devices, count: int) -> tuple[Value, ...]:
    """Return the first rows of an array of devices."""
    shape, ids = devices.shape[1:], devices.ids
    if ids is None or not isinstance(devices.shape[0], int):
        return (Devices(shape, devices.numpy),) * count
    width = len(ids) // devices.shape[0] if devices.shape[0] else 0
    rows = (ids[i * width : (i + 1) * width] for i in range(count))
    return tuple(Devices(shape, devices.numpy, ids=row) for row in rows)


def viewed(view: LibraryObject) -> tuple[Value, ...] | None:
    """Return the present items of a dict view."""
    mapping, pick = view.fields["of"], VIEWS[view.kind]
    if not isinstance(mapping, DictValue) or mapping.items is None:
        return None
    return tuple(pick(key, value) for key, value in mapping.items.items())


def element(value: Value) -> Value:
    """Return a value that stands for any item, if the items are not known individually."""
    found: list[Value] = []
    for option in options(value):
        if isinstance(option, Array) and option.shape:
            item = Array(option.shape[1:], option.dtype, numpy=option.numpy, origin=option.origin)
            found.append(replace(item.vary(option.variation), drawn_at=option.drawn_at))
        elif isinstance(option, Devices) and option.shape:
            found.append(Devices(option.shape[1:], option.numpy))
        elif isinstance(option, Tuple | ListValue) and option.items:
            found.append(join(option.items))
        elif isinstance(option, LibraryObject) and option.kind == ALIKE:
            found.append(option.fields["each"])
        else:
            forget_contents(value)
            return Unknown("an item of something unknown")
    return join(found)


def spec_items(value: SpecValue) -> tuple[Value, ...]:
    """Return the entries of a spec as Python values, with the places where they were written."""
    entries = value.spec.entries
    places = (*value.places, *(None,) * (len(entries) - len(value.places)))
    return tuple(_entry(entry, place) for entry, place in zip(entries, places, strict=False))


#: Classes whose constants identify themselves.
_LITERALS = frozenset({"bool", "bytes", "complex", "float", "int"})


def _entry(entry: object, place: Place | None) -> Value:
    if isinstance(entry, tuple):
        return Tuple(tuple(_entry(part, place) for part in entry), place)
    if entry is None or (isinstance(entry, str) and not isinstance(entry, Marker)):
        return Const(entry, place)
    if entry is Marker.UNCONSTRAINED:
        return External("jax.sharding.PartitionSpec.UNCONSTRAINED", place)
    if isinstance(entry, Junk) and entry.type in _LITERALS:
        return Const(ast.literal_eval(entry.text), place)
    return Unknown("an entry of a spec")


class _TextMember(str):
    """An object, such as a member of an enumeration, that is also a text: equal texts are the same key."""

    member: Instance


class _NumberMember(int):
    """An object that is also a number."""

    member: Instance


def constant(key: object) -> Value:
    """Return a dict key or set item as a value."""
    if isinstance(key, _TextMember | _NumberMember):
        return key.member
    if isinstance(key, Instance | ClassValue | Function | External):
        return key
    if isinstance(key, Spec):
        return SpecValue(key)
    return Tuple(tuple(constant(part) for part in key)) if isinstance(key, tuple) else Const(key)


def _in_row(key: Hashable, value: Value) -> Value:
    """Return a key of a dict; in a table of specs a text has the place of its row's."""
    found = constant(key)
    row = value.origin if isinstance(value, SpecValue | ShardingValue) else None
    return replace(found, origin=row) if row is not None and type(found) is Const else found


#: The item of a dict view for each entry. Programs may change the dict under it.
VIEWS: dict[str, Callable[[Hashable, Value], Value]] = {
    "view.keys": lambda key, value: _in_row(key, value),
    "view.values": lambda key, value: value,
    "view.items": lambda key, value: Tuple((_in_row(key, value), value)),
}


def too_large(items: Sequence[Value]) -> bool:
    """Return whether nested containers hold too many values to walk."""
    waiting, count = list(items), 0
    while waiting and count <= _MAX_NESTED:
        one = waiting.pop()
        count += 1
        if isinstance(one, (Tuple, ListValue)):
            waiting.extend(one.items or ())
        elif isinstance(one, DictValue):
            waiting.extend((one.items or {}).values())
    return count > _MAX_NESTED


def hashable(value: Value) -> tuple[bool, Hashable]:
    """Return (True, the Python object) for a constant or a tuple of constants, else (False, None).

    The inverse of `constant`. Specs are hashed as JAX holds them, so equal ones are one key.
    """
    if isinstance(value, Const):
        return True, value.value
    if isinstance(value, Array) and isinstance(value.numbers, int):
        return True, value.numbers
    if isinstance(value, (ClassValue, Function)) or _is_library_class(value):
        return True, value
    if isinstance(value, Instance):
        return _member_key(value)
    if isinstance(value, SpecValue) and equal_specs(value.spec, value.spec):
        return True, value.spec
    if isinstance(value, Tuple):
        parts = [hashable(item) for item in value.items]
        return all(found for found, _ in parts), tuple(part for _, part in parts)
    return False, None


def _is_library_class(value: Value) -> bool:
    """Return whether a value is a class of Python's, or one of nnx as used in filters: each has one name."""
    return isinstance(value, External) and (
        python_class(value) is not None or re.fullmatch(r"flax\.nnx\.[A-Z]\w*", value.name) is not None
    )


def _member_key(member: Instance) -> tuple[bool, Hashable]:
    """Return the key of a member of an enumeration, or another object that is a text or number: itself, and
    that text or number."""
    enumerated = member.cls.members is not None
    if enumerated and member not in (member.cls.members or {}).values():
        return False, None
    if enumerated and class_attribute(member.cls, "__eq__") is not None:
        return False, None
    mixed = mixed_in_value(member)
    if mixed is None and enumerated:
        return True, member
    if not isinstance(mixed, Const) or not isinstance(mixed.value, str | int):
        return False, None
    key = _TextMember(mixed.value) if isinstance(mixed.value, str) else _NumberMember(mixed.value)
    key.member = member
    return True, key
