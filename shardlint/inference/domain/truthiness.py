"""Truth of abstract values."""

from __future__ import annotations

from shardlint.inference.domain.builtin_bases import seen_as
from shardlint.inference.domain.havoc import ITERATOR
from shardlint.inference.domain.iteration import VIEWS
from shardlint.inference.domain.values import (
    Alternatives,
    Array,
    Bound,
    ClassValue,
    Const,
    DictValue,
    Function,
    Instance,
    Integer,
    LibraryObject,
    ListValue,
    MeshValue,
    Native,
    SetValue,
    ShardingValue,
    Sized,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.laws.core import dims
from shardlint.laws.core.values import Unknown

#: Kinds that are always true.
_TRUE = frozenset({Function, Native, ClassValue, MeshValue, ShardingValue, Bound})


def truth(value: Value) -> bool | None:
    """Return whether a value is true, or None if undecided."""
    if isinstance(value, Instance):
        held = seen_as(value, "__bool__", "__len__")
        return None if held is value else truth(held)
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Integer):
        low = dims.lower_bound(value.dim)
        return True if low is not None and low > 0 else None
    if isinstance(value, Unknown):
        return bool(value.dim) if isinstance(value, Sized) and isinstance(value.dim, int) else None
    if isinstance(value, Tuple):
        return bool(value.items)
    if isinstance(value, Array):
        return None if value.numbers is None or value.shape else bool(value.numbers)
    if isinstance(value, Alternatives):
        outcomes = set(map(truth, value.options))
        return outcomes.pop() if len(outcomes) == 1 else None
    if isinstance(value, SpecValue):
        return bool(value.spec.entries)
    if isinstance(value, (ListValue, DictValue, SetValue)):
        return None if value.items is None else bool(value.items)
    if isinstance(value, ClassValue) and value.metaclass is not None:
        return None
    if isinstance(value, LibraryObject):
        return truth(value.fields["of"]) if value.kind in VIEWS else value.kind.startswith(ITERATOR) or None
    return True if type(value) in _TRUE else None
