"""`property` and `functools.cached_property`."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import LibraryObject, Value, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.descriptors import PROPERTY, new_cached, new_property
from shardlint.laws.core.values import Unknown

#: The keywords of `property`, by the name of the method that replaces them.
_PARTS = {"getter": "function", "setter": "setter", "deleter": "deleter"}


def _property(call: Call) -> Value:
    get, write, delete, _ = call.bind(fget=None, fset=None, fdel=None, doc=None)
    given = {"setter": write, "deleter": delete}
    others = {name: value for name, value in given.items() if value is not None and not is_none(value)}
    return new_property(Unknown("a property that cannot be read") if get is None else get, **others)


def _changed(part: str) -> Callable[[Call], Value]:
    """Return the method ``x.setter(function)``, which makes another property with this part replaced."""

    def change(call: Call) -> Value:
        before, function = call.bind("self", "function")
        if not isinstance(before, LibraryObject) or function is None:
            return Unknown("a property")
        return LibraryObject(PROPERTY, {**before.fields, part: function})

    return change


def _cached_property(call: Call) -> Value:
    (function,) = call.bind("func")
    return Unknown("functools.cached_property") if function is None else new_cached(function)


def _attribute(value: LibraryObject, name: str) -> Value | None:
    return value.fields.get("function") if name == "fget" else None


TABLE: dict[str, Callable[[Call], Value]] = {
    **dict.fromkeys(("builtins.property", "enum.property", "types.DynamicClassAttribute"), _property),
    "functools.cached_property": _cached_property,
}
ATTRIBUTES: dict[str, Callable[[LibraryObject, str], Value | None]] = {PROPERTY: _attribute}
METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {
    (PROPERTY, name): _changed(part) for name, part in _PARTS.items()
}
