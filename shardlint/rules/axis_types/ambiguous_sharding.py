"""# ambiguous-sharding (SHL704)

## What it does
Finds operations on Explicit axes whose result could be sharded in several ways.

## Why is this bad?
When both sides of a contraction are sharded over the axis that is summed, the result may be replicated,
or scattered over any of its dimensions: JAX asks instead of guessing. So it does for indexing into a
sharded dimension, and for convolutions with a sharded kernel.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, PartitionSpec as P, reshard

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
jax.set_mesh(mesh)


@jax.jit
def project(x, kernel):
    return x @ kernel  # raises ShardingTypeError


project(reshard(jnp.ones((8, 16)), P("data", "model")), reshard(jnp.ones((16, 32)), P("model", None)))
```

## Use instead
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, PartitionSpec as P, reshard

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
jax.set_mesh(mesh)


@jax.jit
def project(x, kernel):
    return jnp.matmul(x, kernel, out_sharding=P("data", None))


project(reshard(jnp.ones((8, 16)), P("data", "model")), reshard(jnp.ones((16, 32)), P("model", None)))
```

## What JAX says
`ShardingTypeError`: "Contracting dimensions are sharded and it is ambiguous how the output should be
sharded" (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/notebooks/explicit-sharding.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import OperationUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.operations import wanted_text

_WAY_OUT = (
    "pass out_sharding=P(...) where the function takes it, or reshard an operand: "
    "jax.sharding.reshard(x, P(...))"
)


def check(use: OperationUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report operations for which the program must state the sharding of the result."""
    verdict = use.verdict
    if isinstance(verdict, Rejected) and verdict.cause is Cause.AMBIGUOUS:
        yield Problem(
            f"{wanted_text(use, verdict)}; {_WAY_OUT}",
            use.place,
        )


RULE = Rule(
    code="SHL704",
    name="ambiguous-sharding",
    summary="The result could be sharded in several ways, and JAX must be told which",
    docs=__doc__,
    kinds=(OperationUse,),
    check=check,
)
