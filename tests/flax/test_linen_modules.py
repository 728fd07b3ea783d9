"""Modules of linen: copies, branches, stacks and boxes, against Flax."""

from __future__ import annotations

import pytest
from whole_trees import agree

#: Programs, and the names that they bind.
PROGRAMS = {
    "modules copied": (
        """
class N(nn.Module):
    width: int = 6
    def setup(self):
        self.d = nn.Dense(self.width)
    def __call__(self, x):
        return self.d(x)
m = N()
v = m.init(key, x)
w = m.clone(width=7).init(key, x)
d = m.copy(width=3).init(key, x)
e = nn.Dense(3).clone(features=4).init(key, x)
""",
        "v w d e",
    ),
    "branches": (
        """
class N(nn.Module):
    @nn.compact
    def __call__(self, x):
        a = nn.Dense(8, name="a")
        b = nn.Dense(8, name="b")
        if self.is_initializing():
            a(x); b(x)
        x = nn.cond(True, lambda m, x: a(x), lambda m, x: b(x), self, x)
        return nn.switch(0, [lambda m, x: x * 2, lambda m, x: x + 1], self, x)
v = N().init(key, x)
y = N().apply(v, x)
""",
        "v y",
    ),
    "layers made again": (
        """
class B(nn.Module):
    w: int
    @nn.compact
    def __call__(self, x, deterministic):
        return nn.Dense(self.w)(x) if deterministic else x
class N(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.remat(B, static_argnums=(2,), prevent_cse=False)(5)(x, True)
        policy = jax.checkpoint_policies.nothing_saveable
        x = nn.remat(B, policy=policy, static_argnums=2)(6, name="q")(x, True)
        return nn.checkpoint(nn.Dense, prevent_cse=False)(4)(x)
v = N().init(key, x)
y = N().apply(v, x)
""",
        "v y",
    ),
    "stacked layers": (
        """
class B(nn.Module):
    w: int
    @nn.compact
    def __call__(self, x, _):
        return nn.Dense(self.w, kernel_init=part)(x), None
class N(nn.Module):
    @nn.compact
    def __call__(self, x):
        stack = nn.scan(
            nn.remat(B, prevent_cse=False),
            variable_axes={"params": 0, "cache": 0},
            split_rngs={"params": True, "dropout": True},
            in_axes=nn.broadcast,
            length=3,
            metadata_params={nn.PARTITION_NAME: "layers"},
        )
        x, _ = stack(8, name="layers")(x, None)
        return x
v = N().init(key, x)
y = N().apply(v, x)
p = nn.get_partition_spec(v)
e = jax.eval_shape(N().init, key, x)
q = nn.get_partition_spec(e)
r = nn.logical_to_mesh(p, (("layers", None), ("model", "model")))
s = nn.logical_to_mesh_sharding(p, mesh, (("layers", None), ("model", "model")))
t = nn.logical_to_mesh_axes((None, "model"), (("model", "data"),))
u = nn.meta.unbox(v)
w = nn.unbox(v)
""",
        "v y p e q r s t u w",
    ),
    "boxes": (
        """
b = nn.Partitioned(jnp.ones((8, 4)), names=("data", None))
a = b.add_axis(0, {nn.PARTITION_NAME: "layers"})
c = a.remove_axis(0, {nn.PARTITION_NAME: "layers"})
p = b.get_partition_spec()
d = a.get_partition_spec()
e = c.get_partition_spec()
f = b.unbox()
g = b.replace_boxed(jnp.zeros((8, 4)))
h = nn.meta.replace_boxed({"a": b}, {"a": jnp.zeros((8, 4))})
i = nn.LogicallyPartitioned(jnp.ones((3,)), names=("embed",)).get_partition_spec()
k = nn.meta.add_axis({"a": b}, 0, {nn.PARTITION_NAME: "l"})
l = nn.meta.remove_axis(k, 0, {nn.PARTITION_NAME: "l"})
m = nn.meta.get_partition_spec({"a": b})
n = jax.tree.map(lambda v: v * 2, {"a": b})
""",
        "b a c p d e f g h i k l m n",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    body, bound = PROGRAMS[name]
    known, total = agree(body, *bound.split())
    assert known == total > 0
