"""Forgetting what an object holds, once something that is not followed may change it."""

from __future__ import annotations

from dataclasses import replace

from shardlint.inference.classes import library_bases
from shardlint.inference.effects import changing, lose
from shardlint.inference.values import (
    Alternatives,
    Array,
    DictValue,
    Instance,
    LibraryObject,
    ListValue,
    SetValue,
    Tuple,
    Value,
)

#: What holds something that can be forgotten.
HOLDING = frozenset({Alternatives, Tuple, ListValue, DictValue, LibraryObject, SetValue, Instance})
#: Library classes whose instances nobody sets attributes of: what they hold may be changed all the same.
_FROZEN = frozenset({"flax.struct.PyTreeNode"})


def forget(value: Value) -> None:
    """Make an object's contents unknown, and those of the objects it holds: they can be reached unseen."""
    if type(value) not in HOLDING:
        return
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if type(one) not in HOLDING:
            continue
        if isinstance(one, Alternatives):
            waiting.extend(one.options)
        elif isinstance(one, Tuple):
            waiting.extend(one.items)
        elif isinstance(one, ListValue):
            if one.items is not None:
                waiting.extend(one.items)
                lose(one)
        elif isinstance(one, DictValue):
            if one.items is not None:
                waiting.extend(one.items.values())
                lose(one)
        elif isinstance(one, LibraryObject) and one.kind.startswith("collections."):
            waiting.extend(one.fields.values())
        elif isinstance(one, LibraryObject) and one.kind.startswith("flax.nnx."):
            changing(one)
            waiting.extend(value for value in one.fields.values() if not isinstance(value, Array))
            one.fields.update({name: _elsewhere(value) for name, value in one.fields.items()})
        elif isinstance(one, SetValue):
            if one.items is not None and not one.frozen:
                lose(one)
        elif isinstance(one, Instance) and one.cls.members is None:
            if not one.forgotten or one.attributes:
                changing(one)
            waiting.extend(one.attributes.values())
            if library_bases(one.cls) & _FROZEN:
                continue
            one.attributes.clear()
            one.opaque = one.forgotten = True


def _elsewhere(value: Value) -> Value:
    """What a variable holds once unseen code had it: an array of the same shape, wherever it lies."""
    if not isinstance(value, Array):
        return value
    return replace(value, sharding=None, typed=None, committed=None)
