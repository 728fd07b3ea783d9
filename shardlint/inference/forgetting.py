"""Forgetting what an object holds, once something that is not followed may change it."""

from __future__ import annotations

from shardlint.inference.values import (
    Alternatives,
    DictValue,
    Instance,
    LibraryObject,
    ListValue,
    SetValue,
    Tuple,
    Value,
)


def forget(value: Value) -> None:
    """Make an object's contents unknown, and those of the objects it holds: they can be reached unseen."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Alternatives):
            waiting.extend(one.options)
        elif isinstance(one, Tuple):
            waiting.extend(one.items)
        elif isinstance(one, ListValue):
            waiting.extend(one.items or ())
            one.items = None
        elif isinstance(one, DictValue):
            waiting.extend((one.items or {}).values())
            one.items = None
        elif isinstance(one, LibraryObject) and one.kind.startswith("collections."):
            waiting.extend(one.fields.values())
        elif isinstance(one, SetValue) and not one.frozen:
            one.items = None
        elif isinstance(one, Instance) and one.cls.members is None:
            waiting.extend(one.attributes.values())
            one.attributes.clear()
            one.opaque = one.forgotten = True
