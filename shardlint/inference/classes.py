"""Classes of the program: looking up attributes along bases, and making instances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shardlint.inference.calls import Call
from shardlint.inference.values import (
    Bound,
    ClassValue,
    External,
    Function,
    Instance,
    LibraryObject,
    Native,
    Tuple,
    Value,
)
from shardlint.laws.values import Unknown

if TYPE_CHECKING:
    from shardlint.inference.evaluator import Evaluator

#: Bases whose instances hold nothing but what the class itself sets.
_PLAIN_BASES = frozenset(
    {
        "builtins.object",
        "typing.Protocol",
        "typing.Generic",
        "abc.ABC",
        "typing.NamedTuple",
        "builtins.Exception",
    }
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


def is_dataclass(cls: ClassValue) -> bool:
    """Whether calling the class fills its annotated fields."""
    from shardlint.inference.overlays import FIELD_BASES

    declared = any(isinstance(base, ClassValue) and base.dataclass for base in lineage(cls))
    return declared or bool(library_bases(cls) & FIELD_BASES)


def instantiate(interpreter: Evaluator, call: Call, cls: ClassValue) -> Value:
    """Evaluate ``cls(...)`` and tell the overlays of its library bases."""
    from shardlint.inference.overlays import created

    instance = _instantiate(interpreter, call, cls)
    if isinstance(instance, Instance):
        created(interpreter, instance, library_bases(cls))
    return instance


def _instantiate(interpreter: Evaluator, call: Call, cls: ClassValue) -> Value:
    from shardlint.inference.overlays import TRANSPARENT_BASES

    bases = library_bases(cls)
    if "enum.Enum" in bases or "builtins.type" in bases or class_attribute(cls, "__new__") is not None:
        return Unknown(f"an instance of `{cls.name}`")
    opaque = has_unknown_base(cls) or not bases <= (_PLAIN_BASES | TRANSPARENT_BASES)
    instance = Instance(cls, {}, opaque, call.place, interpreter.path)
    init = class_attribute(cls, "__init__")
    if init is not None:
        interpreter.call(Bound(init, instance), list(call.args), call.kwargs, call.place)
        if call.opaque:
            instance.opaque = True
        return instance
    if is_dataclass(cls):
        return _fill_fields(interpreter, call, cls, instance)
    if "typing.NamedTuple" in bases:
        filled = _fill_fields(interpreter, call, cls, instance)
        if isinstance(filled, Instance) and not filled.opaque:
            return Tuple(tuple(filled.attributes.values()), call.place, tuple(filled.attributes))
        return filled
    if call.args or call.kwargs:
        instance.opaque = True
    return instance


def _fill_fields(interpreter: Evaluator, call: Call, cls: ClassValue, instance: Instance) -> Value:
    """Bind constructor arguments to dataclass fields, then run ``__post_init__``."""
    from shardlint.inference.overlays.py_dataclasses import field_default

    fields = all_fields(cls)
    names = list(fields)
    given = dict(zip(names, call.args, strict=False)) | call.kwargs
    for name in names:
        default = fields[name]
        if name in given:
            instance.attributes[name] = given[name]
        elif call.opaque:
            instance.attributes[name] = Unknown("starred arguments")
        elif default is not None:
            instance.attributes[name] = field_default(interpreter, default, call.place)
        else:
            instance.attributes[name] = Unknown(f"`{name}` is not given")
    for name in given.keys() - set(names):
        instance.attributes[name] = given[name]
    post = class_attribute(cls, "__post_init__")
    if post is not None:
        interpreter.call(Bound(post, instance), [], {}, call.place)
    return instance


def entry_instance(interpreter: Evaluator, cls: ClassValue) -> Instance:
    """An instance about which only the class itself is known: ``self`` of a method nobody calls."""
    unknown: dict[str, Value] = {
        name: Unknown(f"`self.{name}` is set by the caller") for name in all_fields(cls) if is_dataclass(cls)
    }
    return Instance(cls, unknown, opaque=True, path=interpreter.path)
