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
    made = value
    if isinstance(value, Instance) and value.cls.members is None:
        made = known[id(value)] = replace(value, attributes={})
        made.attributes.update({name: copied(held, known) for name, held in value.attributes.items()})
    elif isinstance(value, LibraryObject):
        made = known[id(value)] = replace(value, fields={})
        made.fields.update({name: copied(held, known) for name, held in value.fields.items()})
    elif isinstance(value, ListValue):
        made = known[id(value)] = replace(value)
        made.items = None if value.items is None else [copied(item, known) for item in value.items]
    elif isinstance(value, DictValue):
        made = known[id(value)] = replace(value)
        if value.items is not None:
            made.items = {key: copied(item, known) for key, item in value.items.items()}
    elif isinstance(value, SetValue):
        made = replace(value)
    elif isinstance(value, Tuple):
        made = replace(value, items=tuple(copied(item, known) for item in value.items))
    elif isinstance(value, Alternatives):
        made = replace(value, options=tuple(copied(option, known) for option in value.options))
    elif isinstance(value, Bound):
        made = replace(value, receiver=copied(value.receiver, known))
    elif isinstance(value, Partial):
        made = replace(value, args=tuple(copied(arg, known) for arg in value.args))
    known[id(value)] = made
    return made
