"""What jitted functions without out_shardings return under a mesh, beside where JAX puts it."""

from __future__ import annotations

import jax
import pytest
from support.checking import check, codes
from support.jax_answers import asks_jax

LIMIT = 4096

PRELUDE = """
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

auto = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
explicit = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
names = nn.with_partitioning(nn.initializers.lecun_normal(), (None, "model"))
named, bare = nn.Dense(64, kernel_init=names), nn.Dense(64)
key, x = jax.random.key(0), np.ones((8, 64), np.float32)


def init(key):
    return {"w": jax.random.normal(key, (64, 64)), "b": jnp.zeros(4)}


def state(key, unboxes):
    params = named.init(key, x)["params"]
    params = nn.unbox(params) if unboxes else params
    return TrainState.create(apply_fn=named.apply, params=params, tx=optax.adam(1e-3))


def placed(make):
    return jax.jit(make, out_shardings=nn.get_sharding(jax.eval_shape(make, key), auto))(key)


def split(key):
    return jax.random.normal(key, (64, 64), out_sharding=P(None, "model"))
"""

#: Programs that make a value, and whether it is reported to be whole on every device.
PROGRAMS = {
    "with jax.set_mesh(auto):\n    value = jax.jit(named.init)(key, x)": True,
    # Names that are unboxed before the optimizer is made are lost to its state too.
    "value = placed(lambda key: state(key, True))": True,
    "value = placed(lambda key: state(key, False))": False,
    "with jax.set_mesh(auto):\n    value = jax.jit(lambda: named.init(key, x))()": True,
    "with jax.set_mesh(explicit):\n    value = jax.jit(init)(jax.random.key(0))": True,
    "with jax.set_mesh(explicit):\n    value = jax.jit(split)(jax.random.key(0))": False,
    "with jax.set_mesh(explicit):\n    value = jax.jit(lambda v: v * 2)(jax.device_put(x, P('data')))": False,
    "value = jax.jit(named.init)(key, x)": False,
    "with jax.set_mesh(auto):\n"
    "    abstract = jax.eval_shape(named.init, key, x)\n"
    "    shardings = nn.get_sharding(abstract, auto)\n"
    "    value = jax.jit(named.init, out_shardings=shardings)(key, x)": False,
    "with jax.set_mesh(auto):\n"
    "    rows = NamedSharding(auto, P(None, 'model'))\n"
    "    value = jax.jit(lambda v: jax.lax.with_sharding_constraint(v * 2, rows))(np.ones((64, 64)))": False,
}


@asks_jax("rules")
def really_whole(program: str) -> bool:
    """Whether JAX leaves a large array of the value on every device."""
    variables: dict[str, object] = {"__name__": "__main__"}
    exec(f"{PRELUDE}\n{program}", variables)
    arrays = jax.tree.leaves(variables["value"])
    whole = [a for a in arrays if a.is_fully_replicated and len(a.devices()) == 8]
    return any(array.nbytes >= LIMIT for array in whole)


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_reported_is_so(program: str) -> None:
    findings = check(f"{PRELUDE}\n{program}\n", replicated_bytes=LIMIT)
    reported = "SHL601" in codes(findings)
    assert reported == PROGRAMS[program]
    assert reported == really_whole(program)
