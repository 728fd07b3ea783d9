"""Changing variables, states and layers of nnx, against Flax: who shares a variable with whom."""

from __future__ import annotations

import itertools

import pytest
from test_every_layer import compare

HEADER = """
import copy
import jax
import jax.numpy as jnp
from flax import nnx

x = jnp.ones((4, 8))
new = jnp.ones((8, 3))

class Net(nnx.Module):
    def __init__(self, rngs):
        self.up = nnx.Linear(8, 16, rngs=rngs)
        self.scale = nnx.Param(jnp.ones((5,)), out_sharding=())

    def __call__(self, x):
        return self.up(x)

model = Net(nnx.Rngs(0))
"""

#: Ways to a variable: setting up, and the variable.
_WAYS = {
    "the model": ("", "model.up.kernel"),
    "its state": ("s = nnx.state(model)", "s['up'].kernel"),
    "the state of one type": ("s = nnx.state(model, nnx.Param)", "s.up['kernel']"),
    "split": ("g, s = nnx.split(model)", "s.up.kernel"),
    "merged": ("g, s = nnx.split(model)\nother = nnx.merge(g, s)", "other.up.kernel"),
    "merged with copies": ("other = nnx.merge(*nnx.split(model), copy=True)", "other.up.kernel"),
    "a clone": ("other = nnx.clone(model)", "other.up.kernel"),
    "a mapped state": ("s = jax.tree.map(lambda a: a, nnx.state(model))", "s.up.kernel"),
    "a deep copy": ("other = copy.deepcopy(model)", "other.up.kernel"),
}
#: Changes of a variable ``p``.
_CHANGES = (
    "p.value = new",
    "p.set_value(new)",
    "p.set_raw_value(new)",
    "p[...] = jnp.ones((8, 16), jnp.bfloat16)",
    "p[...] = jnp.ones(())",
    "p[0] = jnp.ones((16,))",
    "p.set_value(jnp.ones(()), index=0)",
    "p.value += 1",
    "p[...] += 1",
    "p.copy_from(nnx.Param(new))",
    "nnx.update(model, {'up': {'kernel': new}})",
    "q = p.replace(new)",
    "q = p.copy()\nq.value = new",
    "p = p.replace(value=new)",
)


@pytest.mark.parametrize("way", _WAYS)
def test_changes(way: str) -> None:
    setup, variable = _WAYS[way]
    tally = [0, 0]
    for change in _CHANGES:
        text = f"{HEADER}\n{setup}\np = {variable}\n{change}\nh = {variable}[...]\nstate = nnx.state(model)\n"
        names = ["h", "state", *(["q"] if "q =" in change else [])]
        text += "q = q[...]\n" if "q" in names else ""
        result = compare(text, *names)
        if result is not None:
            tally = [a + b for a, b in zip(tally, result, strict=True)]
    assert tally[0] >= 0.9 * tally[1], tally


_PROGRAMS = (
    "s = nnx.state(model)\ns['up']['kernel'] = nnx.Param(new)\na = s",
    "s = nnx.state(model)\ns.up = nnx.state(nnx.Linear(2, 3, rngs=nnx.Rngs(0)))\na = s",
    "model.up = nnx.Linear(8, 6, rngs=nnx.Rngs(0))\ny = model(x)",
    "model.up.kernel = nnx.Param(jnp.ones((8, 16), jnp.bfloat16))\ny = model(x)",
    "model.up.kernel.value = new\nmodel.up.bias.value = jnp.ones((3,))\ny = model(x)",
    "@nnx.jit\ndef f(m):\n    m.up.kernel.value = new\nf(model)",
    "@nnx.jit\ndef f(m):\n    s = nnx.state(m)\n    s.up.kernel.value = new\nf(model)",
    "g, s = nnx.split(model)\n@jax.jit\ndef f(s):\n    m = nnx.merge(g, s)\n    m.up.kernel.value = new\n"
    "    return nnx.state(m)\na = f(s)",
    "g, s = nnx.split(model)\nmodel.extra = nnx.Param(new)\na = nnx.state(nnx.merge(g, s))",
    "g, s, rest = nnx.split(model, nnx.PathContains('up'), ...)\na = nnx.state(nnx.merge(g, rest, s))\n"
    "nnx.update(model, jax.tree.map(lambda a: a.astype(jnp.bfloat16), s))",
    "if len(jax.devices()) > 1:\n    model.scale.value = new",
    "def f(p, v):\n    if v.sum() > 0:\n        p.value = v\nf(model.scale, new)",
    "def f(p, v):\n    if v.sum() > 0:\n        p.value = v\nf(model.scale, jnp.zeros((5,)))",
    "for i in range(jax.device_count() - 1):\n    model.scale.value = jnp.ones((i,))",
)


@pytest.mark.parametrize("program", _PROGRAMS)
def test_program(program: str) -> None:
    bound = [name for name in "ya" if f"{name} = " in program]
    result = compare(f"{HEADER}\n{program}\nstate = nnx.state(model)\n", "state", *bound)
    assert result is not None
    assert result[0] >= 1


@pytest.mark.parametrize("pair", list(itertools.combinations(("model", "s", "m2", "c"), 2)))
def test_who_shares(pair: tuple[str, str]) -> None:
    """A change through one is seen through another exactly where Flax shares the variable."""
    one, other = pair
    setup = "g, s = nnx.split(model)\nm2 = nnx.merge(g, s)\nc = nnx.clone(model)\n"
    text = f"{HEADER}\n{setup}\n{one}.scale.value = new\nh = {other}.scale[...]\n"
    assert compare(text, "h") == (1, 1)
