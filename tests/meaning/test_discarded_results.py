"""Results that nothing uses: reported where the arrays stay as they were."""

from __future__ import annotations

import pytest
from consequences import found, value
from support.checking import check

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax.lax import with_sharding_constraint as constrain
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("data",))
split = NamedSharding(mesh, P("data"))
y = {"a": jnp.ones(16)}
"""
HELPER = """def shard(x, on=split):
    if on is None:
        return x
    return constrain(x, on)
"""
#: Programs, and whether their result is lost.
PROGRAMS = {
    "jax.device_put(y, split)": True,
    "y = jax.device_put(y, split)": False,
    "jax.tree.map(lambda a: jax.device_put(a, split), y)": True,
    "y = jax.tree.map(lambda a: jax.device_put(a, split), y)": False,
    "y = jax.device_put(y, split)\njax.tree.map(lambda a: a.block_until_ready(), y)": False,
    "y = jax.device_put(y, split)\njax.tree.map(lambda a: print(a.shape) or a, y)": False,
    "def f(y):\n    z = jax.tree.map(lambda a: a.block_until_ready(), y)\n    return y\n"
    "y = f(jax.device_put(y, split))": False,
    "@jax.jit\ndef f(y):\n    constrain(y, split)\n    return y\ny = f(y)": True,
    "@jax.jit\ndef f(y):\n    return constrain(y, split)\ny = f(y)": False,
    "jax.block_until_ready(y := jax.device_put(y, split))": False,
    "def put():\n    global y\n    y = jax.device_put(y, split)\n    return y\nput()": False,
    "def put():\n    global y\n    y = jax.device_put(y, split)\njax.tree.map(lambda a: put(), y)": False,
    "@jax.jit\ndef f(y):\n    z = constrain(y, split)\n    return y\ny = f(y)": True,
    "@jax.jit\ndef f(y):\n    z = constrain(y, split)\n    return z\ny = f(y)": False,
    "@jax.jit\ndef f(y):\n    z = constrain(y, split)\n    return (lambda: z)()\ny = f(y)": False,
    "@jax.jit\ndef f(y):\n    z = jax.tree.map(lambda a: constrain(a, split), y)\n"
    "    return y\ny = f(y)": True,
    "def f(y):\n    for _ in range(2):\n        z = jax.device_put(y, split)\n    return y\ny = f(y)": True,
    "def f(y):\n    z = y\n    for _ in range(2):\n        y, z = z, jax.device_put(y, split)\n"
    "    return y\ny = f(y)": False,
    f"{HELPER}\n@jax.jit\ndef f(y):\n    a = y['a'] + 1\n    shard(a)\n    return {{'a': a}}\ny = f(y)": True,
    f"{HELPER}\n@jax.jit\ndef f(y):\n    a = y['a'] + 1\n    a = shard(a)\n    return {{'a': a}}\n"
    "y = f(y)": False,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_reported_where_the_array_stays_on_one_device(program: str) -> None:
    text = f"{HEADER}{program}\nz = y\n"
    assert (value(text, "len(y['a'].sharding.device_set)") == 1) == PROGRAMS[program]
    assert bool(found(text, "SHL611")) == PROGRAMS[program]


@pytest.mark.parametrize(
    ("call", "used", "reported"),
    [
        ("jax.device_put(x, split)", "x", True),
        ("jax.device_put(x, split)", "y", False),
        ("jax.device_put(x['a'], split)", 'x["a"]', True),
        ("jax.device_put(x['a'], split)", "x", True),
        ("jax.device_put(x['a'], split)", "x['b']", False),
        ("jax.device_put(x.a, split)", "x.b, x.c[0]", False),
        ("jax.device_put(x.a[0], split)", "x.b, x.a", True),
        ("jax.device_put(x[i], split)", "x[0]", True),
        ("constrain(x, NamedSharding(of, P('data')))", "x", True),
        ("constrain(x, split)", "x", True),
        ("jax.block_until_ready(constrain(x, split))", "x", False),
        ("print(constrain(x, split))", "x", False),
    ],
)
def test_in_a_function_that_nothing_calls(call: str, used: str, reported: bool) -> None:
    program = f"{HEADER}def step(x, y, i, of):\n    {call}\n    return {used}\n"
    assert bool(found(program, "SHL611")) == reported


@pytest.mark.parametrize(
    ("helper", "reported"),
    [
        ("return constrain(x, split)", True),
        ('"Split."\n    y = x\n    return constrain(y, split)', True),
        ("return x", False),
        ("seen.append(x)\n    return constrain(x, split)", False),
        ("seen[0] = x\n    return constrain(x, split)", False),
        ("return constrain(x.sum(), NamedSharding(mesh, P()))", False),
    ],
)
def test_helpers_that_only_return_what_they_are_given(helper: str, reported: bool) -> None:
    program = f"{HEADER}seen = [0]\ndef put(x):\n    {helper}\n"
    body = "@jax.jit\ndef step(x):\n    y = x + 1\n    put(y)\n    return y\nstep(jnp.ones(16))\n"
    assert bool(found(program + body, "SHL611")) == reported


@pytest.mark.parametrize(
    ("name", "read"), [("z", "nonlocal z"), ("_", "pass"), ("z", "print('z')"), ("z", "locals()['z']")]
)
def test_not_under_a_name_that_others_may_read(name: str, read: str) -> None:
    bound = f"    {name} = constrain(y, split)\n    def inner():\n        {read}\n    return y\n"
    assert not found(f"{HEADER}def step(y):\n{bound}", "SHL611")


def test_not_under_a_name_that_other_modules_may_read() -> None:
    assert not found(f"{HEADER}z = jax.device_put(y, split)\nw = y\n", "SHL611")


def test_not_where_jax_rejects_the_call() -> None:
    assert not found(f"{HEADER}x = jnp.ones(15)\njax.device_put(x, split)\nx + 1\n", "SHL611")


def test_not_where_a_call_is_tried() -> None:
    tried = "try:\n    jax.device_put(y, split)\nexcept ValueError as e:\n    {}\n"
    for handling in ("pass", "raise", "raise AssertionError(str(e)) from e"):
        assert not found(f"{HEADER}{tried.format(handling)}z = y\n", "SHL611")
    test = "def test_it():\n    jax.device_put(y, split)\n"
    assert not [f for f in check(HEADER + test, "test_it.py") if f.code == "SHL611"]
