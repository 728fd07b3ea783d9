"""Parts of weights that devices draw: reported where their deviation is that for the size of a part."""

from __future__ import annotations

import pytest
from consequences import found, value

HEADER = """import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.nn import initializers as init
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("d", "m"))
key = jax.random.key(0)
def own(k):
    return jax.random.fold_in(k, lax.axis_index("m"))
def part(initial, shape, spec, scale=1):
    def body(k):
        return initial(own(k), shape) * scale if scale != 1 else initial(own(k), shape)
    return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P(), out_specs=spec))(key)
class Net:
    def draw(self, k):
        up, down = jax.random.split(own(k))
        return {"up": init.lecun_normal()(up, (64, 64)), "down": init.lecun_normal()(down, (64, 64))}
"""
ROWS, COLUMNS = "(32, 64), P('m')", "(128, 16), P(None, 'm')"
#: Programs that draw weights, what draws them whole, and whether they are reported, which they are if the
#: deviation is another.
PROGRAMS: dict[str, tuple[str, bool]] = {
    **{
        f"part(init.{one}, {shape})": (f"init.{one}(key, (128, 64))", told)
        for one, rows, columns in (
            ("lecun_normal()", True, False),
            ("he_uniform()", True, False),
            ("glorot_normal()", True, True),
            ("xavier_uniform(dtype=jnp.float32)", True, True),
            ("variance_scaling(2.0, 'fan_in', 'normal')", True, False),
            ("variance_scaling(2.0, 'fan_out', 'truncated_normal')", False, True),
            ("normal(0.02)", False, False),
            ("truncated_normal(0.1)", False, False),
        )
        for shape, told in ((ROWS, rows), (COLUMNS, columns))
    },
    "part(init.lecun_normal(in_axis=-1, out_axis=-2), (32, 64), P('m'))": (
        "init.lecun_normal(in_axis=-1, out_axis=-2)(key, (128, 64))", False
    ),
    "part(init.lecun_normal(), (32, 64), P('m'), 0.5)": ("init.lecun_normal()(key, (128, 64))", False),
    "part(init.lecun_normal(batch_axis=0), (2, 64, 32), P('m'))": (
        "init.lecun_normal(batch_axis=0)(key, (8, 64, 32))", False
    ),
    "jax.shard_map(Net().draw, mesh=mesh, in_specs=P(), out_specs={'up': P(None, 'm'), 'down': P('m')})(key)"
    "['down']": ("init.lecun_normal()(key, (256, 64))", True),
    "jax.shard_map(Net().draw, mesh=mesh, in_specs=P(), out_specs={'up': P(None, 'm'), 'down': P(None, 'm')})"
    "(key)['down']": ("init.lecun_normal()(key, (64, 256))", False),
    "jax.shard_map(lambda k: init.lecun_normal()(k[0], (128, 64))[None], mesh=mesh, in_specs=P('m'), "
    "out_specs=P('m'))(jax.random.split(key, 4))": ("init.lecun_normal()(key, (128, 64))", False),
}  # fmt: skip


@pytest.mark.parametrize("call", PROGRAMS)
def test_reported_where_the_deviation_is_another(call: str) -> None:
    meant, reported = PROGRAMS[call]
    program = f"{HEADER}one = {call}\n"
    ratio = value(f"{program}other = {meant}\n", "round(float(jnp.std(one) / jnp.std(other)), 3)")
    assert (abs(ratio - 1) > 0.1) == reported
    assert bool(found(program, "SHL319")) == reported
