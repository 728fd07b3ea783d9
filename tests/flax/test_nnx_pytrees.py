"""nnx's objects in JAX's own transforms, where they are pytrees: shapes and types beside JAX's."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "explicit"))


from collections.abc import Iterator
from typing import Any

import jax
import pytest
from explicit_probes import evaluate
from support.jax_answers import asks_jax

from shardlint.inference.domain.values import Array, Value
from shardlint.inference.overlays.pytrees import nodes
from shardlint.inference.overlays.pytrees.prefixes import arrays_in
from shardlint.laws.core.verdicts import Rejected

PRELUDE = """
from functools import partial
import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)


class Block(nnx.Module):
    def __init__(self, size, rngs):
        self.size = size
        self.norm = nnx.LayerNorm(size, rngs=rngs)
        self.wide = nnx.Linear(size, size, kernel_init=partial(
            nnx.initializers.lecun_normal(), out_sharding=P(None, "y")), use_bias=False, rngs=rngs)
        self.down = nnx.Param(
            nnx.initializers.normal()(rngs.params(), (size, size), out_sharding=P("y", None)))
        self.scales = nnx.List([nnx.Param(jnp.ones(size)), nnx.Param(jnp.ones(()))])

    def __call__(self, x):
        return jnp.dot(jnp.tanh(self.wide(x)), self.down[...], out_sharding=P("x", None)) * self.scales[0]


class Stack(nnx.Module):
    def __init__(self, size, rngs):
        self.layers = jax.vmap(lambda r: Block(size, r))(rngs.fork(split=3))

    def __call__(self, x):
        return jax.lax.scan(lambda x, layer: (layer(x), None), x, self.layers)[0]


@jax.jit
def step(model, x):
    model.scales[0][...] = jnp.zeros((16,))
    return model, model(x)


@nnx.jit
def update(model, x):
    model.scales[0][...] = model.scales[0] * 2
    return model(x)


x = jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, P("x", None)))
"""
#: What is looked at, under the mesh.
LOOKS = (
    "Block(16, nnx.Rngs(0)).wide.kernel[...]",
    "Block(16, nnx.Rngs(0))(x)",
    "Stack(16, nnx.Rngs(0)).layers.wide.kernel[...]",
    "Stack(16, nnx.Rngs(0)).layers.down[...]",
    "Stack(16, nnx.Rngs(0)).layers.norm.scale[...]",
    "Stack(16, nnx.Rngs(0)).layers.scales[1][...]",
    "Stack(16, nnx.Rngs(0))(x)",
    "jax.jit(lambda m, x: m(x))(Stack(16, nnx.Rngs(0)), x)",
    "step(Block(16, nnx.Rngs(0)), x)[0].down[...]",
    "step(Block(16, nnx.Rngs(0)), x)[1]",
    "update(Block(16, nnx.Rngs(0)), x)",
    "jax.grad(lambda m: m(x).sum())(Block(16, nnx.Rngs(0))).wide.kernel[...]",
    "jax.tree.map(lambda a: a * 2, Block(16, nnx.Rngs(0))).down[...]",
    "jax.vmap(lambda m: m.scales[0][...] * 2)(Stack(16, nnx.Rngs(0)).layers)",
    "jax.tree.leaves(Block(16, nnx.Rngs(0)))[0]",
    "Stack(15, nnx.Rngs(0)).layers.down[...]",
    "jax.jit(lambda m, x: m(x))(Stack(16, nnx.Rngs(0)), jnp.ones((7, 16)))",
)


@asks_jax("flax")
def real_type(look: str) -> tuple[tuple[int, ...], tuple[Any, ...]] | str:
    """Return the shape and spec in an expression's type, or the class that it raises."""
    scope: dict[str, Any] = {}
    exec(PRELUDE, scope)
    with jax.set_mesh(scope["mesh"]):
        try:
            real = jax.typeof(eval(look, scope))
        except Exception as problem:
            return type(problem).__name__
    return tuple(real.shape), tuple(real.sharding.spec)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("look", LOOKS)
def test_pytrees_of_nnx_are_those_of_jax(look: str) -> None:
    probes, uses = evaluate(f"{PRELUDE}\nwith jax.set_mesh(mesh):\n    probe(0, {look})\n")
    refused = [use.verdict for use in uses if isinstance(use.verdict, Rejected)]
    real = real_type(look)
    if isinstance(real, str):
        assert [verdict.exception for verdict in refused[:1]] == [real]
        return
    shape, entries = real
    assert not refused
    value = probes[0]
    assert isinstance(value, Array) and value.shape == shape, value
    assert value.typed is None or value.typed.spec.entries == entries, (value, real)
    assert value.typed is not None, real


RING = """
from flax import nnx
import jax
import jax.numpy as jnp

class Child(nnx.Module):
    def __init__(self, parent):
        self.parent = parent
        self.scale = nnx.Param(jnp.ones(4))

class Parent(nnx.Module):
    def __init__(self):
        self.child = Child(self)

class Model(nnx.Module):
    def __init__(self):
        self.bias = nnx.Param(jnp.ones(3))
        self.parent = Parent()
"""


def test_objects_that_hold_themselves_are_no_trees() -> None:
    """JAX itself walks in circles there until the stack ends."""
    probes, _ = evaluate(RING + "probe(0, Model())\n")
    assert [array.shape and array.shape[0] for array in arrays_in(probes[0])] == [3]


def test_a_walk_looks_once_at_each_object(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = "layer = nnx.Linear(2, 2, rngs=nnx.Rngs(0))\n" + "layer = nnx.Sequential(layer)\n" * 12
    probes, _ = evaluate(f"from flax import nnx\n{chain}probe(0, layer)\n")
    looked: list[int] = []
    objects = nodes._objects

    def look(value: Value) -> Iterator[Value]:
        looked.append(id(value))
        return objects(value)

    monkeypatch.setattr(nodes, "_objects", look)
    assert len(arrays_in(probes[0])) == 2
    assert len(looked) == len(set(looked)) >= 13
