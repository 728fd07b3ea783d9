"""Arrays that a program makes whole outside of jit, and gives to a jitted function beside what is split."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np, optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
on = NamedSharding(mesh, P("x"))
p = {"w": jax.device_put(jnp.ones((64, 32)), on), "b": jax.device_put(jnp.ones(8), on)}
x = jax.device_put(jnp.ones((64, 32)), on)
def zeros(tree):
    return jax.tree.map(lambda a: jnp.zeros(a.shape, a.dtype), tree)
@jax.jit
def add(acc, p, scale=1.0):
    return jax.tree.map(lambda a, b: a + b, acc, p)
"""
#: Programs that make ``acc``, and whether it is reported.
PROGRAMS: dict[str, bool] = {
    "acc = zeros(p)\nadd(acc, p)": True,
    "acc = {'w': jnp.zeros((64, 32)), 'b': p['b']}\nadd(acc, p)": True,
    "acc = [zeros(p)]\njax.jit(lambda a, p: add(a[0], p))(acc, p)": True,
    "acc = jax.tree.map(jnp.zeros_like, p)\nadd(acc, p)": False,
    "acc = jax.device_put(zeros(p), on)\nadd(acc, p)": False,
    "acc = jax.jit(zeros, out_shardings=on)(p)\nadd(acc, p)": False,
    "acc = jax.tree.map(lambda a: jnp.zeros(a.shape, device=a.sharding), p)\nadd(acc, p)": False,
    "acc = zeros(p)\njax.jit(lambda a, p: a['w'] + p['w'], in_shardings=(on, on))(acc, p)": False,
    "acc = {'v': jnp.zeros((64, 32))}\njax.jit(lambda a, p: a['v'] + p['w'])(acc, p)": False,
    "acc = {'w': jnp.zeros((64,))}\njax.jit(lambda a, p: a['w'][:, None] + p['w'])(acc, p)": False,
    "acc = {'w': np.zeros((64, 32))}\njax.jit(lambda a, p: a['w'] + p['w'])(acc, p)": False,
    "acc = jnp.zeros((64, 32))\njax.jit(lambda a, x: a + x)(acc, x)": False,
    "acc = zeros(p)\nnew = add(acc, p)\nadd(new, p)": True,
    "acc = jax.tree.map(lambda a: jnp.array(np.asarray(a)), p)\nadd(acc, p)": True,
    "acc = jax.tree.map(lambda a: jnp.asarray(np.asarray(a)), p)\nadd(acc, p)": True,
    "acc = jax.tree.map(lambda a: jnp.array(a), p)\nadd(acc, p)": False,
    "acc = jax.tree.map(jnp.copy, p)\nadd(acc, p)": False,
    "acc = jax.tree.map(lambda a: jnp.asarray(np.asarray(a), device=on), p)\nadd(acc, p)": False,
    "acc = jax.tree.map(lambda a: jax.random.normal(jax.random.key(0), a.shape) * 0.1, p)\nadd(acc, p)": True,
    "acc = jax.tree.map(lambda a: 0.1 * jnp.ones(a.shape) * a, p)\nadd(acc, p)": False,
    "acc = zeros(p)\njax.jit(lambda s: s['a']['w'] + s['b']['w'])({'a': acc, 'b': p})": True,
    "acc = zeros(p)\njax.jit(lambda s: s['a']['w'] + s['b']['v'])({'a': acc, 'b': {'v': p['w']}})": False,
    "acc = {'w': jnp.zeros((64, 100, 32))}\njax.jit(lambda a, p: a['w'][:, 0] + p['w'])(acc, p)": True,
    "acc = {'w': jnp.zeros((100, 64, 32))}\njax.jit(lambda a, p: a['w'][0] + p['w'])(acc, p)": False,
    "acc = {'k': jnp.zeros((64, 2**18))}\njax.jit(lambda a, p: a['k'][:, :1] + p['w'])(acc, p)": True,
    "acc = {'k': jnp.zeros((64, 2**17))}\njax.jit(lambda a, p: a['k'][:, :1] + p['w'])(acc, p)": False,
    "acc = {'k': jnp.zeros((64, 2**18))}\njax.jit(lambda a: a['k'][:, :1])(acc)": False,
    "acc = zeros(p)\nq = jax.device_put(zeros(p), on)\njax.jit(lambda a, q: a['w'] + q['w'])(acc, q)": True,
    "acc = {'w': jnp.zeros((64, 8))}\njax.jit(lambda a, p: a['w'][:, :1] + p['w'])(acc, p)": False,
    "acc, q = jnp.ones((8, 4, 4), 'int8'), jax.device_put(jnp.ones((8, 4, 4)), on)\n"
    "jax.jit(lambda a, q: a * q)(acc, q)": True,
    "acc, q = jnp.ones((8, 4)), jax.device_put(jnp.ones((8, 4)), on)\n"
    "jax.jit(lambda a, q: a * q)(acc, q)": False,
    "acc, q = jnp.ones((8, 4, 2)), jax.device_put(jnp.ones((8, 4, 1)), on)\n"
    "jax.jit(lambda a, q: a * q)(acc, q)": False,
    "grid = lambda k: jnp.fft.ifftshift(sum(jnp.meshgrid(k, k, k)))\n"
    "acc, q = jax.jit(lambda: grid(jnp.arange(-4.0, 4.0)))(), jax.device_put(jnp.ones((8, 8, 8)), on)\n"
    "jax.jit(lambda a, q: a * q)(acc, q)": True,
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_reported_where_it_lies_whole(program: str) -> None:
    text = f"{HEADER}{program}\n"
    assert bool(found(text, "SHL607")) == PROGRAMS[program]
    first = text.split("\nadd(")[0] if "\nadd(" in text else text
    leaves = "[a for a in jax.tree.leaves(acc) if a.ndim > 1 and isinstance(a, jax.Array)]"
    whole = value(f"{first}\n", f"any(len(a.sharding.device_set) == 1 for a in {leaves})")
    if PROGRAMS[program]:
        assert whole


NNX = """import jax, jax.numpy as jnp, numpy as np, optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
def shard(model):
    state = nnx.state(model, nnx.Param)
    nnx.update(model, jax.device_put(state, NamedSharding(mesh, P("x", None))))
@nnx.jit
def step(model, optimizer):
    grads = nnx.grad(lambda model: model(jnp.ones((8, 64))).sum())(model)
    optimizer.update(model, grads)
model = nnx.Linear(64, 32, use_bias=False, rngs=nnx.Rngs(0))
"""
OPTIMIZER = "optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)\n"


@pytest.mark.parametrize(
    ("program", "whole"), [(f"{OPTIMIZER}shard(model)\n", True), (f"shard(model)\n{OPTIMIZER}", False)]
)
def test_moments_of_a_model_that_is_split_later(program: str, whole: bool) -> None:
    moments = "optimizer.opt_state[0].mu['kernel'][...]"
    assert value(f"{NNX}{program}", f"len({moments}.sharding.device_set)") == (1 if whole else 8)
    assert bool(found(f"{NNX}{program}step(model, optimizer)\n", "SHL607")) == whole


PARTITIONED = """import jax, jax.numpy as jnp, numpy as np
from flax import nnx
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
class Model(nnx.Module):
    def __init__(self):
        names = nnx.with_partitioning(nnx.initializers.lecun_normal(), ("x", None))
        self.up = nnx.Linear(64, 32, use_bias=False, kernel_init=names, rngs=nnx.Rngs(0))
class Sums(nnx.Module):
    def __init__(self, model):
        state = nnx.state(model, nnx.Param)
        self.grads = nnx.data(jax.tree.map(lambda x: jnp.ZEROS, state))
@nnx.jit
def step(model, sums):
    sums.grads = jax.tree.map(jnp.add, sums.grads, nnx.state(model, nnx.Param))
"""


@pytest.mark.parametrize("create", ["Model()", "nnx.jit(lambda: Model())()"])
@pytest.mark.parametrize("under", [True, False])
@pytest.mark.parametrize(("zeros", "whole"), [("zeros(x.shape)", True), ("zeros_like(x)", False)])
def test_sums_beside_variables_that_their_names_place(
    zeros: str, whole: bool, under: bool, create: str
) -> None:
    text = f"{PARTITIONED.replace('ZEROS', zeros)}with jax.set_mesh(mesh):\n    model = {create}\n"
    text += f"{'    ' * under}sums = Sums(model)\n"
    made = value(text, "sums.grads['up']['kernel'].get_value().sharding.is_fully_replicated")
    assert made == whole
    findings = found(f"{text}step(model, sums)\n", "SHL607")
    assert bool(findings) == whole
    where = "all devices of the mesh that is set" if under else "one device"
    assert all(f"whole on {where}," in one.message for one in findings)


LINEN = """import jax, jax.numpy as jnp, numpy as np, optax
import flax.linen as nn
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("x",))
on = NamedSharding(mesh, P("x"))
model = nn.Dense(32, use_bias=False)
whole = model.init(jax.random.key(0), jnp.ones((8, 64)))["params"]
split = jax.device_put(whole, on)
all_ = NamedSharding(mesh, P())
draw = jax.jit(lambda key: {"kernel": jax.lax.with_sharding_constraint(jax.random.normal(key, (64, 32)), on)})
add = jax.jit(lambda s, p: s["kernel"] + p["kernel"])
"""
#: What is added to parameters that are split, and whether it lies on one device.
STATES = {
    "whole": True,
    "split": False,
    "optax.adam(1e-3).init(whole)[0].mu": True,
    "optax.adam(1e-3).init(split)[0].mu": False,
    "optax.adam(1e-3).init(draw(jax.random.key(0)))[0].mu": False,
    "{'kernel': jax.random.normal(jax.random.key(0), (64, 32))}": True,
    "{'kernel': jax.random.normal(jax.device_put(jax.random.key(0), all_), (64, 32))}": False,
    "jax.tree.map(jnp.zeros_like, whole)": True,
    "jax.tree.map(jnp.zeros_like, draw(jax.random.key(0)))": False,
    "jax.tree.map(jnp.ones_like, jax.eval_shape(lambda: split))": True,
}


@pytest.mark.parametrize("state", STATES)
def test_states_lie_where_their_parameters_do(state: str) -> None:
    program = f"{LINEN}state = {state}\n"
    assert value(program, "len(state['kernel'].sharding.device_set)") == (1 if STATES[state] else 8)
    assert bool(found(f"{program}add(state, split)\n", "SHL607")) == STATES[state]


NAMED = """import jax, jax.numpy as jnp, numpy as np
import flax.linen as nn
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.ones((8, 64)), NamedSharding(mesh, P("data")))
names = nn.with_partitioning(nn.initializers.lecun_normal(), (None, "model"))
model = nn.Dense(32, use_bias=False, kernel_init=names)
key, first = jax.random.key(0), jnp.ones((1, 64))
shardings = nn.get_sharding(jax.eval_shape(model.init, key, first), mesh)
def under(mesh, call):
    with jax.set_mesh(mesh):
        return call()
"""
#: Variables whose kernel has names, and whether it lies on one device.
VARIABLES = {
    "model.init(key, first)": True,
    "nn.unbox(model.init(key, first))": True,
    "jax.jit(model.init)(key, first)": True,
    "nn.unbox(jax.jit(model.init)(key, first))": True,
    "jax.tree.map(lambda a: a * 2, nn.unbox(jax.jit(model.init)(key, first)))": True,
    "nn.unbox(jax.jit(model.init, out_shardings=shardings)(key, first))": False,
    "nn.unbox(jax.device_put(model.init(key, first), shardings))": False,
    "jax.device_put(nn.unbox(model.init(key, first)), NamedSharding(mesh, P()))": False,
    "nn.unbox(under(mesh, lambda: jax.jit(model.init)(key, first)))": False,
}


@pytest.mark.parametrize("variables", VARIABLES)
def test_names_that_nothing_applied(variables: str) -> None:
    program = f"{NAMED}variables = {variables}\n"
    where = "jax.tree.leaves(variables)[0].sharding"
    assert value(program, f"len({where}.device_set)") == (1 if VARIABLES[variables] else 8)
    applied = f"{program}y = jax.jit(lambda v, x: model.apply(v, x))(variables, x)\n"
    assert bool(found(applied, "SHL607")) == VARIABLES[variables]
    alone = f"{program}y = jax.jit(lambda v, x: model.apply(v, x))(variables, first)\n"
    assert not found(alone, "SHL607")


LOOP = "for _ in range(2):\n    y = add({'w': held}, {'w': x})\n"
#: What is given in a loop beside `x`, of 8 KiB, which is split; and whether each call copies it.
HELD = {
    "np.ones((64, 32), np.float32)": True,
    "np.ones((64, 32), np.float32) * 2": True,
    "jax.device_put(np.ones((64, 32), np.float32), on)": False,
    "jax.device_put(np.ones((64, 32), np.float32), NamedSharding(mesh, P()))": False,
    "jnp.ones((64, 32))": False,
    "np.ones((1, 32), np.float32)": False,
    "np.ones(32, np.float32)": False,
}


@pytest.mark.parametrize("held", HELD)
def test_numpy_arrays_in_a_loop(held: str) -> None:
    program = f"{HEADER}held = {held}\n"
    if HELD[held]:
        assert value(program, "type(held).__name__") == "ndarray"
    messages = [one.message for one in found(program + LOOP, "SHL607")]
    assert any("is a numpy array" in message for message in messages) == HELD[held]
    once = program + LOOP.replace("for _ in range(2):", "if True:")
    assert not any("is a numpy array" in one.message for one in found(once, "SHL607"))
    placed = LOOP.replace("add(", "jax.jit(add, in_shardings=on)(")
    assert not any("is a numpy array" in one.message for one in found(program + placed, "SHL607"))
