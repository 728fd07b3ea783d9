"""Computed attributes: properties, cached properties, and descriptors of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shardlint.inference.domain.classes import class_attribute, has_unknown_base, method_of
from shardlint.inference.domain.lattice import join
from shardlint.inference.domain.values import (
    Bound,
    ClassValue,
    Const,
    Function,
    Instance,
    LibraryObject,
    Value,
)
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator

PROPERTY, CACHED = "builtins.property", "functools.cached_property"


def is_data(found: Value | None) -> bool:
    """Return whether a class attribute certainly takes precedence over an object's own."""
    if isinstance(found, LibraryObject):
        return found.kind == PROPERTY
    methods = ("__set__", "__delete__")
    return isinstance(found, Instance) and any(
        class_attribute(found.cls, name) is not None for name in methods
    )


def is_computed(found: Value | None) -> bool:
    """Return whether reading a class attribute runs code."""
    if isinstance(found, LibraryObject):
        return found.kind in (PROPERTY, CACHED)
    return isinstance(found, Instance) and class_attribute(found.cls, "__get__") is not None


def read(
    interpreter: Evaluator, found: Value, name: str, receiver: Value, cls: ClassValue, place: Place
) -> Value:
    """Return an object's attribute, given the class attribute of that name."""
    if isinstance(found, LibraryObject) and found.kind == PROPERTY:
        return interpreter.call(found.fields["function"], [receiver], {}, place)
    if isinstance(found, LibraryObject) and found.kind == CACHED:
        return _cached(interpreter, found, name, receiver, place)
    if isinstance(found, Instance):
        return read_of(interpreter, found, [receiver, cls], place)
    return method_of(found, receiver, cls)


def read_of(interpreter: Evaluator, found: Instance, owner: Sequence[Value], place: Place) -> Value:
    """Return the result of reading an object stored in a class, by the descriptor protocol."""
    getter = class_attribute(found.cls, "__get__")
    if getter is None:
        return Unknown("it may be a descriptor") if has_unknown_base(found.cls) else found
    return interpreter.call(Bound(getter, found), owner, {}, place)


def _cached(interpreter: Evaluator, found: LibraryObject, name: str, receiver: Value, place: Place) -> Value:
    """Run the function of a `cached_property`, and store the result in the object.

    It is not stored on a path that may not be taken, nor while recording is off: the next read may return
    this value, or what the function returns then.
    """
    perhaps = found.fields["perhaps"]
    assert isinstance(perhaps, LibraryObject)
    interpreter.note_contents(perhaps)
    if not isinstance(receiver, Instance):
        return Unknown(f"`{name}` of an object that is not followed")
    key = str(receiver.born)
    before = perhaps.fields.get(key)
    if before is not None:
        with interpreter.forked(guards=False):
            value = interpreter.call(found.fields["function"], [receiver], {}, place)
        value = join([before, value])
    else:
        value = interpreter.call(found.fields["function"], [receiver], {}, place)
    if interpreter.certain(receiver.path) and not interpreter.is_silent:
        changing(receiver)
        receiver.attributes[name] = value
    else:
        changing(perhaps)
        perhaps.fields[key] = value
    return value


def setter_of(receiver: Instance, name: str, plainly: bool) -> tuple[Value, list[Value]] | None:
    """Return the callable that sets an attribute, with its first arguments; None if there is none.

    ``plainly`` as `object.__setattr__` does it.
    """
    return _changer(receiver, name, plainly, "__setattr__", "__set__", "setter")


def deleter_of(receiver: Instance, name: str, plainly: bool) -> tuple[Value, list[Value]] | None:
    """Return the callable that deletes an attribute, as `setter_of`."""
    return _changer(receiver, name, plainly, "__delattr__", "__delete__", "deleter")


def _changer(
    receiver: Instance, name: str, plainly: bool, of_class: str, of_descriptor: str, of_property: str
) -> tuple[Value, list[Value]] | None:
    own = None if plainly else class_attribute(receiver.cls, of_class)
    if own is not None:
        return own, [receiver, Const(name)]
    found = class_attribute(receiver.cls, name)
    if isinstance(found, LibraryObject) and found.kind == PROPERTY:
        return found.fields.get(of_property, Unknown(f"`{name}` has no {of_property}")), [receiver]
    if isinstance(found, Instance):
        method = class_attribute(found.cls, of_descriptor)
        if method is not None:
            return method, [found, receiver]
        return (Unknown("it may be a descriptor"), [receiver]) if has_unknown_base(found.cls) else None
    return (found, [receiver]) if isinstance(found, Unknown) else None


def name_descriptors(interpreter: Evaluator, cls: ClassValue, place: Place) -> None:
    """Call `__set_name__` of each object in a new class."""
    for name, value in list(cls.attributes.items()):
        if isinstance(value, Instance):
            method = class_attribute(value.cls, "__set_name__")
            if isinstance(method, Function):
                interpreter.call(Bound(method, value), [cls, Const(name)], {}, place)


def intercepts(cls: ClassValue) -> bool:
    """Return whether a class may override how its objects' attributes are read."""
    bases = (base for base in cls.bases if isinstance(base, ClassValue))
    own = cls.attributes.values()
    return (
        any(base.intercepts for base in bases)
        or "__getattribute__" in cls.attributes
        or any(isinstance(value, Instance) and is_data(value) for value in own)
    )


def new_property(function: Value, **others: Value) -> LibraryObject:
    """Return a property with its functions."""
    return LibraryObject(PROPERTY, {"function": function, **others})


def new_cached(function: Value) -> LibraryObject:
    """Return a `cached_property`."""
    return LibraryObject(CACHED, {"function": function, "perhaps": LibraryObject("perhaps", {})})
