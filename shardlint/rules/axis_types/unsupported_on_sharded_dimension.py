"""# unsupported-on-sharded-dimension (SHL705)

## What it does
Finds operations that JAX does not do along a dimension sharded over Explicit axes, or that
`jax.sharding.no_collectives` forbids there.

## Why is this bad?
Sorting, accumulating, splitting unevenly or reshaping across a sharded dimension moves data between
devices. On Explicit axes nothing moves unless the program says so.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, PartitionSpec as P, reshard

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
jax.set_mesh(mesh)


@jax.jit
def ranks(scores):
    return jnp.argsort(scores, axis=-1)  # raises ShardingTypeError


ranks(reshard(jnp.ones((8, 16)), P("data", "model")))
```

## Use instead
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, PartitionSpec as P, reshard

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
jax.set_mesh(mesh)


@jax.jit
def ranks(scores):
    return jnp.argsort(reshard(scores, P("data", None)), axis=-1)


ranks(reshard(jnp.ones((8, 16)), P("data", "model")))
```

## What JAX says
`ShardingTypeError` as the operation is traced; for some an `AssertionError` or `NotImplementedError` (JAX
0.10.2). `ForbiddenCollectiveError` under `no_collectives` (JAX 0.12.0).

## References
- https://docs.jax.dev/en/latest/notebooks/explicit-sharding.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import OperationUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import forbidden_text
from shardlint.rules.messages.operations import wanted_text

_WAY_OUT = "reshard the array first: jax.sharding.reshard(x, P(...))"


def check(use: OperationUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report operations that JAX does not support along a sharded dimension."""
    verdict = use.verdict
    if isinstance(verdict, Rejected) and verdict.cause is Cause.UNSUPPORTED:
        yield Problem(
            f"{wanted_text(use, verdict)}; {_WAY_OUT}",
            use.place,
        )
    elif isinstance(verdict, Rejected) and verdict.cause is Cause.FORBIDDEN_COLLECTIVE:
        yield Problem(forbidden_text(use.function, verdict), use.place)


RULE = Rule(
    code="SHL705",
    name="unsupported-on-sharded-dimension",
    summary="An operation that JAX does not support along a sharded dimension",
    docs=__doc__,
    kinds=(OperationUse,),
    check=check,
)
