"""Expressions with Equinox that make trees, compared with what Equinox makes; `equinox.md` shards them."""

from __future__ import annotations

import random

PRELUDE = """
import dataclasses
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
explicit = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
whole, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("model"))
key = jax.random.key(0)


class Net(eqx.Module):
    first: eqx.nn.Linear
    scale: jax.Array
    name: str
    steps: int
    width: int = eqx.field(static=True)

    def __init__(self, width, key):
        self.first = eqx.nn.Linear(12, width, key=key)
        self.scale = jnp.ones((width, 2))
        self.name, self.steps, self.width = "net", 3, width

    def __call__(self, x):
        return self.first(x) @ self.scale


class Pair(eqx.Module):
    left: jax.Array = eqx.field(converter=jnp.asarray)
    right: list
    size: int = eqx.field(static=True, default=4)

    def __check_init__(self):
        assert self.size > 0


net = Net(8, key)
x = jnp.ones((16, 12))
"""

TREES = (
    "net",
    "net.first",
    "Net(10, key).first.weight",
    "Pair(np.ones((3, 4), np.float32), [jnp.ones(5), 7, jnp.zeros((2, 2), jnp.int32)])",
    "net(jnp.ones(12))",
    "jax.vmap(net)(x)",
    "eqx.filter_vmap(net)(x)",
    "eqx.filter_vmap(lambda k: Net(8, k))(jax.random.split(key, 5))",
    "eqx.filter_vmap(lambda m, x: m(x), in_axes=(None, 0))(net, x)",
    "eqx.filter_vmap(lambda m, x: m(x), in_axes=(eqx.if_array(0), None))"
    "(eqx.filter_vmap(lambda k: Net(8, k))(jax.random.split(key, 5)), x[0])",
    "eqx.filter_vmap(lambda x, n: x[:n], in_axes=(1, None), out_axes=1)(x, 3)",
    "eqx.filter_jit(lambda m, x, n: jax.vmap(m)(x)[:n])(net, x, 3)",
    "eqx.filter_jit(lambda m: m)(net)",
    "eqx.filter_jit(donate='all')(lambda m: m)(net)",
    "eqx.filter_grad(lambda m, x: jnp.sum(jax.vmap(m)(x)))(net, x)",
    "eqx.filter_grad(lambda t: jnp.sum(t[0]))((jnp.ones(3), jnp.arange(4), 2.0))",
    "eqx.filter_value_and_grad(lambda m, x: jnp.sum(jax.vmap(m)(x)))(net, x)",
    "eqx.filter_value_and_grad(lambda m, x: (jnp.sum(jax.vmap(m)(x)), (x, 3)), has_aux=True)(net, x)",
    "eqx.filter_value_and_grad(has_aux=True)(lambda m, x: (jnp.sum(jax.vmap(m)(x)), x))(net, x)",
    "eqx.filter_checkpoint(lambda m, x: m(x))(net, x[0])",
    "eqx.filter(net, eqx.is_array)",
    "eqx.filter(net, eqx.is_array, inverse=True)",
    "eqx.filter([jnp.ones(3), jnp.arange(3), 1.5], eqx.is_inexact_array)",
    "eqx.filter([jnp.ones(3), [jnp.arange(3), 1.5]], [False, True])",
    "eqx.partition(net, eqx.is_inexact_array)",
    "eqx.combine(*eqx.partition(net, eqx.is_array))",
    "eqx.combine([None, jnp.ones(3)], [jnp.ones(4), None])",
    "eqx.apply_updates(net, eqx.filter_grad(lambda m, x: jnp.sum(jax.vmap(m)(x)))(net, x))",
    "eqx.filter_grad(lambda m, x: jnp.sum(m(x)))(eqx.nn.MLP(4, 3, 8, 2, key=key), jnp.ones(4))",
    "eqx.apply_updates(*[eqx.nn.MLP(4, 3, 8, 2, key=key), eqx.filter_grad(lambda m, x: jnp.sum(m(x)))("
    "eqx.nn.MLP(4, 3, 8, 2, key=key), jnp.ones(4))])",
    "eqx.tree_at(lambda m: m.scale, net, jnp.ones((8, 5)))",
    "eqx.tree_at(lambda m: (m.first.weight, m.scale), net, (jnp.ones(3), jnp.ones(4)))",
    "eqx.tree_at(lambda m: m.first, net, eqx.nn.Linear(3, 2, key=key))",
    "eqx.tree_at(lambda t: t['b'], {'a': jnp.ones(2), 'b': None}, jnp.ones(3), is_leaf=lambda x: x is None)",
    "eqx.tree_at(lambda t: t[0], ([jnp.ones(2)], jnp.ones(3)), jnp.ones(4), is_leaf=lambda x: False)",
    "eqx.tree_at(lambda t: t[0], ((jnp.ones(2),), 3), jnp.ones(4), is_leaf=lambda x: isinstance(x, int))",
    "eqx.tree_at(lambda m: m.first.weight, net, replace_fn=lambda w: w.astype(jnp.bfloat16))",
    "eqx.tree_at(lambda t: t[1]['a'], (jnp.ones(2), {'a': jnp.ones(3)}), jnp.ones(9))",
    "jax.tree.map(lambda v: v * 2 if eqx.is_array(v) else v, net)",
    "jax.tree.map(jnp.zeros_like, eqx.filter(net, eqx.is_array))",
    "eqx.nn.inference_mode(net)",
    "dataclasses.replace(Pair(jnp.ones(3), [jnp.ones(2)]), right=[jnp.ones(7)])",
    "eqx.error_if(x, jnp.any(x < 0), 'negative')",
)


def _linear(rng: random.Random) -> str:
    inner, outer = rng.choice(("'scalar'", "3", "8")), rng.choice(("'scalar'", "5", "4"))
    options = rng.choice(("", ", use_bias=False", ", dtype=jnp.bfloat16", ", True, jnp.float16"))
    shape = () if inner == "'scalar'" else (int(inner),)
    return _called(f"eqx.nn.Linear({inner}, {outer}{options}, key=key)", f"jnp.ones({shape})")


def _mlp(rng: random.Random) -> str:
    outer, depth = rng.choice(("'scalar'", "3")), rng.randint(0, 3)
    options = rng.choice(("", ", use_bias=False", ", use_final_bias=False", ", activation=jax.nn.gelu"))
    return _called(f"eqx.nn.MLP(4, {outer}, 8, {depth}{options}, key=key)", "jnp.ones(4)")


def _attention(rng: random.Random) -> str:
    options = rng.choice(("", ", use_query_bias=True", ", 5, 6", ", qk_size=3, vo_size=2", ", output_size=7"))
    keys, values = (5, 6) if options == ", 5, 6" else (8, 8)
    arguments = f"jnp.ones((3, 8)), jnp.ones((4, {keys})), jnp.ones((4, {values}))"
    return _called(f"eqx.nn.MultiheadAttention(2, 8{options}, key=key)", arguments)


def _conv(rng: random.Random) -> str:
    rank = rng.randint(1, 3)
    name = rng.choice((f"Conv{rank}d(", f"Conv({rank}, "))
    kernel = rng.choice(("3", f"({', '.join('123'[:rank])},)"))
    options = [
        rng.choice(("", ", stride=2")),
        rng.choice(("", ", padding=1", ", padding='same'", f", padding={((1, 2),) * rank}")),
        rng.choice(("", ", dilation=2")),
        rng.choice(("", ", groups=2", ", use_bias=False")),
    ]
    return _called(
        f"eqx.nn.{name}4, 6, {kernel}{''.join(options)}, key=key)", f"jnp.ones({(4,) + (9,) * rank})"
    )


def _embedding(rng: random.Random) -> str:
    given = rng.choice(("10, 4, key=key", "10, 4, dtype=jnp.bfloat16, key=key", "weight=jnp.ones((3, 2))"))
    return _called(f"eqx.nn.Embedding({given})", "jnp.array(1)")


def _norm(rng: random.Random) -> str:
    name, shape = rng.choice(("LayerNorm", "RMSNorm")), rng.choice(("6", "(3, 4)"))
    options = rng.choice(("", ", use_bias=False", ", use_weight=False", ", dtype=jnp.bfloat16"))
    dtype = rng.choice(("float32", "bfloat16"))
    return _called(f"eqx.nn.{name}({shape}{options})", f"jnp.ones({shape}, jnp.{dtype})")


def _group_norm(rng: random.Random) -> str:
    options = rng.choice(("", ", channelwise_affine=False", ", dtype=jnp.float16"))
    return _called(f"eqx.nn.GroupNorm(2, 6{options})", "jnp.ones((6, 5))")


def _cell(rng: random.Random) -> str:
    options = rng.choice(("", ", use_bias=False", ", dtype=jnp.bfloat16"))
    if rng.random() < 0.5:
        return _called(f"eqx.nn.GRUCell(3, 5{options}, key=key)", "jnp.ones(3), jnp.ones(5)")
    return _called(f"eqx.nn.LSTMCell(3, 5{options}, key=key)", "jnp.ones(3), (jnp.ones(5), jnp.ones(5))")


def _others(rng: random.Random) -> str:
    ends = "eqx.nn.Linear(3, 4, key=key)", "eqx.nn.Linear(4, 2, key=key)"
    layers = f"[{ends[0]}, eqx.nn.Lambda(jax.nn.relu), eqx.nn.Identity(), {ends[1]}]"
    made = rng.choice(
        (f"eqx.nn.Sequential({layers})", "eqx.nn.Dropout(0.5, inference=True)", "eqx.nn.Identity()")
    )
    return _called(made, "jnp.ones(3)")


def _called(layer: str, arguments: str) -> str:
    """A layer, and what it makes of its arguments."""
    return f"(lambda layer: (layer, layer({arguments})))({layer})"


LAYERS = (_linear, _mlp, _attention, _conv, _embedding, _norm, _group_norm, _cell, _others)
