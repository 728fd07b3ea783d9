"""# other-mesh (SHL707)

## What it does
Finds operations on arrays of another mesh than the context's, or of two meshes.

## Why is this bad?
On Explicit axes the mesh is part of an array's type. Arrays of two meshes do not meet, and under
`jax.set_mesh` no other mesh is in force.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
jax.set_mesh(mesh)

other = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Explicit,))
x = jax.device_put(jnp.ones((8, 16)), NamedSharding(other, P("data")))
jax.jit(lambda a: a * 2)(x)  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
jax.set_mesh(mesh)

x = jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, P("data")))
jax.jit(lambda a: a * 2)(x)
```

## What JAX says
`ValueError`: "context mesh ... should match the aval mesh", or "Mesh for all inputs should be equal" (JAX
0.10.2).

## References
- https://docs.jax.dev/en/latest/notebooks/explicit-sharding.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.values import AxisType, Mesh
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import OperationUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.operations import wanted_text


def check(use: OperationUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report operands on another mesh."""
    verdict, context = use.verdict, use.environment.context_mesh
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.OTHER_MESH:
        return
    inside = isinstance(context, Mesh) and AxisType.MANUAL in context.types
    way_out = (
        "pass what is sharded on Explicit axes to the body as an argument, with in_specs of its own"
        if inside
        else "put all arrays on one mesh, that of jax.set_mesh"
    )
    meshes = "" if inside else _meshes(use)
    yield Problem(f"{wanted_text(use, verdict)}{meshes}; {way_out}", use.place)


def _meshes(use: OperationUse) -> str:
    """Return the meshes that meet: the operands' and the context's."""
    held = [kind.sharding.mesh for kind in use.operands if kind.sharding is not None]
    meshes = dict.fromkeys(str(mesh) for mesh in held if mesh is not None)
    context = use.environment.context_mesh
    beside = f" under {context}" if isinstance(context, Mesh) else ""
    return f" on {' and '.join(meshes)}{beside}" if meshes else ""


RULE = Rule(
    code="SHL707",
    name="other-mesh",
    summary="Arrays are on a different mesh than the context's, or on two meshes",
    docs=__doc__,
    kinds=(OperationUse,),
    check=check,
)
