"""Random functions with `try`, `finally` and loops, which are left in all ways: what they return is among
what is taken for possible."""

from __future__ import annotations

import os
import random

import pytest
from support.evaluation import evaluate_module
from support.sizes import size

from shardlint.inference.domain.values import Alternatives, Const, Value
from shardlint.laws.core.values import Unknown

FUNCTIONS = size("SHARDLINT_DEPARTURES", 200, 4)
HEADER = """import os
UNSET = os.environ.get("SHARDLINT_UNSET")
def fails(n):
    raise ValueError(n)
"""


class Writer:
    """A writer of random statements."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.number = 0

    def block(self, depth: int, in_loop: bool) -> list[str]:
        lines = [line for _ in range(self.rng.randint(1, 3)) for line in self.statement(depth, in_loop)]
        return lines or ["pass"]

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        self.number += 1
        n = self.number
        kinds = ["assign", "assign", "return", "raise", "call", "if", "unset"]
        kinds += ["break", "continue"] if in_loop else []
        kinds += ["try", "try", "try", "for"] if depth else []
        inner = lambda loop=in_loop: [f"    {line}" for line in self.block(depth - 1 if depth else 0, loop)]  # noqa: E731
        match self.rng.choice(kinds):
            case "assign":
                return [f"x = {n}"] if self.rng.random() < 0.5 else [f"y = x + {n}"]
            case "return":
                return [f"return x * 100 + {n}" if self.rng.random() < 0.7 else "return y"]
            case "raise":
                return [f"raise {self.rng.choice(('ValueError', 'KeyError'))}({n})"]
            case "call":
                return [f"fails({n})"]
            case "if":
                return [f"if x % 2 == {n % 2}:", f"    {self.rng.choice(self.leaving(in_loop))}"]
            case "unset":
                return ["if UNSET:", f"    {self.rng.choice(self.leaving(in_loop))}"]
            case "for":
                return [f"for i in range({self.rng.randint(1, 3)}):", f"    y = i + {n}", *inner(True)]
            case "try":
                lines = ["try:", *inner()]
                if self.rng.random() < 0.5:
                    lines += [f"except {self.rng.choice(('ValueError', 'KeyError', 'Exception'))}:", *inner()]
                return [*lines, "finally:", *(inner() if self.rng.random() < 0.6 else [f"    x = {n}"])]
            case jump:
                return [str(jump)]

    def leaving(self, in_loop: bool) -> list[str]:
        return [f"return {self.number}", *(("break", "continue") if in_loop else ()), "raise KeyError(x)"]


def program(seed: int) -> str:
    body = "".join(f"    {line}\n" for line in Writer(seed).block(3, False))
    return f"{HEADER}def f(x, y):\n{body}    return x, y\nfound = f(1, 2)\n"


def _may_be(value: Value, real: object) -> bool:
    """Return whether a value may be what CPython has."""
    if isinstance(value, Alternatives):
        return any(_may_be(one, real) for one in value.options)
    if isinstance(value, Unknown):
        return True
    items = getattr(value, "items", None)
    if isinstance(real, tuple):
        return items is not None and all(map(_may_be, items, real)) and len(items) == len(real)
    return isinstance(value, Const) and value.value == real


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_what_functions_return() -> None:
    exact = finished = 0
    assert "SHARDLINT_UNSET" not in os.environ
    for seed in range(FUNCTIONS):
        text = program(seed)
        space: dict[str, object] = {}
        try:
            exec(compile(text, "program.py", "exec"), space)
        except (ValueError, KeyError):
            continue
        finished += 1
        value = evaluate_module(text).variables.get("found", Unknown("not set"))
        assert _may_be(value, space["found"]), f"{seed}: {value} is not {space['found']}\n{text}"
        exact += not isinstance(value, Unknown | Alternatives)
    print(f"{finished} return, {exact} exactly")
    assert finished > FUNCTIONS / 4
    assert exact > finished / 4
