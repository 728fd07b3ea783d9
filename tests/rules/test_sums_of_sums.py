"""What `collectives.md` says of sums of sums is so: how large they are in JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def test_sums_of_what_is_summed_are_too_large() -> None:
    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))

    def held(body: object, check_vma: bool = True) -> list[float]:
        mapped = jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=check_vma)
        return np.asarray(mapped(jnp.arange(8.0))).ravel().tolist()

    def gradient(a: jax.Array) -> jax.Array:
        return jax.grad(lambda w: jnp.sum(w * a))(jnp.ones(()))

    assert held(lambda a: lax.psum(lax.psum(jnp.sum(a), "x"), "x")) == [56.0]
    assert held(lambda a: lax.psum(lax.psum(jnp.sum(a), "x"), "x"), check_vma=False) == [56.0]
    assert held(gradient) == [28.0]
    assert held(lambda a: lax.psum(gradient(a), "x")) == [56.0]
    assert held(lambda a: lax.pmean(gradient(a), "x")) == [28.0]
    assert held(lambda a: lax.psum(gradient(a), "x"), check_vma=False) == [28.0]
