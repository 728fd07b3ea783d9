"""Gradients of a device's mean loss that are added up where types do not track variation: reported where the
weights move by a multiple of what the mean over all devices says."""

from __future__ import annotations

import itertools

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np, optax
from flax.training.train_state import TrainState
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("b",))
k = jax.random.split(jax.random.key(0), 3)
w, x, y = jax.random.normal(k[0], (4,)), jax.random.normal(k[1], (16, 4)), jax.random.normal(k[2], (16,))
n, rate = 8, 0.1
def mean(w, x, y):
    return jnp.mean((x @ w - y) ** 2)
def mapped(step):
    return jax.pmap(step, "b", in_axes=(None, 0, 0))(w, x.reshape(8, 2, 4), y.reshape(8, 2))[0]
def sharded(step):
    specs = dict(in_specs=(P(), P("b"), P("b")), out_specs=P(), check_vma=False)
    return jax.shard_map(step, mesh=mesh, **specs)(w, x, y)
def optimized(tx, w, g):
    updates, _ = tx.update(g, tx.init(w), w)
    return optax.apply_updates(w, updates)
def trained(tx, w, g):
    state = TrainState.create(apply_fn=None, params={"w": w}, tx=tx)
    return state.apply_gradients(grads={"w": g}).params["w"]
"""
#: Losses of a device's part of the data, and by how much the sum of their gradients is too large.
LOSSES = {
    "mean(w, x, y)": 8,
    "jnp.square(x @ w - y).mean()": 8,
    "-jnp.mean(-((x @ w - y) ** 2))": 8,
    "jnp.sum((x @ w - y) ** 2) / 16": 1,
    "mean(w, x, y) / n": 1,
    "mean(w, x, y) / lax.psum(1, 'b')": 1,
    "mean(w, x, y) * (1 / n)": 1,
    "jnp.sum((x @ w - y) ** 2, axis=0) / y.size / lax.axis_size('b')": 1,
}
#: What becomes of a sum of gradients: the weights that come of it, and by how much it divides.
UPDATES = {
    "w - rate * g": 1,
    "w - g * 0.5": 1,
    "w - 0.5 * g.astype(jnp.float32)": 1,
    "jax.tree.map(lambda w, g: w - rate * g, w, g)": 1,
    "optimized(optax.sgd(0.1), w, g)": 1,
    "optimized(optax.sgd(0.1, momentum=0.9), w, g)": 1,
    "optimized(optax.chain(optax.trace(0.9), optax.scale(-0.1)), w, g)": 1,
    "trained(optax.sgd(0.1), w, g)": 1,
    "w - rate * g / n": 8,
    "w - rate * (g / lax.axis_size('b'))": 8,
    "w - g * (1 / n)": 8,
    "w - jax.tree.map(lambda g: g / n, g)": 8,
    "optimized(optax.sgd(0.1), w, g / n)": 8,
    "optimized(optax.adam(0.1), w, g)": 0,
    "optimized(optax.chain(optax.clip_by_global_norm(0.1), optax.sgd(0.1)), w, g)": 0,
    "trained(optax.adamw(0.1), w, g)": 0,
}
#: The factor by which the weights move more than they should, in the direction that they should move.
FACTOR = "round(float(np.sum((z - w) * (y_ - w)) / np.sum((z - w) ** 2)), 2)"


def _program(how: str, loss: str, update: str, reduce: str = "psum") -> str:
    def step(loss: str, reduce: str) -> str:
        return (
            f"    g = lax.{reduce}(jax.grad(lambda w: {loss})(w), 'b')\n"
            f"    return {update}\n"
        )  # fmt: skip

    wrong = f"def step(w, x, y):\n{step(loss, reduce)}y_ = {how}(step)\n"
    right = f"def right(w, x, y):\n{step('mean(w, x, y)', 'pmean')}z = {how}(right)\n"
    return HEADER + wrong + right


@pytest.mark.parametrize("how", ["mapped", "sharded"])
@pytest.mark.parametrize("loss", LOSSES)
def test_losses(loss: str, how: str) -> None:
    program = _program(how, loss, "w - rate * g")
    factor = value(program, FACTOR)
    assert factor == pytest.approx(LOSSES[loss], rel=0.02)
    assert bool(found(program, "SHL320")) == (factor > 1.5), program


@pytest.mark.parametrize(("update", "how"), [*itertools.product(UPDATES, ["mapped", "sharded"])])
def test_updates(update: str, how: str) -> None:
    program = _program(how, "mean(w, x, y)", update)
    # What divides the sum is right, and so it is in the program that it is compared with.
    right = update.replace(" / n", "").replace(" / lax.axis_size('b')", "").replace("g * (1 / n)", "g")
    program = program.replace(f"    return {update}\nz", f"    return {right}\nz")
    reported = bool(found(program, "SHL320"))
    assert reported == (UPDATES[update] == 1), program
    if UPDATES[update]:
        assert value(program, FACTOR) == pytest.approx(8 / UPDATES[update], rel=0.02)


@pytest.mark.parametrize("how", ["mapped", "sharded"])
def test_the_mean_is_right(how: str) -> None:
    for update in UPDATES:
        program = _program(how, "mean(w, x, y)", update, "pmean")
        assert not found(program, "SHL320"), program
