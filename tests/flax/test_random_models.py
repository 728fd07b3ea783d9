"""Random nested models against Flax: the whole tree of variables, with dtypes and partition specs."""

from __future__ import annotations

import random

import pytest
from flax_calls import SCALE
from whole_trees import agree

CASES = round(12 * SCALE)

_LINEN = (
    "nn.Dense({n}, use_bias={b})", "nn.Dense({n}, kernel_init=part)", "nn.LayerNorm()", "nn.RMSNorm()",
    "nn.Dense({n}, param_dtype=jnp.bfloat16)", "nn.Dropout(0.1, deterministic=True)",
    "nn.DenseGeneral(({n}, 2), kernel_init=nn.with_partitioning(ones, (None, 'data', 'model')))",
    "nn.BatchNorm(use_running_average=True)", "nn.Sequential([nn.Dense({n}), nn.relu, nn.Dense({n})])",
    "nn.LayerNorm(scale_init=nn.with_partitioning(ones, ('model',)))", "nn.remat(nn.Dense)({n})",
    "nn.Dense({n}, kernel_init=nn.with_logical_partitioning(ones, ('embed', 'mlp')))", "Own({n})",
    "nn.vmap(nn.Dense, in_axes=None, out_axes=-1, axis_size=2, variable_axes={{'params': 0}}, "
    "split_rngs={{'params': True}}, metadata_params={{nn.PARTITION_NAME: 'layers'}})({n}, kernel_init=part)",
)  # fmt: skip
_NNX = (
    "nnx.Linear({i}, {n}, use_bias={b}, rngs=rngs)", "nnx.LayerNorm({i}, rngs=rngs)",
    "nnx.RMSNorm({i}, rngs=rngs)",
    "nnx.Linear({i}, {n}, kernel_init=nnx_part, rngs=rngs)", "nnx.Dropout(0.1, rngs=rngs)",
    "nnx.BatchNorm({i}, rngs=rngs)", "nnx.Embed({i}, {n}, param_dtype=jnp.bfloat16, rngs=rngs)",
    "nnx.Conv({i}, {n}, (3,), rngs=rngs)", "Own({i}, {n}, rngs)", "MyParam(jnp.ones(({i}, {n})))",
    "nnx.Param(jnp.ones(({i},)), out_sharding=('model',))", "nnx.BatchStat(jnp.zeros(({n},)))",
    "nnx.Sequential(nnx.Linear({i}, {n}, rngs=rngs), nnx.relu)", "nnx.List([nnx.Linear({i}, 2, rngs=rngs)])",
    "nnx.Dict(a=nnx.Linear({i}, 3, rngs=rngs), b=nnx.Param(jnp.ones(({n},), jnp.int32)))",
    "nnx.MultiHeadAttention(2, {i}, decode=False, rngs=rngs)", "nnx.LoRA({i}, 2, {n}, rngs=rngs)",
)  # fmt: skip


def linen_model(draw: random.Random) -> str:
    """A program that binds ``variables``, ``specs``, ``params`` of one model, and ``y``."""
    lines = ["ones = nn.initializers.ones", "class Own(nn.Dense):", "    extra: int = 1", ""]
    blocks = draw.randint(1, 3)
    for number in range(blocks):
        layers = [draw.choice(_LINEN) for _ in range(draw.randint(1, 3))]
        layers += [f"Block{draw.randrange(number)}()" for _ in range(draw.randint(0, 2)) if number]
        draw.shuffle(layers)
        made = [layer.format(n=draw.choice((4, 8)), b=draw.random() < 0.5) for layer in layers]
        body = "setup" if draw.random() < 0.4 else "compact"
        lines += [f"class Block{number}(nn.Module):"]
        if body == "setup":
            lines += ["    def setup(self):"]
            lines += [f"        self.part_{i} = {layer}" for i, layer in enumerate(made)]
            calls = [f"self.part_{i}" for i in range(len(made))]
            lines += ["    def __call__(self, x):"]
        else:
            names = draw.random() < 0.5
            calls = [_named(layer, f"n{i}") if names and draw.random() < 0.7 else layer
                     for i, layer in enumerate(made)]  # fmt: skip
            lines += ["    @nn.compact", "    def __call__(self, x):"]
            lines += ["        w = self.param('own', part, (2, 4))"] if draw.random() < 0.4 else []
        lines += [f"        x = {call}(x.reshape(4, -1))" for call in calls] + ["        return x", ""]
    lines += [
        f"model = Block{blocks - 1}()",
        "variables = jax.eval_shape(model.init, key, x)",
        "specs = nn.get_partition_spec(variables)",
        "params = nn.unbox(variables)",
        "y = jax.eval_shape(model.apply, params, x)",
    ]
    return "\n".join(lines)


def _named(layer: str, name: str) -> str:
    return f"{layer[:-1]}{'' if layer.endswith('()') else ', '}name='{name}')"


def nnx_model(draw: random.Random) -> str:
    """A program that binds ``state``, ``params``, ``specs`` of one model, made under a mesh."""
    lines = ["class MyParam(nnx.Param):", "    pass", "", "class Own(nnx.Linear):"]
    lines += ["    def __init__(self, i, n, rngs):", "        super().__init__(i, n, rngs=rngs)"]
    lines += ["        self.more = MyParam(jnp.ones((n,), jnp.bfloat16))", ""]
    blocks = draw.randint(1, 3)
    for number in range(blocks):
        parts = [draw.choice(_NNX) for _ in range(draw.randint(1, 4))]
        parts += [f"Block{draw.randrange(number)}(rngs)" for _ in range(draw.randint(0, 2)) if number]
        draw.shuffle(parts)
        lines += [f"class Block{number}(nnx.Module):", "    def __init__(self, rngs):"]
        for i, part in enumerate(parts):
            made = part.format(i=draw.choice((4, 8)), n=draw.choice((4, 8)), b=draw.random() < 0.5)
            lines += [f"        self.part_{i} = {made}"]
        lines += ["        self.rngs = rngs"] if draw.random() < 0.2 else []
        lines += [""]
    body = [
        f"model = {'nnx.eval_shape(lambda: ' if draw.random() < 0.3 else '('}Block{blocks - 1}(nnx.Rngs(0)))",
        "state = nnx.state(model)",
        "params = nnx.state(model, nnx.Param)",
        "rest = nnx.state(model, nnx.Not(nnx.Param))",
        "specs = nnx.get_partition_spec(params)",
    ]
    return "\n".join([*lines, "with jax.set_mesh(mesh):", *(f"    {line}" for line in body)])


@pytest.mark.parametrize("library", ["linen", "nnx"])
def test_random_models(library: str) -> None:
    draw, known, total = random.Random(f"models {library}"), 0, 0
    for _ in range(CASES):
        text = linen_model(draw) if library == "linen" else nnx_model(draw)
        names = "variables specs params y" if library == "linen" else "state params rest specs"
        found = agree(text, *names.split())
        assert found[0] == found[1], text
        known, total = known + found[0], total + found[1]
    assert total > 10 * CASES
