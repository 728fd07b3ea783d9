"""# other-sharding (SHL702)

## What it does
Finds a spec that must be the array's own sharding, where the array is sharded otherwise: a
`with_sharding_constraint` whose mesh has Explicit axes only, or an argument of `shard_map` on Explicit axes.

## Why is this bad?
On Explicit axes the sharding is part of an array's type, and only `jax.sharding.reshard` changes it. A
constraint then only asserts, and `shard_map` takes its arguments as they come.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
x = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P("data", None)))
with jax.set_mesh(mesh):
    jax.lax.with_sharding_constraint(x, P("model", None))  # raises AssertionError
```

## Use instead
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
x = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, P("data", None)))
with jax.set_mesh(mesh):
    jax.sharding.reshard(x, P("model", None))
```

## What JAX says
`with_sharding_constraint` raises `AssertionError`, and `shard_map` `ValueError` (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/parallel.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import ParameterUse, Placement
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import (
    ARRAY_KINDS,
    api_text,
    array_text,
    asserted,
    entry_place,
    is_parameter,
    spec_text,
)


def check(use: Placement | ParameterUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a spec that differs from the array's present sharding."""
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.OTHER_SHARDING:
        return
    problem = f"is sharded as {verdict.detail}" if verdict.detail else "cannot be sharded so"
    if is_parameter(use):
        yield Problem(
            f"on Explicit axes linen only asserts a parameter's names, and {array_text(use)} {problem}, "
            f"not as {spec_text(use)}; give the mesh Auto axes",
            entry_place(use, verdict.dimension),
        )
        return
    place, facts = asserted(use, verdict.dimension)
    yield Problem(
        f"on Explicit axes {api_text(use)} asserts the sharding, and {array_text(use)} {problem}, "
        f"not as {spec_text(use)}; use jax.sharding.reshard",
        place,
        related=facts,
    )


RULE = Rule(
    code="SHL702",
    name="other-sharding",
    summary="A spec asserts a sharding that the array does not have",
    docs=__doc__,
    kinds=ARRAY_KINDS,
    check=check,
)
