"""Functions that code which is not followed may call: what their module binds anew later is left open."""

from __future__ import annotations

import itertools

import pytest
from python_programs import met, said
from support.checking import rejected

PROGRAM = """\
import jax, jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
from somewhere import unseen
auto = dict(axis_types=(AxisType.Auto,) * 2)
first, second = jax.make_mesh((4, 2), ("x", "y"), **auto), jax.make_mesh((4, 2), ("a", "b"), **auto)
mesh = {before}
{function}
{after}
"""
DECORATED = """\
@unseen
def f(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))
y = f(jnp.zeros(8))"""
GIVEN = """\
def f(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))
y = unseen(f)(jnp.zeros(8))"""
WRAPPED = """\
@unseen
@jax.jit
def f(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))
y = f(jnp.zeros(8))"""
STORED = """\
def later(f):
    return lambda x: unseen(lambda y: f(y))(x)
@later
def f(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))
y = f(jnp.zeros(8))"""
KEPT = """\
def f(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))"""


def runs(text: str) -> bool:
    """Whether the program runs, with an `unseen` that calls what it got where it is called itself."""
    try:
        exec(text.replace("from somewhere import unseen", ""), {"unseen": lambda f: lambda *a: f(*a)})
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "function", [DECORATED, GIVEN, WRAPPED, STORED], ids=["decorated", "given", "wrapped", "stored"]
)
@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("first", "mesh = second", False),
        ("second", "mesh = first", False),
        ("second", "", True),
        ("second", "mesh = second", True),
        ("first\nmesh = second", "", True),
        ("first", "", False),
    ],
)
def test_only_what_is_bound_for_good_is_known(function: str, before: str, after: str, found: bool) -> None:
    text = PROGRAM.format(before=before, function=function, after=after)
    assert len(rejected(text)) == int(found)
    assert not (found and runs(text))


def test_a_function_that_nobody_else_has_sees_what_is_bound_last() -> None:
    assert len(rejected(PROGRAM.format(before="first", function=KEPT, after="mesh = second"))) == 1


#: How a function changes what others see, and what they see then.
CHANGES = {
    "global": ("global n; n = 8", "n"),
    "item of a dict": ("held['n'] = 8", "held['n']"),
    "item of a list": ("several[0] = 8", "several[0]"),
    "attribute": ("one.n = 8", "one.n"),
    "attribute of a class": ("One.n = 8", "One.n"),
    "through another": ("helper()", "one.n"),
}
#: How it comes to be called, without being called here.
WAYS = {
    "thread": "t = threading.Thread(target=work); t.start(); t.join()",
    "keyword arguments": "t = threading.Thread(None, work, kwargs={'k': 1}); t.start(); t.join()",
    "timer": "t = threading.Timer(0.0, work); t.start(); t.join()",
    "executor": "with ThreadPoolExecutor() as pool: pool.submit(work).result()",
    "map of an executor": "with ThreadPoolExecutor() as pool: list(pool.map(work, [1]))",
    "partial": "t = threading.Thread(target=functools.partial(work, 1)); t.start(); t.join()",
    "method": "t = threading.Thread(target=one.work); t.start(); t.join()",
    "loop": "asyncio.run(asyncio.to_thread(work))",
    "later": "t = threading.Thread(target=later, args=()); t.start(); n = 6; go.set(); t.join()",
}
HANDING = """\
import asyncio, functools, threading
from concurrent.futures import ThreadPoolExecutor
go = threading.Event()
n, held, several = 6, {{"n": 6}}, [6]
class One:
    n = 6
    def work(self): {change}
one = One()
def helper(): one.n = 8
def work(k=1): {change}
def later():
    go.wait()
    {change}
{way}
meet(0, {seen})
"""


@pytest.mark.parametrize(("change", "way"), [*itertools.product(CHANGES, WAYS)])
def test_what_a_function_changes_that_others_may_call_is_not_known(change: str, way: str) -> None:
    done, seen = CHANGES[change]
    text = HANDING.format(change=done, way=WAYS[way], seen=seen)
    assert met(text, 0)[0] == [8]
    known = said(text)[0]
    assert known is None or 8 in known


def test_libraries_that_only_read_leave_lists_known() -> None:
    text = (
        "import math, os.path, textwrap\nseveral, parts = [1, 2], ['a', 'b']\n"
        "math.fsum(several), os.path.commonprefix(parts), textwrap.shorten('a b', 2)\n"
        "meet(0, len(several))\nmeet(1, len(parts))\n"
    )
    assert said(text) == {0: {2}, 1: {2}}
