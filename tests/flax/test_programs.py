"""Whole programs: the variables that the evaluator finds are those that Flax makes."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import pytest
from flax import nnx
from flax_calls import flat_arrays, flat_specs, run_program
from support.jax_answers import asks_jax
from support.tracing import run_traced

from shardlint.inference.domain.values import Array
from shardlint.model.uses import ParameterUse

HEADER = """
import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import PartitionSpec as P

key = jax.random.key(0)
lecun = nn.initializers.lecun_normal()

class Block(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.features)(nn.Dense(self.features)(x))
"""

#: Programs that bind ``variables`` and ``y``; ``x`` has shape (4, 8).
LINEN = {
    "one layer": "variables = nn.Dense(16).init(key, x)\ny = nn.Dense(16).apply(variables, x)",
    "nested": "m = Block(8)\nvariables = m.init(key, x)\ny = m.apply(variables, x)",
    "names of auto-named layers": """
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        shared = nn.Dense(8, name="shared")
        x = shared(shared(x))
        x = Block(4)(x)
        heads = [nn.Dense(2) for _ in range(3)]
        x = heads[1](x) + heads[0](x)
        return nn.LayerNorm()(nn.relu(x))
y, variables = Net().init_with_output(key, x)
""",
    "setup": """
class Net(nn.Module):
    width: int = 12

    def setup(self):
        self.first = nn.Dense(self.width)
        self.layers = [nn.Dense(4), Block(2)]
        self.table = {"a": nn.Dense(3), "unused": nn.Dense(9)}
        self.alias = self.first
        self.renamed = nn.Dense(5, name="given")
        self.scale = self.param("scale", nn.initializers.ones, (self.width,), jnp.bfloat16)

    def __call__(self, x):
        for layer in self.layers:
            layer(x)
        self.table["a"](x)
        return self.renamed(self.alias(x) * self.scale)
m = Net()
variables = m.init(key, x)
y = m.apply(variables, x)
""",
    "modules as fields": """
class Wrap(nn.Module):
    inner: nn.Module
    rest: tuple

    @nn.compact
    def __call__(self, x):
        return self.rest[1](self.inner(x))
m = Wrap(nn.Dense(7), (nn.Dense(1), Block(3)))
variables = m.init(key, x)
y = m.apply(variables, x)
""",
    "a layer made outside keeps its name": """
class Inner(nn.Module):
    dense: nn.Module

    @nn.compact
    def __call__(self, x):
        return self.dense(x)

class Outer(nn.Module):
    @nn.compact
    def __call__(self, x):
        dense = nn.Dense(8)
        return Inner(dense)(x) + dense(x)
y, variables = Outer().init_with_output(key, x)
""",
    "sequential": """
class Net(nn.Module):
    def setup(self):
        self.net = nn.Sequential([nn.Dense(4), nn.relu, Block(2)])

    @nn.compact
    def __call__(self, x):
        return nn.Sequential([nn.Dense(6), nn.gelu, nn.Dense(8)])(self.net(x))
y, variables = Net().init_with_output(key, x)
""",
    "sequential at the top": """
m = nn.Sequential([nn.Dense(4), jnp.tanh, nn.Dense(2)])
variables = m.init(key, x)
y = m.apply(variables, x)
""",
    "remat": """
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            x = nn.remat(Block)(8)(x)
        return x
y, variables = Net().init_with_output(key, x)
""",
    "another method": """
class Net(nn.Module):
    def setup(self):
        self.body = Block(3)

    def encode(self, x):
        return self.body(x)
m = Net()
variables = m.init(key, x, method="encode")
y = m.apply(variables, x, method=Net.encode)
""",
    "statistics and dropout": """
class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.BatchNorm(use_running_average=not train)(x)
        return nn.Dropout(0.5, deterministic=not train)(x)
m = Net()
variables = m.init(key, x, train=False)
y = m.apply(variables, x, train=False)
""",
    "initializing": """
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        if not self.is_initializing():
            x = jnp.concatenate([x, x])
        return nn.Dense(4)(x)
m = Net()
variables = m.init(key, x)
y = m.apply(variables, x)
""",
    "attention": """
class Layer(nn.Module):
    @nn.compact
    def __call__(self, x):
        h = nn.MultiHeadDotProductAttention(num_heads=2, normalize_qk=True)(nn.LayerNorm()(x))
        return x + h
y, variables = Layer().init_with_output(key, jnp.ones((2, 5, 8)))
""",
    "a mutable apply": """
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.BatchNorm(use_running_average=False)(x)
m = Net()
variables = m.init(key, x)
y, updates = m.apply(variables, x, mutable=["batch_stats"])
""",
    "embedding and its transpose": """
class Model(nn.Module):
    def setup(self):
        self.embed = nn.Embed(11, 8)

    def __call__(self, x):
        h = self.embed(jnp.zeros((4, 6), jnp.int32))
        return self.embed.attend(h)
m = Model()
variables = m.init(key, x)
y = m.apply(variables, x)
""",
    "abstract initialization": """
m = Block(8)
variables = jax.eval_shape(m.init, key, x)
y = jax.jit(m.apply)(m.init(key, x), x)
""",
    "partitioned": """
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(8, kernel_init=nn.with_partitioning(lecun, (None, "model")))(x)
        x = nn.DenseGeneral((2, 4), kernel_init=nn.with_partitioning(lecun, P("data", None, "model")))(x)
        w = self.param("w", nn.with_partitioning(nn.initializers.zeros, (("data", "model"),)), (8,))
        return x.reshape(4, 8) + w + self.param("b", nn.initializers.zeros, (8,))
y, variables = Net().init_with_output(key, x)
specs = nn.get_partition_spec(jax.eval_shape(Net().init, key, x))
""",
}

#: Programs that bind ``model`` and ``y``.
NNX = {
    "one layer": "model = nnx.Linear(8, 16, rngs=nnx.Rngs(0))\ny = model(x)",
    "a module": """
class Mlp(nnx.Module):
    def __init__(self, width, *, rngs: nnx.Rngs):
        self.up = nnx.Linear(8, width, rngs=rngs)
        self.norm = nnx.LayerNorm(width, rngs=rngs)
        self.down = nnx.Linear(width, 8, use_bias=False, rngs=rngs)
        self.scale = nnx.Param(jnp.ones((8,)))
        self.table = nnx.Param(nnx.initializers.normal(0.02)(rngs.params(), (3, 8), jnp.bfloat16))

    def __call__(self, x):
        return x + self.down(nnx.relu(self.norm(self.up(x)))) * self.scale.value
model = Mlp(16, rngs=nnx.Rngs(0))
y = model(x)
""",
    "a list of blocks": """
class Net(nnx.Module):
    def __init__(self, rngs):
        self.blocks = nnx.List([nnx.Linear(8, 8, rngs=rngs) for _ in range(2)])
        self.out = nnx.Sequential(nnx.Linear(8, 4, rngs=rngs), nnx.relu, nnx.Linear(4, 2, rngs=rngs))

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return self.out(x)
model = Net(nnx.Rngs(0))
y = model(x)
""",
    "a parameter in operators": """
class Net(nnx.Module):
    def __init__(self, rngs):
        self.w = nnx.Param(jax.random.normal(rngs.params(), (8, 3)))
        self.b = nnx.Param(jnp.zeros((3,)))

    def __call__(self, x):
        return x @ self.w + self.b[...]
model = Net(nnx.Rngs(0))
y = model(x)
""",
    "embedding": """
class Net(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(11, 8, rngs=rngs)

    def __call__(self, ids):
        return self.embed.attend(self.embed(ids))
model = Net(nnx.Rngs(0))
y = model(jnp.zeros((4, 6), jnp.int32))
""",
}


def program(body: str) -> str:
    return f"{HEADER}\nx = jnp.ones((4, 8))\n{body}\n"


def flatten(tree: Any) -> dict[tuple[str, ...], Any]:
    found = jax.tree_util.tree_flatten_with_path(tree, is_leaf=lambda leaf: isinstance(leaf, jax.P))[0]
    return {tuple(str(getattr(key, "key", key)) for key in path): leaf for path, leaf in found}


@asks_jax("flax")
def real_linen(text: str) -> tuple[Any, Any, Any]:
    """Return the variables of a program, what its ``y`` is, and its specs, if it has any."""
    real: dict[str, Any] = {}
    run_traced(text, real)
    variables = flatten(nn.unbox(real["variables"])).items()
    arrays = {path: (tuple(leaf.shape), str(leaf.dtype)) for path, leaf in variables}
    specs = None
    if "specs" in real:
        specs = {path: tuple(leaf) for path, leaf in flatten(real["specs"]).items()}
    return arrays, (tuple(real["y"].shape), str(real["y"].dtype)), specs


@asks_jax("flax")
def real_nnx(text: str) -> tuple[Any, Any]:
    """Return the parameters of a program's model, and what its ``y`` is."""
    real: dict[str, Any] = {}
    run_traced(text, real)
    parameters = nnx.to_flat_state(nnx.state(real["model"], nnx.Param))
    arrays = {tuple(map(str, path)): (tuple(leaf.shape), str(leaf.dtype)) for path, leaf in parameters}
    return arrays, (tuple(real["y"].shape), str(real["y"].dtype))


@pytest.mark.parametrize("body", LINEN.values(), ids=LINEN)
def test_linen_program(body: str) -> None:
    arrays, y, specs = real_linen(program(body))
    found, all_uses = run_program(program(body))
    uses = [use for use in all_uses if isinstance(use, ParameterUse)]
    assert flat_arrays(found["variables"]) == arrays
    assert isinstance(found["y"], Array)
    assert (found["y"].shape, found["y"].dtype) == y
    made = [(path[-1], *leaf) for path, leaf in arrays.items() if path[0] == "params"]
    assert {(use.name, use.shape, use.dtype) for use in uses} == set(made)
    if specs is not None:
        assert flat_specs(found["specs"]) == specs


@pytest.mark.parametrize("body", NNX.values(), ids=NNX)
def test_nnx_program(body: str) -> None:
    arrays, y = real_nnx(program(body))
    found, all_uses = run_program(program(f"{body}\nstate = nnx.state(model, nnx.Param)"))
    uses = [use for use in all_uses if isinstance(use, ParameterUse)]
    assert flat_arrays(found["state"]) == arrays
    assert isinstance(found["y"], Array)
    assert (found["y"].shape, found["y"].dtype) == y
    assert sorted((use.shape, use.dtype) for use in uses) == sorted(arrays.values())
