"""Random generators and iterators, run by Python and by us: loops meet items that are among those we say."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from typing import Any

import pytest
from support.evaluation import evaluate_module

from shardlint.inference.domain.lattice import options
from shardlint.inference.domain.values import (
    Alternatives,
    Const,
    DictValue,
    Integer,
    ListValue,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.laws.core.values import Unknown

PROGRAMS = 100
_ANY = object()


@dataclass
class OneOf:
    """What may be each of several values."""

    values: list[Any]


def plain(value: Value) -> Any:
    """A value as Python has it; what is not known equals everything."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Tuple):
        return tuple(map(plain, value.items))
    if isinstance(value, ListValue):
        return _ANY if value.items is None else list(map(plain, value.items))
    if isinstance(value, DictValue):
        return _ANY if value.items is None else {key: plain(item) for key, item in value.items.items()}
    if isinstance(value, Alternatives):
        return OneOf(list(map(plain, value.options)))
    assert isinstance(value, Unknown | Integer), value
    return _ANY


def fits(real: Any, ours: Any) -> bool:
    """Whether a real value may be the one that we say."""
    if ours is _ANY:
        return True
    if isinstance(ours, OneOf):
        return any(fits(real, one) for one in ours.values)
    if isinstance(real, tuple | list) and type(real) is type(ours) and len(real) == len(ours):
        return all(map(fits, real, ours))
    if isinstance(real, dict) and isinstance(ours, dict) and real.keys() == ours.keys():
        return all(fits(item, ours[key]) for key, item in real.items())
    return type(real) is type(ours) and bool(real == ours)


def said(text: str) -> list[list[Any]]:
    """What each `meet(value)` of a program may be given, in order."""
    met: list[list[Any]] = []

    def meet(call: Call) -> None:
        met.append([plain(option) for option in options(call.args[0])])

    evaluate_module(text, {"meet": meet})
    return met


def body(draw: random.Random, depth: int, indent: str) -> list[str]:
    """Statements of a generator, on the variables ``n`` and ``out``."""
    lines: list[str] = []
    for _ in range(draw.randint(1, 3)):
        kind = draw.choice(("yield", "yield", "yield", "loop", "while", "test", "from", "change", "break"))
        if kind == "yield":
            lines.append(f"yield {draw.choice(('n', '(n, 1)', '[n]', 'out', '{7: n}', '(out, n)', 'n * 2'))}")
        elif kind == "change":
            lines.append(draw.choice(("n += 1", "out.append(n)", "out = [n]", "out.clear()", "n = len(out)")))
        elif kind == "from":
            lines.append(f"yield from {draw.choice(('range(2)', 'other(n)', '[n, 5]', 'once(n)'))}")
        elif kind == "break":
            lines.append(draw.choice(("if n > 3:\n    return", "if coin():\n    return")))
        elif depth:
            test = draw.choice(("n > 1", "coin()", "len(out) < 2", "n % 2"))
            count = f"w{len(indent)}{draw.randint(0, 99)}"
            head = {
                "loop": f"for n in range({draw.choice(('3', '2', 'few()'))}):",
                "test": f"if {test}:",
                "while": draw.choice(
                    (f"{count} = 0\nwhile {count} < 3:\n    {count} += 1", "while few() > 1:")
                ),
            }[kind]
            lines.append(head)
            lines += [f"    {line}" for line in body(draw, depth - 1, indent + "    ")]
    return "\n".join(lines or ["pass"]).split("\n")


LOOPS = (
    "for v in {0}:\n    meet(v)",
    "for i, v in enumerate({0}):\n    meet([i, v])",
    "for i, v in zip(range(3), {0}):\n    meet([i, v])",
    "for i, v in zip({0}, {0}):\n    meet([i, v])",
    "for v in itertools.islice({0}, 2):\n    meet(v)",
    "for v in map(lambda v: (v, 0), {0}):\n    meet(v)",
    "[meet(v) for v in {0}]",
    "for v in list({0}):\n    meet(v)",
    "for v in iter({0}):\n    meet(v)",
    "g = {0}\nfor v in g:\n    meet(v)\n    if coin():\n        break",
    "g = {0}\nfor i in range(2):\n    meet(next(g, None))",
    "v = 1\nfor v in {0}:\n    meet(v)\nmeet(v)",
)
ITERATORS = """
import itertools, random

def coin():
    return random.random() < 0.5

def few():
    return random.randint(0, 3)

def other(n):
    for i in range(2):
        yield n + i

def once(n):
    if coin():
        yield n

class Through:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return 3

    def __iter__(self):
        yield from made(self.n)

class Counting:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        self.n += 1
        if self.n > 4:
            raise StopIteration
        return (self.n, 2)

class Held:
    def __init__(self, n):
        self.items = [n, n + 1]

    def __iter__(self):
        return iter(self.items)

class Indexed:
    def __init__(self, n):
        self.n = n

    def __getitem__(self, i):
        if i > self.n:
            raise IndexError
        return (i, 9)
"""


@pytest.mark.parametrize("part", range(4))
def test_items_are_among_those_that_we_say(part: int) -> None:
    met_exactly = 0
    for seed in range(part * PROGRAMS, (part + 1) * PROGRAMS):
        draw = random.Random(seed)
        lines = "\n    ".join(body(draw, 2, "    "))
        source = draw.choice(("made(0)", "made(2)", "Through(1)", "Counting(0)", "Held(3)", "Indexed(1)"))
        loop = draw.choice(LOOPS).format(source)
        if "next(" in loop and not source.startswith("made"):
            loop = loop.replace("g = ", "g = iter(", 1).replace("\n", ")\n", 1)
        text = f"{ITERATORS}\ndef made(n):\n    out = []\n    {lines}\n    yield n\n\n{loop}\n"
        ours = said(text)
        several = [found for found in ours if len(found) > 1 or found[0] is _ANY]
        for chance in range(4):
            random.seed(chance)
            real: list[Any] = []

            # What is met is looked at at once, as we do.
            def meet(value: Any, real: list[Any] = real) -> None:
                real.append(eval(repr(value)))

            exec(compile(text, "program.py", "exec"), {"meet": meet, "__name__": "__main__"})
            for value in itertools.islice(real, 100):
                assert any(fits(value, one) for found in ours for one in found), f"{seed}: {value}\n{text}"
        met_exactly += not several and len(ours) == len(real)
    assert met_exactly > PROGRAMS // 8
