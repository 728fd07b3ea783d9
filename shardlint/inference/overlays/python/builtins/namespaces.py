"""Names that a program computes: ``globals()``, ``vars(x)``, ``exec`` and ``eval``."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.classes import class_attribute
from shardlint.inference.domain.havoc import NAMESPACE, blur, forget, forget_contents
from shardlint.inference.domain.values import (
    NONE,
    ClassValue,
    DictValue,
    External,
    Instance,
    LibraryObject,
    ModuleValue,
    Tuple,
    Value,
    as_str,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.descriptors import is_data
from shardlint.inference.evaluation.mutation import delete_attribute, set_attribute, store_attribute
from shardlint.laws.core.values import Unknown

_FRAME = "types.FrameType"


def namespace(of: Value) -> Value:
    """Return the attributes of an object as a dict; a change of the dict changes the object."""
    if isinstance(of, Instance) and "__dict__" in of.attributes:
        return of.attributes["__dict__"]
    return LibraryObject(NAMESPACE, {"of": of})


def _globals(call: Call) -> Value:
    return namespace(call.interpreter.running_module)


def _locals(call: Call) -> Value:
    of = call.interpreter.local_names
    if isinstance(of, ClassValue):
        # Code that holds the namespace can set any name.
        blur(of)
    return namespace(of) if isinstance(of, ModuleValue) else Unknown("locals()")


def _vars(call: Call) -> Value:
    if not call.args:
        return _locals(call)
    value = call.args[0]
    return namespace(value) if isinstance(value, Instance | ModuleValue | External) else Unknown("vars()")


def _run(call: Call) -> Value:
    """``exec`` and ``eval``: only the names that the text may change are known."""
    given = [*call.args[1:], *call.kwargs.values()]
    for value in given:
        forget(value)
    if not given or not isinstance(given[0], DictValue):
        call.interpreter.unseen.run(as_str(call.args[0]) if call.args else None)
    return NONE if call.name == "builtins.exec" else Unknown("what is computed by a text")


def _of(call: Call) -> tuple[Value, str | None]:
    """Return the object that has this namespace, and a name in it if it is known."""
    space = call.args[0]
    assert isinstance(space, LibraryObject)
    return space.fields["of"], as_str(call.argument(1, "key"))


def _any(of: Value) -> Value:
    """Return an unknown one of the variables of a module or object, which is out of sight then."""
    forget_contents(namespace(of))
    return Unknown("a variable that is not known")


def _held(call: Call, of: Value, name: str) -> Value | None:
    """Return the value of a name in a namespace; None if it may be missing."""
    if isinstance(of, Instance):
        return of.attributes.get(name)
    found = call.interpreter.attribute(of, name, call.place)
    return None if isinstance(found, Unknown) else found


def _get_item(call: Call) -> Value:
    of, name = _of(call)
    return (_any(of) if name is None else _held(call, of, name)) or Unknown("a variable that is not known")


def _get(call: Call) -> Value:
    of, name = _of(call)
    found = _any(of) if name is None else _held(call, of, name)
    return found or Unknown("a variable, or what stands for it")


def _set(call: Call, of: Value, name: str, value: Value) -> None:
    if isinstance(of, Instance):
        found = class_attribute(of.cls, name)
        if isinstance(found, LibraryObject) and is_data(found):
            # A property of the class takes precedence.
            forget(of)
        else:
            store_attribute(call.interpreter, of, name, value)
    else:
        set_attribute(call.interpreter, of, name, value, place=call.place)


def _set_item(call: Call) -> Value:
    of, name = _of(call)
    value = call.argument(2, "value")
    if name is None or value is None:
        forget(Tuple((call.args[0], value or NONE)))
    else:
        _set(call, of, name, value)
    return NONE


def _del_item(call: Call) -> Value:
    of, name = _of(call)
    if name is None:
        forget(call.args[0])
    else:
        delete_attribute(call.interpreter, of, name, call.place, plainly=True)
    return NONE


def _update(call: Call) -> Value:
    of, _ = _of(call)
    items: dict[str, Value] | None = {}
    for given in call.args[1:]:
        known = given.items if isinstance(given, DictValue) else None
        if known is None or items is None or not all(isinstance(key, str) for key in known):
            items = None
        else:
            items |= {str(key): value for key, value in known.items()}
    if items is None or call.opaque:
        forget(Tuple(tuple(call.args)))
    for name, value in {**(items or {}), **call.kwargs}.items():
        _set(call, of, name, value)
    return NONE


def _setdefault(call: Call) -> Value:
    of, name = _of(call)
    value = call.argument(2, "default") or NONE
    if name is not None and (found := _held(call, of, name)) is not None:
        return found
    if name is None:
        forget(Tuple((call.args[0], value)))
    else:
        with call.interpreter.forked(guards=False):
            _set(call, of, name, value)
    return Unknown("a variable, or what stands for it")


def _unknown(call: Call) -> Value:
    _any(_of(call)[0])
    return Unknown("the variables of a namespace")


def _changes(call: Call) -> Value:
    forget(call.args[0])
    return Unknown("what was in a namespace")


def _frame(call: Call) -> Value:
    """``sys._getframe()``: outer frames are assumed to be of this module, too."""
    return LibraryObject(_FRAME, {"f_globals": _globals(call), "f_locals": _locals(call)})


def _of_frame(value: LibraryObject, name: str) -> Value | None:
    return value if name == "f_back" else value.fields.get(name)


TABLE: dict[str, Callable[[Call], Value]] = {
    "builtins.globals": _globals,
    "builtins.locals": _locals,
    "builtins.vars": _vars,
    "builtins.exec": _run,
    "builtins.eval": _run,
    "sys._getframe": _frame,
    "inspect.currentframe": _frame,
}
ATTRIBUTES: dict[str, Callable[[LibraryObject, str], Value | None]] = {_FRAME: _of_frame}
METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {
    (NAMESPACE, name): function
    for name, function in {
        "__getitem__": _get_item,
        "__setitem__": _set_item,
        "__delitem__": _del_item,
        "get": _get,
        "update": _update,
        "__ior__": _update,
        "setdefault": _setdefault,
        **dict.fromkeys(("copy", "items", "keys", "values"), _unknown),
        **dict.fromkeys(("clear", "pop", "popitem"), _changes),
    }.items()
}
