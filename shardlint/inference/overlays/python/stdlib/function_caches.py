"""`functools.cache` and `functools.lru_cache`: the body runs once for equal arguments."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import nullcontext

from shardlint.inference.domain.classes import class_attribute, has_unknown_base, library_bases, lineage
from shardlint.inference.domain.iteration import hashable
from shardlint.inference.domain.kinds import is_steady
from shardlint.inference.domain.lattice import join
from shardlint.inference.domain.values import (
    NONE,
    ClassValue,
    Const,
    DictValue,
    External,
    Instance,
    Native,
    Tuple,
    Value,
    as_int,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.store.effect_log import changing, lose
from shardlint.laws.core.values import Unknown


class _Results:
    """Results of a cached function: ``known`` of calls that were certainly made, ``perhaps`` of others.

    Both are None after a call that may or may not equal others.
    """

    def __init__(self, function: Value, most: int | None, path: tuple[int, ...]) -> None:
        self._function, self._most, self._path = function, most, path
        self._known, self._perhaps = DictValue({}, path=path), DictValue({}, path=path)

    def call(self, call: Call) -> Value:
        """Return the result of an equal call, or run the function."""
        interpreter = call.interpreter
        interpreter.note_contents(self._known)
        interpreter.note_contents(self._perhaps)
        known, perhaps = self._known.items, self._perhaps.items
        key = None if call.opaque else _key(call)
        if known is None or perhaps is None or key is None or _differs_in_types(key, (*known, *perhaps)):
            first = known == {} == perhaps
            self._havoc()
            with nullcontext() if first else interpreter.forked(guards=False):
                return self._run(call)
        if key in known:
            return known[key]
        if not interpreter.certain(self._path):
            found = self._run(call)
            if self._is_as_good(found):
                return found
            changing(self._perhaps)
            perhaps[key] = join([perhaps[key], found]) if key in perhaps else found
            return found
        if key in perhaps:
            with interpreter.forked(guards=False):
                found = join([perhaps[key], self._run(call)])
        else:
            found = self._run(call)
        if self._known.items is not None and not self._is_as_good(found):
            changing(self._known)
            self._known.items[key] = found
            if self._most is not None and len(self._known.items) >= self._most:
                self._havoc()
        return found

    def _run(self, call: Call) -> Value:
        return call.interpreter.call(
            self._function, call.args, call.kwargs, call.place, call.opaque, call.arg_places
        )

    def _is_as_good(self, found: Value) -> bool:
        """Return whether a result need not be kept: a library makes another one that nothing can tell
        apart."""
        return isinstance(self._function, External) and is_steady(found)

    def _havoc(self) -> None:
        for results in (self._known, self._perhaps):
            if results.items is not None:
                lose(results)

    def clear(self, call: Call) -> Value:
        """``f.cache_clear()``."""
        certain = call.interpreter.certain(self._path)
        for results in (self._known, self._perhaps):
            changing(results)
            results.items = {} if certain else None
        return NONE


def _key(call: Call) -> Hashable | None:
    """Return a key that equal calls share, with the types of the arguments; None if equality is unknown."""
    parts = [_part(value) for value in (*call.args, *call.kwargs.values())]
    if any(part is None for part in parts):
        return None
    given = len(call.args)
    values = [part[0] for part in parts if part is not None]
    kinds = tuple(part[1] for part in parts if part is not None)
    return (tuple(values[:given]), tuple(zip(call.kwargs, values[given:], strict=True))), kinds


def _part(value: Value) -> tuple[Hashable, Hashable] | None:
    """Return an argument as a part of a key, and its type."""
    if isinstance(value, Tuple):
        parts = [_part(item) for item in value.items]
        if any(part is None for part in parts):
            return None
        return tuple(part[0] for part in parts if part), tuple(part[1] for part in parts if part)
    if isinstance(value, Instance) and _is_itself(value.cls):
        return value, "an object"
    if isinstance(value, External):
        return (External, value.name), External
    found, key = hashable(value)
    return (key, type(key)) if found else None


def _is_itself(cls: ClassValue) -> bool:
    """Return whether objects of a class are equal only to themselves."""
    if has_unknown_base(cls) or library_bases(cls) - {"builtins.object"} or cls.members is not None:
        return False
    if any(isinstance(base, ClassValue) and base.dataclass for base in lineage(cls)):
        return False
    return class_attribute(cls, "__eq__") is None and class_attribute(cls, "__hash__") is None


def _differs_in_types(key: Hashable, others: tuple[Hashable, ...]) -> bool:
    """Return whether another call had equal arguments of other types (1, 1.0, True)."""
    return any(other != key and other[0] == key[0] for other in others)  # type: ignore[index]


def _cached(call: Call, function: Value, most: int | None) -> Value:
    results = _Results(function, most, call.interpreter.path)
    cleared: dict[str, Value] = {"cache_clear": Native("cache_clear", results.clear)}
    return Native("a cached function", results.call, function, call.place, cleared)


def _cache(call: Call) -> Value:
    (function,) = call.bind("user_function")
    return Unknown("functools.cache") if function is None else _cached(call, function, None)


def _lru_cache(call: Call) -> Value:
    """``@lru_cache``, plain or with options."""
    if len(call.args) == 1 and not call.kwargs and not isinstance(call.args[0], Const):
        return _cached(call, call.args[0], 128)
    size, _ = call.bind(maxsize=Const(128), typed=Const(False))
    most = None if size is not None and is_none(size) else (as_int(size) or 0)

    def decorate(inner: Call) -> Value:
        (function,) = inner.bind("user_function")
        return Unknown("functools.lru_cache") if function is None else _cached(inner, function, most)

    return Native("functools.lru_cache", decorate)


TABLE: dict[str, Callable[[Call], Value]] = {
    "functools.cache": _cache,
    "functools.lru_cache": _lru_cache,
}
