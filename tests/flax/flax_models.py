"""Models that test programs train: one of linen, one of nnx, each with a partitioned kernel to give."""

from __future__ import annotations

#: Imports that go before.
IMPORTS = """
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from flax.training import train_state
"""
MODELS = """
key = jax.random.key(0)
x = jnp.ones((4, 8))
part = nn.with_partitioning(nn.initializers.lecun_normal(), (None, "model"))

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(8)(nn.relu(nn.Dense(16, kernel_init=part, name="up")(x)))
net = Net()

class Mlp(nnx.Module):
    def __init__(self, rngs):
        self.up = nnx.Linear(8, 16, rngs=rngs)
        self.norm = nnx.BatchNorm(16, rngs=rngs)
        self.down = nnx.Linear(16, 8, rngs=rngs)

    def __call__(self, x):
        return self.down(self.norm(self.up(x)))
"""
