"""The numbers in small numpy arrays, beside numpy: random functions, some of which change arrays in place."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from support.evaluation import evaluate_module

from shardlint.inference.domain.values import Array, Const, Tuple, Value

_BINARY = ("+", "-", "*", "/", "//", "%", "==", "<", ">=")
_OF_TWO = ("maximum", "minimum", "gcd", "lcm", "add", "mod", "floor_divide")
_OF_ONE = ("abs", "ceil", "floor", "sqrt", "log2", "cumsum", "cumprod", "sort", "flip", "diff", "argsort")
_TOTALS = ("sum", "prod", "max", "min", "argmax", "argmin")
#: Statements that change ``v``, or what may be the same array, in place.
_CHANGES = (
    "v[0] = 7",
    "v += 1",
    "v.sort()",
    "v.fill(3)",
    "w = v\n    w[-1] = 9",
    "w = v[::-1]\n    w[0] = 9",
    "np.add(v, 1, out=v)",
    "np.put(v, [0], [8])",
    "np.copyto(v, 4)",
    "np.random.default_rng(0).shuffle(v)",
    "changed(v)",
    "held = [v]\n    held[0][0] = 6",
    "w = np.asarray(v)\n    w[0] = 5",
    "w = v.reshape(-1)\n    w[0] = 5",
    "for w in (v,):\n        w[0] = 5",
    "(lambda x: x.fill(2))(v)",
    "memoryview(v)[0] = 11",
    "v.flat[0] = 12",
    "v[:1][0] = 13",
    "v.T[0] = 14",
    "v, w = v[::-1], v\n    w[0] = 15",
    "np.asarray(v)[0] = 16",
    "[x.fill(1) for x in [v]]",
    "def inner():\n        v[0] = 17\n    inner()",
)


def vector(chance: random.Random) -> str:
    """Return an expression of a vector, of numbers of which some are equal."""
    items = chance.choices(range(1, 9), k=chance.randrange(1, 6))
    return chance.choice([f"np.array({items})", f"np.asarray({tuple(items)})", f"np.arange({len(items)}, 9)"])


def expression(chance: random.Random, depth: int) -> str:
    """Return an expression of a vector or scalar of numpy; ``v`` is a vector."""
    if depth == 0:
        return chance.choice(["v", vector(chance), str(chance.randrange(-3, 9))])
    one, other = expression(chance, depth - 1), expression(chance, depth - 1)
    kind = chance.randrange(7)
    if kind == 0:
        return f"({one} {chance.choice(_BINARY)} {other})"
    if kind == 1:
        return f"np.{chance.choice(_OF_TWO)}({one}, {other})"
    if kind == 2:
        return f"np.{chance.choice(_OF_ONE)}({one})"
    if kind == 3:
        return f"np.{chance.choice(_TOTALS)}(v)"
    if kind == 4:
        return f"v[{chance.choice(['0', '-1', '::-1', ':-1', '1:', 'np.argsort(v)', '[0, -1]'])}]"
    if kind == 5:
        return f"v.{chance.choice((*_TOTALS, 'cumsum', 'copy', 'tolist'))}()"
    return f"-{one}"


def known(value: Value) -> object:
    """Return the plain numbers of a value; None if they are not known."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Tuple):
        return [known(item) for item in value.items]
    return value.numbers if isinstance(value, Array) else None


def checked(text: str) -> bool | None:
    """Return whether the answers of a function are known, and then those of Python; None if it raises."""
    scope: dict[str, Callable[[], object]] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(text, "program", "exec"), scope)
            truth = scope["f"]()
    except Exception:
        return None
    found = known(evaluate_module(text + "\nfound = f()\n").variables["found"])
    assert isinstance(truth, tuple)
    if not isinstance(found, list):
        return False
    for ours, theirs in zip(found, truth, strict=True):
        if ours is not None:
            assert ours == pytest.approx(theirs, nan_ok=True), (text, found, truth)
            assert isinstance(ours, bool) == isinstance(theirs, bool | np.bool_), (text, found, truth)
    return None not in found


HEAD = "import numpy as np\n\ndef changed(x):\n    x[0] = 100\n\ndef f():\n"


@pytest.mark.parametrize("seed", range(10))
def test_the_numbers_of_an_expression_are_those_of_numpy(seed: int) -> None:
    chance = random.Random(seed)
    outcomes = []
    for _ in range(60):
        made = expression(chance, chance.randrange(1, 4))
        answer = chance.choice(["(m[0], m[-1], m[len(m) // 2])", "(np.max(m), np.min(m))", "(float(m),)"])
        outcomes.append(checked(f"{HEAD}    v = {vector(chance)}\n    m = {made}\n    return {answer}\n"))
    assert outcomes.count(True) > outcomes.count(False) / 2


@pytest.mark.parametrize("change", _CHANGES)
@pytest.mark.parametrize("items", ["[3, 1, 2]", "[5]", "[2, 2, 4, 4]"])
def test_an_array_that_changes_in_place_is_not_known(change: str, items: str) -> None:
    for tail in ("v[0]", "v.sum()", "np.argsort(v)[0]", "v[::-1][0]", "(v + 1)[-1]"):
        before = f"    first = int({tail})\n" if len(items) % 2 else ""
        checked(f"{HEAD}    v = np.array({items})\n{before}    {change}\n    return (int({tail}),)\n")
