"""Parameters whose names, sizes or ranks an unknown configuration decides are recorded all the same.

Flax makes each layer with a configuration; the analyzer sees a function of that configuration, which nobody
calls. Whatever variable of Flax's carries names must be recorded with its names, at its initializer.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from support.checking import uses
from support.jax_answers import asks_jax

from shardlint.laws.core.values import Spec, Unknown
from shardlint.model.uses import ParameterUse

CONFIG = SimpleNamespace(
    a=8, b=4, heads=2, pair=(2, 4), window=(3,), yes=True, equation="ab,bc->ac", shape=(8, 4), axis=-1,
    init=jax.nn.initializers.ones, names=("x",), name="w", rngs=nnx.Rngs(0), dtype=jnp.float32,
    sizes={"in_features": 8, "out_features": 4},
)  # fmt: skip

#: Constructor calls after the class; INIT stands for an initializer with names.
NNX = (
    "Linear(c.a, c.b, kernel_init=INIT, use_bias=c.yes, bias_init=INIT, rngs=c.rngs)",
    "Linear(**c.sizes, kernel_init=INIT, rngs=c.rngs)",
    "LinearGeneral(c.a, c.pair, axis=c.axis, kernel_init=INIT, bias_init=INIT, rngs=c.rngs)",
    "LinearGeneral(c.a, (c.heads, c.b), kernel_init=INIT, use_bias=False, bias_init=INIT, rngs=c.rngs)",
    "Einsum(c.equation, c.shape, kernel_init=INIT, rngs=c.rngs)",
    "Conv(c.a, c.b, c.window, kernel_init=INIT, bias_init=INIT, rngs=c.rngs)",
    "ConvTranspose(c.a, c.b, c.window, kernel_init=INIT, transpose_kernel=c.yes, rngs=c.rngs)",
    "Embed(c.a, c.b, embedding_init=INIT, rngs=c.rngs)",
    "LayerNorm(c.a, use_scale=c.yes, scale_init=INIT, bias_init=INIT, rngs=c.rngs)",
    "RMSNorm(c.a, use_scale=c.yes, scale_init=INIT, rngs=c.rngs)",
    "BatchNorm(c.a, use_bias=c.yes, scale_init=INIT, bias_init=INIT, rngs=c.rngs)",
    "MultiHeadAttention(c.heads, c.a, kernel_init=INIT, normalize_qk=c.yes, rngs=c.rngs)",
    "Param(c.init(c.rngs.params(), c.shape), sharding=c.names)",
    "Param(jnp.ones(c.shape), out_sharding=('x',))",
    "Param(INIT(c.rngs.params(), c.shape, c.dtype))",
)
LINEN = (
    "Dense(c.b, kernel_init=INIT, use_bias=c.yes, bias_init=INIT)(x)",
    "DenseGeneral(c.pair, axis=c.axis, kernel_init=INIT, bias_init=INIT)(x)",
    "DenseGeneral((c.heads, c.b), kernel_init=INIT, use_bias=False, bias_init=INIT)(x)",
    "Einsum(c.shape, c.equation, kernel_init=INIT, bias_init=INIT)(x)",
    "Conv(c.b, c.window, kernel_init=INIT, bias_init=INIT)(x)",
    "ConvTranspose(c.b, c.window, kernel_init=INIT, transpose_kernel=c.yes)(x)",
    "Embed(c.a, c.b, embedding_init=INIT)(x.astype(int))",
    "LayerNorm(use_scale=c.yes, scale_init=INIT, bias_init=INIT)(x)",
    "RMSNorm(use_scale=c.yes, scale_init=INIT)(x)",
    "BatchNorm(c.yes, use_bias=c.yes, scale_init=INIT, bias_init=INIT)(x)",
    "MultiHeadDotProductAttention(c.heads, kernel_init=INIT, normalize_qk=c.yes)(x[None])",
)
PARAMETERS = (
    "self.param('w', INIT, c.shape)",
    "self.param('w', INIT, (c.a, 3))",
    "self.param(c.name, INIT, (c.a, 3))",
)
#: Initializers by library: names that are known, and names that are not.
INITIALIZERS = {
    "nnx": ('nnx.with_partitioning(c.init, ("x",))', "nnx.with_partitioning(c.init, c.names)"),
    "nn": (
        'nn.with_partitioning(c.init, ("x",))',
        "nn.with_partitioning(c.init, c.names)",
        'nn.with_logical_partitioning(c.init, ("x",))',
        "nn.with_logical_partitioning(c.init, c.names)",
    ),
}
HEADER = """
import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx
"""


def program(library: str, text: str) -> str:
    if library == "nnx":
        return f"{HEADER}\ndef make(c):\n    return nnx.{text}\n"
    made = text if text.startswith("self.") else f"nn.{text}"
    return f"""{HEADER}
class Net(nn.Module):
    c: object

    @nn.compact
    def __call__(self, x):
        c = self.c
        return {made}
"""


@asks_jax("flax")
def named(library: str, text: str) -> set[str]:
    """The parameters that Flax makes with names; no array is made."""
    real: dict[str, Any] = {}
    exec(program(library, text), real)
    mesh = jax.sharding.Mesh(jax.devices()[:1], ("x",))
    if library == "nnx":
        with jax.set_mesh(mesh):
            made = nnx.eval_shape(
                lambda: real["make"](SimpleNamespace(**{**vars(CONFIG), "rngs": nnx.Rngs(0)}))
            )
        held = (
            {("value",): made} if isinstance(made, nnx.Variable) else dict(nnx.to_flat_state(nnx.state(made)))
        )
        return {str(path[-1]) for path, leaf in held.items() if leaf.get_metadata().get("out_sharding")}
    variables = jax.eval_shape(real["Net"](CONFIG).init, jax.random.key(0), jnp.ones((2, 8)))
    leaves = jax.tree_util.tree_flatten_with_path(
        variables["params"], is_leaf=lambda leaf: isinstance(leaf, nn.Partitioned)
    )[0]
    return {path[-1].key for path, leaf in leaves if isinstance(leaf, nn.Partitioned)}


def cases() -> list[tuple[str, str]]:
    found = [("nnx", text.replace("INIT", init)) for text in NNX for init in INITIALIZERS["nnx"]]
    found += [
        ("nn", text.replace("INIT", init)) for text in (*LINEN, *PARAMETERS) for init in INITIALIZERS["nn"]
    ]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("case", cases(), ids=" ".join)
def test_named_parameters_are_recorded(case: tuple[str, str]) -> None:
    library, text = case
    found = uses(program(library, text))
    recorded = {use.name: use for use in found if isinstance(use, ParameterUse) and use.names is not None}
    # A name that is not known has none.
    expected = {"a parameter"} if "self.param(c.name" in text else named(library, text)
    assert expected
    assert expected <= recorded.keys()
    for name in expected:
        assert isinstance(recorded[name].names, Unknown if "c.names" in text else Spec)
        assert recorded[name].initializer_place is not None or "sharding=" in text


@pytest.mark.parametrize(
    "text",
    [
        "nnx.Linear(c.a, 4, use_bias=c.yes, kernel_init=nnx.with_partitioning(c.init, ('x',)), rngs=c.rngs)",
        "nn.Dense(8, use_bias=c.yes, kernel_init=nn.with_partitioning(c.init, (None, 'x'))).init(c.key, c.x)",
    ],
)
def test_a_parameter_that_may_not_be_there_is_not_called_bare(text: str) -> None:
    found = uses(f"{HEADER}\ndef make(c):\n    return {text}\n")
    assert [use.name for use in found if isinstance(use, ParameterUse)] == ["kernel"]
