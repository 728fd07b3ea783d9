"""Joining what different paths computed: equal values stay, others become alternatives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shardlint.inference.values import (
    MAX_ALTERNATIVES,
    Alternatives,
    Array,
    DictValue,
    ListValue,
    Tuple,
    Value,
)
from shardlint.laws.dims import fresh
from shardlint.laws.values import Unknown


def options(value: Value) -> tuple[Value, ...]:
    """The values this may be."""
    return value.options if isinstance(value, Alternatives) else (value,)


def join(values: Iterable[Value]) -> Value:
    """Return the value that is one of these; Unknown swallows the others."""
    kept: list[Value] = []
    for value in values:
        for option in options(value):
            if isinstance(option, Unknown):
                return option
            if not any(same(option, other) for other in kept):
                kept.append(option)
    if not kept:
        return Unknown("no value")
    if len(kept) == 1:
        return kept[0]
    if len(kept) > MAX_ALTERNATIVES:
        return Unknown("too many possible values")
    return Alternatives(tuple(kept))


def same(a: Value, b: Value) -> bool:
    """Whether two values are known to be the same, looking into containers."""
    if a is b:
        return True
    if isinstance(a, ListValue) and isinstance(b, ListValue):
        return a.items is not None and b.items is not None and _all_same(a.items, b.items)
    if isinstance(a, DictValue) and isinstance(b, DictValue):
        return (
            a.items is not None
            and b.items is not None
            and list(a.items) == list(b.items)
            and _all_same(list(a.items.values()), list(b.items.values()))
        )
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return _all_same(a.items, b.items)
    # 1 == True == 1.0 in Python, but not here.
    return type(a) is type(b) and a == b and type(getattr(a, "value", 0)) is type(getattr(b, "value", 0))


def _all_same(a: Sequence[Value], b: Sequence[Value]) -> bool:
    return len(a) == len(b) and all(map(same, a, b))


def join_variables(states: Sequence[dict[str, Value]]) -> dict[str, Value]:
    """Join the variables of paths that meet. A name that some path lacks is unknown after it."""
    if len(states) == 1:
        return states[0]
    joined: dict[str, Value] = {}
    for name in dict.fromkeys(name for state in states for name in state):
        held = [state[name] for state in states if name in state]
        # A name that only some paths bind raises NameError on the others, so where it is used
        # the program took a path that bound it.
        joined[name] = held[0] if all(v is held[0] for v in held) else join(held)
    return joined


def widen(before: Value, after: Value) -> Value:
    """Return what a loop's variable may be, given its value before and after one iteration."""
    if same(before, after):
        return before
    if isinstance(before, Array) and isinstance(after, Array) and before.dtype == after.dtype:
        a, b = before.shape, after.shape
        if a is not None and b is not None and len(a) == len(b):
            dims = tuple(m if m == n else fresh() for m, n in zip(a, b, strict=True))
            return Array(dims, before.dtype, numpy=before.numpy, origin=before.origin)
        return Array(None, before.dtype, numpy=before.numpy, origin=before.origin)
    return Unknown("changes in a loop")
