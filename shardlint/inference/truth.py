"""Whether a value counts as true."""

from __future__ import annotations

from shardlint.inference.joins import options
from shardlint.inference.values import (
    Bound,
    ClassValue,
    Const,
    DictValue,
    Function,
    Integer,
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
from shardlint.laws import dims


def truth(value: Value) -> bool | None:
    """Whether a value counts as true, or None when it is not known."""
    outcomes = {_truth(option) for option in options(value)}
    return outcomes.pop() if len(outcomes) == 1 else None


def _truth(value: Value) -> bool | None:
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Integer):
        low = dims.lower_bound(value.dim)
        return True if low is not None and low > 0 else None
    if isinstance(value, Sized):
        return bool(value.dim) if isinstance(value.dim, int) else None
    if isinstance(value, Tuple):
        return bool(value.items)
    if isinstance(value, SpecValue):
        return bool(value.spec.entries)
    if isinstance(value, ListValue | DictValue | SetValue):
        return None if value.items is None else bool(value.items)
    if isinstance(value, Function | Native | ClassValue | MeshValue | ShardingValue | Bound):
        return True
    return None
