"""Programs that place arrays, call jitted and mapped functions with them, and make arrays of shards.

Each has the codes that shardlint is to report as errors on the last line; without any, JAX runs it.
"""

from __future__ import annotations

PRELUDE = """
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec as P

auto = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
expl = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
half = Mesh(np.array(jax.devices()[:4]), ("x",))
back = Mesh(np.array(jax.devices()[::-1]).reshape(4, 2), ("x", "y"))
split = NamedSharding(auto, P("x"))
ones = jnp.ones((8, 8))
a = jax.device_put(ones, split)
b = jax.device_put(ones, NamedSharding(auto, P("y")))
h = jax.device_put(ones, NamedSharding(half, P("x")))
r = jax.device_put(ones, NamedSharding(back, P("x")))
d = jax.device_put(ones, jax.devices()[1])
"""

OBJECTS = """
import flax.struct

@flax.struct.dataclass
class Pair:
    x: jax.Array
    y: jax.Array

@flax.struct.dataclass
class Other:
    x: jax.Array

"""

PROGRAMS: dict[str, tuple[str, ...]] = {
    # data of the only process
    "jax.make_array_from_process_local_data(split, np.ones((8, 3)))": (),
    "jax.make_array_from_process_local_data(split, np.ones((6, 3)))": ("SHL202",),
    "jax.make_array_from_process_local_data(split, np.float32(3))": ("SHL203",),
    "jax.make_array_from_process_local_data(split, np.ones((6, 3)), (6, 3))": ("SHL202",),
    "jax.make_array_from_process_local_data(split, np.ones((8, 3)), global_shape=None)": (),
    "jax.make_array_from_process_local_data(split, {'a': np.ones((8, 3)), 'b': np.ones((6,))})": ("SHL202",),
    "jax.make_array_from_process_local_data({'a': split, 'b': NamedSharding(auto, P())},\n"
    "    {'a': np.ones((8, 3)), 'b': np.ones((6,))})": (),
    "jax.make_array_from_process_local_data(sharding=NamedSharding(auto, P(None, 'x')),\n"
    "    local_data=np.ones((8, 3)))": ("SHL202",),
    "v = jax.make_array_from_process_local_data(split, np.ones((8, 3)))\n"
    "jax.jit(lambda v: v, in_shardings=NamedSharding(auto, P('y')))(v)": ("SHL207",),
    # meshes of some devices
    "two = jax.make_mesh((4,), ('x',), (AxisType.Auto,), devices=jax.devices()[4:])\n"
    "jax.jit(lambda v, w: v + w)(h, jax.device_put(ones, NamedSharding(two, P('x'))))": ("SHL708",),
    "two = jax.make_mesh((4,), ('x',), (AxisType.Auto,), devices=jax.devices()[:4])\n"
    "jax.jit(lambda v, w: v + w)(h, jax.device_put(ones, NamedSharding(two, P('x'))))": (),
    "two = jax.make_mesh((2, 2), ('p', 'q'), (AxisType.Auto,) * 2, devices=jax.devices())\n"
    "jax.jit(lambda v, w: v + w)(h, jax.device_put(ones, NamedSharding(two, P('q'))))": (),
    "two = jax.make_mesh((2,), ('x',), (AxisType.Auto,), devices=jax.devices()[1:3])\n"
    "jax.jit(lambda v, w: v + w)(d, jax.device_put(ones, NamedSharding(two, P('x'))))": ("SHL708",),
    # committed arguments and in_shardings
    "jax.jit(lambda v: v, in_shardings=split)(b)": ("SHL207",),
    "jax.jit(lambda v: v, in_shardings=split)(a)": (),
    "jax.jit(lambda v: v, in_shardings=NamedSharding(auto, P('x', None)))(a)": (),
    "jax.jit(lambda v: v, in_shardings=split)(ones)": (),
    "jax.jit(lambda v: v, in_shardings=split)(d)": ("SHL207",),
    "jax.jit(lambda v: v, in_shardings=NamedSharding(auto, P()))(d)": (),
    "jax.jit(lambda v, w: v + w, in_shardings=(None, split))(b, a)": (),
    "jax.jit(lambda v, w: v + w, in_shardings=(split, None))(b, a)": ("SHL207",),
    "jax.jit(lambda t: t['w'], in_shardings=({'w': split},))({'w': b})": ("SHL207",),
    "jax.jit(lambda t: t['w'], in_shardings=({'w': None},))({'w': b})": (),
    "jax.jit(lambda v: v, in_shardings=split).lower(b)": ("SHL207",),
    "jax.jit(lambda v: v, in_shardings=split).trace(b)": (),
    "jax.jit(lambda v: v, in_shardings=split).eval_shape(b)": (),
    "jax.jit(lambda v: jax.jit(lambda w: w, in_shardings=split)(v))(b)": (),
    "jax.jit(lambda v: v, in_shardings=split)(jax.device_put(b, split))": (),
    "jax.jit(lambda v: v, in_shardings=split)(jax.jit(lambda v: v, out_shardings=split)(b))": (),
    "made = jax.jit(lambda: jnp.ones((8, 8)), out_shardings=split)()\n"
    "jax.jit(lambda v: v, in_shardings=NamedSharding(auto, P('y')))(made)": ("SHL207",),
    "made = jnp.zeros((8, 8), device=split)\n"
    "jax.jit(lambda v: v, in_shardings=NamedSharding(auto, P('y')))(made)": ("SHL207",),
    "made = a if ones.sum() > 0 else b\njax.jit(lambda v: v, in_shardings=split)(made)": (),
    "with jax.set_mesh(auto):\n    jax.jit(lambda v: v, in_shardings=P('x'))(b)": ("SHL207",),
    "with jax.set_mesh(auto):\n    jax.jit(lambda v: v, in_shardings=P('x'))(jax.device_put(a, P('x')))": (),
    "jax.jit(lambda n, v: v * n, static_argnums=0, in_shardings=(split,))(2, b)": ("SHL207",),
    "jax.jit(lambda v: v, in_shardings=NamedSharding(back, P('x')))(a)": (),
    # keywords beside in_shardings
    "jax.jit(lambda v: v, in_shardings=split)(v=ones)": ("SHL208",),
    "jax.jit(lambda v, n=1: v, static_argnames='n', in_shardings=split)(ones, n=2)": ("SHL208",),
    "jax.jit(lambda v: v, in_shardings=None)(v=ones)": (),
    "jax.jit(lambda v: v, out_shardings=split)(v=ones)": (),
    # devices
    "jax.jit(lambda v, w: v + w)(a, h)": ("SHL708",),
    "jax.jit(lambda v, w: v + w)(a, r)": ("SHL708",),
    "jax.jit(lambda v, w: v @ w.T)(a, d)": ("SHL708",),
    "jax.jit(lambda v, w: v + w)(a, b)": (),
    "jax.jit(lambda v, w: v + w)(a, ones)": (),
    "jax.jit(lambda v, w: v)(a, h)": (),
    "jax.jit(lambda v, w: v * w.shape[0])(a, h)": (),
    "jax.jit(lambda v, w: v + jnp.ones(w.shape))(a, h)": (),
    "def f(v, w):\n    unused = v + w\n    return v\njax.jit(f)(a, h)": (),
    "jax.jit(lambda v, w: (v, w))(a, h)": ("SHL708",),
    "jax.jit(lambda t: t['v'] + t['w'])({'v': a, 'w': h})": ("SHL708",),
    "jax.jit(lambda v, w: v + w).lower(a, h)": ("SHL708",),
    "jax.jit(lambda v, w: v + w).trace(a, h)": (),
    "jax.eval_shape(lambda v, w: v + w, a, h)": (),
    "with jax.set_mesh(auto):\n    jax.jit(lambda v: v + 1)(h)": ("SHL708",),
    "with jax.set_mesh(auto):\n    jax.jit(lambda v: v + 1)(ones)": (),
    "with jax.set_mesh(auto):\n    jax.jit(lambda v: v + 1)(a)": (),
    "jax.jit(lambda v, w: v + w, in_shardings=(None, split))(h, ones)": ("SHL708",),
    "jax.jit(lambda v, w: v + jax.device_put(w, split))(a, d)": ("SHL708",),
    "jax.jit(lambda v, w: v + w)(jax.device_put(h, split), a)": (),
    "jax.jit(lambda v, w: v + w)(jax.device_put(ones, jax.devices()[0]), d)": ("SHL708",),
    "jax.jit(lambda v, w: v + w)(jax.device_put(ones, jax.devices()[1]), d)": (),
    # structs
    "s = jax.ShapeDtypeStruct((5,), jnp.float32, sharding=split)\njax.jit(lambda v: v).lower(s)": ("SHL202",),
    "s = jax.ShapeDtypeStruct((5,), jnp.float32, sharding=split)\njax.jit(lambda v: v).trace(s)": (),
    "s = jax.ShapeDtypeStruct((5,), jnp.float32, sharding=split)\njax.eval_shape(lambda v: v, s)": (),
    "s = jax.ShapeDtypeStruct((8,), jnp.float32, sharding=split)\njax.jit(lambda v: v).lower(s)": (),
    "s = jax.ShapeDtypeStruct((5,), jnp.float32, sharding=NamedSharding(expl, P('x')))\n"
    "jax.jit(lambda v: v).trace(s)": ("SHL202",),
    # where arrays are made
    "jnp.zeros((8, 8), out_sharding=P('x'))": ("SHL206",),
    "jnp.zeros((8, 8), out_sharding=split)": ("SHL701",),
    "with jax.set_mesh(expl):\n    jnp.zeros((8, 8), out_sharding=P('x'))": (),
    "with jax.set_mesh(expl):\n    jnp.zeros((5, 8), out_sharding=P('x'))": ("SHL202",),
    "with jax.set_mesh(expl):\n    jax.random.normal(jax.random.key(0), (8, 8), out_sharding=P('x'))": (),
    "with jax.set_mesh(auto):\n    jax.random.normal(jax.random.key(0), (8, 8), out_sharding=P('x'))": (
        "SHL701",
    ),
    "jnp.ones((8, 8), out_sharding=NamedSharding(expl, P('x')))": ("SHL709",),
    "with jax.set_mesh(auto):\n    jnp.ones((8, 8), out_sharding=NamedSharding(expl, P('x')))": ("SHL709",),
    "jax.device_put(ones, NamedSharding(AbstractMesh((4, 2), ('x', 'y')), P('x')))": ("SHL709",),
    "jnp.zeros((8, 8), device=P('x'))": ("SHL206",),
    # arrays of shards
    "jax.make_array_from_single_device_arrays((8, 8), split, [ones] * 8)": ("SHL210",),
    "jax.make_array_from_single_device_arrays(\n"
    "    (8, 8), split, [jax.device_put(jnp.ones((2, 8)), dev) for dev in jax.devices()])": (),
    "jax.make_array_from_single_device_arrays(\n"
    "    (8, 8), split, [jax.device_put(jnp.ones((2, 8)), dev) for dev in jax.devices()[:4]])": ("SHL210",),
    # mapped axes
    "jax.vmap(lambda v, w: v + w)(jnp.ones((3, 2)), jnp.ones((4, 2)))": ("SHL209",),
    "jax.vmap(lambda v, w: v + w)(jnp.ones((3, 2)), w=jnp.ones((4, 2)))": ("SHL209",),
    "jax.vmap(lambda v, w: v + w, in_axes=(0, None))(jnp.ones((3, 2)), jnp.ones((2,)))": (),
    "jax.vmap(lambda v: v, in_axes=(0, 0))(ones)": ("SHL209",),
    "jax.vmap(lambda v: v, in_axes=2)(ones)": ("SHL209",),
    "jax.vmap(lambda v: v, in_axes=-1)(ones)": (),
    "jax.vmap(lambda v: v, in_axes=None)(ones)": ("SHL209",),
    "jax.vmap(lambda v: v, in_axes=None, axis_size=3)(ones)": (),
    "jax.vmap(lambda v: v, axis_size=3)(ones)": ("SHL209",),
    "jax.vmap(lambda t: t['w'] + t['b'])({'w': ones, 'b': jnp.ones((8,))})": (),
    "jax.vmap(lambda t, s: t['w'] * s, in_axes=({'w': 1}, None))({'w': jnp.ones((2, 5))}, 3.0)": (),
    "jax.vmap(lambda k: jax.random.normal(k, (3,)))(jax.random.split(jax.random.key(0), 4))": (),
    "jax.vmap(jax.vmap(lambda v, w: v * w, in_axes=(None, 0)), in_axes=(0, None))(\n"
    "    jnp.ones(3), jnp.ones(4))": (),
    "jax.vmap(lambda v: lax.psum(v, 'i'), axis_name='i')(ones)": (),
    "jax.pmap(lambda v: v)(jnp.ones(9))": ("SHL209",),
    "jax.pmap(lambda v: v)(jnp.ones((4, 3)))": (),
    "jax.jit(jax.pmap(lambda v: v))(jnp.ones(16))": ("SHL209",),
    "jax.pmap(lambda v, w: v + w, in_axes=(0, None))(jnp.ones(8), jnp.ones(16))": (),
    # constraints under spmd_axis_name
    "f = lambda v: lax.with_sharding_constraint(v, split)\njax.jit(jax.vmap(f, spmd_axis_name='x'))(ones)": (
        "SHL710",
    ),
    "f = lambda v: lax.with_sharding_constraint(v, split)\n"
    "jax.jit(jax.vmap(f, spmd_axis_name='y'))(ones)": (),
    "f = lambda v: lax.with_sharding_constraint(v, split)\njax.jit(jax.vmap(f, spmd_axis_name='z'))(ones)": (
        "SHL710",
    ),
    "f = lambda v: lax.with_sharding_constraint(jnp.ones(8), split) + v\n"
    "jax.jit(jax.vmap(f, spmd_axis_name='x'))(ones)": (),
    "f = lambda v, w: lax.with_sharding_constraint(w, split) + v\n"
    "jax.jit(jax.vmap(f, in_axes=(0, None), spmd_axis_name='x'))(ones, jnp.ones(8))": (),
    "f = lambda v, w: lax.with_sharding_constraint(w * v, split)\n"
    "jax.jit(jax.vmap(f, in_axes=(0, None), spmd_axis_name=('x',)))(ones, jnp.ones(8))": ("SHL710",),
    "f = lambda v: lax.with_sharding_constraint(v, split)\njax.jit(jax.vmap(f))(ones)": (),
    "f = lambda v: lax.with_sharding_constraint(v, P('x'))\n"
    "with jax.set_mesh(auto):\n    jax.jit(jax.vmap(f, spmd_axis_name='x'))(ones)": ("SHL710",),
    # a dict for the tuple of arguments
    "jax.jit(lambda t: t, in_shardings={'w': split})({'w': a})": ("SHL301",),
    "jax.jit(lambda t: t, in_shardings={'w': split, 'v': None})({'w': a, 'v': a})": ("SHL301",),
    "jax.jit(lambda v, w: v, in_shardings={'v': split})(a, a)": ("SHL301",),
    # objects that are nodes of a tree
    OBJECTS + "jax.jit(lambda t: t.x, in_shardings=({'x': split},))(Pair(a, a))": ("SHL301",),
    OBJECTS + "jax.jit(lambda t: t.x, in_shardings=(Pair(split, None),))(Pair(a, a))": (),
    OBJECTS + "jax.jit(lambda t: t.x, in_shardings=(Pair(split, {'w': split}),))(Pair(a, a))": ("SHL301",),
    OBJECTS + "jax.jit(lambda t: t.x, in_shardings=(Pair(split, (split,)),))(Pair(a, (a,)))": (),
    OBJECTS + "jax.jit(lambda t: t, in_shardings=(Pair(split, split),))(a)": ("SHL301",),
    OBJECTS + "jax.jit(lambda t: t, in_shardings=(Pair(split, split),))({'x': a})": ("SHL301",),
    OBJECTS + "jax.jit(lambda t: t.x, in_shardings=(split,))(Pair(a, a))": (),
    OBJECTS + "jax.jit(lambda t: t.x, in_shardings=(Other(split),))(Pair(a, a))": ("SHL301",),
    OBJECTS + "jax.device_put(Pair(ones, ones), (split, split))": ("SHL301",),
    OBJECTS + "jax.device_put(Pair(ones, ones), Pair(split, split))": (),
    OBJECTS
    + "jax.shard_map(lambda t: t.x, mesh=auto, in_specs=((P(), P()),), out_specs=P('x'))(Pair(a, a))": (
        "SHL301",
    ),
    OBJECTS
    + "jax.shard_map(lambda t: t.x, mesh=auto, in_specs=Pair(P('x'), P()), out_specs=P('x'))(Pair(a, a))": (
        "SHL301",
    ),
    OBJECTS
    + "jax.shard_map(lambda t: t.y, mesh=auto, in_specs=(Pair(P('x'), P()),), out_specs=P())(Pair(a, a))": (),
    "jax.jit(lambda t: t, in_shardings=({'w': split},))({'w': a})": (),
    "jax.jit(lambda v, w: v, in_shardings=[split, split])(a, a)": (),
    # what stands among shard_map's specs, and is none
    "jax.shard_map(jnp.sin, mesh=auto, in_specs=('x',), out_specs=P('x'))(ones)": ("SHL104",),
    "jax.shard_map(jnp.sin, mesh=auto, in_specs='x', out_specs=P('x'))(ones)": ("SHL104",),
    "jax.shard_map(jnp.sin, mesh=auto, in_specs=P('x'), out_specs='x')(ones)": ("SHL104",),
    "jax.shard_map(jnp.sin, mesh=auto, in_specs=P('x'), out_specs=('x',))(ones)": ("SHL104",),
    "jax.shard_map(lambda v: (v, v), mesh=auto, in_specs=P('x'), out_specs=(P('x'), 'x'))(ones)": ("SHL104",),
    "jax.shard_map(lambda v, w: v, mesh=auto, in_specs=(P('x'), 1), out_specs=P('x'))(ones, 1)": ("SHL104",),
    "jax.shard_map(jnp.sin, mesh=auto, in_specs=split, out_specs=P('x'))(ones)": ("SHL104",),
    "jax.shard_map(jnp.sin, mesh=auto, in_specs=P('x'), out_specs=split)(ones)": ("SHL104",),
    "jax.shard_map(lambda v, w: v, mesh=auto, in_specs=(P('x'), None), out_specs=P('x'))(ones, 1)": (),
    # what is made on device=
    "jnp.arange(10, device=split)": ("SHL202",),
    "jnp.arange(8, device=NamedSharding(auto, P(None, 'x')))": ("SHL201",),
    "jnp.arange(8, device=split) + jnp.arange(8, device=split)": (),
    "jnp.arange(8, device=P('x'))": ("SHL206",),
    "jax.jit(lambda: jnp.arange(10, device=split))()": ("SHL202",),
    "jnp.eye(6, device=split)": ("SHL202",),
    "jnp.eye(8, device=split)": (),
    "jnp.array(np.ones((6, 2)), device=split)": ("SHL202",),
    "jnp.asarray([1.0] * 6, device=split)": ("SHL202",),
    "jnp.asarray(a, device=split)": (),
    "jnp.array(ones, device=P('x'))": ("SHL206",),
    "jax.jit(lambda v: jnp.array(v, device=split))(np.ones((6, 2)))": (),
    "jnp.linspace(0, 1, 6, device=split)": (),
    "jnp.linspace(0, 1, 8, device=NamedSharding(auto, P(None, 'x')))": ("SHL201",),
    "jnp.linspace(0, 1, 8, device=P('x'))": ("SHL206",),
    "jnp.zeros(8, device=P('x'))": ("SHL206",),
    "jnp.zeros_like(ones, device=P('x'))": ("SHL206",),
    "jnp.full(8, 1.0, device=P('x'))": ("SHL206",),
    "jnp.arange(8, device=jax.devices()[1]) + jnp.array([1] * 8, device=jax.devices()[1])": (),
}
