"""Changing objects: setting items and attributes, and forgetting what an object holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shardlint.inference.iteration import hashable
from shardlint.inference.joins import join, options
from shardlint.inference.values import (
    Array,
    DictValue,
    External,
    Instance,
    LibraryObject,
    ListValue,
    Native,
    Value,
    as_int,
)
from shardlint.laws.values import Unknown

if TYPE_CHECKING:
    from shardlint.inference.evaluator import Evaluator


def forget(value: Value) -> None:
    """Make an object's contents unknown."""
    for option in options(value):
        if isinstance(option, ListValue | DictValue):
            option.items = None
        elif isinstance(option, Instance):
            option.opaque = True
            option.attributes.clear()


def set_attribute(interpreter: Evaluator, receiver: Value, name: str, value: Value) -> None:
    """Set ``receiver.name``; on an undecided branch the attribute may be either value."""
    if isinstance(value, Array) and value.name is None:
        value = replace(value, name=name)
    if isinstance(receiver, Instance):
        if not interpreter.certain(receiver.path):
            before = receiver.attributes.get(name)
            value = (
                Unknown(f"`{name}` is set on some paths only") if before is None else join([before, value])
            )
        receiver.attributes[name] = value
    elif isinstance(receiver, LibraryObject):
        receiver.fields[name] = value if interpreter.certain(()) else Unknown(f"`{name}` may be set")
    elif isinstance(receiver, Native):
        receiver.attributes[name] = value


def set_item(interpreter: Evaluator, receiver: Value, key: Value, value: Value) -> None:
    """Set ``receiver[key]``; on an undecided branch the container is not followed further."""
    if isinstance(receiver, External) and receiver.name == "os.environ":
        interpreter.set_environment(key, value)
    elif isinstance(receiver, ListValue | DictValue) and receiver.items is not None:
        if not interpreter.certain(receiver.path):
            receiver.items = None
        elif isinstance(receiver, DictValue):
            found, name = hashable(key)
            if found:
                receiver.items[name] = value
            else:
                receiver.items = None
        else:
            index = as_int(key)
            if index is None or not -len(receiver.items) <= index < len(receiver.items):
                receiver.items = None
            else:
                receiver.items[index] = value
    elif not isinstance(receiver, Array):
        forget(receiver)
