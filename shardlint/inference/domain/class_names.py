"""Classes of values: what ``type(x)`` returns, and whether two classes, or their names, are the same."""

from __future__ import annotations

import builtins
import collections
import types
from dataclasses import field
from typing import Any

from shardlint.inference.domain.classes import has_unknown_base, library_bases
from shardlint.inference.domain.values import (
    Array,
    ClassValue,
    Const,
    DictValue,
    External,
    Instance,
    Integer,
    ListValue,
    MeshValue,
    SetValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.laws.core.values import Unknown
from shardlint.model.origins import plain_kind
from shardlint.support.lazy_dataclass import dataclass

_MODULES = {"builtins": builtins, "collections": collections, "types": types}
_OF_JAX = frozenset(
    f"jax.sharding.{name}" for name in ("AbstractMesh", "Mesh", "NamedSharding", "PartitionSpec")
)
#: Attributes that name a class.
NAMES = frozenset({"__name__", "__qualname__", "__module__"})
#: Names of classes of arrays and shardings, besides those of tracers and numpy's, which begin with a small
#: letter.
_CALLED = frozenset(
    "AbstractMesh Array ArrayImpl ConcreteArray DArray DeviceArray EArray GlobalDeviceArray KeyArray Literal "
    "MaskedArray MaskedConstant Mesh MutableArray NamedSharding P PRNGKeyArray PartitionSpec Ref "
    "ShapeDtypeStruct ShapedArray ShardedDeviceArray TypedComplex TypedFloat TypedInt TypedNdArray "
    "_DeviceArray".split()
)


@dataclass(frozen=True, slots=True)
class LibraryClass(Unknown):
    """A class of arrays or shardings, or what it is called: one of JAX's or numpy's, but not known which."""


@dataclass(frozen=True, slots=True)
class ModuleName(Unknown):
    """The name of an imported module of the program: ``name``, or its last parts."""

    name: str = field(kw_only=True)


#: Kinds of values that are compared as classes or their names.
NAMING = frozenset({LibraryClass, ClassValue, External, ModuleName})


def naming_of(cls: External, name: str) -> Value | None:
    """Return an attribute that names a class of Python's or JAX's; None if it is not known as a class."""
    kind = python_class(cls)
    if kind is not None:
        return Const(getattr(kind, name))
    return LibraryClass(f"`{cls.name}.{name}`") if cls.name in _OF_JAX else None


def module_name(run: Any) -> Const | ModuleName:
    """Return ``__name__`` in a module of the program."""
    return Const("__main__") if run.name == "__main__" else ModuleName("a module's name", name=run.name)


def class_of(value: Value) -> Value | None:
    """Return what ``type(value)`` is; None if it is not known."""
    if isinstance(value, Instance):
        return None if value.opaque else _written_class(value.cls)
    if isinstance(value, Tuple) and value.fields is not None:
        return value.cls
    if isinstance(value, Array):
        return LibraryClass("the class of an array")
    if isinstance(value, SpecValue):
        return External("jax.sharding.PartitionSpec")
    if isinstance(value, MeshValue):
        return External(f"jax.sharding.{'AbstractMesh' if value.mesh.abstract else 'Mesh'}")
    if isinstance(value, ShardingValue):
        return External("jax.sharding.NamedSharding")
    if (isinstance(value, DictValue) and value.kind != "dict") or (
        isinstance(value, ListValue) and value.kind == "deque"
    ):
        return External(f"collections.{value.kind}")
    kind = built_in_class(value)
    if kind is None:
        return None
    named = External(f"builtins.{kind.__name__}")
    return named if python_class(named) is kind else External(f"types.{kind.__name__}")


def _written_class(cls: ClassValue) -> Value:
    """Return a class of the program; of what stands for a library's class, that one."""
    of_library = cls.origin is None and cls.module is None and len(cls.bases) == 1
    return cls.bases[0] if of_library and isinstance(cls.bases[0], External) else cls


def built_in_class(value: Value) -> type | None:
    """Return the built-in class of a value; None if it is of another class."""
    if isinstance(value, DictValue) and value.kind != "dict":
        return None
    if isinstance(value, Const):
        return plain_kind(value.value)
    if isinstance(value, SetValue):
        return frozenset if value.frozen else set
    if isinstance(value, ListValue):
        return {"list": list, "range": range}.get(value.kind)
    classes: dict[type, type] = {Integer: int, Tuple: tuple, DictValue: dict}
    return classes.get(type(value))


def python_class(value: Value) -> type | None:
    """Return the class of Python's that a name stands for; None for any other value."""
    if not isinstance(value, External):
        return None
    module, _, name = value.name.partition(".")
    found = getattr(_MODULES.get(module), name, None)
    return found if isinstance(found, type) else None


def same_class(x: Value, y: Value) -> bool | None:
    """Return whether two values are the same class, or the same name of one; None if that is not known."""
    for one, other in ((x, y), (y, x)):
        if isinstance(one, LibraryClass):
            return False if _is_of_no_library(other) else None
        if isinstance(one, ModuleName):
            return _same_module(one, other)
        if isinstance(one, ClassValue) and _is_plain(one):
            if isinstance(other, ClassValue):
                # A class statement may run twice.
                alike = one.origin == other.origin or not _is_plain(other)
                return True if one is other else None if alike else False
            return False if isinstance(other, External) else None
    first, second = python_class(x), python_class(y)
    return None if first is None or second is None else first is second


def _is_plain(cls: ClassValue) -> bool:
    return cls.metaclass is None and not has_unknown_base(cls)


def _is_of_no_library(other: Value) -> bool:
    """Return whether a value is certainly no such class, and not the name or module of one."""
    if isinstance(other, Const):
        text = other.value
        named = isinstance(text, str) and (
            text[:1].islower() or text in _CALLED or text.endswith("Tracer") or "." in text
        )
        return not named
    if isinstance(other, ClassValue):
        return _is_plain(other) and library_bases(other) <= {"builtins.object"}
    return isinstance(other, ModuleName) or python_class(other) is not None


def _same_module(one: ModuleName, other: Value) -> bool | None:
    if isinstance(other, ModuleName):
        ends = [name.rpartition(".")[2] for name in (one.name, other.name)]
        return True if one.name == other.name else None if ends[0] == ends[1] else False
    if isinstance(other, Const):
        return False if other.value in ("__main__", *_MODULES) else None
    return None
