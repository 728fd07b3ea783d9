"""Dataclasses whose methods are compiled when they are first called.

`dataclasses.dataclass` compiles up to six methods of a class while its module is imported, which takes half
a millisecond. A start of ours makes two hundred classes, and calls few of these methods. With these, the
import of `shardlint.api` and of all rules takes 72 ms; with the standard library's, 126 ms.

Use it for every dataclass of the package.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import cache
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "replace"]


def _dataclass(
    *,
    slots: bool,
    frozen: bool = False,
    eq: bool = True,
    repr: bool = True,
    unsafe_hash: bool = False,
    kw_only: bool = False,
) -> Callable[[type], type]:
    """Behave as `dataclasses.dataclass`, for the arguments listed here."""
    assert slots, "frozen objects are made with the setters of their slots"

    def made(kind: type) -> type:
        assert not hasattr(kind, "__post_init__"), "it would not be called"
        written = {name for name, one in vars(kind).items() if one is not None}
        # For a class without a docstring, dataclasses would compile the signature to use it as one.
        kind.__doc__ = kind.__doc__ or kind.__name__
        kind = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(kind)
        compiled = {"__init__": _frozen_init if frozen else _init}
        shared: dict[str, Any] = {"__repr__": _repr} if repr else {}
        if frozen:
            shared |= {"__setattr__": _set, "__delattr__": _delete}
            shared |= {"__getstate__": _state, "__setstate__": _restore}
        if eq:
            compiled["__eq__"] = _eq
            shared["__hash__"] = None
        if eq and (frozen or unsafe_hash):
            compiled["__hash__"] = _hash
        methods = shared | {name: _Uncompiled(kind, name, text_of) for name, text_of in compiled.items()}
        for name in methods.keys() - written:
            setattr(kind, name, methods[name])
        return kind

    return made


if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:
    dataclass = _dataclass

    def replace(one: Any, /, **changes: Any) -> Any:
        """Return a copy with other values of some fields, as `dataclasses.replace` does, at half its cost."""
        kind = type(one)
        places, get, by_name = _layout(kind)
        values = list(get(one))
        for name in tuple(changes):
            if name in places:
                values[places[name]] = changes.pop(name)
        for name in by_name:
            changes.setdefault(name, getattr(one, name))
        return kind(*values, **changes)


@cache
def _layout(kind: type) -> tuple[dict[str, int], Callable[[Any], tuple[Any, ...]], tuple[str, ...]]:
    """Return the numbers of the fields that a constructor takes by position, a function that reads these, and
    the names of those that it takes by name only."""
    given = [one for one in fields(kind) if one.init]
    names = [one.name for one in given if not one.kw_only]
    read = attrgetter(*names) if len(names) > 1 else lambda one: tuple(getattr(one, name) for name in names)
    by_name = tuple(one.name for one in given if one.kw_only)
    return {name: number for number, name in enumerate(names)}, read, by_name


class _Uncompiled:
    """A descriptor that compiles a method when it is first looked up, and replaces itself with it."""

    __slots__ = ("_kind", "_name", "_text_of")

    def __init__(self, kind: type, name: str, text_of: Callable[[type, dict[str, Any]], str]) -> None:
        self._kind, self._name, self._text_of = kind, name, text_of

    def __get__(self, one: object, kind: type | None = None) -> Any:
        names: dict[str, Any] = {"__name__": self._kind.__module__}
        exec(f"def {self._name}{self._text_of(self._kind, names)}", names)
        method = names[self._name]
        method.__qualname__ = f"{self._kind.__qualname__}.{self._name}"
        setattr(self._kind, self._name, method)
        return method.__get__(one, kind)


def _init(kind: type, names: dict[str, Any]) -> str:
    return _init_that_sets("self.{name} = {value}", fields(kind), names)


def _frozen_init(kind: type, names: dict[str, Any]) -> str:
    names |= {f"_set_{one.name}": getattr(kind, one.name).__set__ for one in fields(kind)}
    return _init_that_sets("_set_{name}(self, {value})", fields(kind), names)


def _init_that_sets(setting: str, parts: Iterable[Field[Any]], names: dict[str, Any]) -> str:
    """Return the parameters and the body of a constructor; add the values of free names to ``names``."""
    parameters: list[str] = []
    by_name: list[str] = []
    body = ["pass"]
    for one in parts:
        name, default, value = one.name, "", one.name
        if one.default_factory is not MISSING:
            names |= {"_MISSING": MISSING, f"_make_{name}": one.default_factory}
            default, value = "=_MISSING", f"_make_{name}()"
            if one.init:
                value += f" if {name} is _MISSING else {name}"
        elif one.default is not MISSING:
            names[f"_default_{name}"] = one.default
            default = f"=_default_{name}"
        if one.init:
            (by_name if one.kw_only else parameters).append(name + default)
        body.append(setting.format(name=name, value=value))
    star = ["*"] if by_name else []
    return f"({', '.join(['self', *parameters, *star, *by_name])}):\n " + "\n ".join(body)


def _eq(kind: type, names: dict[str, Any]) -> str:
    compared = [one.name for one in fields(kind) if one.compare]
    same = f"{_tuple('self', compared)} == {_tuple('other', compared)}"
    return f"(self, other): return {same} if other.__class__ is self.__class__ else NotImplemented"


def _hash(kind: type, names: dict[str, Any]) -> str:
    hashed = [one.name for one in fields(kind) if (one.compare if one.hash is None else one.hash)]
    return f"(self): return hash({_tuple('self', hashed)})"


def _tuple(of: str, names: Iterable[str]) -> str:
    return f"({''.join(f'{of}.{name}, ' for name in names)})"


@recursive_repr("...")
def _repr(self: Any) -> str:
    parts = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(parts)})"


def _set(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)
