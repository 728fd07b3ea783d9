"""Records are what the standard library's dataclasses are, but compiled later."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pytest

from shardlint.support import lazy_dataclass


def _plain(make: Callable[..., Any], **options: Any) -> type:
    @make(slots=True, **options)
    class Plain:
        first: int
        second: str = "b"
        third: list[int] = field(default_factory=list)
        fourth: object = field(default=None, compare=False, repr=False)
        made: list[int] = field(default_factory=lambda: [7], init=False)

    return Plain


def _by_name(make: Callable[..., Any], **options: Any) -> type:
    class Written:
        __slots__ = ()

        def __repr__(self) -> str:
            return "written"

    @make(slots=True, kw_only=True, **options)
    class ByName(Written):
        first: int
        second: str = "b"

        def __repr__(self) -> str:
            return "written by hand"

        def __eq__(self, other: object) -> bool:
            return self is other

    return ByName


def _derived(make: Callable[..., Any], **options: Any) -> type:
    @make(slots=True, **options)
    class Base:
        first: int
        name: str = field(default="n", kw_only=True)

    @make(slots=True, **options)
    class Derived(Base):
        first: int = 4
        second: tuple[int, ...] = ()

    return Derived


@lazy_dataclass.dataclass(frozen=True, slots=True)
class Sent:
    parts: tuple[int, ...]
    name: str = field(default="n", compare=False)


OPTIONS: list[dict[str, Any]] = [{}, {"frozen": True}, {"eq": False}, {"frozen": True, "eq": False}]
ARGUMENTS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1,), {}),
    ((1, "c"), {}),
    ((2, "c"), {}),
    ((1, (2,)), {"name": "m"}),
    ((1, "c", [1], 2), {}),
    ((1, "c", [1], 3), {}),
    ((), {"first": 1}),
    ((), {"first": 1, "second": (1,)}),
    ((), {"first": 1, "other": 2}),
]


def outcome(work: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """What something gives, or how it fails."""
    try:
        return work(*given, **named)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("pattern", [_plain, _by_name, _derived])
def test_they_do_what_dataclasses_do(pattern: Callable[..., type], options: dict[str, Any]) -> None:
    kinds = [pattern(make, **options) for make in (lazy_dataclass.dataclass, dataclasses.dataclass)]
    made = [[outcome(kind, *positional, **named) for kind in kinds] for positional, named in ARGUMENTS]
    for ours, theirs in made:
        assert _without_address(ours) == _without_address(theirs)
        assert outcome(hash, ours) == outcome(hash, theirs) or options.get("eq") is False
        for our_other, their_other in made:
            assert (ours == our_other) == (theirs == their_other)
    ours, theirs = next(pair for pair in made if isinstance(pair[0], kinds[0]))
    assert ours != theirs and kinds[0].__match_args__ == kinds[1].__match_args__  # type: ignore[attr-defined]
    for change in (lambda one: setattr(one, "first", 9), lambda one: delattr(one, "first")):
        assert outcome(change, ours) == outcome(change, theirs)
        assert hasattr(ours, "first") == hasattr(theirs, "first")


def _without_address(one: object) -> str:
    return repr(one).partition(" object at ")[0]


def test_what_is_altered_is_of_the_same_class() -> None:
    ours = _derived(lazy_dataclass.dataclass, frozen=True)
    one = ours(1, (2,), name="m")
    assert dataclasses.replace(one, first=3) == ours(3, (2,), name="m")


def test_replace_does_what_the_standard_library_does() -> None:
    make = lazy_dataclass.dataclass
    for one in (_plain(make)(1), _by_name(make)(first=1), _derived(make, frozen=True)(1, (2,), name="m")):
        given = {part.name: getattr(one, part.name) for part in dataclasses.fields(one) if part.init}
        for name in given:
            for changes in ({}, {name: 9}, dict.fromkeys(given, 5)):
                ours, theirs = (
                    make(one, **changes) for make in (lazy_dataclass.replace, dataclasses.replace)
                )
                assert type(ours) is type(theirs)
                for part in dataclasses.fields(one):
                    assert getattr(ours, part.name) == getattr(theirs, part.name)
        with pytest.raises(TypeError):
            lazy_dataclass.replace(one, unknown=1)


def test_they_go_to_other_processes() -> None:
    came = pickle.loads(pickle.dumps(Sent((1, 2), "m")))
    assert came == Sent((1, 2)) and came.name == "m"


def test_one_that_holds_itself_is_shown() -> None:
    one = _plain(lazy_dataclass.dataclass)(1)
    one.third.append(one)
    assert "third=[...]" in repr(one)


def test_the_constructor_tells_its_parameters() -> None:
    assert list(inspect.signature(_plain(lazy_dataclass.dataclass)).parameters) == [
        "first",
        "second",
        "third",
        "fourth",
    ]


def test_methods_are_compiled_when_they_are_called() -> None:
    ours = _plain(lazy_dataclass.dataclass, frozen=True)
    assert not inspect.isfunction(vars(ours)["__init__"])
    one = ours(1)
    assert inspect.isfunction(vars(ours)["__init__"])
    assert not inspect.isfunction(vars(ours)["__eq__"])
    assert one == ours(1)
    assert inspect.isfunction(vars(ours)["__eq__"])
    assert vars(ours)["__eq__"].__qualname__.endswith("Plain.__eq__")
