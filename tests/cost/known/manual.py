"""Collectives that the program writes itself, in shard_map: rings, pipelines, experts."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
B, D = 16, 64
RING = [(i, (i + 1) % 4) for i in range(4)]


def array(shape, *spec, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))


def mapped(f, in_specs, out_specs, *arguments):
    jax.jit(jax.shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs)).lower(*arguments)


def case_psum():
    def body(x):
        return jax.lax.psum(x, "model")  # expect-collective: all-reduce model == 1536

    mapped(body, P("model"), P(), array((B, D), "model"))


def case_pmean_over_both():
    def body(x):
        return jax.lax.pmean(x, ("data", "model"))  # expect-collective: all-reduce data model == 896

    mapped(body, P(("data", "model")), P(), array((B, D), ("data", "model")))


def case_pmax():
    def body(x):
        return jax.lax.pmax(x, "data")  # expect-collective: all-reduce data == 2048

    mapped(body, P("data"), P(), array((B, D), "data"))


def case_all_gather():
    def body(x):
        return jax.lax.all_gather(x, "model", axis=0, tiled=True).sum(
            0
        )  # expect-collective: all-gather model == 3072

    mapped(body, P("model", None), P("model"), array((B, D), "model"))


def case_psum_scatter():
    def body(x):
        return jax.lax.psum_scatter(x, "model", tiled=True)  # expect-collective: reduce-scatter model == 3072

    mapped(body, P(), P("model"), array((B, D)))


def case_all_to_all():
    def body(x):
        return jax.lax.all_to_all(x, "model", 1, 0, tiled=True)  # expect-collective: all-to-all model == 768

    mapped(body, P("model", None), P(None, "model"), array((B, D), "model"))


def case_ring_step():
    def body(x):
        return jax.lax.ppermute(x, "model", RING)  # expect-collective: collective-permute model == 1024

    mapped(body, P("model"), P("model"), array((B, D), "model"))


def case_only_index():  # expect-no-collectives
    mapped(lambda x: x + jax.lax.axis_index("model"), P("model"), P("model"), array((B, D), "model"))


def case_ring_attention():
    def attend(q, k, v):
        def turn(i, carry):
            k, v, total = carry
            total = total + jax.nn.softmax(q @ k.T) @ v
            k = jax.lax.ppermute(k, "model", RING)  # expect-collective: collective-permute model == 1024
            v = jax.lax.ppermute(v, "model", RING)  # expect-collective: collective-permute model == 1024
            return k, v, total

        return jax.lax.fori_loop(0, 4, turn, (k, v, jnp.zeros_like(q)))[2]

    parts = [array((B, D), "model") for _ in range(3)]
    mapped(attend, P("model"), P("model"), *parts)


def case_pipeline():
    def stages(w, x):
        def tick(state, i):
            state = jnp.tanh(state @ w[0])
            state = jax.lax.ppermute(
                state, "model", RING
            )  # expect-collective: collective-permute model == 4096
            return state, ()

        return jax.lax.scan(tick, jax.lax.pcast(x, "model", to="varying"), jnp.arange(7))[0]

    mapped(stages, (P("model"), P()), P("model"), array((4, D, D), "model"), array((B, D)))


def case_mixture_of_experts():
    def experts(x, w):
        x = jax.lax.all_to_all(x, "model", 0, 1)  # expect-collective: all-to-all model == 3072
        y = jnp.einsum("cetd,df->cetf", x[None], w[0])[0]
        return jax.lax.all_to_all(y, "model", 1, 0)  # expect-collective: all-to-all model == 3072

    mapped(
        experts,
        (P(None, "model"), P("model")),
        P(None, "model"),
        array((4, B, D), None, "model"),
        array((4, D, D), "model"),
    )


def case_hierarchical_sum():
    def body(x):
        part = jax.lax.psum_scatter(x, "model", tiled=True)  # expect-collective: reduce-scatter model == 1536
        return jax.lax.psum(part, "data")  # expect-collective: all-reduce data == 512

    mapped(body, P("data"), P("model"), array((B, D), "data"))


def case_halo_exchange():
    def body(x):
        left = jax.lax.ppermute(x[-1:], "model", RING)  # expect-collective: collective-permute model == 256
        right = jax.lax.ppermute(
            x[:1], "model", [(b, a) for a, b in RING]
        )  # expect-collective: collective-permute model == 256
        return jnp.concatenate([left, x, right])

    mapped(body, P("model"), P("model"), array((B, D), "model"))


def case_part_of_the_mesh_is_manual():
    @partial(jax.shard_map, mesh=mesh, in_specs=P("model"), out_specs=P(), axis_names={"model"})
    def body(x):
        return jax.lax.psum(x, "model")  # expect-collective: all-reduce model == 768

    jax.jit(body).lower(array((B, D), "model", "data"))
