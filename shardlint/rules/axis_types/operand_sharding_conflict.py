"""# operand-sharding-conflict (SHL703)

## What it does
Finds operations on Explicit axes whose operands are sharded so that their result cannot be.

## Why is this bad?
On Explicit axes an array's type says how it is sharded, and the result's type follows from the operands'.
Of two arrays that meet along a dimension, one sharded over "data" and one over "model", neither is moved
silently.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, PartitionSpec as P, reshard

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
jax.set_mesh(mesh)


@jax.jit
def add(x, bias):
    return x + bias  # raises ShardingTypeError


add(reshard(jnp.ones((8, 16)), P("data", "model")), reshard(jnp.ones((8, 16)), P("model", "data")))
```

## Use instead
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, PartitionSpec as P, reshard

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
jax.set_mesh(mesh)


@jax.jit
def add(x, bias):
    return x + reshard(bias, P("data", "model"))


add(reshard(jnp.ones((8, 16)), P("data", "model")), reshard(jnp.ones((8, 16)), P("model", "data")))
```

## What JAX says
`ShardingTypeError` as the operation is traced; a few functions check before and raise `ValueError`,
`jax.vmap` for its mapped dimensions among them (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/notebooks/explicit-sharding.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import OperationUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.operations import wanted_text

_WAY_OUT = "jax.sharding.reshard brings one to the sharding of the other"
_WAY_OUT_OF_ONE = "reshard it, or leave it to the compiler: jax.sharding.auto_axes(f, out_sharding=P(...))"


def check(use: OperationUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report operands whose shardings conflict."""
    verdict = use.verdict
    if isinstance(verdict, Rejected) and verdict.cause is Cause.CONFLICT:
        way_out = _WAY_OUT_OF_ONE if len(use.operands) == 1 else _WAY_OUT
        yield Problem(f"{wanted_text(use, verdict)}; {way_out}", use.place)


RULE = Rule(
    code="SHL703",
    name="operand-sharding-conflict",
    summary="The shardings of operands conflict",
    docs=__doc__,
    kinds=(OperationUse,),
    check=check,
)
