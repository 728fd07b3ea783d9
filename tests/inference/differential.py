"""Runs a program in Python and in the evaluator, and compares what both say at its probes."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from support.evaluation import evaluate_module

from shardlint.inference.domain.values import (
    Alternatives,
    ClassValue,
    Const,
    DictValue,
    Function,
    Instance,
    Integer,
    ListValue,
    SetValue,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.laws.core.values import Unknown

#: An object of the program as the evaluator sees it at a probe: it may change later.
Snapshot = Any


class Stop(Exception):
    """The program runs too long."""


@dataclass
class Disagreement(Exception):
    """A value Python computes that the evaluator excludes."""

    probe: int
    real: Any
    possible: list[Snapshot]
    text: str = field(repr=False)

    def __str__(self) -> str:
        return f"probe {self.probe}: Python computes {self.real!r}, the evaluator allows {self.possible!r}"


def possible_values(text: str) -> dict[int, list[Snapshot]]:
    """Evaluate a program and return what it says of each probe that it reaches."""
    found: dict[int, list[Snapshot]] = {}

    def probe(call: Call) -> None:
        number, holder = call.args
        if not call.interpreter.muted and isinstance(number, Const) and isinstance(holder, ListValue):
            assert holder.items is not None
            found.setdefault(number.value, []).append(snapshot(holder.items[0]))

    names = ("opaque", "hide", "meddle", "risky", "again")
    unseen = {name: Unknown(f"`{name}` is nobody's") for name in names}
    evaluate_module(text, {"probe": probe}, unseen, devices=None)
    return found


def snapshot(value: Value, depth: int = 0) -> Snapshot:
    """What is known of a value now, as something that admits real values or does not."""
    if depth > 4 or isinstance(value, Unknown):
        return Anything()
    if isinstance(value, Alternatives):
        return OneOf([snapshot(option, depth + 1) for option in value.options])
    if isinstance(value, Const):
        return Exactly(value.value)
    if isinstance(value, Integer):
        return Kind("an int", lambda real: isinstance(real, int))
    if isinstance(value, SetValue):
        return Anything() if value.items is None else Exactly(set(value.items))
    if isinstance(value, Tuple | ListValue):
        python = tuple if isinstance(value, Tuple) else list
        if value.items is None:
            return Anything()
        return Items(python, [snapshot(item, depth + 1) for item in value.items])
    if isinstance(value, DictValue):
        held = value.items
        return Anything() if held is None else Entries({k: snapshot(v, depth + 1) for k, v in held.items()})
    if isinstance(value, Instance):
        known = {k: snapshot(v, depth + 1) for k, v in value.attributes.items()}
        return Attributes(value.cls.name, known)
    if isinstance(value, ClassValue):
        return Kind("a class", lambda real: isinstance(real, type))
    if isinstance(value, Function):
        return Kind("a function", callable)
    return Anything()


@dataclass
class Anything:
    """Nothing is known."""

    def admits(self, real: Any) -> bool:
        return True


@dataclass
class Exactly:
    value: Any

    def admits(self, real: Any) -> bool:
        return type(real) is type(self.value) and real == self.value


@dataclass
class OneOf:
    options: list[Any]

    def admits(self, real: Any) -> bool:
        return any(option.admits(real) for option in self.options)


@dataclass
class Kind:
    name: str
    test: Callable[[Any], bool] = field(repr=False)

    def admits(self, real: Any) -> bool:
        return self.test(real)


@dataclass
class Items:
    python: type[list[Any]] | type[tuple[Any, ...]]
    items: list[Any]

    def admits(self, real: Any) -> bool:
        fits = isinstance(real, self.python) and len(real) == len(self.items)
        return fits and all(item.admits(other) for item, other in zip(self.items, real, strict=True))


@dataclass
class Entries:
    items: dict[Any, Any]

    def admits(self, real: Any) -> bool:
        fits = isinstance(real, dict) and list(real) == list(self.items)
        return fits and all(item.admits(real[key]) for key, item in self.items.items())


@dataclass
class Attributes:
    cls: str
    known: dict[str, Any]

    def admits(self, real: Any) -> bool:
        held = vars(real) if type(real).__name__ == self.cls else None
        if held is None:
            return False
        # An attribute that is set on some paths only is held as one of which nothing is known.
        certain = {k: item for k, item in self.known.items() if not isinstance(item, Anything)}
        return all(k in held and item.admits(held[k]) for k, item in certain.items())


def run_for_real(text: str, seed: int, check: Callable[[int, Any], None]) -> None:
    """Execute a program with coins thrown from a seed; ``check`` is told of each probe."""
    coin, left = random.Random(seed), [400]

    def spend() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Stop

    def opaque() -> bool:
        spend()
        return coin.random() < 0.5

    def again() -> bool:
        spend()
        return coin.random() < 0.7

    def hide(value: Any) -> Any:
        return value

    def meddle(value: Any) -> None:
        if opaque():
            if isinstance(value, list):
                value.append(41)
            else:
                value.k = value.width = 43

    def risky() -> None:
        if opaque():
            raise ValueError

    def probe(number: int, holder: list[Any]) -> None:
        spend()
        check(number, copy.deepcopy(holder[0]))

    names: dict[str, Any] = {"__name__": "__main__", "opaque": opaque, "again": again, "hide": hide}
    names |= {"meddle": meddle, "risky": risky, "probe": probe}
    try:
        exec(compile(text, "program.py", "exec"), names)
    except (Disagreement, AssertionError):
        raise
    except (Stop, Exception):
        # A program that raises ends there; what it met before was compared.
        return


def compare(text: str, runs: int = 6) -> int:
    """Compare a program's probes in several runs; return how many met a definite value.

    Raises Disagreement.
    """
    possible = possible_values(text)
    met = 0

    def check(number: int, real: Any) -> None:
        nonlocal met
        allowed = possible.get(number, [])
        if not any(one.admits(real) for one in allowed):
            raise Disagreement(number, real, allowed, text)
        met += not any(isinstance(one, Anything) for one in allowed)

    for seed in range(runs):
        run_for_real(text, seed, check)
    return met
