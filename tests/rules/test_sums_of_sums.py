"""What `collectives.md` says of sums of sums is so: how large they are in JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from support.jax_answers import asks_jax


@asks_jax("rules")
def sums() -> dict[str, list[float]]:
    """Return what JAX holds of sums of an array whose elements have the sum 28."""
    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))

    def held(body: object, check_vma: bool = True) -> list[float]:
        mapped = jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=check_vma)
        return np.asarray(mapped(jnp.arange(8.0))).ravel().tolist()

    def gradient(a: jax.Array) -> jax.Array:
        return jax.grad(lambda w: jnp.sum(w * a))(jnp.ones(()))

    return {
        "a sum twice": held(lambda a: lax.psum(lax.psum(jnp.sum(a), "x"), "x")),
        "a sum twice, unchecked": held(lambda a: lax.psum(lax.psum(jnp.sum(a), "x"), "x"), check_vma=False),
        "a gradient": held(gradient),
        "its sum": held(lambda a: lax.psum(gradient(a), "x")),
        "its mean": held(lambda a: lax.pmean(gradient(a), "x")),
        "its sum, unchecked": held(lambda a: lax.psum(gradient(a), "x"), check_vma=False),
    }


def test_sums_of_what_is_summed_are_too_large() -> None:
    assert sums() == {
        "a sum twice": [56.0],
        "a sum twice, unchecked": [56.0],
        "a gradient": [28.0],
        "its sum": [56.0],
        "its mean": [28.0],
        "its sum, unchecked": [28.0],
    }
