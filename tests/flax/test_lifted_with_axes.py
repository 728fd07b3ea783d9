"""`scan_with_axes`, `vmap_with_axes` and `remat` of `flax.linen.partitioning` beside Flax, and collections
that are only read."""

from __future__ import annotations

from typing import Any

import pytest
from flax_calls import flat_arrays, run_program
from support.jax_answers import asks_jax
from test_lifted import flatten

from shardlint.inference.domain.values import Array, Const, as_items

HEADER = """
import flax.linen as nn
import jax, jax.numpy as jnp
from flax.linen import partitioning as p

key, x = jax.random.key(0), jnp.ones((4, 8))


class Block(nn.Module):
    width: int = 8

    @nn.compact
    def __call__(self, x, _):
        h = nn.Dense(self.width)(x)
        scale = p.param_with_axes("scale", nn.initializers.ones, (8,), axes=("embed",))
        return nn.Dense(8, name="out")(h) * scale, h


class Plain(nn.Module):
    @nn.compact
    def __call__(self, x):
        return p.param_with_axes("scale", nn.initializers.ones, (8,), axes=("embed",)) * nn.Dense(8)(x)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        BODY
"""
READ = """axis = 0 if self.is_mutable_collection("params") else p.ScanIn(0)
        scanned = p.scan_with_axes(Block, variable_axes={"params": axis}, length=3,
            split_rngs={"params": True})
        return scanned(6)(x, None)[0]"""
BODIES = {
    "scan": """return p.scan_with_axes(Block, variable_axes={"params": 0}, split_rngs={"params": True},
            length=3)()(x, None)[0]""",
    "scan along one": """return p.scan_with_axes(p.remat(Block, static_argnums=(1,)), length=2,
            variable_axes={"params": 1, "cache": 0}, split_rngs={"params": True}, axis_name="stack",
            in_axes=(nn.broadcast,))(6, name="layers")(x, None)[0]""",
    "no metadata": """return p.scan_with_axes(Block, variable_axes={"other": 0}, variable_broadcast="params",
            split_rngs={"params": False}, length=3)()(x, None)[0]""",
    "other metadata": """return p.scan_with_axes(Block, variable_axes={"params": 0, "cache": 0}, length=3,
            split_rngs={"params": True}, axes_collections=("params", "cache"))()(x, None)[0]""",
    "read": READ,
    "remat": "return p.remat(Block)(5)(x, None)[0]",
    "remat of a layer": "return p.remat(nn.Dense)(5)(x)",
    "vmap": """return p.vmap_with_axes(Plain, variable_axes={"params": 0}, split_rngs={"params": True},
            partitioning_axis_names={"params": "layers"})()(x)""",
    "vmap unnamed": """return p.vmap_with_axes(nn.Dense, variable_axes={"params": 1}, in_axes=None,
            split_rngs={"params": True}, axis_size=3, out_axes=1)(6)(x)""",
}
RUN = """
variables = jax.eval_shape(Net().init, key, x)
params = variables["params"]
y = jax.eval_shape(Net().apply, variables, x)
"""


@asks_jax("flax")
def made(text: str) -> tuple[Any, Any]:
    """Return the parameters, and the shape of the output."""
    real: dict[str, Any] = {}
    exec(text, real)
    shapes = {path: (tuple(leaf.shape), str(leaf.dtype)) for path, leaf in flatten(real["params"]).items()}
    return shapes, tuple(real["y"].shape)


@pytest.mark.parametrize("body", BODIES)
def test_variables_and_outputs(body: str) -> None:
    text = HEADER.replace("BODY", BODIES[body]) + RUN
    params, shape = made(text)
    found, _ = run_program(text)
    assert flat_arrays(found["params"]) == params
    assert isinstance(found["y"], Array)
    assert found["y"].shape == shape


MUTABLE = """
class Asks(nn.Module):
    @nn.compact
    def __call__(self, x):
        self.variable("stats", "count", jnp.zeros, (3,))
        return self.is_mutable_collection("params")

def asked(variables, **options):
    answer = Asks().apply(variables, x, **options)
    return answer[0] if isinstance(answer, tuple) else answer

first, variables = Asks().init_with_output(key, x)
answers = (first, ANSWERS)
"""
ASKED = [
    "asked(variables)",
    "asked(variables, mutable=False)",
    'asked(variables, mutable="stats")',
    'asked(variables, mutable=["stats", "params"])',
    'asked(variables, mutable=("params",))',
    "Asks().init_with_output(key, x, mutable=['stats'])[0]",
]


@asks_jax("flax")
def answered(text: str) -> tuple[bool, ...]:
    """Return whether parameters may be written in each run."""
    real: dict[str, Any] = {}
    exec(text, real)
    return tuple(real["answers"])


def test_whether_parameters_may_be_written() -> None:
    text = HEADER.replace("BODY", "return x") + MUTABLE.replace("ANSWERS", ", ".join(ASKED))
    found, _ = run_program(text)
    answers = as_items(found["answers"]) or ()
    assert [item.value if isinstance(item, Const) else item for item in answers] == list(answered(text))
