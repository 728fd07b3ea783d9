"""# spmd-axis-name (SHL710)

## What it does
Finds a `with_sharding_constraint` inside `jax.vmap(spmd_axis_name=)` that names the same mesh axis, or whose
mesh has no such axis. On Explicit axes, finds a `jax.reshard` inside `jax.vmap` to an axis along which the
mapped dimension already lies.

## Why is this bad?
`spmd_axis_name` is the mesh axis that the mapped dimension lies along in every constraint inside. A mesh axis
splits one dimension only.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))


def double(row):
    return jax.lax.with_sharding_constraint(row * 2, NamedSharding(mesh, P("data")))  # raises ValueError


jax.jit(jax.vmap(double, spmd_axis_name="data"))(jnp.ones((8, 16)))
```

## Use instead
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))


def double(row):
    return jax.lax.with_sharding_constraint(row * 2, NamedSharding(mesh, P("model")))


jax.jit(jax.vmap(double, spmd_axis_name="data"))(jnp.ones((8, 16)))
```

## What JAX says
`ValueError` as the function is traced (JAX 0.10.2). Constraints on arrays that are not mapped over are left
alone. For a `reshard` it is `DuplicateSpecError`.

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings

_WAYS_OUT = {
    Cause.DUPLICATE_AXIS: "a mesh axis splits one dimension only",
    Cause.UNKNOWN_AXIS: "use one mesh for both",
}


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a constraint that does not fit the mapped axis."""
    verdict = use.verdict
    if use.function == "jax.vmap" and isinstance(verdict, Rejected) and verdict.cause in _WAYS_OUT:
        yield Problem(f"{verdict.detail}; {_WAYS_OUT[verdict.cause]}", use.place)


RULE = Rule(
    code="SHL710",
    name="spmd-axis-name",
    summary="A constraint inside vmap conflicts with the axes of the mapped dimension",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
