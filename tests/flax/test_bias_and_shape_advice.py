"""What is said of bare biases and of parameters' ranks, beside the arrays that Flax makes."""

from __future__ import annotations

import random
from typing import Any

import flax.linen as nn
import jax
import pytest
from flax.traverse_util import flatten_dict
from jax.sharding import PartitionSpec as P
from support.checking import places, uses
from support.jax_answers import asks_jax

from shardlint.rules import RuleSettings, judge

_HEAD = """
import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import PartitionSpec as P

lecun = nn.initializers.lecun_normal()
zeros = nn.initializers.zeros_init()
logical = nn.with_logical_partitioning
plain = nn.with_partitioning
"""
_NAMES = ("embed", "mlp", "heads", None)
_RULES = ("model", "data", None)
_LAYERS = ("nn.Dense({n}{k}{b})", "nn.DenseGeneral(({n}, 2){k}{b})")


def found(text: str, code: str) -> list[int]:
    """The lines of a program at which shardlint finds this."""
    return [line for one, line in places(judge(uses(text), RuleSettings())) if one == code]


def run(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(text, names)
    return names


def _linen(draw: random.Random) -> str:
    rules = tuple((name, draw.choice(_RULES)) for name in ("embed", "mlp", "heads"))
    layers = []
    for _ in range(4):
        layer = draw.choice(_LAYERS)
        wide = 3 if "General" in layer else 2
        box = draw.choice(("logical", "logical", "plain"))
        names: list[str | None] = [None] * wide
        choices = [*_NAMES] if box == "logical" else ["model", None]
        for dimension in range(wide):
            free = [name for name in choices if name is None or name not in names]
            names[dimension] = draw.choice(free)
        kernel = f", kernel_init={box}(lecun, {tuple(names)!r})" if draw.random() < 0.8 else ""
        bias = f", bias_init={box}(zeros, {tuple(names[1:])!r})" if draw.random() < 0.3 else ""
        layers.append(layer.format(n=draw.choice((2, 7, 8, 16, 24)), k=kernel, b=bias))
    lines = [f"RULES = {rules!r}", "class Model(nn.Module):", "    @nn.compact", "    def __call__(self, x):"]
    lines += [f"        {layer}(x)" for layer in layers]
    lines += ["with nn.logical_axis_rules(RULES):"]
    lines += ["    made = jax.eval_shape(Model().init, jax.random.key(0), jnp.ones((4, 8)))"]
    return _HEAD + "\n".join(lines) + "\n"


@asks_jax("flax")
def layers_to_blame(text: str) -> list[str]:
    """Return the layers of linen with a bare bias of some size beside a kernel whose outputs are split."""
    names = run(text)
    arrays = flatten_dict(nn.unbox(names["made"])["params"])
    specs = flatten_dict(nn.get_partition_spec(names["made"])["params"])
    boxes = flatten_dict(names["made"]["params"], is_leaf=lambda _, leaf: not isinstance(leaf, dict))
    wanted = []
    for (layer, parameter), bias in arrays.items():
        if parameter != "bias" or isinstance(boxes[layer, "bias"], nn.Partitioned) or bias.size < 16:
            continue
        spec = specs[layer, "kernel"]
        if isinstance(boxes[layer, "kernel"], nn.LogicallyPartitioned):
            spec = nn.logical_to_mesh_axes(spec, names["RULES"])
        outputs = (*spec, *(None,) * 3)[1 : 1 + bias.ndim]
        if any(outputs):
            wanted.append(layer)
    return wanted


@pytest.mark.parametrize("seed", range(60))
def test_a_linen_bias_is_advised_to_be_split_where_the_outputs_are(seed: int) -> None:
    text = _linen(random.Random(seed))
    wanted = layers_to_blame(text)
    count = dict.fromkeys(("Dense", "DenseGeneral"), 0)
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("        nn."):
            kind = line.strip().removeprefix("nn.").partition("(")[0]
            if f"{kind}_{count[kind]}" in wanted:
                lines.append(number)
            count[kind] += 1
    assert found(text, "SHL503") == lines


@asks_jax("flax")
def is_to_blame(text: str) -> bool:
    """Return whether a layer of nnx that a program builds has a bare bias and a kernel of split outputs."""

    def spec(variable: Any) -> P:
        return P(*(variable.get_metadata().get("out_sharding") or ()))

    return any(
        len(spec(one.kernel)) == 2 and bool(spec(one.kernel)[1]) and not tuple(spec(one.bias))
        for one in run(text)["build"]()
    )


@pytest.mark.parametrize("seed", range(30))
def test_an_nnx_bias_is_set_beside_the_kernel_of_its_own_layer(seed: int) -> None:
    """One line makes several layers; it is to blame if one of them is bare beside a split kernel."""
    draw = random.Random(seed)
    kernels = ("None", 'P("data", "model")', 'P("model")', 'P(None, "data")')
    biases = ("None", 'P("model")', 'P("data")')
    pairs = [(draw.choice(kernels), draw.choice(biases)) for _ in range(draw.randint(1, 3))]
    text = _HEAD + (
        "def layer(kernel, bias, rngs):\n"
        "    return nnx.Linear(8, 16, kernel_metadata={'out_sharding': kernel, 'eager_sharding': False},"
        " bias_metadata={'out_sharding': bias, 'eager_sharding': False}, rngs=rngs)\n"
        "def build():\n"
        f"    return [layer(k, b, nnx.Rngs(0)) for k, b in [{', '.join(f'({k}, {b})' for k, b in pairs)}]]\n"
    )
    assert bool(found(text, "SHL503")) is is_to_blame(text)


_STACKED = """
def stacked(key, num, axis, *args):
    return jnp.stack([lecun(k, *args) for k in jax.random.split(key, num)], axis=axis)

def open_ended(key, n, *rest):
    made = [lecun(key, (n, 16))]
    for _ in range(COUNT):
        made.append(made[0])
    return jnp.stack(made)

class Maker:
    def __call__(self, key, shape):
        return jnp.stack([lecun(key, (*shape, 16))] * COUNT)

class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return self.param({parameter})

def main(acts, init=lecun):
    global COUNT
    COUNT = len(acts)
    return Model().init(jax.random.key(0), jnp.ones((4, 8)))["params"]
"""


@pytest.mark.parametrize(
    "parameter",
    [
        '"w", logical(stacked, ("embed", "act", "mlp")), COUNT, -2, (8, 16), jnp.float32',
        '"w", plain(stacked, (None, None, "model")), COUNT, -2, (8, 16)',
        '"w", plain(open_ended, (None, None, "model")), 8',
        '"w", plain(Maker(), (None, None, "model")), (8,)',
        '"w", plain(lambda key, n: open_ended(key, n), (None, None, "model")), 8',
    ],
)
def test_what_an_initializer_of_the_program_makes_is_not_guessed(parameter: str) -> None:
    text = _HEAD + _STACKED.replace("{parameter}", parameter)
    made = run(text)["main"](("a", "b"))
    (box,) = jax.tree.leaves(made, is_leaf=lambda leaf: isinstance(leaf, nn.Partitioned))
    assert box.value.ndim == len(box.names)
    assert found(text, "SHL501") == []


def test_an_initializer_of_jax_makes_the_shape_it_is_asked_for() -> None:
    text = _HEAD + _STACKED.replace(
        "{parameter}", '"w", plain(nn.initializers.normal(COUNT), ("a", "b")), (8,)'
    )
    made = run(text)["main"](("a", "b"))
    (box,) = jax.tree.leaves(made, is_leaf=lambda leaf: isinstance(leaf, nn.Partitioned))
    assert box.value.ndim == 1 < len(box.names)
    assert len(found(text, "SHL501")) == 1
