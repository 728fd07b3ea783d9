"""Frozen classes whose objects are made, and changed, very often."""

from __future__ import annotations

from dataclasses import field
from typing import Any, TypeVar, dataclass_transform

from shardlint.records import dataclass

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(kind: type[T]) -> type[T]:
    """A frozen dataclass with slots whose objects cost half to make.

    Only type checkers see to it that nobody sets a field: dataclasses pay for that with every field of every
    object they make.
    """
    return dataclass(slots=True, unsafe_hash=True)(kind)


def altered(one: T, **changes: Any) -> T:
    """The same object but for some fields; `dataclasses.replace` asks each field how it is made."""
    made, set_part = object.__new__(type(one)), object.__setattr__
    for name in one.__dataclass_fields__:  # type: ignore[attr-defined]
        set_part(made, name, changes[name] if name in changes else getattr(one, name))
    return made
