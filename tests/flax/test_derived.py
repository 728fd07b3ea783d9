"""Classes of a program that derive from layers, variables and `TrainState`, against Flax."""

from __future__ import annotations

import pytest
from whole_trees import agree

#: Programs, and the names that they bind.
PROGRAMS = {
    "a layer of linen": (
        """
class D(nn.Dense):
    pass
class N(nn.Module):
    @nn.compact
    def __call__(self, x):
        return D(5)(x)
v = N().init(key, x)
w = D(6).init(key, x)
y = N().apply(v, x)
""",
        "v w y",
    ),
    "a layer of linen with fields": (
        """
class D(nn.Dense):
    features: int = 6
    extra: int = 3
    def __call__(self, x):
        return super().__call__(x) * self.extra
v = D().init(key, x)
y = D().apply(v, x)
""",
        "v y",
    ),
    "a layer of linen with layers": (
        """
class D(nn.LayerNorm):
    @nn.compact
    def __call__(self, x):
        h = super().__call__(x)
        return nn.Dense(3, name="d")(h)
v = D().init(key, x)
y = D().apply(v, x)
""",
        "v y",
    ),
    "a layer of nnx": (
        """
class L(nnx.Linear):
    def __init__(self, a, b, *, rngs):
        super().__init__(a, b, rngs=rngs)
        self.s = nnx.Param(jnp.ones((b,)))
    def __call__(self, x):
        return super().__call__(x) * self.s
m = L(8, 3, rngs=nnx.Rngs(0))
s = nnx.state(m)
y = m(x)
k = m.kernel
""",
        "m s y k",
    ),
    "a layer of nnx as it is": (
        """
class L(nnx.Linear):
    def extra(self, x):
        return self(x) + self.bias
m = L(8, 3, rngs=nnx.Rngs(0))
s = nnx.state(m)
y = m.extra(x)
t = nnx.state(m, nnx.Param)
""",
        "m s y t",
    ),
    "variables": (
        """
class MyParam(nnx.Param):
    pass
class Other(nnx.Variable):
    pass
class M(nnx.Module):
    def __init__(self):
        self.w = MyParam(jnp.ones((8, 3)))
        self.c = Other(jnp.zeros((2,), jnp.int32))
        self.p = nnx.Param(jnp.ones((3,)))
    def __call__(self, x):
        return x @ self.w + self.p
m = M()
a = nnx.state(m, MyParam)
b = nnx.state(m, nnx.Param)
c = nnx.state(m, Other)
d = nnx.state(m)
y = m(x)
e = m.w.value
f = m.w[...]
g = m.w + 1
h = m.c.get_value()
""",
        "m a b c d y e f g h",
    ),
    "sharded variables": (
        """
class MyParam(nnx.Param):
    pass
class M(nnx.Module):
    def __init__(self, rngs):
        self.w = MyParam(nnx_part(rngs.params(), (8, 4)))
        self.l = nnx.Linear(8, 4, kernel_init=nnx_part, rngs=rngs)
        self.v = MyParam(jnp.ones((8, 4)), out_sharding=("data", None))
with jax.set_mesh(mesh):
    m = M(nnx.Rngs(0))
    s = nnx.state(m)
    p = nnx.get_partition_spec(s)
    n = nnx.get_named_sharding(s, mesh)
""",
        "m s p n",
    ),
    "a train state": (
        """
class State(train_state.TrainState):
    extra: Any
    batch_stats: Any = None
params = net.init(key, x)["params"]
stats = {"a": jnp.zeros((2,))}
tx = optax.adam(1e-3)
s = State.create(apply_fn=net.apply, params=params, tx=tx, extra=jnp.ones((3,)), batch_stats=stats)
a = s.params
b = s.opt_state
c = s.extra
d = s.batch_stats
t = s.replace(extra=jnp.ones((5,)))
e = t.extra
f = t.opt_state
u = s.apply_gradients(grads=s.params)
g = jax.tree.map(lambda v: v, s)
""",
        "s a b c d t e f g",
    ),
    "an abstract train state": (
        """
class State(train_state.TrainState):
    key: Any
    count: int = struct.field(pytree_node=False, default=3)
def make(k):
    params = net.init(k, x)["params"]
    return State.create(apply_fn=net.apply, params=params, tx=optax.adamw(1e-3), key=k)
s = jax.eval_shape(make, key)
p = nn.get_partition_spec(s)
n = nn.get_sharding(s, mesh)
q = nn.logical_to_mesh_sharding(p, mesh, (("model", "model"),))
""",
        "s p n",
    ),
    "a train state with a method": (
        """
class State(train_state.TrainState):
    ema: Any = None
    def apply_gradients(self, *, grads, **kwargs):
        new = super().apply_gradients(grads=grads, **kwargs)
        return new.replace(ema=jax.tree.map(lambda a, b: a + b, self.ema, new.params))
params = nn.unbox(net.init(key, x)["params"])
s = State.create(apply_fn=net.apply, params=params, tx=optax.adam(1e-3), ema=params)
t = s.apply_gradients(grads=params)
a = t.ema
b = t.params
c = s.step
""",
        "s a b",
    ),
    "a state of its own": (
        """
@struct.dataclass
class S:
    step: int
    params: Any
    opt_state: Any
    tx: Any = struct.field(pytree_node=False)
params = net.init(key, x)["params"]
tx = optax.adam(1e-3)
s = S(0, params, tx.init(params), tx)
a = s.opt_state
g = jax.tree.map(lambda v: v, s)
""",
        "s a g",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    body, bound = PROGRAMS[name]
    known, total = agree(body, *bound.split())
    assert known == total > 0
