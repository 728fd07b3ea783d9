"""Mutation: setting items and attributes, and deleting them."""

from __future__ import annotations

from dataclasses import replace
from operator import and_, or_, sub, xor
from typing import TYPE_CHECKING

from shardlint.inference.domain.builtin_bases import HELD, held_value, holds_items
from shardlint.inference.domain.classes import PerhapsMissing, class_attribute, operator_method
from shardlint.inference.domain.havoc import CODE, forget, forget_contents
from shardlint.inference.domain.iteration import hashable
from shardlint.inference.domain.lattice import join, options, widen
from shardlint.inference.domain.values import (
    Alternatives,
    Array,
    Bound,
    ClassValue,
    Const,
    Devices,
    DictValue,
    External,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    ModuleValue,
    Native,
    SetValue,
    Slice,
    Tuple,
    Value,
    as_int,
    as_shape,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.descriptors import deleter_of, setter_of
from shardlint.inference.evaluation.iterators import each_left, spend
from shardlint.inference.evaluation.monkeypatches import set_library_name
from shardlint.inference.store.effect_log import changed_for_all, changed_function, changing
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place, Span

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator

#: An unknown place.
_NOWHERE = Span("", 1, 1, 1, 1)
#: Attributes whose assignment changes what a class or function is.
_OF_CLASSES = frozenset({"__bases__", "__class__", "__mro__"})
_OF_FUNCTIONS = frozenset({"__code__", "__defaults__", "__kwdefaults__", "__name__", "__qualname__"})
#: Attributes by which a numpy array changes in place.
OF_ARRAYS = frozenset({"shape", "dtype"})
#: Methods that mutate an object in place.
_IN_PLACE = {
    "Add": "__iadd__", "Subtract": "__isub__", "Multiply": "__imul__", "MatrixMultiply": "__imatmul__",
    "Divide": "__itruediv__", "FloorDivide": "__ifloordiv__", "Modulo": "__imod__", "Power": "__ipow__",
    "LeftShift": "__ilshift__", "RightShift": "__irshift__", "BitAnd": "__iand__", "BitOr": "__ior__",
    "BitXor": "__ixor__",
}  # fmt: skip
#: Operators that change a set in place, beside another set.
_OF_SETS = {"BitAnd": and_, "BitOr": or_, "BitXor": xor, "Subtract": sub}


def set_attribute(
    interpreter: Evaluator,
    receiver: Value,
    name: str,
    value: Value,
    plainly: bool = False,
    place: Place | None = None,
) -> None:
    """Set ``receiver.name``; on an undecided branch the attribute may be either value.

    ``plainly`` as `object.__setattr__` does it, whatever the class has.
    """
    if isinstance(value, Array) and value.name is None:
        value = replace(value, name=name)
    if isinstance(receiver, Alternatives):
        for option in receiver.options:
            with interpreter.forked():
                set_attribute(interpreter, option, name, value, plainly, place)
    elif isinstance(receiver, Instance):
        if (setter := setter_of(receiver, name, plainly)) is not None:
            _call_changer(interpreter, receiver, setter[0], [*setter[1], value], place)
        elif name == "__class__":
            _set_class(interpreter, receiver, value)
        elif name == "__dict__":
            _set_namespace(interpreter, receiver, value)
        else:
            store_attribute(interpreter, receiver, name, value)
    elif isinstance(receiver, ClassValue):
        changed_for_all(receiver)
        if name in _OF_CLASSES:
            receiver.opaque = True
        if name == "__getattribute__":
            receiver.intercepts = receiver.opaque = True
        store_attribute(interpreter, receiver, name, value)
        if name[:2] == "__":
            interpreter.unseen.note_special_methods(receiver, {})
    elif isinstance(receiver, Function):
        _set_of_function(interpreter, receiver, name, value)
    elif isinstance(receiver, ModuleValue):
        changing(receiver.run.scope)
        interpreter.set_variable(receiver.run.scope, name, value)
    elif isinstance(receiver, LibraryObject):
        changing(receiver)
        method = receiver.origin and interpreter.attribute(receiver, "__setattr__", receiver.origin)
        if receiver.origin is not None and isinstance(method, Bound):
            interpreter.call(method, [Const(name), value], {}, receiver.origin)
        else:
            if not interpreter.certain(()):
                forget(value)
                value = Unknown(f"`{name}` may be set")
            receiver.fields[name] = value
    elif isinstance(receiver, Native):
        changed_for_all(receiver)
        receiver.attributes[name] = value
    elif name in OF_ARRAYS and isinstance(receiver, Array | Devices | Unknown):
        shape = as_shape(value) if name == "shape" else None
        interpreter.change_in_place(receiver, shape, place)
    else:
        if isinstance(receiver, External):
            set_library_name(interpreter, f"{receiver.name}.{name}")
        forget(value)


def store_attribute(interpreter: Evaluator, receiver: Instance | ClassValue, name: str, value: Value) -> None:
    """Store a value under a name in an object or class itself."""
    if isinstance(receiver, Instance):
        changing(receiver)
        if receiver.forgotten:
            forget(value)
        elif "__dict__" in receiver.attributes:
            set_item(interpreter, _namespace(receiver), Const(name), value, receiver.origin or _NOWHERE)
            return
    elif type(value) in CODE:
        interpreter.unseen.note_changed(receiver)
    since = interpreter.path_since(receiver.path)
    receiver.attributes[name] = _set(interpreter, receiver.attributes.get(name), name, value, since)


def _call_changer(
    interpreter: Evaluator, receiver: Instance, changer: Value, args: list[Value], place: Place | None
) -> None:
    """Call the function that changes an attribute; the object becomes unknown if it is not followed."""
    if isinstance(changer, Function | External):
        interpreter.call(changer, args, {}, place or receiver.origin or _NOWHERE)
    else:
        forget(Tuple(tuple(args)))


def _set_class(interpreter: Evaluator, receiver: Instance, value: Value) -> None:
    """``x.__class__ = cls``."""
    changing(receiver)
    if isinstance(value, ClassValue) and not interpreter.path_since(receiver.path):
        receiver.cls = value
    else:
        receiver.cls = ClassValue(receiver.cls.name, (Unknown("another class"),), {}, opaque=True)
        forget(receiver)


def _set_namespace(interpreter: Evaluator, receiver: Instance, value: Value) -> None:
    """``x.__dict__ = d``: from then on, the items of the dict are the attributes, also those set later."""
    changing(receiver)
    held = {HELD: receiver.attributes[HELD]} if HELD in receiver.attributes else {}
    if interpreter.path_since(receiver.path) or receiver.forgotten:
        forget(Tuple((receiver, value)))
        return
    forget(Tuple(tuple(one for name, one in receiver.attributes.items() if name != HELD)))
    receiver.attributes.clear()
    receiver.attributes.update(held | {"__dict__": value})


def _namespace(receiver: Instance) -> Value:
    """Return the dict that an object was given for its attributes."""
    space = receiver.attributes["__dict__"]
    return held_value(space) or space


def in_namespace(receiver: Instance, name: str) -> Value | None:
    """Return an attribute in the dict that an object was given for them; None if it is not there."""
    space = _namespace(receiver)
    if not isinstance(space, DictValue) or space.items is None:
        return Unknown(f"`{name}` in a dict that is not known")
    return space.items.get(name)


def _set_of_function(interpreter: Evaluator, receiver: Function, name: str, value: Value) -> None:
    """Set an attribute of a function that affects its calls; its other attributes are unknown anyway."""
    if name not in _OF_FUNCTIONS:
        forget(value)
        return
    changed_function(receiver.scope.born)
    positional, keywords = receiver.code.parameters[1:]
    certain = not interpreter.path_since(receiver.scope.path)
    if name in ("__name__", "__qualname__"):
        receiver.renamed = True
    elif name == "__defaults__" and certain and isinstance(value, Tuple):
        defaults = {key: one for key, one in receiver.defaults.items() if key in keywords}
        last = positional[len(positional) - len(value.items) :]
        receiver.defaults = {**dict(zip(last, value.items, strict=False)), **defaults}
    elif name == "__kwdefaults__" and certain and isinstance(value, DictValue) and value.items is not None:
        defaults = {key: one for key, one in receiver.defaults.items() if key in positional}
        receiver.defaults = {**defaults, **{str(key): one for key, one in value.items.items()}}
        # It is the same dict, which may change.
        receiver.opaque = receiver.opaque or receiver.defaults.keys() - defaults.keys() != set()
    else:
        receiver.opaque = True


def delete_attribute(
    interpreter: Evaluator, receiver: Value, name: str, place: Place, plainly: bool = False
) -> None:
    """Evaluate ``del receiver.name``: the attribute of the class or base becomes visible again."""
    if isinstance(receiver, Alternatives):
        for option in receiver.options:
            with interpreter.forked():
                delete_attribute(interpreter, option, name, place, plainly)
    elif isinstance(receiver, Instance):
        if (deleter := deleter_of(receiver, name, plainly)) is not None:
            _call_changer(interpreter, receiver, deleter[0], deleter[1], place)
        else:
            changing(receiver)
            _drop(interpreter, receiver, name)
    elif isinstance(receiver, ClassValue):
        changed_for_all(receiver)
        _drop(interpreter, receiver, name)
    elif isinstance(receiver, Native):
        changed_for_all(receiver)
        receiver.attributes.pop(name, None)
    elif isinstance(receiver, Function):
        _set_of_function(interpreter, receiver, name, Tuple(()))
    elif isinstance(receiver, ModuleValue):
        changing(receiver.run.scope)
        interpreter.set_variable(receiver.run.scope, name, Unknown(f"`{name}` is deleted"))
    elif isinstance(receiver, External):
        set_library_name(interpreter, f"{receiver.name}.{name}")
    else:
        forget(receiver)


def _drop(interpreter: Evaluator, receiver: Instance | ClassValue, name: str) -> None:
    if "__dict__" in receiver.attributes and isinstance(receiver, Instance):
        forget(_namespace(receiver))
    elif not interpreter.path_since(receiver.path):
        receiver.attributes.pop(name, None)
    elif name in receiver.attributes:
        forget(receiver.attributes[name])
        receiver.attributes[name] = PerhapsMissing(f"`{name}` may be deleted")


def _set(
    interpreter: Evaluator, before: Value | None, name: str, value: Value, since: tuple[int, ...]
) -> Value:
    """Return an attribute's value after it was set on paths that may not be taken, or taken repeatedly."""
    if not since:
        return value
    loops = interpreter.loops_among(since)
    if before is not None and not loops:
        return join([before, value])
    if isinstance(before, Unknown):
        forget(value)
        return before
    found: Value = Unknown("it is missing at first")
    if before is not None and all(loop is not None and not loop.unstable for loop in loops):
        found = widen(before, value)
        if found is before:
            return before
    for loop in loops:
        if loop is not None:
            loop.changes = True
    if not isinstance(found, Unknown):
        return found
    forget(Tuple((before or value, value)))
    return PerhapsMissing(f"`{name}` is set on some paths only")


def set_item(interpreter: Evaluator, receiver: Value, key: Value, value: Value, place: Place) -> None:
    """Set ``receiver[key]``; on an undecided branch the container becomes unknown."""
    if isinstance(key, Slice):
        # All items of the assigned iterable are drawn.
        spend(interpreter, value, place)
    if isinstance(receiver, External) and receiver.name == "os.environ":
        interpreter.set_environment(key, value)
    elif isinstance(receiver, External):
        name = as_str(key)
        set_library_name(interpreter, f"{receiver.name}.{name or '*'}")
        forget(value)
    elif isinstance(receiver, ListValue | DictValue) and receiver.items is not None:
        if isinstance(receiver, ListValue) and isinstance(key, Slice):
            _set_slice(interpreter, receiver, key, value)
            return
        if not (interpreter.certain(receiver.path) and _has_place(receiver, key)):
            forget(Tuple((receiver, key, value)))
            return
        changing(receiver)
        if isinstance(receiver, DictValue):
            receiver.items[hashable(key)[1]] = value
        else:
            receiver.items[as_int(key)] = value  # type: ignore[index]
    elif isinstance(receiver, Instance) and not receiver.forgotten:
        method = operator_method(interpreter, receiver, "__setitem__", place)
        if isinstance(method, Unknown):
            forget(Tuple((receiver, key, value)))
        else:
            interpreter.call(method, [key, value], {}, place)
    elif isinstance(receiver, LibraryObject):
        setter = interpreter.attribute(receiver, "__setitem__", place)
        if isinstance(setter, Bound):
            interpreter.call(setter, [key, value], {}, place)
        else:
            forget(Tuple((receiver, key, value)))
    elif not isinstance(receiver, Array):
        forget(Tuple((receiver, key, value)))


def _set_slice(interpreter: Evaluator, receiver: ListValue, key: Slice, value: Value) -> None:
    """Set items of a list, as ``held[1:3] = value``; the list is unknown where they or the items are."""
    part = _plain_slice(key)
    added = value.items if isinstance(value, ListValue | Tuple) else None
    certain = receiver.kind == "list" and interpreter.certain(receiver.path)
    if part is None or added is None or receiver.items is None or not certain:
        forget(Tuple((receiver, key, value)))
        return
    items = list(receiver.items)
    try:
        items[part] = added
    except ValueError:
        forget(Tuple((receiver, key, value)))
        return
    changing(receiver)
    receiver.items[:] = items


def _plain_slice(key: Slice) -> slice | None:
    """Return a slice whose bounds are known, else None."""
    bounds = [key.start, key.stop, key.step]
    known = [as_int(bound) for bound in bounds]
    certain = all(is_none(bound) or n is not None for bound, n in zip(bounds, known, strict=True))
    return slice(*known) if certain and known[2] != 0 else None


def delete_item(interpreter: Evaluator, receiver: Value, key: Value, place: Place) -> None:
    """Delete ``receiver[key]``; where it is not known what that is, the container becomes unknown."""
    method = None
    if isinstance(receiver, Instance):
        method = operator_method(interpreter, receiver, "__delitem__", place)
    elif isinstance(receiver, LibraryObject):
        method = interpreter.attribute(receiver, "__delitem__", place)
    if isinstance(method, Bound):
        interpreter.call(method, [key], {}, place)
    elif not isinstance(receiver, ListValue | DictValue) or not _delete(interpreter, receiver, key):
        forget(receiver)


def _delete(interpreter: Evaluator, receiver: ListValue | DictValue, key: Value) -> bool:
    """Delete an item of a container with known items; return whether it is known which."""
    if receiver.items is None or not interpreter.certain(receiver.path):
        return False
    if isinstance(receiver, DictValue):
        found, name = hashable(key)
        if not found or name not in receiver.items:
            return False
        changing(receiver)
        del receiver.items[name]
        return True
    part = _plain_slice(key) if isinstance(key, Slice) else as_int(key) if _has_place(receiver, key) else None
    if part is None or receiver.kind == "range" or (receiver.kind == "deque" and isinstance(part, slice)):
        return False
    changing(receiver)
    del receiver.items[part]
    return True


def _has_place(receiver: ListValue | DictValue, key: Value) -> bool:
    """Return whether it is known which item of a container with known items a key selects."""
    if isinstance(receiver, DictValue):
        return hashable(key)[0]
    index = as_int(key)
    return index is not None and -len(receiver.items or ()) <= index < len(receiver.items or ())


def extend(interpreter: Evaluator, receiver: ListValue, added: Value, place: Place) -> None:
    """Append the items of an iterable one by one: it may be drawn from the list itself."""
    if isinstance(added, ListValue | Tuple):
        added = Tuple(tuple(added.items)) if added.items is not None else Unknown("a list that is not known")
    for drawn in each_left(interpreter, added, place):
        if drawn.sure and receiver.items is not None:
            receiver.items.append(drawn.item)
        else:
            forget(Tuple((receiver, drawn.item)))


def augment(interpreter: Evaluator, operator: str, left: Value, right: Value, place: Place) -> Value | None:
    """Evaluate ``left <op>= right`` for objects that are mutated in place; None for others."""
    if isinstance(left, Instance):
        method = class_attribute(left.cls, _IN_PLACE.get(operator, ""))
        if method is None and holds_items(left) and (held := held_value(left)) is not None:
            return left if augment(interpreter, operator, held, right, place) is held else None
        return None if method is None else interpreter.call(Bound(method, left), [right], {}, place)
    if isinstance(left, ListValue) and operator == "Add" and interpreter.certain(left.path):
        changing(left)
        extend(interpreter, left, right, place)
        return left
    if isinstance(left, DictValue) and operator == "BitOr" and left.kind != "Counter":
        known = isinstance(right, DictValue) and right.kind != "Counter" and right.items is not None
        if known and left.items is not None and interpreter.certain(left.path):
            changing(left)
            left.items.update(right.items)  # type: ignore[union-attr, arg-type]
            return left
    if isinstance(left, SetValue) and left.frozen:
        return None
    if isinstance(left, SetValue) and isinstance(right, SetValue) and operator in _OF_SETS:
        known = left.items is not None and right.items is not None
        if known and interpreter.certain(left.path):
            changing(left)
            left.items = _OF_SETS[operator](left.items, right.items)
            return left
    if any(isinstance(option, ListValue | DictValue | SetValue) for option in options(left)):
        spend(interpreter, right, place)
        forget_contents(right)
        forget(left)
        return left
    return None
