"""Arrays that a program makes whole on one device, and splits afterwards."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from flax import linen as nn, nnx
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
on, whole = NamedSharding(mesh, P("x")), NamedSharding(mesh, P())
big, key = (4096, 4096), jax.random.key(0)
class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(4096)(nn.Dense(4096)(x))
def init():
    return Model().init(key, jnp.ones((1, 4096)))
put = lambda tree: jax.device_put(tree, on)
"""
#: What a program splits, how it does, and whether it is reported.
PROGRAMS: dict[tuple[str, str], bool] = {
    ("jnp.zeros(big)", "put(v)"): True,
    ("jax.random.normal(key, big)", "put(v)"): True,
    ("[jnp.zeros((2048, 4096)) for _ in range(2)]", "put(v)"): True,
    ("[jnp.zeros((2048, 4096)) for _ in range(2)]", "[put(one) for one in v]"): False,
    ("init()", "put(v)"): True,
    ("init()['params']['Dense_0']", "jax.tree.map(put, v)"): True,
    ("nnx.state(nnx.Linear(4096, 4096, rngs=nnx.Rngs(0)))", "put(v)"): True,
    ("jax.jit(lambda: jnp.zeros((64, 64)))()", "put(v)"): True,
    ("jax.jit(lambda k: {'w': jax.random.normal(k, (64, 64))})(key)", "put(v)"): True,
    ("jax.jit(nn.Dense(64).init)(key, jnp.ones((8, 64)))['params']['kernel']", "put(v)"): True,
    ("jax.jit(lambda: jnp.zeros((64, 64)))() * 2", "put(v)"): True,
    ("jax.jit(lambda: jnp.zeros((64, 64)))()", "jax.device_put(v, whole)"): False,
    ("jax.jit(lambda: jnp.zeros((64, 64)), out_shardings=on)()", "put(v)"): False,
    ("jax.jit(lambda x: x + 1)(np.ones((64, 64), np.float32))", "put(v)"): False,
    ("jnp.zeros(big)", "jax.device_put(v, whole)"): False,
    ("jnp.zeros((4096, 64))", "put(v)"): False,
    ("np.zeros(big, np.float32)", "put(v)"): False,
    ("jnp.zeros(big, device=on)", "put(v)"): False,
    ("jax.jit(lambda: jnp.zeros(big), out_shardings=on)()", "put(v)"): False,
    ("jax.jit(init, out_shardings=whole)()", "put(v)"): False,
    ("jnp.zeros_like(put(np.zeros(big, np.float32)))", "put(v)"): False,
    ("jax.eval_shape(init)", "jax.jit(lambda: jax.tree.map(jnp.ones_like, v), out_shardings=on)()"): False,
}  # fmt: skip


@pytest.mark.parametrize(("made", "split"), PROGRAMS)
def test_reported_where_one_device_holds_all(made: str, split: str) -> None:
    reported = PROGRAMS[made, split]
    text = f"{HEADER}v = {made}\nw = {split}\n"
    assert bool(found(text, "SHL607")) == reported
    devices = "max(len(getattr(a, 'devices', set)()) for a in jax.tree.leaves({}))"
    if reported:
        assert value(text, f"({devices.format('v')}, {devices.format('w')})") == (1, 8)


def test_a_mesh_that_is_set_has_what_is_made() -> None:
    text = f"{HEADER}with jax.set_mesh(mesh):\n    v = jnp.zeros(big)\n    w = put(v)\n"
    assert not found(text, "SHL607")
    assert value(text, "len(v.devices())") == 8
