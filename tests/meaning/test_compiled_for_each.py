"""Static arguments that are another number in each pass of a loop: told where one compilation would do."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """
import math
from functools import partial
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
x = jax.device_put(jnp.ones(16), NamedSharding(mesh, P("x")))
stack = jnp.ones((8, 4))
traces = []
"""
JIT = "@partial(jax.jit, static_argnums=1)\ndef f(x, n):\n    traces.append(1)\n    {}\n"
LOOP = "for n in (0.5, 1.5, 2.5, 3.5):\n    f(x, n)\n"
COUNT = "for n in (1, 2, 3, 4):\n    f(x, n)\n"
#: What a jitted function does with its static number, in a loop over several, and whether that is told.
USED: dict[str, tuple[str, bool]] = {
    "return x * n": (LOOP, True),
    "return jax.jit(lambda y: y * n)(x)": (LOOP, True),
    "return x + (1 - n) * jnp.exp(-n)": (LOOP, True),
    "return x * n if n > 1 else x * n + 1": (LOOP, False),
    "return x * float(n)": (LOOP, False),
    "return x * math.sqrt(n)": (LOOP, False),
    "return x * np.sqrt(n)": (LOOP, False),
    "return x * max(n, 1.0)": (LOOP, False),
    "return x[: int(n) + 1]": (LOOP, False),
    "return x * n ": (COUNT, True),
    "return x * jax.random.normal(jax.random.fold_in(jax.random.key(0), n), x.shape)": (COUNT, True),
    "return x.sum() + jnp.ones(n).sum() * n": (COUNT, False),
    "return x.sum() + jnp.ones((n, 3)).sum() * n": (COUNT, False),
    "return x[n:] * n": (COUNT, False),
    "return x.reshape(2, -1).repeat(n, 0) * n": (COUNT, False),
    "for _ in range(n):\n        x = x * n\n    return x": (COUNT, False),
    "return sum([x] * n) * n": (COUNT, False),
    "return sum(x * i for i in range(4) if i < n) + n": (COUNT, False),
    "return x * n  #": ("for n in (0.5, 0.5, 1.5, 1.5):\n    f(x, n)\n", False),
    "return x * n   ": ("for n in (0.5, 1.5):\n    f(x, n)\n", False),
    "return x * 2": (LOOP, False),
    "return x * n  # outside": ("f(x, 0.5); f(x, 1.5); f(x, 2.5); f(x, 3.5)\n", False),
    "return x * n  # deeper": (
        "def step(x, scale=0.5, rounds=3):\n    return f(x, scale)\nfor i in range(4):\n"
        "    step(x, scale=0.1 * i)\n",
        True,
    ),
    "return x * n  # decaying": ("n = 1.0\nfor i in range(4):\n    f(x, n)\n    n *= 0.9\n", True),
    "return x * n  # on one device": (LOOP.replace("x,", "jnp.ones(8),"), False),
}
#: What is passed in each of many passes, and whether that is told.
COUNTED = {
    "for i in range(70):\n    f(x, i)\n": True,
    "for i, v in enumerate(x for _ in range(70)):\n    f(v, i)\n": True,
    "def run(n):\n    for i in range(n):\n        f(x, i)\nrun(int('70'))\n": True,
    "for i in range(70):\n    f(x, i // 10)\n": False,
    "for i in range(70):\n    i = i % 2\n    f(x, i)\n": False,
    "for i in range(70):\n    if i > 3:\n        i = 3\n    f(x, i)\n": False,
    "for i in range(70):\n    f(x, i > 3)\n": False,
    "for i in range(70):\n    f(x, 3)\n": False,
    "for i in np.ones(70, int).tolist():\n    f(x, i)\n": False,
}
#: Other programs that call `f` with four numbers.
PROGRAMS: dict[str, bool] = {
    "@partial(jax.pmap, static_broadcasted_argnums=1)\ndef f(x, n):\n    traces.append(1)\n    return x * n\n"
    + LOOP.replace("x,", "stack,"): True,
    "@partial(jax.pmap, static_broadcasted_argnums=(1,))\ndef f(x, n):\n    traces.append(1)\n"
    "    return x * n if n > 1 else x\n" + LOOP.replace("x,", "stack,"): False,
    "@partial(jax.jit, static_argnames='n')\ndef f(x, n):\n    traces.append(1)\n    return x * n\n"
    + LOOP.replace("f(x, n)", "f(x, n=n)"): True,
    "@jax.jit\ndef f(x, n):\n    traces.append(1)\n    return x * n\n" + LOOP: False,
}


@pytest.mark.parametrize("used", USED)
def test_told_where_a_number_is_only_computed_with(used: str) -> None:
    loop, told = USED[used]
    program = HEADER + JIT.format(used) + loop
    assert bool(found(program, "SHL619")) == told
    traced = value(program, "len(traces)")
    if not told:
        return
    assert traced == 4
    once = program.replace("(jax.jit, static_argnums=1)", "(jax.jit)")
    assert value(once, "len(traces)") == 1


@pytest.mark.parametrize("loop", COUNTED)
def test_passes_that_are_counted(loop: str) -> None:
    program = HEADER + JIT.format("return x * n") + loop
    assert bool(found(program, "SHL619")) == COUNTED[loop]
    assert (value(program, "len(traces)") == 70) == COUNTED[loop]


@pytest.mark.parametrize("program", PROGRAMS)
def test_told_where_each_pass_compiles(program: str) -> None:
    assert bool(found(HEADER + program, "SHL619")) == PROGRAMS[program]
    assert (value(HEADER + program, "len(traces)") == 4) == (PROGRAMS[program] or "if n" in program)
