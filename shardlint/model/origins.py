"""Numbers and texts that remember where they come from: findings that rest on them say so.

An origin is a default in the program, of its command line or of an environment variable, which a run may
replace; or an answer of JAX, which was asked for the shapes that a call returns. Such a number or text is
otherwise like any other, and results of arithmetic with it remember the same origins.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from shardlint.model.spans import Place, Written
from shardlint.model.uses import Fact
from shardlint.support.lazy_dataclass import dataclass

#: The suffixes of files that are no programs.
FOREIGN = (".yaml", ".yml")
#: What facts about defaults begin with.
BY_DEFAULT = "by default, "


@dataclass(frozen=True, slots=True)
class Default:
    """A default in the words of the command line (``--rows=7``, ``ROWS=7``), and where it is written."""

    text: str
    place: Place

    @property
    def fact(self) -> Fact:
        """Return the default in words."""
        return Fact(f"{BY_DEFAULT}{self.text}", self.place, kind="default")


@dataclass(frozen=True, slots=True)
class ShapeAnswer:
    """The answer of a release of JAX to the question which shapes a call of a function returns."""

    function: str
    release: str
    place: Place

    @property
    def fact(self) -> Fact:
        """Return in words that JAX was asked, and where the call is."""
        return Fact(f"JAX {self.release} was asked for the shape of {self.function}", self.place)


Origin = Default | ShapeAnswer
Origins = tuple[Origin, ...]


class OriginInt(int):
    """An integer that remembers its origins."""

    of: Origins


class OriginFloat(float):
    """A number that remembers its origins."""

    of: Origins


class OriginText(Written):
    """A text that remembers its origins."""

    __slots__ = ("of",)
    of: Origins

    def __add__(self, other: str) -> str:
        made: str = remembering(str(self) + other, origins_of(self, other))
        return made

    def __radd__(self, other: str) -> str:
        made: str = remembering(other + str(self), self.of)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        text = Written(str(self), self.place.resolve())
        return remembering, (text, _sent(self.of))


class OriginForeignText(str):
    """A text that remembers its origins, which are in files that are no programs: findings on it stand
    where the program uses it."""

    __slots__ = ("of",)
    of: Origins

    __add__ = OriginText.__add__
    __radd__ = OriginText.__radd__

    def __reduce__(self) -> tuple[Any, ...]:
        return remembering, (str(self), _sent(self.of))


def _sent(origins: Origins) -> Origins:
    """Return origins for another process, with places that are known."""
    return tuple(dataclasses.replace(one, place=one.place.resolve()) for one in origins)


_KINDS = (OriginInt, OriginFloat, OriginText, OriginForeignText)
#: Classes of values that remember origins.
REMEMBERING = frozenset(_KINDS)


def remembering(value: Any, of: Origins) -> Any:
    """Return a number or text that remembers origins; any other value as it is."""
    if not of or isinstance(value, bool):
        return value
    made: Any
    if isinstance(value, int):
        made = OriginInt(value)
    elif isinstance(value, float):
        made = OriginFloat(value)
    elif isinstance(value, str):
        foreign = not isinstance(value, Written) and of[0].place.path.endswith(FOREIGN)
        made = (
            OriginForeignText(value) if foreign else OriginText(value, getattr(value, "place", of[0].place))
        )
    else:
        return value
    made.of = of
    return made


def origins_of(*values: Any) -> Origins:
    """Return the origins that plain values remember."""
    return tuple(dict.fromkeys(one for value in values if isinstance(value, _KINDS) for one in value.of))


def plain_kind(value: object) -> type:
    """Return the Python class of a value, which may remember more than others of that class."""
    if isinstance(value, str):
        return str
    return type(value).__mro__[1] if isinstance(value, OriginInt | OriginFloat) else type(value)


def plain(value: Any) -> Any:
    """Return a number or text without its origins; any other value as it is."""
    return plain_kind(value)(value) if type(value) in REMEMBERING else value


def _operator(kind: type, name: str) -> Callable[..., Any]:
    compute = getattr(kind, name)

    def operator(self: Any, *others: Any) -> Any:
        result = compute(self, *others)
        return result if result is NotImplemented else remembering(result, origins_of(self, *others))

    return operator


_OPERATORS = (
    "add sub mul truediv floordiv mod pow radd rsub rmul rtruediv rfloordiv rmod rpow neg pos abs".split()
)
for _kind in (int, float):
    for _name in _OPERATORS:
        setattr(OriginInt if _kind is int else OriginFloat, f"__{_name}__", _operator(_kind, f"__{_name}__"))

#: The modules of records that hold a program's values (places hold none), and how deep they are nested.
_HOLDING, _DEEPEST = ("shardlint.laws.", "shardlint.model.uses"), 8


def origins_in(record: Any) -> Origins:
    """Return the origins of the values in a record, in order."""
    return tuple(dict.fromkeys(_found(record, _DEEPEST)))


def _found(value: Any, deepest: int) -> Iterator[Origin]:
    if isinstance(value, _KINDS):
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
