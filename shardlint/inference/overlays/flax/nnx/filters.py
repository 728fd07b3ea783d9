"""Filters of nnx, which select variables of an object.

From `flax.nnx.filterlib` 0.12.8. A filter is a class of variables, ``...`` or a boolean, a function of path
and variable, a sequence of filters, or ``Any``, ``All``, ``Not``, ``PathContains``, ``OfType`` of others.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from shardlint.inference.domain.classes import lineage
from shardlint.inference.domain.iteration import constant
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.values import (
    Bound,
    ClassValue,
    Const,
    External,
    Function,
    LibraryObject,
    Partial,
    Tuple,
    Value,
    as_items,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.flax.nnx.variables import PARENTS, VARIABLES

_FILTER = "flax.nnx.filterlib.Filter"

Path = tuple[Hashable, ...]
#: Returns whether a filter accepts a variable at a path; None if that is unknown.
Filter = Callable[[Path, LibraryObject], bool | None]


def filter_of(call: Call, value: Value) -> Filter | None:
    """Return a filter as a function, or None if it is unknown."""
    if isinstance(value, Const) and (value.value is ... or value.value is True):
        return lambda path, variable: True
    if isinstance(value, Const) and (value.value is None or value.value is False):
        return lambda path, variable: False
    if isinstance(value, External) and value.name in VARIABLES:
        return lambda path, variable: _is_a(variable, value)
    if isinstance(value, ClassValue):
        return lambda path, variable: _is_a(variable, value)
    if isinstance(value, Function | Bound | Partial):
        return lambda path, variable: truth(
            call.interpreter.call(value, [constant(path), variable], {}, call.place)
        )
    if (items := as_items(value)) is not None:
        return _some(call, items)
    if isinstance(value, LibraryObject) and value.kind == _FILTER:
        return _combined(call, value)
    return None


def depends_on_path(value: Value) -> bool:
    """Return whether a filter may depend on a variable's path."""
    if isinstance(value, LibraryObject) and value.kind == _FILTER:
        named = value.fields["name"]
        by_path = isinstance(named, Const) and named.value == "PathContains"
        return by_path or any(map(depends_on_path, as_items(value.fields["args"]) or ()))
    if (items := as_items(value)) is not None:
        return any(map(depends_on_path, items))
    return isinstance(value, Function | Bound | Partial)


def _is_a(variable: LibraryObject, cls: Value) -> bool:
    """Return whether a variable is of a class: one of nnx, or one of the program that derives from it."""
    if isinstance(cls, External):
        kind: str | None = variable.kind
        while kind not in (cls.name, None):
            kind = PARENTS[kind]
        return kind is not None
    own = variable.fields.get("__class__")
    return isinstance(own, ClassValue) and cls in lineage(own)


def _some(call: Call, values: tuple[Value, ...]) -> Filter | None:
    filters = [filter_of(call, value) for value in values]
    known = [one for one in filters if one is not None]
    if len(known) < len(filters):
        return None
    return lambda path, variable: _either(one(path, variable) for one in known)


def _either(answers: Iterator[bool | None]) -> bool | None:
    found = list(answers)
    return True if True in found else None if None in found else False


def _negated(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def _combined(call: Call, value: LibraryObject) -> Filter | None:
    """Return ``Any``, ``All``, ``Not``, ``PathContains`` or ``OfType`` as a function."""
    name, args = value.fields["name"], as_items(value.fields["args"]) or ()
    assert isinstance(name, Const)
    if name.value in ("Everything", "Nothing"):
        return lambda path, variable: name.value == "Everything"
    if name.value == "PathContains":
        key = args[0]
        return (lambda path, variable: key.value in path) if isinstance(key, Const) else None
    parts = [filter_of(call, arg) for arg in args]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not known:
        return None
    if name.value == "Not":
        return lambda path, variable: _negated(known[0](path, variable))
    if name.value == "All":
        return lambda path, variable: _negated(_either(_negated(one(path, variable)) for one in known))
    return lambda path, variable: _either(one(path, variable) for one in known)


def _filter(call: Call) -> Value:
    if call.opaque or call.kwargs:
        return call.unknown("a filter")
    name = call.name.rpartition(".")[2]
    return LibraryObject(_FILTER, {"name": Const(name), "args": Tuple(tuple(call.args))}, call.place)


TABLE: dict[str, Callable[[Call], Value]] = {
    **{
        f"flax.nnx{module}.{name}": _filter
        for module in ("", ".filterlib")
        for name in ("Any", "All", "Not", "PathContains", "OfType", "Everything", "Nothing")
    },
}
