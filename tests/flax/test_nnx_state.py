"""Trees of nnx: attributes, states, optimizers, filters, streams and axes, against Flax."""

from __future__ import annotations

import pytest
from whole_trees import agree

#: Programs, and the names that they bind.
PROGRAMS = {
    "attrs plain dict list": (
        """
class M(nnx.Module):
    def __init__(self, rngs):
        self.d = nnx.Dict({"a": nnx.Linear(8, 3, rngs=rngs), "b": nnx.Param(jnp.ones((2,)))})
        self.l = nnx.List([nnx.Linear(3, 3, rngs=rngs) for _ in range(2)])
        self.made = nnx.List(nnx.Linear(3, 3, rngs=rngs) for _ in range(2))
        self.kw = nnx.Dict(x=nnx.Linear(3, 4, rngs=rngs))
        self.data = nnx.data([nnx.Param(jnp.ones((5,)))])
        self.dd = nnx.data({"q": nnx.Param(jnp.ones((6,)))})
        self.seq = nnx.Sequential(nnx.Linear(4, 2, rngs=rngs), nnx.relu, nnx.Linear(2, 2, rngs=rngs))
    def __call__(self, x):
        x = self.d["a"](x)
        for l in (*self.l, *self.made):
            x = l(x)
        x = self.kw.x(x)
        return self.seq(x)
m = M(nnx.Rngs(0))
s = nnx.state(m)
y = m(x)
p = nnx.state(m, nnx.Param)
f = m.d.a.kernel
g = m.d["b"].value
""",
        "s y p f g",
    ),
    "list ops": (
        """
class M(nnx.Module):
    def __init__(self, rngs):
        self.l = nnx.List()
        for i in range(3):
            self.l.append(nnx.Linear(8, 8, rngs=rngs))
        self.d = nnx.Dict()
        self.d["z"] = nnx.Linear(8, 2, rngs=rngs)
        self.d.w = nnx.Linear(8, 3, rngs=rngs)
        setattr(self, "layer0", nnx.Linear(8, 1, rngs=rngs))
    def __call__(self, x):
        return self.d.w(self.l[1](x)), self.d["z"](x), getattr(self, "layer0")(x)
m = M(nnx.Rngs(0))
s = nnx.state(m)
y = m(x)
""",
        "m s y",
    ),
    "objects that hold the one that holds them": (
        """
class Part(nnx.Module):
    def __init__(self, whole):
        self.whole = whole
        self.kernel = nnx.Param(jnp.ones((4, 4)))
        self.step = nnx.Intermediate(jnp.ones(3))
class Whole(nnx.Module):
    def __init__(self):
        self.part = Part(self)
        self.again = self.part
        self.bias = nnx.Param(jnp.ones(6))
m = Whole()
s = nnx.state(m)
p, others = nnx.state(m, nnx.Param, ...)
popped = nnx.pop(m, nnx.Intermediate)
left = nnx.state(m)
""",
        "s p others popped left",
    ),
    "dropout state": (
        """
class M(nnx.Module):
    def __init__(self, rngs):
        self.up = nnx.Linear(8, 8, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)
        self.bn = nnx.BatchNorm(8, rngs=rngs)
        self.rngs = rngs
m = M(nnx.Rngs(0))
s = nnx.state(m)
p = nnx.state(m, nnx.Param)
q = nnx.state(m, nnx.Not(nnx.Param))
r = nnx.state(m, nnx.RngState)
g, a, b = nnx.split(m, nnx.Param, ...)
c = nnx.split(m, nnx.Param, nnx.BatchStat, nnx.RngState)[1:]
""",
        "m s p q r a b c",
    ),
    "optimizer": (
        """
m = Mlp(nnx.Rngs(0))
o = nnx.Optimizer(m, optax.adamw(1e-3), wrt=nnx.Param)
s = nnx.state(o)
t = nnx.state(o, nnx.optimizer.OptState)
a = o.opt_state
c = o.step.value
g, b = nnx.split(o)
d = nnx.state(nnx.ModelAndOptimizer(m, optax.sgd(0.1, momentum=0.9)))
e = nnx.state(nnx.Optimizer(m, optax.chain(optax.clip(1.), optax.adam(1e-3)), wrt=nnx.Param))
h = nnx.state(nnx.Optimizer(m, optax.sgd(1e-3), wrt=nnx.Param))
""",
        "m o s t a c b d e h",
    ),
    "optimizer sharded": (
        """
class M(nnx.Module):
    def __init__(self, rngs):
        self.l = nnx.Linear(8, 4, kernel_init=nnx_part, rngs=rngs)
with jax.set_mesh(mesh):
    m = M(nnx.Rngs(0))
    o = nnx.Optimizer(m, optax.adam(1e-3), wrt=nnx.Param)
    s = nnx.state(o)
    p = nnx.get_partition_spec(s)
    q = nnx.get_named_sharding(s, mesh)
""",
        "m o s p q",
    ),
    "opt in jit": (
        """
@nnx.jit
def make():
    m = Mlp(nnx.Rngs(0))
    o = nnx.Optimizer(m, optax.adam(1e-3), wrt=nnx.Param)
    s = nnx.state((m, o))
    return m, o
m, o = make()
a = nnx.state(m)
b = nnx.state(o)
c = nnx.state((m, o))
""",
        "o a b c",
    ),
    "flat state": (
        """
m = Mlp(nnx.Rngs(0))
s = nnx.state(m)
f = nnx.to_flat_state(s)
a = dict(f)
d = {k: v.value for k, v in f}
e = nnx.from_flat_state(f)
g = s.flat_state()
h = nnx.from_flat_state({("a", "b"): nnx.Param(jnp.ones((2,)))})
i = dict(s.flat_state())
k = s.to_pure_dict()
l = nnx.traversals.flatten_mapping({"a": {"b": jnp.ones((3,))}}) if hasattr(nnx, "traversals") else None
""",
        "m s a d e h i k",
    ),
    "state methods": (
        """
m = Mlp(nnx.Rngs(0))
s = nnx.state(m)
a, b = s.split(nnx.Param, ...)
c = s.filter(nnx.Param)
d = nnx.State.merge(a, b)
e = nnx.filter_state(s, nnx.Param)
f, g = nnx.split_state(s, nnx.Param, ...)
h = nnx.merge_state(f, g)
i = s["up"]["kernel"].value
j = s.up.kernel.value
k = list(s.keys())[0]
l = jax.tree.map(lambda v: v.astype(jnp.bfloat16), s)
""",
        "m s a b c d e f g h i j l",
    ),
    "merge/split": (
        """
m = Mlp(nnx.Rngs(0))
g, p, r = nnx.split(m, nnx.Param, nnx.BatchStat)
a = nnx.merge(g, p, r)
y = a(x)
s = nnx.state(a)
b = nnx.merge(g, jax.tree.map(lambda v: v * 2, p), r)
c = nnx.state(b)
d = nnx.split(m, lambda path, v: path[0] == "up", ...)[1]
e = nnx.state(m, nnx.filterlib.PathContains("up"))
f = nnx.state(m, (nnx.Param, nnx.BatchStat))
h = nnx.state(m, "up")
i = nnx.graph.split(m)[1]
""",
        "m p r a y s b c d e f",
    ),
    "stateaxes vmap": (
        """
class B(nnx.Module):
    def __init__(self, rngs):
        self.l = nnx.Linear(8, 8, rngs=rngs)
        self.c = nnx.BatchStat(jnp.zeros((3,)))
    def __call__(self, x):
        return self.l(x)
axes = nnx.StateAxes({nnx.Param: 0, ...: None})
@nnx.split_rngs(splits=5)
@nnx.vmap(in_axes=(0,), out_axes=0)
def make(rngs):
    return B(rngs)
m = make(nnx.Rngs(0))
s = nnx.state(m)
@nnx.scan(in_axes=(nnx.Carry, nnx.StateAxes({nnx.Param: 0, ...: 0})), out_axes=nnx.Carry)
def fwd(x, m):
    return m(x)
y = fwd(x, m)
@nnx.vmap(in_axes=(nnx.StateAxes({nnx.Param: 0, ...: 0}), None), out_axes=0)
def each(m, x):
    return m(x)
z = each(m, x)
@nnx.split_rngs(splits=5)
@nnx.vmap(in_axes=(0,), out_axes=nnx.StateAxes({nnx.Param: 0, ...: None}))
def make2(rngs):
    return B(rngs)
n = nnx.state(make2(nnx.Rngs(0)))
""",
        "m s y z n",
    ),
    "with partitioning any variable": (
        """
class M(nnx.Module):
    def __init__(self, rngs):
        zeros = nnx.with_partitioning(nnx.initializers.zeros, ("data", None))
        self.c = nnx.Cache(zeros(rngs.params(), (8, 4)))
        self.b = nnx.BatchStat(jnp.zeros((8,)), out_sharding=("model",))
        self.i = nnx.Intermediate(jnp.zeros((8,)))
        self.v = nnx.Variable(jnp.zeros((8, 8)), sharding=("data", "model"))
with jax.set_mesh(mesh):
    m = M(nnx.Rngs(0))
    s = nnx.state(m)
    p = nnx.get_partition_spec(s)
    q = nnx.get_named_sharding(s, mesh)
    r = nnx.get_partition_spec(nnx.state(m, nnx.Cache))
""",
        "m s p q r",
    ),
    "abstract and eval_shape": (
        """
m = nnx.eval_shape(lambda: Mlp(nnx.Rngs(0)))
s = nnx.state(m)
g, a = nnx.split(nnx.eval_shape(lambda: Mlp(nnx.Rngs(0))))
b = jax.tree.map(lambda v: v.shape, nnx.to_pure_dict(a))
@jax.jit
def create():
    m = Mlp(nnx.Rngs(0))
    return nnx.state(m)
c = create()
d = jax.eval_shape(create)
""",
        "m s a b c d",
    ),
    "create sharded idiom": (
        """
@nnx.jit
def create_sharded_model():
    m = Mlp(nnx.Rngs(0))
    state = nnx.state(m)
    pspecs = nnx.get_partition_spec(state)
    st = jax.lax.with_sharding_constraint(state, pspecs)
    nnx.update(m, st)
    return m
with jax.set_mesh(mesh):
    mm = create_sharded_model()
s = nnx.state(mm)
""",
        "s",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    body, bound = PROGRAMS[name]
    known, total = agree(body, *bound.split())
    assert known == total > 0
