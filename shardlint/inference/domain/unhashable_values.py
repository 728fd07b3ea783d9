"""Values that have no hash in Python."""

from __future__ import annotations

from shardlint.inference.domain.classes import all_fields, lineage
from shardlint.inference.domain.values import (
    NONE,
    Array,
    ClassValue,
    DictValue,
    External,
    Instance,
    LibraryObject,
    ListValue,
    SetValue,
    Tuple,
    Value,
    is_none,
)

#: The ``__hash__`` that `dataclasses.dataclass` makes of all fields.
HASH_OF_FIELDS = External("dataclasses.dataclass.__hash__")
_LISTS = ("list", "deque")
_DICTS = ("dict", "OrderedDict", "defaultdict", "Counter")


def unhashable(value: Value) -> str | None:
    """Return in words what a value is, or holds, if it certainly has no hash (CPython 3.11 to 3.13)."""
    match value:
        case ListValue(kind=kind) if kind in _LISTS:
            return f"a {kind}"
        case DictValue(kind=kind) if kind in _DICTS:
            return f"a {kind}" if kind[0] != "O" else f"an {kind}"
        case SetValue(frozen=False):
            return "a set"
        case Array(shape=tuple(shape), struct=False, numpy=numpy) if shape or not numpy:
            # A scalar of numpy has a hash.
            return "a numpy array" if numpy else "a JAX array"
        case Tuple():
            found = next((what for what in map(unhashable, value.items) if what is not None), None)
            return None if found is None else f"a tuple with {found}"
        case Instance() if not value.forgotten:
            return _object(value)
    return None


def _object(value: Instance) -> str | None:
    found, name = _hash_of(value.cls), value.cls.name
    if found is not None and is_none(found):
        if value.cls.dataclass:
            return f"an object of the dataclass `{name}`, which is not frozen"
        return f"an object of the class `{name}`, which has `__eq__` and no `__hash__`"
    if found != HASH_OF_FIELDS:
        return None
    for field, default in all_fields(value.cls).items():
        # `dataclasses.field` may leave a field out.
        if isinstance(default, LibraryObject) and default.fields.keys() & {"compare", "hash"}:
            continue
        held = value.attributes.get(field)
        if held is not None and (what := unhashable(held)) is not None:
            return f"an object of the class `{value.cls.name}`, which holds {what} as `{field}`"
    return None


def _hash_of(cls: ClassValue) -> Value | None:
    """Return the ``__hash__`` of a class; None if it is not known, or the usual one. A class that defines
    ``__eq__`` alone gets the value None."""
    if cls.metaclass is not None or cls.members is not None or cls.opaque:
        return None
    for base in lineage(cls):
        if not isinstance(base, ClassValue) or base.volatile & {"__eq__", "__hash__"}:
            return None
        if "__hash__" in base.attributes:
            return base.attributes["__hash__"]
        if "__eq__" in base.attributes:
            return NONE
    return None
