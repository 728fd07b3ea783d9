"""Classes of the program: bases, fields, and attributes along the bases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from shardlint.inference.domain.values import (
    Alternatives,
    Bound,
    ClassValue,
    External,
    Function,
    Instance,
    LibraryObject,
    Missing,
    Native,
    Value,
)
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator


def lineage(cls: ClassValue) -> tuple[Value, ...]:
    """Return the class and its bases in method resolution order; a library class counts as a single class."""
    if not cls.lineage:
        if len(cls.bases) == 1 and isinstance(base := cls.bases[0], ClassValue):
            cls.lineage = (cls, *lineage(base))
            return cls.lineage
        orders: list[list[Value]] = [
            list(lineage(base)) if isinstance(base, ClassValue) else [base] for base in cls.bases
        ]
        cls.lineage = (cls, *_merged([*orders, list(cls.bases)]))
    return cls.lineage


def _merged(orders: list[list[Value]]) -> Iterator[Value]:
    """Yield the merged orders of bases as Python does: a class comes before its own bases."""
    while orders := [order for order in orders if order]:
        # Python refuses bases without such a head; any order will do for them.
        heads = (order[0] for order in orders)
        head = next((h for h in heads if not any(h in order[1:] for order in orders)), orders[0][0])
        yield head
        orders = [[base for base in order if base != head] for order in orders]


def library_bases(cls: ClassValue) -> frozenset[str]:
    """Return the canonical names of the library classes that a class derives from."""
    order = lineage(cls)
    if cls.libraries is None or cls.libraries[0] is not order:
        cls.libraries = order, frozenset(base.name for base in order if isinstance(base, External))
    return cls.libraries[1]


def has_unknown_base(cls: ClassValue) -> bool:
    """Return whether the class or a base could define attributes that are not seen."""
    return any(
        base.opaque if isinstance(base, ClassValue) else not isinstance(base, External)
        for base in lineage(cls)
    )


def class_attribute(cls: ClassValue, name: str) -> Value | None:
    """Return an attribute of a class or its bases, or None; Unknown if an unknown base comes first."""
    return attribute_along(lineage(cls), name)


def attribute_along(bases: Iterable[Value], name: str) -> Value | None:
    """Return an attribute of the first of these classes that has it."""
    hidden = False
    for base in bases:
        if isinstance(base, ClassValue):
            hidden = hidden or base.opaque
            if name in base.attributes:
                return Unknown(f"an unknown base may define `{name}`") if hidden else base.attributes[name]
        elif not isinstance(base, External):
            hidden = True
    return None


#: Classes of Python's whose functions are methods of what derives from them.
_OF_CONTAINERS = (
    *(f"builtins.{name}." for name in "dict float frozenset int list set str tuple".split()),
    "collections.deque.",
    "omegaconf.DictConfig.",
)
#: Stands for any attribute name.
ANY = "*"


def may_change(cls: ClassValue, name: str) -> bool:
    """Return whether an attribute of a class, or of its objects, may change at any time."""
    volatile = cls.volatile
    return bool(volatile) and not volatile.isdisjoint((name, ANY, "__dict__"))


def method_of(function: Value, receiver: Value, cls: ClassValue) -> Value:
    """Return ``receiver.name`` for a class attribute: functions become bound methods."""
    if isinstance(function, Function) or _is_method(function):
        return Bound(function, receiver)
    if isinstance(function, Native) and function.wraps is not None:
        return Bound(function, receiver)
    if isinstance(function, LibraryObject) and function.kind == "builtins.classmethod":
        return Bound(function.fields["function"], cls)
    if isinstance(function, LibraryObject) and function.kind == "builtins.staticmethod":
        return function.fields["function"]
    return function


def _is_method(function: Value) -> bool:
    """Return whether a class attribute is a method of one of Python's classes: ``dict.__getitem__``."""
    return isinstance(function, External) and function.name.startswith(_OF_CONTAINERS)


def special_method(receiver: Instance, name: str) -> Value | None:
    """Return the method that Python calls for an operator: the class's, not one stored in the object.

    None if the class has none, Unknown if that cannot be decided.
    """
    found = class_attribute(receiver.cls, name)
    if found is None:
        return Unknown(f"`{name}` may be defined unseen") if has_unknown_base(receiver.cls) else None
    return method_of(found, receiver, receiver.cls)


def operator_method(interpreter: Evaluator, receiver: Instance, name: str, place: Place) -> Value:
    """Return the method that Python calls for an operator, including one inherited from a library."""
    return special_method(receiver, name) or interpreter.attribute(receiver, name, place)


def all_fields(cls: ClassValue) -> dict[str, Value | None]:
    """Return the annotated fields in order, those of the bases first."""
    fields: dict[str, Value | None] = {}
    plain = not any(isinstance(b, ClassValue) and b.dataclass for b in lineage(cls))
    for base in reversed([b for b in lineage(cls) if isinstance(b, ClassValue) and (plain or b.dataclass)]):
        fields.update(base.fields)
    return fields


@dataclass(frozen=True, slots=True)
class PerhapsMissing(Unknown):
    """An attribute that is set, or deleted, on some paths only."""


def is_missing(found: Value, receiver: Value) -> bool:
    """Return whether reading an attribute, with this result, certainly raises AttributeError."""
    if not isinstance(found, Missing):
        return False
    options = receiver.options if isinstance(receiver, Alternatives) else (receiver,)
    return not any(isinstance(option, Instance) and option.opaque for option in options)


#: Bases whose instances have only the attributes that the class itself sets.
PLAIN_BASES = frozenset(
    {
        "builtins.object",
        "typing.Protocol",
        "typing.Generic",
        "abc.ABC",
        "typing.NamedTuple",
        "builtins.Exception",
        "flax.struct.dataclass",
        "chex.dataclass",
    }
)
