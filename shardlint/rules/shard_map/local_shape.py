"""# local-shape (SHL306)

## What it does
Finds operations in the body of a `shard_map` that fail for the shapes that arrays have there.

## Why is this bad?
The body runs once a device, and sees one shard of each argument: what its spec splits is as many
times smaller. Sizes of the whole array, written down or taken from outside, do not fit there.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def heads(x):
    return x.reshape(8, 4, 16)  # raises TypeError


split = jax.shard_map(heads, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
split(jnp.ones((8, 64)))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def heads(x):
    return x.reshape(x.shape[0], 4, 16)


split = jax.shard_map(heads, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
split(jnp.ones((8, 64)))
```

## What JAX says
The operation raises, mostly `TypeError` or `ValueError`, when the body is traced (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/notebooks/shard_map.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report an operation that fails on the shapes of shards."""
    if isinstance(use.verdict, Rejected) and use.verdict.cause is Cause.LOCAL_SHAPE:
        yield Problem(use.verdict.detail, use.place)


RULE = Rule(
    code="SHL306",
    name="local-shape",
    summary="An operation in the body of shard_map fails on the local shapes",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
