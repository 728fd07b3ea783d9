"""# mesh-without-context (SHL709)

## What it does
Finds an array placed by a mesh that the call cannot use: `out_sharding=` on another mesh than the one that
`jax.set_mesh` set, or on Explicit axes where none is set; and arrays put on an `AbstractMesh`.

## Why is this bad?
`out_sharding=` names the axes of the mesh in the context, and that mesh brings the devices. An `AbstractMesh`
has no devices at all.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
x = jnp.empty((8, 16), out_sharding=NamedSharding(mesh, P("data")))  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
with jax.set_mesh(mesh):
    x = jnp.empty((8, 16), out_sharding=NamedSharding(mesh, P("data")))
```

## What JAX says
`ValueError`; what XLA itself refuses of an `AbstractMesh` is a `JaxRuntimeError` (JAX 0.10.2). Since
JAX 0.11.0 `jnp.zeros`, `ones` and `full` drop a sharding on Explicit axes silently where no mesh is set: the
array stays on one device. Two meshes of Auto axes are not compared.

## References
- https://docs.jax.dev/en/latest/notebooks/explicit-sharding.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Accepted, Cause, Rejected
from shardlint.model.uses import Placement
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import api_text, array_text


def check(use: Placement, settings: RuleSettings) -> Iterable[Problem]:
    """Report a mesh that is not the context's, or that has no devices."""
    verdict = use.verdict
    api = api_text(use).removesuffix(" inside jit")
    if isinstance(verdict, Accepted):
        if verdict.dropped:
            message = f"{api} drops this sharding without a mesh in the context: set it with jax.set_mesh"
            yield Problem(message, use.place)
        return
    if not isinstance(verdict, Rejected):
        return
    if verdict.cause is Cause.OTHER_MESH:
        message = (
            f"{api} takes the mesh of jax.set_mesh, {verdict.detail}, and this sharding is on {use.mesh}"
        )
    elif verdict.cause is Cause.MESH_CONTEXT:
        message = f"{api} takes the devices of the context for Explicit axes; set the mesh with jax.set_mesh"
    elif verdict.cause is Cause.DEVICES:
        message = f"{api} puts {array_text(use)} on an AbstractMesh, which has no devices; use a Mesh"
    else:
        return
    yield Problem(message, use.place)


RULE = Rule(
    code="SHL709",
    name="mesh-without-context",
    summary="A call cannot use the mesh of its sharding: another mesh or none is set, or it has no devices",
    docs=__doc__,
    kinds=(Placement,),
    check=check,
)
