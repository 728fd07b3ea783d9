"""Classes of the program: bases, fields, and attributes along the bases."""

from __future__ import annotations

from collections.abc import Iterator

from shardlint.inference.values import (
    Bound,
    ClassValue,
    External,
    Function,
    LibraryObject,
    Native,
    Value,
)


def lineage(cls: ClassValue) -> Iterator[Value]:
    """The class and its bases, depth first; enough where no diamond matters."""
    yield cls
    for base in cls.bases:
        if isinstance(base, ClassValue):
            yield from lineage(base)
        else:
            yield base


def library_bases(cls: ClassValue) -> frozenset[str]:
    """The canonical names of the library classes a class derives from."""
    return frozenset(base.name for base in lineage(cls) if isinstance(base, External))


def has_unknown_base(cls: ClassValue) -> bool:
    """Whether a base could define attributes that are not seen."""
    return any(not isinstance(base, ClassValue | External) for base in lineage(cls))


def class_attribute(cls: ClassValue, name: str) -> Value | None:
    """Return an attribute of a class or its bases, or None."""
    for base in lineage(cls):
        if isinstance(base, ClassValue) and name in base.attributes:
            return base.attributes[name]
    return None


def method_of(function: Value, receiver: Value, cls: ClassValue) -> Value:
    """Return what ``receiver.name`` is for a class attribute: functions become bound methods."""
    if isinstance(function, Function):
        return Bound(function, receiver)
    if isinstance(function, Native) and function.wraps is not None:
        return Bound(function, receiver)
    if isinstance(function, LibraryObject) and function.kind == "builtins.classmethod":
        return Bound(function.fields["function"], cls)
    if isinstance(function, LibraryObject) and function.kind == "builtins.staticmethod":
        return function.fields["function"]
    return function


def all_fields(cls: ClassValue) -> dict[str, Value | None]:
    """Annotated fields in order, those of the bases first."""
    fields: dict[str, Value | None] = {}
    for base in reversed([b for b in lineage(cls) if isinstance(b, ClassValue)]):
        fields.update(base.fields)
    return fields
