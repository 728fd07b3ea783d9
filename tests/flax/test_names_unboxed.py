"""Specs that are asked of parameters without boxes, beside those that Flax gives."""

from __future__ import annotations

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import pytest
from support.checking import check
from support.jax_answers import asks_jax

HEADER = """import flax.linen as nn, jax, jax.numpy as jnp, numpy as np, optax
from flax.training import train_state
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
init = nn.initializers.lecun_normal()
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        named = nn.with_partitioning(init, {names})
        return nn.Dense(64, kernel_init=named, use_bias=False)(x)
net, x, key = Net(), jnp.ones((1, 32)), jax.random.key(0)
"""
#: Programs that give ``specs``.
PROGRAMS = (
    "specs = nn.get_partition_spec(jax.eval_shape(net.init, key, x))",
    "specs = nn.get_partition_spec(net.init(key, x))",
    "specs = nn.get_partition_spec(jax.eval_shape(lambda k: nn.unbox(net.init(k, x)), key))",
    "specs = nn.get_partition_spec(nn.unbox(net.init(key, x)))",
    "specs = nn.get_partition_spec(nn.unbox(net.init(key, x))['params'])",
    "specs = nn.get_sharding(nn.unbox(net.init(key, x)), mesh)",
    "specs = nn.get_sharding(net.init(key, x), mesh)",
    "specs = nn.get_partition_spec({'x': jnp.ones((32, 64))}), nn.get_partition_spec(net.init(key, x))",
    "def make(k):\n    params = nn.unbox(net.init(k, x))['params']\n"
    "    return train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(0.1))\n"
    "specs = nn.get_partition_spec(jax.eval_shape(make, key))",
    "def make(k):\n    params = net.init(k, x)['params']\n"
    "    return train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(0.1))\n"
    "specs = nn.get_partition_spec(jax.eval_shape(make, key))",
)
#: Names of the kernel, and whether they split anything.
NAMES = {'(None, "model")': True, '("data", "model")': True, "(None, None)": False}


@asks_jax("flax")
def splits(program: str) -> bool:
    """Return whether some spec in a program's ``specs`` names an axis."""
    scope: dict[str, object] = {}
    exec(program, scope)
    leaves = jax.tree.leaves(scope["specs"], is_leaf=lambda one: isinstance(one, jax.P))
    specs = [getattr(leaf, "spec", leaf) for leaf in leaves]
    return any(entry for spec in specs if spec is not None for entry in spec)


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_reported_where_names_are_lost(program: str, names: str) -> None:
    text = f"{HEADER.format(names=names)}{program}\n"
    reported = any(finding.code == "SHL512" for finding in check(text, preview=True))
    assert reported == (NAMES[names] and not splits(text))


def test_not_where_another_model_has_such_a_parameter() -> None:
    other = "class Other(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n"
    body = "        return nn.Dense(64, use_bias=False)(x)\n"
    text = HEADER.format(names='(None, "model")')
    first = "specs = nn.get_partition_spec(net.init(key, x))\n"
    second = "specs = nn.get_partition_spec(Other().init(key, x))\n"
    assert not [f for f in check(f"{text}{other}{body}{first}{second}", preview=True) if f.code == "SHL512"]
