"""Classes of the program that derive from one of Python's: their objects also are a dict, list or text.

An object holds that value in an attribute that no program can name, so it changes, is forgotten and copied
with the object.
"""

from __future__ import annotations

import collections

from shardlint.inference.domain.classes import PLAIN_BASES, has_unknown_base, library_bases, lineage
from shardlint.inference.domain.values import (
    ClassValue,
    Const,
    DictValue,
    Instance,
    ListValue,
    SetValue,
    Value,
)
from shardlint.laws.core.values import Unknown
from shardlint.model.origins import plain_kind

#: Python's classes whose objects hold a value.
HOLDERS: dict[str, type] = {
    "builtins.dict": dict,
    "builtins.float": float,
    "builtins.frozenset": frozenset,
    "builtins.int": int,
    "builtins.list": list,
    "builtins.set": set,
    "builtins.str": str,
    "builtins.tuple": tuple,
    "collections.OrderedDict": collections.OrderedDict,
    "collections.defaultdict": collections.defaultdict,
    "collections.deque": collections.deque,
    "omegaconf.DictConfig": dict,
    "omegaconf.ListConfig": list,
}
#: Those of them that behave like a class of Python's without deriving from it.
ALIKE = frozenset({"omegaconf.DictConfig", "omegaconf.ListConfig"})
#: Library classes whose instances behave like their value.
_MIXED = frozenset({"builtins.str", "builtins.int", "enum.StrEnum", "enum.IntEnum", "enum.IntFlag"})
_COMPARING = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"})
#: Methods of texts and numbers that a class may override.
_OF_VALUES = _COMPARING | {
    name for kind in (str, int) for name in dir(kind) if name[:2] == "__" and name not in dir(object)
}
#: Methods of Python's classes, and those of them that do not read an object.
_CHANGING = frozenset(
    "__init__ __new__ __class_getitem__ __getnewargs__ __sizeof__ __setitem__ __delitem__ append clear copy "
    "extend fromkeys insert pop popitem remove reverse setdefault sort update add discard difference_update "
    "intersection_update symmetric_difference_update appendleft extendleft popleft rotate".split()
)
_OPERATORS = frozenset(
    f"__{side}{name}__"
    for side in ("", "r")
    for name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
) | {"__bool__", "__str__", "__repr__", "__format__"}
_READING = {
    name: _COMPARING | _OPERATORS | {one for one in dir(kind) if one not in dir(object)} - _CHANGING
    for name, kind in HOLDERS.items()
}
#: The methods by which functions take over what a mapping holds.
MAPPING = ("__iter__", "__getitem__", "keys")
#: The attribute of an object with the value that it also is.
HELD = "(value)"


def holder(cls: ClassValue) -> str | None:
    """Return the name of Python's class from which a class derives, if its objects are followed."""
    bases = library_bases(cls)
    found = bases & HOLDERS.keys()
    if not found or cls.members is not None or has_unknown_base(cls) or bases - found - PLAIN_BASES:
        return None
    return next(iter(found)) if len(found) == 1 else None


def held_value(value: Value) -> Value | None:
    """Return the value that an object of the program's class also is; None if it is no such object."""
    if not isinstance(value, Instance) or holder(value.cls) is None:
        return None
    return value.attributes.get(HELD) or Unknown(f"what a `{value.cls.name}` holds")


def holds_items(value: Value) -> bool:
    """Return whether an object of the program's class is a list or dict."""
    return isinstance(value, Instance) and isinstance(held_value(value), ListValue | DictValue)


def seen_as(value: Value, *methods: str) -> Value:
    """Return the value that an object also is, if its class overrides none of these methods; else itself."""
    held = held_value(value)
    return value if held is None or _overrides(value, frozenset(methods)) else held


def mixed_in_value(value: Value) -> Value | None:
    """Return the value that an object also is and behaves like, such as a member of an enumeration; None for
    other values."""
    if not isinstance(value, Instance):
        return None
    if value.cls.members is not None:
        if not library_bases(value.cls) & _MIXED:
            return None
        if not _OF_VALUES.isdisjoint(value.cls.attributes):
            return Unknown(f"a member of `{value.cls.name}`, which does as it likes")
        return value.attributes.get("_value_") or Unknown("the value of a member")
    name = holder(value.cls)
    return None if name is None or _overrides(value, _READING[name]) else held_value(value)


def _overrides(value: Value, methods: frozenset[str]) -> bool:
    return isinstance(value, Instance) and any(
        not methods.isdisjoint(base.attributes) for base in lineage(value.cls) if isinstance(base, ClassValue)
    )


def answers_first(left: Value, right: Value) -> bool:
    """Return whether Python asks the left operand, and no method of the right one, whose class derives from
    another class that the left one knows: a set beside a frozenset, a float beside an int."""
    name = holder(right.cls) if isinstance(right, Instance) else None
    if isinstance(left, SetValue):
        return name == ("builtins.set" if left.frozen else "builtins.frozenset")
    number = plain_kind(left.value) if isinstance(left, Const) else None
    return number is float and name == "builtins.int"
