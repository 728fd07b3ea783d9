"""Havoc: make the contents of objects unknown that code which is not followed may change."""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.inference.domain.classes import library_bases
from shardlint.inference.domain.values import (
    Alternatives,
    Array,
    Bound,
    ClassValue,
    DictValue,
    External,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    ModuleValue,
    Native,
    Partial,
    SetValue,
    Tuple,
    Value,
)
from shardlint.inference.store.effect_log import EFFECTS, changed_for_all, changing, lose
from shardlint.laws.core.values import Unknown
from shardlint.support.lazy_dataclass import replace

#: Values with contents that can be made unknown.
HOLDING = frozenset({Alternatives, Tuple, ListValue, DictValue, LibraryObject, SetValue, Instance, Bound})
#: Values that unseen code can call once it has them.
CODE = frozenset({Function, ClassValue, Partial, Native})
#: A dict whose items are the attributes of an object, which it holds under ``of``.
NAMESPACE = "builtins.namespace"
#: Library classes whose instances are frozen, though the objects they hold may change.
_FROZEN = frozenset({"flax.struct.PyTreeNode"})
#: Prefixes of the kinds of iterators (see `iterators`) and of dict views.
ITERATOR, VIEW = "iterator.", "view."


def forget(value: Value) -> None:
    """Make the contents of an object unknown, and those of all objects reachable from it: it is out of sight.

    Functions and classes are noted, since they may be called from then on (see `escaped_code`).
    """
    kind = type(value)
    if kind not in HOLDING:
        if kind in CODE:
            EFFECTS.lost.append(value)
        return
    waiting = [value]
    while waiting:
        one = waiting.pop()
        kind = type(one)
        if kind not in HOLDING:
            if kind in CODE:
                EFFECTS.lost.append(one)
            continue
        if isinstance(one, Alternatives):
            waiting.extend(one.options)
        elif isinstance(one, Tuple):
            waiting.extend(one.items)
            if one.cls is not None:
                EFFECTS.lost.append(one.cls)
        elif isinstance(one, ListValue):
            if one.items is not None:
                waiting.extend(one.items)
                lose(one)
        elif isinstance(one, DictValue):
            if one.items is not None:
                waiting.extend(one.items.values())
                lose(one)
            if one.default is not None:
                waiting.append(one.default)
        elif isinstance(one, Bound):
            waiting.extend((one.function, one.receiver))
        elif isinstance(one, LibraryObject) and one.kind == NAMESPACE:
            waiting.append(one.fields["of"])
            if isinstance(one.fields["of"], ModuleValue):
                forget_variables(one.fields["of"])
        elif isinstance(one, LibraryObject) and one.kind.startswith(("collections.", "harmless")):
            waiting.extend(one.fields.values())
        elif isinstance(one, LibraryObject) and one.kind.startswith((ITERATOR, VIEW)):
            lose_position(one)
            waiting.extend(_reached(one))
        elif isinstance(one, LibraryObject) and one.kind.startswith("flax.nnx."):
            changing(one)
            waiting.extend(value for value in one.fields.values() if not isinstance(value, Array))
            one.fields.update({name: _elsewhere(value) for name, value in one.fields.items()})
        elif isinstance(one, LibraryObject):
            EFFECTS.lost.extend(held for held in one.fields.values() if type(held) in CODE)
        elif isinstance(one, SetValue):
            if one.items is not None and not one.frozen:
                lose(one)
        elif isinstance(one, Instance) and one.cls.members is not None:
            EFFECTS.lost.append(one.cls)
        elif isinstance(one, Instance):
            EFFECTS.lost.append(one.cls)
            if not one.forgotten or one.attributes:
                changing(one)
            waiting.extend(one.attributes.values())
            if library_bases(one.cls) & _FROZEN:
                continue
            one.attributes.clear()
            one.opaque = one.forgotten = True


def lose_code(*values: Value) -> None:
    """Note that unseen code may call what these objects are or hold; they themselves stay as they are."""
    EFFECTS.lost += [value for value in values if type(value) in CODE or type(value) in HOLDING]


def forget_contents(*values: Value) -> None:
    """Make unknown what containers hold, but not the containers: their items go out of sight."""
    waiting = list(values)
    while waiting:
        one = waiting.pop()
        if isinstance(one, Alternatives):
            waiting.extend(one.options)
        elif isinstance(one, Tuple | ListValue):
            _forget_all(one.items or ())
        elif isinstance(one, DictValue):
            _forget_all((one.items or {}).values())
        elif isinstance(one, Instance):
            _forget_all(list(one.attributes.values()))
        elif isinstance(one, LibraryObject) and one.kind.startswith((ITERATOR, VIEW)):
            _forget_all(list(_reached(one)))
        elif isinstance(one, LibraryObject) and one.kind == NAMESPACE:
            of = one.fields["of"]
            held = of.run.scope.variables if isinstance(of, ModuleValue) else getattr(of, "attributes", {})
            _forget_all(list(held.values()))
        elif isinstance(one, LibraryObject) and one.kind.startswith(("collections.", "harmless")):
            _forget_all(one.fields.values())


def _forget_all(values: Iterable[Value]) -> None:
    for value in values:
        forget(value)


def forget_variables(module: ModuleValue) -> None:
    """Make all variables of a module unknown, except modules and names of libraries."""
    scope = module.run.scope
    changing(scope)
    for name, value in scope.variables.items():
        if not isinstance(value, ModuleValue | External):
            forget(value)
            scope.variables[name] = Unknown(f"`{name}` may be set by its name")


def lose_position(iterator: Value) -> None:
    """Make the position of an iterator unknown, and those of the iterators that it draws from."""
    waiting = [iterator]
    while waiting:
        one = waiting.pop()
        if isinstance(one, LibraryObject) and one.kind.startswith(ITERATOR):
            if "state" in one.fields and not isinstance(one.fields["state"], Unknown):
                changing(one)
                one.fields["state"] = Unknown("how far an iterator is")
            waiting.extend(one.fields.values())
        elif isinstance(one, Tuple):
            waiting.extend(one.items)
        elif isinstance(one, Bound):
            waiting.append(one.receiver)


def _reached(one: LibraryObject) -> Iterable[Value]:
    """Return what is reachable through an iterator or a view: the items of a list or dict, not the
    container."""
    for field in one.fields.values():
        if isinstance(field, ListValue):
            yield from field.items or ()
        elif isinstance(field, DictValue):
            yield from (field.items or {}).values()
        else:
            yield field


def _elsewhere(value: Value) -> Value:
    """Return a variable's value after unseen code: an array of the same shape with unknown sharding."""
    if not isinstance(value, Array):
        return value
    return replace(value, sharding=None, typed=None, committed=None)


def open_cells(function: Function) -> None:
    """Mark the variables of enclosing functions as changeable by unseen code, which has the cells."""
    scope = function.scope
    while scope.parent is not None:
        if not scope.is_class:
            changing(scope)
            scope.volatile |= scope.variables.keys()
        scope = scope.parent


def blur(cls: ClassValue) -> None:
    """Make everything about a class unknown, except that it is a class."""
    if not cls.opaque:
        changed_for_all(cls)
        cls.opaque = True
