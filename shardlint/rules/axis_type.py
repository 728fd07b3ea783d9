"""# axis-type (SHL701)

## What it does
Finds calls that do not take mesh axes of the type they get: `with_sharding_constraint` on Explicit
axes, Manual axes of a `shard_map` body in a spec.

## Why is this bad?
An axis is Auto (the compiler decides), Explicit (the type of the array decides) or Manual (inside
`shard_map`). `jax.make_mesh` makes Explicit axes since JAX 0.9, `Mesh(...)` Auto ones, and each
call takes some types only.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"))


@jax.jit
def activations(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data")))


activations(jnp.ones((8, 16)))  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))


@jax.jit
def activations(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data")))


activations(jnp.ones((8, 16)))
```

## What JAX says
`ValueError` or `AssertionError`, by call (JAX 0.10.2). Before 0.9 `jax.make_mesh` made Auto axes,
and the example ran.

## References
- https://docs.jax.dev/en/latest/notebooks/explicit-sharding.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.values import AxisType, entry_axes
from shardlint.laws.verdicts import Cause, Rejected
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.wording import SPEC_KINDS, SpecHolder, api_text, entry_of, entry_place, mesh_of

_WAY_OUT = {
    AxisType.EXPLICIT: "use jax.sharding.reshard, or make the mesh with axis_types=(AxisType.Auto, ...)",
    AxisType.AUTO: "use with_sharding_constraint, or make the mesh with axis_types=(AxisType.Explicit, ...)",
    AxisType.MANUAL: "inside shard_map only the axes that stay Auto may be named",
}


def check(use: SpecHolder, settings: RuleSettings) -> Iterable[Problem]:
    """Report an axis of a type that the call does not take."""
    verdict, mesh = use.verdict, mesh_of(use)
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.AXIS_TYPE:
        return
    named = verdict.axis or next(iter(entry_axes(entry_of(use, verdict.dimension))), None)
    place = entry_place(use, verdict.dimension)
    if mesh is None or named not in mesh.names or named is None:
        said = f": {verdict.detail}" if verdict.detail else ""
        yield Problem(f"{api_text(use)} does not take the mesh's axis types{said}", place)
        return
    kind = mesh.type_of(named)
    yield Problem(
        f'"{named}" is an {kind} axis, which {api_text(use)} does not take; {_WAY_OUT[kind]}', place
    )


RULE = Rule(
    code="SHL701",
    name="axis-type",
    summary="A call does not take mesh axes of this type",
    docs=__doc__,
    kinds=SPEC_KINDS,
    check=check,
)
