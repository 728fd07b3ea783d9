"""Changing objects: setting items and attributes, and forgetting what an object holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shardlint.inference.classes import class_attribute
from shardlint.inference.effects import changed_for_all, changing
from shardlint.inference.forgetting import forget
from shardlint.inference.iteration import hashable, iterate
from shardlint.inference.joins import join, options
from shardlint.inference.library_names import set_library_name
from shardlint.inference.values import (
    Alternatives,
    Array,
    Bound,
    ClassValue,
    Const,
    DictValue,
    External,
    Instance,
    LibraryObject,
    ListValue,
    ModuleValue,
    Native,
    SetValue,
    Tuple,
    Value,
    as_int,
)
from shardlint.laws.values import Unknown
from shardlint.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.evaluator import Evaluator


#: Methods that make an object change in place.
_IN_PLACE = {"Add": "__iadd__", "Subtract": "__isub__", "Multiply": "__imul__", "BitOr": "__ior__"}


def set_attribute(
    interpreter: Evaluator, receiver: Value, name: str, value: Value, plainly: bool = False
) -> None:
    """Set ``receiver.name``; on an undecided branch the attribute may be either value.

    ``plainly`` as `object.__setattr__` does it, whatever the class has.
    """
    if isinstance(value, Array) and value.name is None:
        value = replace(value, name=name)
    if isinstance(receiver, Alternatives):
        for option in receiver.options:
            with interpreter.forked():
                set_attribute(interpreter, option, name, value, plainly)
    elif isinstance(receiver, Instance) and not _is_plain(receiver, name, plainly):
        # A property's setter, or `__setattr__`, decides what happens.
        forget(receiver)
    elif isinstance(receiver, Instance | ClassValue):
        if isinstance(receiver, ClassValue):
            changed_for_all(receiver.born)
        else:
            changing(receiver)
        since = interpreter.path_since(receiver.path)
        receiver.attributes[name] = _set(interpreter, receiver.attributes.get(name), name, value, since)
    elif isinstance(receiver, ModuleValue):
        scope = receiver.run.scope
        changing(scope)
        since = interpreter.path_since(scope.path)
        scope.variables[name] = _set(interpreter, scope.variables.get(name), name, value, since)
    elif isinstance(receiver, LibraryObject):
        changing(receiver)
        setter = receiver.origin and interpreter.attribute(receiver, "__setattr__", receiver.origin)
        if receiver.origin is not None and isinstance(setter, Bound):
            interpreter.call(setter, [Const(name), value], {}, receiver.origin)
        else:
            receiver.fields[name] = value if interpreter.certain(()) else Unknown(f"`{name}` may be set")
    elif isinstance(receiver, Native):
        changed_for_all(receiver.born)
        receiver.attributes[name] = value
    elif isinstance(receiver, External):
        set_library_name(interpreter, f"{receiver.name}.{name}")


def _set(
    interpreter: Evaluator, before: Value | None, name: str, value: Value, since: tuple[int, ...]
) -> Value:
    """What an attribute may be once it was set on paths that may not be taken, or be taken many times."""
    if not since:
        return value
    if before is None or interpreter.repeated(since):
        forget(Tuple((before or value, value)))
        return Unknown(f"`{name}` is set on some paths only")
    return join([before, value])


def _is_plain(receiver: Instance, name: str, plainly: bool) -> bool:
    """Whether setting an attribute does no more than that."""
    found = class_attribute(receiver.cls, name)
    overridden = not plainly and class_attribute(receiver.cls, "__setattr__") is not None
    if isinstance(found, Unknown | Instance) or overridden:
        return False
    return not (isinstance(found, LibraryObject) and found.kind == "builtins.property")


def set_item(interpreter: Evaluator, receiver: Value, key: Value, value: Value, place: Place) -> None:
    """Set ``receiver[key]``; on an undecided branch the container is not followed further."""
    if isinstance(receiver, External) and receiver.name == "os.environ":
        interpreter.set_environment(key, value)
    elif isinstance(receiver, ListValue | DictValue) and receiver.items is not None:
        if not (interpreter.certain(receiver.path) and _has_place(receiver, key)):
            forget(receiver)
            return
        changing(receiver)
        if isinstance(receiver, DictValue):
            receiver.items[hashable(key)[1]] = value
        else:
            receiver.items[as_int(key)] = value  # type: ignore[index]
    elif isinstance(receiver, Instance) and not receiver.forgotten:
        method = interpreter.attribute(receiver, "__setitem__", place)
        if isinstance(method, Unknown):
            forget(receiver)
        else:
            interpreter.call(method, [key, value], {}, place)
    elif isinstance(receiver, LibraryObject):
        setter = interpreter.attribute(receiver, "__setitem__", place)
        if isinstance(setter, Bound):
            interpreter.call(setter, [key, value], {}, place)
        else:
            forget(receiver)
    elif not isinstance(receiver, Array):
        forget(receiver)


def _has_place(receiver: ListValue | DictValue, key: Value) -> bool:
    """Whether it is known which item of a container with known items a key means."""
    if isinstance(receiver, DictValue):
        return hashable(key)[0]
    index = as_int(key)
    return index is not None and -len(receiver.items or ()) <= index < len(receiver.items or ())


def augment(interpreter: Evaluator, operator: str, left: Value, right: Value, place: Place) -> Value | None:
    """Evaluate ``left <op>= right`` for objects that change in place; None for the others."""
    if isinstance(left, Instance):
        method = class_attribute(left.cls, _IN_PLACE.get(operator, ""))
        return None if method is None else interpreter.call(Bound(method, left), [right], {}, place)
    if isinstance(left, ListValue) and operator == "Add" and interpreter.certain(left.path):
        added = iterate(right)
        changing(left)
        if left.items is not None and added is not None:
            left.items.extend(added)
            return left
    if isinstance(left, DictValue) and operator == "BitOr" and left.kind != "Counter":
        known = isinstance(right, DictValue) and right.kind != "Counter" and right.items is not None
        if known and left.items is not None and interpreter.certain(left.path):
            changing(left)
            left.items.update(right.items)  # type: ignore[union-attr, arg-type]
            return left
    if any(isinstance(option, ListValue | DictValue | SetValue) for option in options(left)):
        forget(left)
        return left
    return None
