"""Constraints that are skipped: reported where a mesh is set and the output of JAX is whole all the same."""

from __future__ import annotations

import warnings
from itertools import product

import pytest
from consequences import found, of_pages, value

HEADER = """import flax.linen as nn
import jax, jax.numpy as jnp
import sys
from contextlib import nullcontext
from flax.core import meta
from jax._src.mesh import thread_resources
from jax.sharding import AxisType, PartitionSpec as P
mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
one = jax.make_mesh((1,), ("data",), axis_types=(AxisType.Auto,), devices=jax.devices()[:1])
RULES = [("batch", "data")]
spec = P("data") if len(sys.argv) < 99 else None
def has_mesh():
    return bool(jax.sharding.get_abstract_mesh().axis_names)
def mesh_in_force():
    found = jax.sharding.get_abstract_mesh()
    return thread_resources.env.physical_mesh if found.empty else found
class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return constrain(nn.Dense(8)(x))
"""
#: Ways to ask for the mesh.
HELPERS = {
    "abstract": "if jax.sharding.get_abstract_mesh().empty:\n        return x",
    "physical": "env = thread_resources.env\n    if env.physical_mesh.empty:\n        return x",
    "indirect": "if not has_mesh():\n        return x",
    "both": "if mesh_in_force().empty:\n        return x",
    "neither": "pass",
    "first the other": "if spec is None:\n        return x\n"
    "    if thread_resources.env.physical_mesh.empty and not has_mesh():\n        return x\n"
    "    jax.sharding.get_abstract_mesh()",
    "then the other": "if jax.sharding.get_abstract_mesh().empty and spec is None:\n        return x",
}
SETTERS = ("with mesh:", "with jax.set_mesh(mesh):", "with one:")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("helper", "setter"), [*product(HELPERS, SETTERS)])
def test_helpers(helper: str, setter: str) -> None:
    program = (
        f"{HEADER}def constrain(x):\n    {HELPERS[helper]}\n"
        "    return jax.lax.with_sharding_constraint(x, P('data'))\n"
        f"{setter}\n    y = jax.jit(lambda x: constrain(x * 2))(jnp.ones((8, 8)))\n"
    )
    split = value(program, "not y.sharding.is_fully_replicated")
    assert bool(found(program, "SHL410")) == (not split and setter != "with one:"), program


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rules", ["RULES", "()", "[('batch', None)]"])
@pytest.mark.parametrize("setter", ["with mesh, {}:", "with jax.set_mesh(mesh), {}:", "with {}:"])
def test_logical_constraints(rules: str, setter: str) -> None:
    program = (
        f"{HEADER}def constrain(x):\n    return nn.with_logical_constraint(x, ('batch', None))\n"
        "model = Model()\nx = jnp.ones((8, 8))\nparams = model.init(jax.random.key(0), x)\n"
        f"{setter.format(f'nn.logical_axis_rules({rules})')}\n    y = jax.jit(model.apply)(params, x)\n"
    )
    split = value(program, "not y.sharding.is_fully_replicated")
    meant = rules == "RULES" and "mesh" in setter
    assert bool(found(program, "SHL410")) == (meant and not split), program


def test_the_page_splits_nothing_and_then_all() -> None:
    with warnings.catch_warnings(action="ignore"):
        assert of_pages("SHL410", "bad.y.sharding.is_fully_replicated")
        assert of_pages("SHL410", "good.y.sharding.shard_shape(good.y.shape)") == (4, 4)
