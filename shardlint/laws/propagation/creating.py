"""Arrays made of nothing: `iota`, and `broadcast`s of scalars (`lax.full`, `jnp.zeros`)."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.laws.dims import Dim
from shardlint.laws.propagation.operands import Outcome, OutSharding, law
from shardlint.laws.propagation.out_shardings import settled
from shardlint.laws.propagation.primitives import finished
from shardlint.laws.types import TypeSharding
from shardlint.laws.values import Mesh, Spec


@law
def iota(context: Mesh | None, shape: Sequence[Dim], out_sharding: OutSharding = None) -> Outcome:
    """`lax.iota`, `broadcasted_iota`: replicated over the context's mesh, or ``out_sharding``.

    `_iota_abstract_eval`. What broadcasts a scalar constant (`lax.full`, `jnp.zeros`) is typed alike.
    """
    wanted = settled(context, out_sharding) or TypeSharding(context, Spec())
    return finished(context, wanted, len(shape), tuple(shape))
