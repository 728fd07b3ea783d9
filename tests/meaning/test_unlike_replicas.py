"""Weights that each device of a `pmap` drew with another key: reported where they share their gradients, and
stay different."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import functools
import flax.linen as nn, jax, jax.numpy as jnp, numpy as np, optax
from flax import jax_utils
from flax.training.common_utils import shard_prng_key
from flax.training.train_state import TrainState
n, key = jax.local_device_count(), jax.random.key(0)
tx = optax.adam(0.1)
x = jax.random.normal(jax.random.key(1), (n, 4, 3))
model = nn.Dense(2)
def init(key):
    one, two = jax.random.split(key)
    return {"w": jax.random.normal(one, (3, 2)) / 2, "b": 0.1 * jax.random.uniform(two, (2,))}
def loss_of(p, x):
    return jnp.mean((x @ p["w"] + p["b"]) ** 2)
def stepped(p, x, reduce=lambda g: jax.lax.pmean(g, "d")):
    g = reduce(jax.grad(loss_of)(p, x))
    return jax.tree.map(lambda p, g: p - 0.1 * g, p, g)
step = functools.partial(jax.pmap, axis_name="d")(stepped)
"""
#: Whether all devices have the same numbers in the end.
EQUAL = "all(np.allclose(leaf, np.asarray(leaf)[:1]) for leaf in jax.tree.leaves(params))"
KEYS = {
    "jax.random.split(key, n)": True,
    "jax.random.split(jax.random.key(3), 8)": True,
    "jax.random.split(jax.random.PRNGKey(0), n)": True,
    "shard_prng_key(jax.random.PRNGKey(0))": True,
    "jnp.stack([key] * n)": False,
    "jnp.stack([jax.random.split(key, n)[0]] * n)": False,
    "jnp.broadcast_to(jax.random.split(key)[0], (n,))": False,
    "jax_utils.replicate(jax.random.PRNGKey(0))": False,
    "jnp.tile(jax.random.split(jax.random.PRNGKey(0))[1], (n, 1))": False,
    "jnp.repeat(jax.random.split(key)[:1], n, axis=0)": False,
}
WAYS = {
    "params = step(jax.pmap(init)(keys), x)": True,
    "params = step(jax.pmap(lambda key: init(jax.random.fold_in(key, 3)))(keys), x)": True,
    "params = step(jax.pmap(lambda key: jax.tree.map(jnp.tanh, init(key)))(keys), x)": True,
    "params = jax.pmap(init, axis_name='d')(keys)\nfor _ in range(3):\n    params = step(params, x)\n": True,
    "params = jax.pmap(lambda k: jax.lax.pmean(init(k), 'd'), axis_name='d')(keys)\n"
    "params = step(params, x)": False,
    "params = jax.pmap(init)(keys)\nparams = jax_utils.replicate(jax_utils.unreplicate(params))\n"
    "params = step(params, x)": False,
    "params = jax_utils.replicate(init(key))\n"
    "noise = jax.pmap(lambda k: jax.random.normal(k, (4, 3)))(keys)\nparams = step(params, noise)": False,
}  # fmt: skip
STATES = {
    "dense": """
def made(key):
    p = model.init(key, x[0])["params"]
    return TrainState.create(apply_fn=model.apply, params=p, tx=tx)
@functools.partial(jax.pmap, axis_name="d")
def train(state, x):
    def loss(p):
        return jnp.mean(state.apply_fn({"params": p}, x) ** 2)
    value, g = jax.value_and_grad(loss)(state.params)
    g = jax.tree.map(lambda g: jax.lax.pmean(g, axis_name="d"), g)
    return state.apply_gradients(grads=g)
state = jax.pmap(made)(keys)
for _ in range(3):
    state = train(state, x)
params = state.params
""",
    "tuple": """
def made(key):
    p = init(key)
    return p, tx.init(p)
@functools.partial(jax.pmap, axis_name="d", donate_argnums=0)
def train(state, x):
    p, o = state
    value, g = jax.lax.pmean(jax.value_and_grad(loss_of)(p, x), "d")
    u, o = tx.update(g, o, p)
    return (optax.apply_updates(p, u), o), value
state = jax.pmap(made)(keys)
for _ in range(3):
    state, value = train(state, x)
params = state[0]
""",
}
#: Devices that have other weights on purpose: their gradients are never combined.
ON_PURPOSE = [
    "params = jax.pmap(functools.partial(stepped, reduce=lambda g: g), axis_name='d')("
    "jax.pmap(init)(keys), x)",
    "params = jax.pmap(lambda k, x: stepped(init(k), x, lambda g: g), axis_name='d')(keys, x)",
    "loss = jax.pmap(lambda p, x: jax.lax.pmean(loss_of(p, x), 'd'), axis_name='d')(jax.pmap(init)(keys), x)",
]


@pytest.mark.parametrize("keys", KEYS)
def test_keys(keys: str) -> None:
    program = f"{HEADER}keys = {keys}\nparams = step(jax.pmap(init)(keys), x)\n"
    assert value(program, EQUAL) != KEYS[keys]
    assert bool(found(program, "SHL324")) == KEYS[keys]


@pytest.mark.parametrize("way", WAYS)
def test_ways(way: str) -> None:
    program = f"{HEADER}keys = jax.random.split(key, n)\n{way}\n"
    assert value(program, EQUAL) != WAYS[way]
    assert bool(found(program, "SHL324")) == WAYS[way]


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("state", STATES)
def test_states(state: str, keys: str) -> None:
    program = f"{HEADER}keys = {keys}\n{STATES[state]}"
    assert value(program, EQUAL) != KEYS[keys]
    assert bool(found(program, "SHL324")) == KEYS[keys]


@pytest.mark.parametrize("program", ON_PURPOSE)
def test_on_purpose(program: str) -> None:
    program = f"{HEADER}keys = jax.random.split(key, n)\n{program}\n"
    assert not found(program, "SHL324")
    value(program)
