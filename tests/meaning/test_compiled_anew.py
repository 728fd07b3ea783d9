"""Functions that `jax.jit` compiles in each pass of a loop: told where JAX traces them in each call."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """
import functools
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
x = jax.device_put(jnp.ones(16), NamedSharding(mesh, P("x")))
traces = []
def f(x):
    traces.append(1)
    return x * 2
"""
SHARD = 'jax.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x"))'
LOOP = "for i in range(4):\n    {}\n"
RUN = "def run(x):\n    {}\nfor i in range(4):\n    run(x)\n"
#: Programs that call a jitted function four times, and whether that is told.
PROGRAMS = {
    "a function of the module": (LOOP.format("jax.jit(f)(x)"), False),
    "a lambda, called at once": (LOOP.format("jax.jit(lambda x: f(x))(x)"), True),
    "a lambda in a variable": (LOOP.format("go = jax.jit(lambda x: f(x)); go(x)"), True),
    "a lambda before the loop": ("go = jax.jit(lambda x: f(x))\n" + LOOP.format("go(x)"), False),
    "a derivative": (LOOP.format("jax.jit(jax.grad(lambda x: f(x).sum()))(x)"), True),
    "a mapped function": (LOOP.format("jax.jit(jax.vmap(f))(x)"), True),
    "a sharded one": (LOOP.format(f"jax.jit({SHARD})(x)"), True),
    "one made before the loop": (f"g = {SHARD}\n" + LOOP.format("jax.jit(g)(x)"), False),
    "one of a partial": (LOOP.format("jax.jit(functools.partial(f))(x)"), True),
    "one of a jitted function": (LOOP.format("jax.jit(jax.jit(f))(x)"), False),
    "a lambda in a function": (RUN.format("return jax.jit(lambda x: f(x))(x)"), True),
    "a decorated function in a function": (
        RUN.format("@jax.jit\n    def go(x):\n        return f(x)\n    return go(x)"),
        True,
    ),
    "a function in a function": (
        RUN.format("def go(x):\n        return f(x)\n    return jax.jit(go)(x)"),
        True,
    ),
    "one that a cache keeps": (
        "@functools.cache\ndef make():\n    return jax.jit(lambda x: f(x))\n" + LOOP.format("make()(x)"),
        False,
    ),
    "one that is kept in a dict": (
        "made = {}\n"
        + RUN.format("go = made.get(0) or jax.jit(lambda x: f(x))\n    made[0] = go\n    return go(x)"),
        False,
    ),
    "one that an object keeps": (
        "class Step:\n    go = None\n    def __call__(self, x):\n        if self.go is None:\n"
        "            self.go = jax.jit(lambda x: f(x))\n        return self.go(x)\nstep = Step()\n"
        + LOOP.format("step(x)"),
        False,
    ),
    "a bound method": (
        "class Model:\n    def apply(self, x):\n        return f(x)\nmodel = Model()\n"
        + LOOP.format("jax.jit(model.apply)(x)"),
        True,
    ),
    "a loop in the function": (
        "def run(x):\n    go = jax.jit(lambda x: f(x))\n    for i in range(4):\n        go(x)\nrun(x)\n",
        False,
    ),
    "a function that a function calls": (
        f"def deeper(x):\n    return jax.jit({SHARD})(x)\n" + RUN.format("return deeper(x)"),
        True,
    ),
    "one that a comprehension calls, for the loop's layout": (
        "for spec in (P('x'), P()):\n    layout = NamedSharding(mesh, spec)\n"
        "    @functools.partial(jax.jit, out_shardings=layout)\n"
        "    def go():\n        return f(jnp.ones(16))\n"
        "    made = [go() for _ in range(2)]\n",
        False,
    ),
    "one for the layout of each call": (
        "def run(spec):\n    layout = NamedSharding(mesh, spec)\n"
        "    @functools.partial(jax.jit, out_shardings=layout)\n"
        "    def go():\n        return f(jnp.ones(16))\n    return go()\n"
        "for spec in (P('x'), P(), P('x'), P()):\n    run(spec)\n",
        False,
    ),
    "one that depends on the loop": (LOOP.format("jax.jit(lambda x: f(x)[: i + 1])(x)"), False),
    "one that depends on a parameter": (
        "def run(x, i):\n    return jax.jit(lambda x: f(x)[: i + 1])(x)\n" + LOOP.format("run(x, i)"),
        False,
    ),
    "calls without a loop": ("def run(x):\n    return jax.jit(lambda x: f(x))(x)\n" + "run(x)\n" * 4, False),
}


#: Programs whose calls cannot do with one compilation.
NEEDED = (
    "calls without a loop",
    "one that depends on the loop",
    "one that depends on a parameter",
    "one for the layout of each call",
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_told_where_each_call_compiles(name: str) -> None:
    body, told = PROGRAMS[name]
    program = HEADER + body
    assert bool(found(program, "SHL619")) == told
    traced = value(program, "len(traces)")
    assert traced == 4 if told or name in NEEDED else traced < 4
