"""Deep copies of mutable objects."""

from __future__ import annotations

from dataclasses import replace

from shardlint.inference.domain.values import (
    Alternatives,
    Bound,
    DictValue,
    Instance,
    LibraryObject,
    ListValue,
    Partial,
    SetValue,
    Tuple,
    Value,
)


def copied(value: Value, known: dict[int, Value]) -> Value:
    """Return a copy that shares no mutable object with the original. ``known`` maps the identity of originals
    to their copies: an object that occurs twice stays one object."""
    if id(value) in known:
        return known[id(value)]
    copy = value
    if isinstance(value, Instance) and value.cls.members is None:
        copy = known[id(value)] = replace(value, attributes={})
        copy.attributes.update(
            {name: copied(attribute, known) for name, attribute in value.attributes.items()}
        )
    elif isinstance(value, LibraryObject):
        copy = known[id(value)] = replace(value, fields={})
        copy.fields.update({name: copied(attribute, known) for name, attribute in value.fields.items()})
    elif isinstance(value, ListValue):
        copy = known[id(value)] = replace(value)
        copy.items = None if value.items is None else [copied(item, known) for item in value.items]
    elif isinstance(value, DictValue):
        copy = known[id(value)] = replace(value)
        if value.items is not None:
            copy.items = {key: copied(item, known) for key, item in value.items.items()}
    elif isinstance(value, SetValue):
        copy = replace(value)
    elif isinstance(value, Tuple):
        copy = replace(value, items=tuple(copied(item, known) for item in value.items))
    elif isinstance(value, Alternatives):
        copy = replace(value, options=tuple(copied(option, known) for option in value.options))
    elif isinstance(value, Bound):
        copy = replace(value, receiver=copied(value.receiver, known))
    elif isinstance(value, Partial):
        copy = replace(value, args=tuple(copied(arg, known) for arg in value.args))
    known[id(value)] = copy
    return copy
