"""Values of one test's branches meet only their own; what fails for some of them is a warning."""

from __future__ import annotations

import contextlib
import itertools
import random
import sys
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.checking import check, severities
from support.sizes import size

HEADER = """
import enum
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
class Kind(enum.Enum):
    ONE, TWO = 1, 2
    SAME = 1
class Rank(enum.IntEnum):
    ONE = 1
def put(shape, spec):
    return jax.device_put(jnp.zeros(shape), NamedSharding(mesh, spec))
"""
BRANCHES = """
def f(flat, other):
    if flat:
        shape, spec = (8,), P("model")
    else:
        shape, spec = (8, 8), P("data", "model")
"""
#: Functions that return on two branches.
RETURNING = """
def either(shape):
    if len(shape) == 1:
        return shape
    else:
        return tuple(shape)
def given(flag):
    if flag:
        return (8,), P("model")
    else:
        return (8, 8), P("data", "model")
"""
WRAPPER = """
    sm = jax.shard_map(lambda x: x, mesh=mesh, in_specs=(spec,), out_specs=spec)
"""
OPPOSITE = """
    if not flat:
        put((8, 8), spec)
    else:
        put((8,), spec)
"""
TWICE = """
    shape = (8,) if other() else (8, 8)
    put(shape, P("model") if other() else P("data", "model"))
"""
PART = """
    if other is not None and shape is None:
        put((), spec)
"""
INSIDE = """
    def inner(x):
        second = None
        if {test}:
            second = x + 1
        return x, second
    specs = (P("model"), P("model") if flat else None)
    return jax.shard_map(inner, mesh=mesh, in_specs=P("model"), out_specs=specs)(jnp.zeros((8,)))
"""
SIBLING = """
    first, second = None, P("data")
    if flat:
        first, second = {first}, P("data", "model")
    if {test}:
        put((8,), second)
"""
CHOSEN = """
    part = shape
    if len(part) == 2:
        chosen = P("data", "model")
    else:
        chosen = P("model")
    put(shape, chosen)
"""
COMPARED = """
    put((8, 8), P("model" if {one} else None, "model" if {other} else None))
"""
MATCHED = """
    first = second = None
    match flat:
        case {one}:
            first = "model"
    match flat:
        case {other}:
            second = "model"
    put((8, 8), P(first, second))
"""
CHANGED = """
    first = "model" if flat == "a" else None
    flat = other
    put((8, 8), P(first, "model" if flat == "b" else None))
"""
PROGRAMS = {
    "each branch's own": ("    put(shape, spec)", []),
    "the same test again": ("    if flat:\n        put((8,), spec)", []),
    "the opposite test": (OPPOSITE, []),
    "a conditional expression": ("    put((8,) if flat else (8, 8), spec)", []),
    "what a function returns": ("    put(either(shape), spec)", []),
    "what one returns for an opposite": ("    put(either((8,) if not flat else (8, 8)), spec)", ["warning"]),
    "two of one function's results": ("    shape, spec = given(flat)\n    put(shape, spec)", []),
    "results of two calls": ("    put(given(flat)[0], given(other)[1])", ["warning"]),
    "two parts of an expression": (
        '    both = ((8,), P("model")) if flat else ((8, 8), P("data", "model"))\n'
        "    shape, spec = both\n    put(shape, spec)",
        [],
    ),
    "a part and the rest": (
        '    shape, *spec = ((8,), "model") if flat else ((8, 8), "data", "model")\n    put(shape, P(*spec))',
        [],
    ),
    "another test": ("    put((8,) if other else (8, 8), spec)", ["warning"]),
    "the test's value has changed": (
        "    flat = other\n    put((8,) if flat else (8, 8), spec)",
        ["warning"],
    ),
    "a test that may answer differently": (TWICE, []),
    "fails for one": ("    put((8,), spec)", ["warning"]),
    "fails for both": ("    put((), spec)", ["error"]),
    "a wrapper of each": (WRAPPER + "    sm(jnp.zeros(shape))", []),
    "a wrapper that fails for one": (WRAPPER + "    sm(jnp.zeros((8,)))", ["warning"]),
    "a test that a part decides": (PART, []),
    "the same test in a function inside": (INSIDE.format(test="flat"), []),
    "another test in a function inside": (INSIDE.format(test="not flat"), ["warning"]),
    "a test of another variable": (SIBLING.format(first="8", test="first is None"), []),
    "its other outcome": (SIBLING.format(first="8", test="first is not None"), ["warning"]),
    "a test of one that may be unknown": (SIBLING.format(first="other()", test="first is None"), []),
    "its decided outcome": (SIBLING.format(first="other()", test="first is not None"), ["warning"]),
    "what a test chooses": (CHOSEN, []),
    "what an expression chooses": (
        '    n = len(shape)\n    put(shape, P("data", "model") if n == 2 else P("model"))',
        [],
    ),
    "constants of which it equals one": (COMPARED.format(one='"a" == flat', other="flat == 'b'"), []),
    "constants that are equal": (COMPARED.format(one="flat == 1", other="1.0 == flat"), ["warning"]),
    "one that it is not": (COMPARED.format(one='not flat != "a"', other="flat is None"), []),
    "one that it may be as well": (COMPARED.format(one='flat == "a"', other='flat != "b"'), ["warning"]),
    "another that is compared": (COMPARED.format(one='flat == "a"', other='other == "b"'), ["warning"]),
    "one that has changed in between": (CHANGED, ["warning"]),
    "constants that it is among": (COMPARED.format(one='flat in ("a", "b")', other='flat in ("c", 1)'), []),
    "constants among both": (
        COMPARED.format(one='flat in ("a", "b")', other='flat in ["b", 1]'),
        ["warning"],
    ),
    "constants in a tuple": (COMPARED.format(one='flat in (("a", "b"), "c")', other='flat == "a"'), []),
    "a tuple of constants": (COMPARED.format(one='flat == ("a", "b")', other='flat == "a"'), []),
    "members of an enumeration": (COMPARED.format(one="flat is Kind.ONE", other="flat == Kind.TWO"), []),
    "a member by two names": (
        COMPARED.format(one="flat is Kind.ONE", other="flat is Kind.SAME"),
        ["warning"],
    ),
    "a member that is a number": (COMPARED.format(one="flat == Rank.ONE", other="flat == 1"), ["warning"]),
    "an opposite test": (COMPARED.format(one="flat != other", other="flat == other"), []),
    "an opposite of a containment": (COMPARED.format(one="flat not in other", other="flat in other"), []),
    "cases of a match": (MATCHED.format(one='"a" | "b"', other='"c"'), []),
    "overlapping cases of matches": (MATCHED.format(one='"a" | "b"', other='"b" | None'), ["warning"]),
    "cases of members": (MATCHED.format(one="Kind.ONE", other="Kind.TWO"), []),
    "the place of one entry": (
        '    put((8, 8, 8), P(*["model" if i == flat else None for i in range(3)]))',
        [],
    ),
    "the place of two entries": (
        '    put((8, 8, 8), P(*["model" if flat in (i, i + 1) else None for i in range(3)]))',
        ["warning"],
    ),
    "a test that decides nothing": (SIBLING.format(first="other()", test="first != 8"), []),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_branches(name: str) -> None:
    body, expected = PROGRAMS[name]
    found = check(f"{HEADER}{RETURNING}{BRANCHES}{body}\n")
    assert severities(found) == expected, found


_VALUES = ("None", "None", "one", "two", "u()", "v()", "a", "b")
_TESTS = (
    "u()", "p", "x is None", "not q", "x is not None", "x is not None and y is None", "x is None or q",
    "k == 'm'", "k == 'n'", "k != 'n'", "'m' == k", "k is None", "not k == 0", "k == KEY", "k",
    "k in ('m', 0)", "k not in ('n', None)", "k is not None", "KEY == k", "k in ['o', KEY, 'n']",
)  # fmt: skip
_PATTERNS = ("'m'", "'m' | 'n'", "None", "0 | 'o'", "'n' if p", "Kind.ONE", "[_]")
_PLACED = 'jax.device_put({}, NamedSharding(mesh, P("data", "model")))'


def _block(chance: random.Random, depth: int, indent: str) -> list[str]:
    """Statements that set variables on branches, and place them by a spec of two entries."""
    lines = []
    for _ in range(chance.randint(1, 3)):
        kind = chance.random()
        x, y = chance.sample("abc", 2)
        one, other = chance.sample(_VALUES, 2)
        if kind < 0.25 or depth == 0:
            lines.append(f"{indent}{x} = {one}")
        elif kind < 0.3:
            lines.append(f"{indent}{x} = chosen({one}, {other})")
        elif kind < 0.35:
            test = chance.choice(_TESTS).replace("x", x).replace("y", y)
            lines.append(f"{indent}{x}, {y} = ({one}, {other}) if {test} else ({other}, {one})")
        elif kind < 0.55:
            lines.append(indent + _PLACED.format(x))
        elif kind < 0.65:
            lines.append(f"{indent}match k:")
            for pattern in chance.sample(_PATTERNS, chance.randint(1, 2)) + ["_"] * chance.randint(0, 1):
                lines += [f"{indent}    case {pattern}:", *_block(chance, depth - 1, indent + "        ")]
        else:
            lines.append(f"{indent}if {chance.choice(_TESTS).replace('x', x).replace('y', y)}:")
            lines += _block(chance, depth - 1, indent + "    ")
            if chance.random() < 0.6:
                lines += [f"{indent}else:", *_block(chance, depth - 1, indent + "    ")]
    return lines


#: A function that returns on two branches.
_CHOSEN = """
def chosen(x, y):
    if x is None:
        return y
    else:
        return x
"""


def _passed(program: str) -> set[int]:
    """The lines that some run gets by of those that place something."""
    passed: set[int] = set()

    def put(array: Any, _: object) -> None:
        if array == 1:  # a rank
            raise ValueError
        passed.add(sys._getframe(1).f_lineno)

    names: dict[str, Any] = {"one": 1, "two": 2, "jax": SimpleNamespace(device_put=put), "mesh": None}
    names |= {
        "KEY": "o",
        "NamedSharding": lambda *_: None,
        "P": lambda *_: None,
        "Kind": SimpleNamespace(ONE=object()),
    }
    exec(_CHOSEN, names)
    exec(program, names)
    chance = random.Random(program)
    given = itertools.product((False, True), (False, True), ("m", "n", None, 0, "o"))
    for p, q, k in list(given) * 10:
        with contextlib.suppress(ValueError):
            names["f"](p, q, k, lambda: chance.choice((None, 1, 2)), lambda: chance.choice((None, 1, 2)))
    return passed


def test_no_error_where_some_branches_run() -> None:
    """Random programs that set and test variables on branches: an error is where no run gets by."""
    errors = 0
    count = size("SHARDLINT_BRANCHES", 100, 300)
    for seed in range(count):
        chance = random.Random(seed)
        body = "\n".join(line for _ in range(3) for line in _block(chance, 2, "    "))
        program = f"def f(p, q, k, u, v):\n    a = b = c = None\n{body}\n"
        head = f"{HEADER}{_CHOSEN}KEY = 'o'\none, two = jnp.zeros(8), jnp.zeros((8, 8))\n"
        found = check(head + program)
        wrong = {f.span.line - head.count("\n") for f in found if str(f.severity) == "error"}
        assert not (wrong and wrong & _passed(program)), program
        errors += len(wrong)
    assert errors > count / 25


#: Something that answers twice, by two answers of which each is asked whether it is large.
ASKED = {
    "a method": ("x.pop()", "x.pop()"),
    "a call": ("x()", "x()"),
    "items": ("x[0]", "x[1]"),
    "attributes": ("x.one", "x.other"),
    "operators": ("x + 1", "x + 2"),
    "a library": ("np.mean(x)", "np.sum(x)"),
    "the next item": ("next(x)", "next(x)"),
    "a function": ("ask(x)", "ask(x)"),
    "a function of the program that gives objects": ("asked(x).one", "asked(x).one"),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_is_asked_twice_may_answer_otherwise(name: str) -> None:
    first, second = ASKED[name]
    text = f"""{HEADER}
class Answer:
    def __init__(self, x):
        self.one = x.pop()
def ask(x):
    return x.pop()
def asked(x):
    return Answer(x)
def entry(x):
    sizes = []
    for _ in range(2):
        answer = {first}
        size = 8 if answer > 0.5 else 6
        answer = {second}
        other = 8 if answer > 0.5 else 6
        sizes.append(size)
    put((size - other + 6,), P("model"))
    put((sizes[0] - sizes[1] + 6,), P("model"))
"""
    assert severities(check(text)) == ["warning", "warning"]


#: Tests of numbers, and of parts of an object, each by itself undecided.
_NUMBER_TESTS = (
    "n > 8", "n < 4", "n > 4", "n == 8", "n != 4", "n == 4", "n % 2 == 0", "n % 4 == 3", "n in (1, 2)",
    "n in (2, 3)", "n not in (1, 2)", "n > m", "m < 4", "m == n", "m % 2 == 0", "4 < n < 9", "np.abs(n) > 4",
    "np.abs(n) == 4", "n.bit_length() == 2", "n.bit_length() == 3", "n is None", "at.one > 4", "at.one < 3",
    "at.other > 4", "at.one == 2", "at.two == at.one", "at[0] > 4", "at[0] < 3", "at[1] > 4",
    "at.get('a') > 4", "at.get('a') < 4", "at.get('b') < 4", "at is not None", "sized(n) > 4", "sized(n) < 4",
    "sized(m) < 4", "drawn() == 1", "drawn() == 2", "drawn() > n",
)  # fmt: skip


class _At:
    """Three attributes, two items and two entries, each a number of its own."""

    def __init__(self, numbers: list[int]) -> None:
        self.one, self.other, self.two, *self._rest = numbers

    def __getitem__(self, index: int) -> int:
        return self._rest[index]

    def get(self, name: str) -> int:
        return self._rest["01ab".index(name)]


def _numbers() -> Iterator[dict[str, Any]]:
    """Yield values for the names of the tests."""
    chance = random.Random(0)
    for n, m, drawn in itertools.product((None, *range(12)), range(8), (1, 2, 9)):
        for _ in range(5):
            at = _At(chance.choices(range(8), k=7))
            yield {"n": n, "m": m, "at": at, "np": np, "sized": abs, "drawn": partial(int, drawn)}


def _may_hold(one: str, other: str) -> bool:
    """Return whether some numbers let both tests hold."""
    both = compile(f"({one}) and ({other})", "tests", "eval")
    for names in _numbers():
        with contextlib.suppress(TypeError, AttributeError):
            if eval(both, names):
                return True
    return False


def test_no_warning_where_two_tests_exclude_each_other() -> None:
    """All pairs of tests: a spec is wrong where both hold. CPython says whether some numbers let them."""
    pairs = list(itertools.permutations(_NUMBER_TESTS, 2))
    lines = [COMPARED.format(one=one, other=other).strip() for one, other in pairs]
    body = "".join(f"def f{i}(n, m, at, sized, drawn):\n    {line}\n" for i, line in enumerate(lines))
    start = HEADER.count("\n") + 2
    warned = {(f.span.line - start) // 2 for f in check(HEADER + body)}
    false = [pairs[i] for i in warned if not _may_hold(*pairs[i])]
    assert not false
    told = sum(_may_hold(*pair) for pair in pairs)
    assert len(warned) > told * 0.7, (len(warned), told)
