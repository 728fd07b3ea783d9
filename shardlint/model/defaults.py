"""Values that stand in the program as defaults: of its command line, or of an environment variable.

A run may be given others. They are plain numbers and texts that remember which default they come from, and so
are the results of arithmetic with them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from shardlint.model.spans import Place, Written
from shardlint.model.told_sizes import ToldSize
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Default:
    """A default in the words of the command line (``--rows=7``, ``ROWS=7``), and where it is written."""

    text: str
    place: Place


Defaults = tuple[Default, ...]
#: What facts about defaults begin with.
BY_DEFAULT = "by default, "


class DefaultInt(int):
    """An integer that comes from defaults."""

    of: Defaults


class DefaultFloat(float):
    """A number that comes from defaults."""

    of: Defaults


class DefaultText(Written):
    """A text that comes from defaults."""

    __slots__ = ("of",)
    of: Defaults

    def __add__(self, other: str) -> str:
        made: str = carrying(str(self) + other, defaults_of(self, other))
        return made

    def __radd__(self, other: str) -> str:
        made: str = carrying(other + str(self), self.of)
        return made


_CARRYING = (DefaultInt, DefaultFloat, DefaultText)


def carrying(value: Any, of: Defaults) -> Any:
    """Return a number or text that remembers defaults; any other value as it is."""
    if not of or isinstance(value, bool):
        return value
    made: Any
    if isinstance(value, int):
        made = DefaultInt(value)
    elif isinstance(value, float):
        made = DefaultFloat(value)
    elif isinstance(value, str):
        made = DefaultText(value, getattr(value, "place", of[0].place))
    else:
        return value
    made.of = of
    return made


def defaults_of(*values: Any) -> Defaults:
    """Return the defaults that plain values come from."""
    return tuple(dict.fromkeys(one for value in values if isinstance(value, _CARRYING) for one in value.of))


def plain_kind(value: object) -> type:
    """Return the Python class of a value, which may remember more than others of that class."""
    if isinstance(value, str):
        return str
    return type(value).__mro__[1] if isinstance(value, DefaultInt | DefaultFloat | ToldSize) else type(value)


def _operator(kind: type, name: str) -> Callable[..., Any]:
    plain = getattr(kind, name)

    def operator(self: Any, *others: Any) -> Any:
        result = plain(self, *others)
        return result if result is NotImplemented else carrying(result, defaults_of(self, *others))

    return operator


_OPERATORS = (
    "add sub mul truediv floordiv mod pow radd rsub rmul rtruediv rfloordiv rmod rpow neg pos abs".split()
)
for _kind in (int, float):
    for _name in _OPERATORS:
        setattr(
            DefaultInt if _kind is int else DefaultFloat, f"__{_name}__", _operator(_kind, f"__{_name}__")
        )

#: The modules of records that hold a program's values (places hold none), and how deep they are nested.
_HOLDING, _DEEPEST = ("shardlint.laws.", "shardlint.model.uses"), 8


def defaults_in(record: Any) -> Defaults:
    """Return the defaults that the values in a record come from, in order."""
    return tuple(dict.fromkeys(_found(record, _DEEPEST)))


def _found(value: Any, deepest: int) -> Iterator[Default]:
    if isinstance(value, _CARRYING):
        yield from value.of
    elif not deepest or isinstance(value, str | int | float):
        return
    elif isinstance(value, tuple | list | frozenset):
        for item in value:
            yield from _found(item, deepest - 1)
    elif dataclasses.is_dataclass(value) and type(value).__module__.startswith(_HOLDING):
        for field in dataclasses.fields(value):
            if field.name != "facts":
                yield from _found(getattr(value, field.name), deepest - 1)
