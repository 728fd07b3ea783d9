"""Parameters updated by optax with gradients that no collective reduced: each device has its own."""

from __future__ import annotations

import pytest
from consequences import found, value

PROGRAM = """import jax, jax.numpy as jnp, numpy as np, optax
from flax.training.train_state import TrainState
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("data",))
params, x = {"w": jnp.ones(4)}, jax.random.normal(jax.random.key(0), (16, 4))
tx = %s
def loss(p, x):
    return jnp.mean((x @ p["w"]) ** 2)
def train(params, state, x):
    grads = jax.grad(loss)(params, x)
    %s
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates)
def train_state(params, state, x):
    state = TrainState(0, None, params, tx, state)
    grads = jax.grad(loss)(state.params, x)
    %s
    return state.apply_gradients(grads=grads).params
def scanned(params, state, x):
    def step(carry, rows):
        params, state = carry
        grads = jax.grad(loss)(params, rows)
        %s
        updates, state = tx.update(grads, state, params)
        return (optax.apply_updates(params, updates), state), None
    return jax.lax.scan(step, (params, state), x.reshape(2, -1, 4))[0][0]
def mapped(params, state, x):
    def step(carry, rows):
        params, state = carry
        grads = jax.lax.pmean(jax.grad(loss)(params, rows), "batch")
        %s
        updates, state = tx.update(grads, state, params)
        return (optax.apply_updates(params, updates), state), None
    copies = jax.tree.map(lambda one: jnp.stack([one] * 2), (params, state))
    found = jax.lax.scan(jax.vmap(step, axis_name="batch"), copies, x.reshape(1, 2, -1, 4))[0][0]
    return jax.tree.map(lambda one: one[0], found)
specs = {"in_specs": (P(), P(), P("data")), "out_specs": P(), "check_vma": False}
y = jax.shard_map(%s, mesh=mesh, **specs)(params, tx.init(params), x)["w"]
"""
REDUCED = 'grads = jax.lax.pmean(grads, "data")'
#: Optimizers, and whether their updates differ between devices with gradients that do.
OPTIMIZERS = {
    "optax.sgd(0.1)": True,
    "optax.adamw(1e-3)": True,
    "optax.chain(optax.clip_by_global_norm(1.0), optax.lion(1e-3))": True,
    "optax.chain(optax.sgd(0.1), optax.set_to_zero())": False,
}


@pytest.mark.parametrize("step", ["train", "train_state", "scanned", "mapped"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_updates_that_differ_between_devices(optimizer: str, step: str) -> None:
    for reduce in ("pass", REDUCED):
        program = PROGRAM % (optimizer, *(reduce,) * 4, step)
        differ = OPTIMIZERS[optimizer] and reduce == "pass"
        shards = "[np.asarray(shard.data) for shard in y.addressable_shards]"
        assert value(program, f"any(not np.allclose(y, one) for one in {shards})") == differ
        assert bool(found(program, "SHL311")) == differ
