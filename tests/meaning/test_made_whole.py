"""Arrays that jitted functions make: reported where JAX leaves them whole beside what is split."""

from __future__ import annotations

import pytest
from consequences import found, of_pages, value

HEADER = """import jax, jax.numpy as jnp, numpy as np, optax
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
def on(*spec):
    return NamedSharding(mesh, P(*spec))
p = {"w": jax.device_put(jnp.ones((64, 32)), on("x"))}
def loss(p):
    return (p["w"] ** 2).sum()
def whole(tree):
    return [a for a in jax.tree.leaves(tree) if a.ndim and a.sharding.is_fully_replicated]
"""
#: A step of an optimizer.
STEP = """optimizer = {made}
@jax.jit
def step(p, s):
    updates, s = optimizer.update(jax.grad(loss)(p), s, p)
    return optax.apply_updates(p, updates), s
made = step(p, optimizer.init(p))"""
#: Programs that make ``made``, a tree, and whether the first call in it is reported.
PROGRAMS: dict[str, bool] = {
    "made = jax.jit(lambda p: jax.tree.map(jnp.zeros_like, p))(p)": True,
    "made = jax.jit(optax.adam(1e-3).init)(p)": True,
    "q = {'w': jax.device_put(np.ones((64, 32), np.float32), on('x'))}\n"
    "made = jax.jit(optax.adam(1e-3).init)(q)": True,
    "q = jax.make_array_from_callback((64, 32), on('x'), lambda at: np.ones((64, 32), np.float32)[at])\n"
    "made = jax.jit(lambda q: optax.sgd(0.1, momentum=0.9).init(q))(q)": True,
    "made = jax.jit(lambda p: {'ema': jnp.zeros(p['w'].shape), 'w': p['w'] * 2})(p)": True,
    "made = jax.jit(lambda p: jnp.ones((64, 32)) * 2 + 1)(p)": True,
    "made = jax.jit(lambda p: jax.random.normal(jax.random.key(0), p['w'].shape) * 0.1)(p)": True,
    "made = jax.jit(jax.jit(lambda p: jnp.full_like(p['w'], 3)))(p)": True,
    "with jax.set_mesh(mesh):\n    made = jax.jit(lambda: jnp.zeros((8192, 4096)))()": True,
    "with jax.set_mesh(mesh):\n"
    "    made = jax.jit(lambda: [jnp.zeros((4096, 512)) for _ in range(8)])()": True,
    "with jax.set_mesh(mesh):\n    made = jax.jit(lambda: jnp.zeros((64, 32)))()": False,
    "made = jax.jit(lambda p: jax.tree.map(lambda a: a * 0, p))(p)": False,
    "made = jax.jit(lambda p: p['w'] + jnp.zeros(p['w'].shape))(p)": False,
    "made = optax.adam(1e-3).init(p)": False,
    "made = jax.jit(lambda p: jnp.zeros_like(p['w']), out_shardings=on('x'))(p)": False,
    "made = jax.jit(lambda p: lax.with_sharding_constraint(jnp.zeros_like(p['w']), on('x')))(p)": False,
    "made = jax.jit(lambda p: jnp.zeros((3,)))(p)": False,
    "made = jax.jit(lambda p: p)(p)": False,
    STEP.format(made="optax.adam(1e-3)"): False,
    STEP.format(made="optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1, momentum=0.9))"): False,
    "from flax.training.train_state import TrainState\n"
    "state = TrainState.create(apply_fn=None, params=p, tx=optax.adamw(1e-3))\n"
    "made = jax.jit(lambda state: state.apply_gradients(grads=jax.grad(loss)(state.params)))(state)": False,
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_reported(program: str) -> None:
    text = f"{HEADER}{program}\n"
    reported = bool(found(text, "SHL607"))
    assert reported == PROGRAMS[program]
    left = value(text, "bool(whole(made))")
    # Small arrays that no argument is like are whole as well.
    assert left or not reported
    if not left:
        assert not reported


@pytest.mark.parametrize(
    ("call", "makes"),
    [
        ("jax.jit(make)()", True),
        ("nnx.jit(make)()", True),
        ("jax.jit(make).eval_shape()", False),
        ("jax.eval_shape(jax.jit(make))", False),
        ("nnx.eval_shape(make)", False),
        ("nnx.eval_shape(nnx.jit(make))", False),
    ],
)
def test_only_what_runs_makes_arrays(call: str, makes: bool) -> None:
    make = "from flax import nnx\ndef make():\n    return nnx.Param(jnp.zeros((8192, 4096)))\n"
    text = f"{HEADER}{make}with jax.set_mesh(mesh):\n    made = {call}\n"
    assert value(text, "isinstance(jax.tree.leaves(made)[0], jax.Array)") == makes
    assert bool(found(text, "SHL607")) == makes


@pytest.mark.parametrize(
    ("names", "statement", "reported"),
    [
        ('("x", None)', "v.set_value(jax.device_put(host, on()))", True),
        ('("x", None)', "v.value = jax.device_put(host, on())", True),
        ('("x", None)', "v[...] = jax.device_put(host, on())", True),
        ('("x", None)', "v.value = jax.device_put(host, on(None, None))", True),
        ('P(None, ("x", "y"))', "nnx.update(m, {'v': nnx.Param(jax.device_put(host, on()))})", True),
        ('("x", None)', "v.set_value(jax.device_put(host, on('x')))", False),
        ('("x", None)', "v.set_value(jax.device_put(host, on('y')))", False),
        ('("rows", None)', "v.set_value(jax.device_put(host, on()))", False),
        ("None", "v.set_value(jax.device_put(host, on()))", False),
    ],
)
def test_variables_that_get_whole_arrays(names: str, statement: str, reported: bool) -> None:
    program = f"""from flax import nnx
host = np.ones((64, 32), np.float32)
class M(nnx.Module):
    def __init__(self):
        self.v = nnx.Param(jnp.zeros((64, 32)), out_sharding={names}, eager_sharding=False)
m = M()
v = m.v
{statement}
"""
    whole = value(f"{HEADER}{program}", "m.v.get_value().sharding.is_fully_replicated")
    assert bool(found(f"{HEADER}{program}", "SHL607")) == reported
    assert whole or not reported


def test_the_page_leaves_moments_whole_and_then_splits_them() -> None:
    kernel = "{}.moments['kernel']"
    bad, good = kernel.format("bad"), kernel.format("good")
    assert of_pages("SHL607", f"{bad}.sharding.is_fully_replicated")
    assert of_pages("SHL607", f"{good}.sharding.shard_shape({good}.shape)") == (8, 64)
    assert of_pages("SHL607", f"np.array_equal({bad}, {good})")
