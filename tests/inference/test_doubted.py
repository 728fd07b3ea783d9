"""Branches that are decided by what is not known: what is met there is a warning at most.

Each program runs under JAX, or a caller can make it raise; an error is said only of the latter.
"""

from __future__ import annotations

import contextlib
import io

import pytest
from support.checking import check, severities

HEADER = """
import decimal, fractions, hashlib, importlib, math, os, random, sys, time, zlib
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, 4), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
def put(*entries):
    return jax.device_put(jnp.zeros((8, 4)), NamedSharding(mesh, P(*entries)))
put()
bad = lambda: put(None, None, "a")
def keep(value):
    return decimal.Context().create_decimal(value)
"""
#: Values that are known to Python only.
VALUES = {
    "a library's number": 'int(decimal.Decimal("8.5"))',
    "arithmetic": "int(fractions.Fraction(17, 2) * 1)",
    "a checksum": 'zlib.crc32(b"") + 8',
    "a size": "jnp.ones(8 + len(sys.argv[:0])).shape[0]",
    "a count": "int(np.unique(np.arange(8) % 8).size)",
    "an array": "int(jnp.argmax(jnp.arange(9.0)))",
    "the environment": 'int(os.environ.get("NOBODY_SETS_THIS", "8"))',
    "the clock": "int(time.time() * 0) + 8",
    "chance": "random.randint(8, 8)",
    "what is made of it": "int(str(keep(8))) * 1",
}
#: Ways to decide by ``k``, which is 8.
BRANCHES = {
    "if": "if k % 4:\n    bad()",
    "else": "if k % 4 == 0:\n    pass\nelse:\n    bad()",
    "elif": "if k < 8:\n    pass\nelif k < 4:\n    bad()",
    "conditional": "bad() if k % 4 else None",
    "and": "k % 4 and bad()",
    "or": "k % 4 == 0 or bad()",
    "comprehension": "[bad() for _ in range(2) if k % 4]",
    "match": "match k:\n    case 6:\n        bad()",
    "return": "def f():\n    if k == 8:\n        return\n    bad()\nf()",
    "in a loop": "def f():\n    for _ in 'ab':\n        if k > 6:\n            return\n    bad()\nf()",
    "break": "for _ in range(3):\n    if k == 8:\n        break\n    bad()",
    "called": "def f():\n    g()\ndef g():\n    bad()\nif k % 4:\n    f()",
    "called before": "with_k = lambda k: bad() if k % 4 else None\nwith_k(k)",
    "named": "odd = k % 4 != 0\nif odd:\n    bad()",
    "under jit": "@jax.jit\ndef f(x):\n    return bad() if k % 4 else x\nf(jnp.ones(8))",
    "nobody calls": "def f():\n    if k % 4:\n        put(None, None, 'a')",
    "with a choice": "def f(flag):\n    if flag and k % 4:\n        put(None, None, 'a')",
}


@pytest.mark.parametrize("branch", BRANCHES)
@pytest.mark.parametrize("value", VALUES)
def test_no_error_of_what_runs(value: str, branch: str) -> None:
    program = f"k = {VALUES[value]}\n{BRANCHES[branch]}\n"
    with contextlib.redirect_stdout(io.StringIO()):
        exec(HEADER + program, {"__name__": "__main__"})
    assert set(severities(check(HEADER + program))) <= {"warning"}


#: What somebody who calls it may choose, so that it is reached: an error, as where nothing decides.
CHOICES = {
    "a flag": "def f(flag):\n    if flag:\n        bad()",
    "what a flag holds": "def f(args):\n    if args.mode == 'train' and not args.dry:\n        bad()",
    "what is made of it": "def f(n):\n    rest = n % 4\n    if rest:\n        bad()",
    "its class": "def f(x):\n    if isinstance(x, str):\n        bad()",
    "left": "def f(flag):\n    if flag:\n        return\n    bad()",
    "a keyword": "def f(*, flag=False):\n    return bad() if flag else None",
    "an attribute": (
        "class C:\n    def __init__(self, flag):\n        self.flag = flag\n"
        "    def f(self):\n        if self.flag:\n            bad()"
    ),
    "a guard": 'k = int(decimal.Decimal("8.5"))\nif k % 4:\n    raise ValueError\nbad()',
    "both": 'k = int(decimal.Decimal("8.5"))\nif k % 4:\n    pass\nbad()',
    "also elsewhere": 'k = int(decimal.Decimal("8.5"))\nif k % 4:\n    bad()\nbad()',
}


@pytest.mark.parametrize("name", CHOICES)
def test_what_a_caller_may_choose(name: str) -> None:
    assert severities(check(HEADER + CHOICES[name])) == ["error"]


def test_what_is_said() -> None:
    program = f'k = int(decimal.Decimal("8.5"))\n{BRANCHES["if"]}\n'
    (found,) = check(HEADER + program)
    assert found.message.endswith("(if this branch is taken)")


@pytest.mark.parametrize("value", VALUES)
def test_a_branch_may_exclude_some_of_several_values(value: str) -> None:
    program = f"k = {VALUES[value]}\nchosen = ('a', None, 'b') if k != 8 else ('a', 'b')\n"
    program += "if str(k) == '8':\n    put(*chosen)\n"
    with contextlib.redirect_stdout(io.StringIO()):
        exec(HEADER + program, {"__name__": "__main__"})
    assert not check(HEADER + program)
