"""`param_with_axes` and `variable_with_axes` beside Flax: the shapes that they make, and what is refused."""

from __future__ import annotations

import itertools

import pytest
from support.checking import errors, places
from support.jax_answers import asks_jax

PROGRAM = """\
import jax, jax.numpy as jnp, numpy as np
import flax.linen as nn
from flax.linen import partitioning as nn_partitioning
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

class Norm(nn.Module):
    @nn.compact
    def __call__(self, x):
        scale = {call}
        return x * scale

class Model(nn.Module):
    def setup(self):
        self.norm = Norm()
    def __call__(self, x):
        return self.norm(x)

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jnp.ones((8, 16))
def run():
    return jax.jit(Model().init)(jax.random.key(0), x)
{context}:
    variables = run()
params = variables["params"]["norm"]
"""
CALLS = {
    "param": "nn_partitioning.param_with_axes('scale', nn.initializers.ones, (16,), axes={axes})",
    "keywords": (
        "nn_partitioning.param_with_axes(name='scale', init_fn=lambda k: jnp.ones((16,)), axes={axes})"
    ),
    "module": (
        "nn_partitioning.param_with_axes('scale', nn.initializers.ones, (16,), axes={axes}, module=self)"
    ),
    "variable": (
        "nn_partitioning.variable_with_axes('params', 'scale', lambda: jnp.ones((16,)), axes={axes}).value"
    ),
}
AXES = ["('embed',)", "('embed', 'other')", "('mlp', 'embed')", "()", "None", "('nowhere',)"]
CONTEXTS = {
    "nothing": "if True",
    "rules": "with nn_partitioning.axis_rules([('embed', 'model'), ('mlp', 'data')])",
    "mesh": "with jax.set_mesh(mesh)",
    "both": "with jax.set_mesh(mesh), nn_partitioning.axis_rules([('embed', 'model'), ('mlp', 'data')])",
}


@asks_jax("flax")
def raises(program: str) -> bool:
    """Return whether Flax refuses a program."""
    try:
        exec(program, {})
    except Exception:
        return True
    return False


@pytest.mark.parametrize(("call", "context"), list(itertools.product(CALLS, CONTEXTS)))
@pytest.mark.parametrize("axes", AXES)
def test_flax_agrees(call: str, axes: str, context: str) -> None:
    program = PROGRAM.format(call=CALLS[call].format(axes=axes), context=CONTEXTS[context])
    refused = raises(program)
    probe = "jax.device_put(params['scale'], NamedSharding(mesh, P(None, 'model')))\n"
    found = places(errors(program + probe), program)
    assert refused == any(line <= 0 for _, line in found), found
    if not refused:
        # The parameter is known to be a vector.
        assert found == [("SHL201", 1)]
