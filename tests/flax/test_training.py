"""What training makes of a model, against Flax and optax: optimizer states, gradients, remat."""

from __future__ import annotations

import pytest
from flax_models import IMPORTS, MODELS
from test_every_layer import compare

HEADER = IMPORTS + MODELS

#: Programs, and the names that they bind.
PROGRAMS = {
    "a train state": (
        """
params = net.init(key, x)["params"]
state = train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.adamw(1e-3))
a, b, c = state.params, state.apply_fn({"params": state.params}, x), state.opt_state[0].nu
d = state.opt_state[0].count
""",
        "a b c d",
    ),
    "an abstract train state": (
        """
def create(key):
    params = net.init(key, x)["params"]
    return train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(1e-3))
specs = nn.get_partition_spec(jax.eval_shape(create, key))
a, b = specs.params, specs.opt_state[0].mu
""",
        "a b",
    ),
    "a step with gradients": (
        """
params = net.init(key, x)["params"]
state = train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.sgd(1e-3))
grads = jax.grad(lambda p: net.apply({"params": p}, x).sum())(state.params)
a = state.apply_gradients(grads=grads).params
""",
        "a grads",
    ),
    "logical names of a train state": (
        """
class Named(nn.Module):
    @nn.compact
    def __call__(self, x):
        init = nn.with_logical_partitioning(nn.initializers.lecun_normal(), ("embed", "mlp"))
        return nn.Dense(16, kernel_init=init)(x)
def create(key):
    params = Named().init(key, x)["params"]
    return train_state.TrainState.create(apply_fn=None, params=params, tx=optax.adamw(1e-3))
logical = nn.get_partition_spec(jax.eval_shape(create, key))
specs = nn.logical_to_mesh(logical, (("embed", "x"), ("mlp", None)))
a, b, c, d = specs.params, specs.opt_state[0].nu, specs.step, logical.params
""",
        "a b c d",
    ),
    "variables that apply changes": (
        """
class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        for features in (6, 4):
            x = nn.BatchNorm(use_running_average=not train)(nn.Dense(features)(x))
        return x
variables = Net().init(key, x, train=False)
y, a = Net().apply(variables, x, train=True, mutable=["batch_stats"])
z, b = Net().apply({"params": variables["params"], **a}, x, train=True, mutable="batch_stats")
""",
        "y a z b",
    ),
    "optax alone": (
        """
params = net.init(key, x)["params"]
tx = optax.adamw(1e-3)
state = tx.init(params)
a, b = state[0].mu, state[0].count
updates, state = tx.update(params, state, params)
c, d = optax.apply_updates(params, updates), state[0].nu
""",
        "a b c d",
    ),
    "layers made again in the backward pass": (
        """
class Again(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.remat(nn.Dense)(5)(x)
        x = nn.jit(nn.Dense, static_argnums=())(6)(x)
        return nn.checkpoint(nn.LayerNorm)()(x)
y, variables = Again().init_with_output(key, x)
""",
        "y variables",
    ),
    "nnx gradients": (
        """
model = Mlp(nnx.Rngs(0))
tx = nnx.Optimizer(model, optax.adamw(1e-3), wrt=nnx.Param)
@nnx.jit
def step(model, tx, x):
    loss, grads = nnx.value_and_grad(lambda m: m(x).sum())(model)
    tx.update(model, grads)
    return loss
y = step(model, tx, x)
grads = nnx.grad(lambda m: m(x).sum())(model)
state = nnx.state(model, (nnx.Param, nnx.BatchStat))
""",
        "y grads state",
    ),
    "nnx filters and copies": (
        """
model = Mlp(nnx.Rngs(0))
a = nnx.state(model, nnx.Any(nnx.Param, nnx.BatchStat))
b = nnx.state(model, nnx.Not(nnx.Param))
c = nnx.state(model, nnx.All(nnx.Param, nnx.PathContains("up")))
graph, params, rest = nnx.split(model, nnx.Param, ...)
y = nnx.merge(graph, params, rest)(x)
d = nnx.state(nnx.clone(model), nnx.BatchStat)
e = nnx.to_pure_dict(params)
""",
        "a b c d e params rest y",
    ),
    "nnx remat": (
        """
class Block(nnx.Module):
    def __init__(self, rngs):
        self.l = nnx.Linear(8, 3, rngs=rngs)

    @nnx.remat
    def __call__(self, x):
        return self.l(x)
y = Block(nnx.Rngs(0))(x)
z = nnx.remat(lambda m, x: m(x))(Mlp(nnx.Rngs(0)), x)
""",
        "y z",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    body, bound = PROGRAMS[name]
    result = compare(HEADER + body, *bound.split())
    assert result is not None
    known, total = result
    assert known == total
