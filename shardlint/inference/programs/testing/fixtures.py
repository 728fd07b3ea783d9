"""Fixtures of pytest: where a name is looked for, and what the fixture of that name gives a test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from shardlint.inference.domain.classes import lineage
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.values import (
    Bound,
    ClassValue,
    Function,
    LibraryObject,
    Native,
    Never,
    Partial,
    Value,
    as_str,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.testing.marks import marks_of, name_of, option_of
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: The most fixtures that stand behind one another.
_DEEPEST = 20


class Skipped(Exception):
    """Raised where a fixture, or what sets up a test, skips it."""


@dataclass(frozen=True, slots=True)
class Fixture:
    """A fixture: the decorated function, and the mark with its options."""

    value: Native
    function: Function
    mark: LibraryObject

    @property
    def needs(self) -> list[str]:
        """Return the names of the fixtures that it asks for."""
        return needed(self.function, self.function.owner is not None)

    @property
    def is_automatic(self) -> bool:
        """Return whether all tests that see it use it."""
        option = option_of(self.mark, "autouse")
        return option is not None and truth(option) is True


def needed(function: Function, is_method: bool) -> list[str]:
    """Return the parameters of a function that pytest fills: those without defaults, after ``self``."""
    _, names, keyword_only = function.code.parameters
    return [name for name in (*names[is_method:], *keyword_only) if name not in function.defaults]


def inner(value: Value | None) -> Function | None:
    """Return the function of the program in a test or fixture."""
    while isinstance(value, Native):
        value = value.wraps
    return value if isinstance(value, Function) else None


def fixtures_in(variables: Mapping[str, Value]) -> dict[str, Fixture]:
    """Return the fixtures among the variables of a module or class, by the names under which tests ask."""
    found: dict[str, Fixture] = {}
    for name, value in variables.items():
        if isinstance(value, Native) and (function := inner(value)) is not None:
            mark = next((one for one in marks_of(value) if name_of(one) == "fixture"), None)
            if mark is not None:
                found[as_str(option_of(mark, "name")) or name] = Fixture(value, function, mark)
    return found


def fixtures_of(cls: ClassValue) -> dict[str, Fixture]:
    """Return the fixtures of a class and its bases."""
    found: dict[str, Fixture] = {}
    for base in reversed(lineage(cls)):
        if isinstance(base, ClassValue):
            found |= fixtures_in(base.attributes)
    return found


#: The fixtures that a test sees: of its class, its module, and of each `conftest.py`, nearest first.
Levels = Sequence[Mapping[str, Fixture]]


def closure(levels: Levels, names: Sequence[str]) -> Iterator[tuple[str, Fixture]]:
    """Yield the fixtures that these names need, each with its name: what overrides another one first."""
    seen: set[int] = set()
    waiting = [(name, 0) for name in names]
    while waiting:
        name, level = waiting.pop(0)
        found = _find(levels, name, level)
        if found is None or id(found[0]) in seen:
            continue
        fixture, at = found
        seen.add(id(fixture))
        yield name, fixture
        waiting += [(other, at + 1 if other == name else 0) for other in fixture.needs]


def automatic(levels: Levels) -> list[str]:
    """Return the names of the fixtures that are used without being asked for, outermost first."""
    return [name for level in reversed(levels) for name, one in level.items() if one.is_automatic]


def _find(levels: Levels, name: str, level: int) -> tuple[Fixture, int] | None:
    return next(((one[name], at) for at, one in enumerate(levels) if at >= level and name in one), None)


class Fixtures:
    """The fixtures of one run of a test; each is evaluated once, when it is first asked for."""

    def __init__(
        self,
        interpreter: Machine,
        levels: Levels,
        requests: Mapping[str, Value],
        instance: Value | None,
        place: Place,
    ) -> None:
        self._interpreter, self._levels, self._requests = interpreter, levels, requests
        self._instance, self._place = instance, place
        self._known: dict[int, Value] = {}
        self._depth = 0

    def get(self, name: str, level: int = 0) -> Value:
        """Return the value of a fixture, looked for from a level on. Raises Skipped."""
        if name == "request":
            return self._request(None)
        found = _find(self._levels, name, level)
        if found is None:
            return self._requests.get(name, Unknown(f"the fixture `{name}`"))
        fixture, at = found
        if id(fixture) not in self._known:
            if self._depth > _DEEPEST:
                return Unknown("fixtures that ask for one another")
            self._depth += 1
            try:
                self._known[id(fixture)] = self._evaluate(name, fixture, at)
            finally:
                self._depth -= 1
        return self._known[id(fixture)]

    def _evaluate(self, name: str, fixture: Fixture, level: int) -> Value:
        i, function, place = self._interpreter, fixture.function, self._place
        kwargs = {
            other: self._request(name)
            if other == "request"
            else self.get(other, level + 1 if other == name else 0)
            for other in fixture.needs
        }
        method = function.owner is not None
        called: Value = fixture.value
        if method:
            called = Bound(fixture.value, self._instance or Unknown("the instance of a fixture"))
        if function.code.is_generator:
            if not function.code.yields:
                return Unknown(f"the asynchronous fixture `{name}`")
            arguments = Partial(called, (), tuple(kwargs.items()), place)
            given = i.enter(LibraryObject("contextlib.generator", {"arguments": arguments}), place)
        else:
            given = i.call(called, [], kwargs, place)
        if isinstance(given, Never):
            raise Skipped
        return given

    def _request(self, name: str | None) -> Value:
        """Return the ``request`` of a fixture, or of the test."""
        fields: dict[str, Value] = {"getfixturevalue": Native("request.getfixturevalue", self._asked)}
        if name is not None:
            fields["param"] = self._requests.get(name, Unknown(f"`{name}` has no parameter"))
        return LibraryObject("pytest.request", fields)

    def _asked(self, call: Call) -> Value:
        """``request.getfixturevalue(name)``."""
        (given,) = call.bind("argname")
        name = as_str(given)
        if name is None:
            return Unknown("a fixture that is not known")
        try:
            return self.get(name)
        except Skipped:
            return Never("a fixture skips the test")
