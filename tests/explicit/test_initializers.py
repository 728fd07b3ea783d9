"""Initializers, bare and inside nnx's layers, and keys of other meshes: verdicts and types beside JAX's."""

from __future__ import annotations

import random
from contextlib import nullcontext
from functools import partial
from typing import Any

import jax
from support.sizes import scale
from typed_programs import MESHES, Scope, Tally, once, real_type, under

PRELUDE = f"""
from functools import partial
import jax
import jax.numpy as jnp
from flax import nnx
{MESHES}init = jax.nn.initializers


def used(stream):
    stream()
    return stream


def kept(stream, layer):
    with jax.set_mesh(other):
        return stream()


other = jax.make_mesh((2, 4), ("x", "y"))
"""
INITIALIZERS = (
    "init.normal()", "init.uniform(0.1)", "init.truncated_normal()", "init.zeros", "init.ones",
    "init.lecun_normal()", "init.glorot_uniform()", "init.he_normal(dtype=jnp.bfloat16)", "init.constant(2)",
    "init.orthogonal()", "nnx.initializers.xavier_normal()", "nnx.initializers.zeros_init()",
    "init.variance_scaling(1.0, 'fan_in', 'normal')",
)  # fmt: skip
SPECS = (
    "P('x', 'y')", "P(None, 'y')", "P('x')", "P()", "P('x', 'x')", "P('z')", "P('x', 'y', None)",
    "P('x', None, 'y')", "P(('x', 'y'))", "P('y', 'x')", "NamedSharding(expl, P('x'))",
    "NamedSharding(auto, P('x'))", "None",
)  # fmt: skip
CALLS = (
    "({i})(jax.random.key(0), {s}, out_sharding={p})",
    "({i})(jax.random.key(0), {s}, jnp.float32, {p})",
    "jax.jit(lambda k: ({i})(k, {s}, out_sharding={p}))(jax.random.key(0))",
    "jax.vmap(lambda k: ({i})(k, {s}, out_sharding={p}))(jax.random.split(jax.random.key(0), 2))",
    "nnx.Param(({i})(nnx.Rngs(0).params(), {s}, out_sharding={p})).get_value()",
    "nnx.Linear(*{s}, kernel_init=partial({i}, out_sharding={p}), rngs=nnx.Rngs(0)).kernel.get_value()",
    "nnx.Embed(*{s}, embedding_init=partial({i}, out_sharding={p}), rngs=nnx.Rngs(0)).embedding.get_value()",
)
#: What is made under one mesh and used under another.
MADE = (
    "jax.random.key(0)", "jax.random.split(jax.random.key(0))[0]", "jax.random.PRNGKey(0)", "nnx.Rngs(0)",
    "nnx.Rngs(params=0, dropout=1)", "used(nnx.Rngs(0))", "used(nnx.Rngs(0).params)", "nnx.Rngs(0).fork()",
)  # fmt: skip
USES_OF_KEYS = (
    "jax.random.normal({k}, (8, 8))", "jax.random.bernoulli({k}, 0.5, (8,))", "jax.random.split({k}, 3)",
    "jax.random.fold_in({k}, 1)", "init.normal()({k}, (8, 8))", "jax.random.randint({k}, (8,), 0, 4)",
    "init.normal()({k}, (8, 8), out_sharding=P('x'))",
)  # fmt: skip
USES_OF_STREAMS = (
    "{k}()", "{k}.params()", "{k}.normal((8, 8))", "{k}.lecun_normal()((8, 8))", "{k}.fork().normal((8,))",
    "nnx.Linear(8, 8, rngs={k}).kernel.get_value()", "{k}.fork(split=4).params.key.get_value()",
    "jax.vmap(lambda r: r.normal((8,)))({k}.fork(split=4))",
    *(f"kept({{k}}, nnx.{layer}, rngs={{k}}))" for layer in (
        "Linear(8, 8", "LinearGeneral(8, (4, 2)", "Einsum('ab,bc->ac', (8, 8), (8,)", "Embed(8, 8",
        "Conv(4, 8, (3,)", "ConvTranspose(4, 8, (3,)", "LayerNorm(8", "RMSNorm(8", "BatchNorm(8",
        "GroupNorm(8, 4", "Dropout(0.5", "MultiHeadAttention(2, 8", "LSTMCell(4, 8", "GRUCell(4, 8",
        "InstanceNorm(8", "LoRA(8, 2, 8", "SimpleCell(4, 8",
    )),
)  # fmt: skip
SCALE = scale("SHARDLINT_EXPLICIT_SCALE", 1 / 3)
SHAPES = ("(8, 8)", "(8, 4)", "(16, 2)", "(5, 8)")


def test_initializers_are_those_of_jax() -> None:
    scope = once(PRELUDE)
    rng, tally = random.Random(0), Tally()
    for _ in range(round(60 * SCALE)):
        context = rng.choice((None, "auto", "expl", "expl", "expl", "mixed"))
        text = rng.choice(CALLS)
        for name, some in (("{i}", INITIALIZERS), ("{s}", SHAPES), ("{p}", SPECS)):
            text = text.replace(name, rng.choice(some))
        program = f"{PRELUDE}\n{under(context)}\n    probe(0, {text})\n"
        tally.meet(program, partial(real_type, text, context, scope))
    assert min(tally.accepted, tally.rejected) >= 15 * SCALE, tally
    assert tally.known >= 0.8 * tally.accepted, tally
    assert tally.found >= 0.75 * tally.rejected, tally


def _with_key(scope: Scope, made: str, context: str | None) -> dict[str, Any]:
    """Return the names of a scope with ``k``, which is made under a mesh."""
    names = scope()
    with nullcontext() if context is None else jax.set_mesh(names[context]):
        return {**names, "k": eval(made, names)}


def test_keys_are_of_one_mesh() -> None:
    scope = once(PRELUDE)
    rng, tally = random.Random(1), Tally()
    meshes = (None, "auto", "expl", "other")
    for _ in range(round(30 * SCALE)):
        made, first, second = rng.choice(MADE), rng.choice(meshes), rng.choice(meshes)
        use = rng.choice(USES_OF_STREAMS if "Rngs" in made else USES_OF_KEYS)
        if ".params)" in made:
            use = "{k}()"
        text = use.replace("{k}", "k")
        program = f"{PRELUDE}{under(first)}\n    k = {made}\n{under(second)}\n    probe(0, {text})\n"
        tally.meet(program, partial(real_type, text, second, partial(_with_key, scope, made, first)))
    assert tally.known >= 0.6 * tally.accepted, tally
    assert tally.found >= 0.7 * tally.rejected > 2 * SCALE, tally
