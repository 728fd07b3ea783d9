"""Kinds of values: mutable ones, and immutable ones that can be rebuilt with other parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from shardlint.inference.domain.lattice import Perhaps
from shardlint.inference.domain.unknown_choices import Choice
from shardlint.inference.domain.values import (
    Alternatives,
    Array,
    Bound,
    Const,
    Devices,
    DictValue,
    External,
    Generated,
    Instance,
    Integer,
    LibraryObject,
    ListValue,
    MeshValue,
    Missing,
    Native,
    Partial,
    SetValue,
    ShardingValue,
    Sized,
    Slice,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.inference.store.effect_log import STEADY
from shardlint.laws.core.values import Unknown
from shardlint.model.origins import plain_kind

#: Mutable objects.
CHANGING = (ListValue, DictValue, SetValue, Instance, LibraryObject)
#: Immutable values that can be rebuilt with other parts.
FROZEN = (
    Alternatives, Array, Bound, Choice, Const, Devices, External, Generated, Integer, MeshValue, Missing,
    Partial, Perhaps, ShardingValue, Sized, Slice, SpecValue, Tuple, Unknown,
)  # fmt: skip
_LEFT_OUT = {"born", "drawn", "path", "reason", "code", "scope"}


def parts_of(kind: type) -> tuple[str, ...]:
    """Return the fields of a class of values that determine the value."""
    return tuple(one.name for one in fields(kind) if one.name not in _LEFT_OUT)


def reader_of(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that returns the attributes of these names as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def kind_name(constant: Const) -> str:
    """Return the name of a constant's Python class; a text is a str wherever it is written."""
    return plain_kind(constant.value).__name__


def is_steady(value: Value) -> bool:
    """Return whether a callable holds nothing of the program, and so stands for each that an equal call
    makes: which of them it is, is not known."""
    return type(value) is Native and value.born == STEADY


#: The kind of an object that stands for an empty dict (`flax.traverse_util.empty_node`).
EMPTY_NODE = "flax.traverse_util._EmptyNode"


def told_apart(one: Value, other: Value) -> bool:
    """Return whether one of two values is an object of which there is one, and the other is none of its
    kind."""
    found = [isinstance(value, LibraryObject) and value.kind == EMPTY_NODE for value in (one, other)]
    return any(found) and not all(isinstance(value, External | LibraryObject) for value in (one, other))
