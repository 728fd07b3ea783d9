"""# mesh-context (SHL407)

## What it does
Finds meshes that are set, or asked for, in a way that JAX does not allow: `jax.set_mesh` and
`jax.sharding.get_mesh` inside jit or another transformation, `jax.set_mesh` of an `AbstractMesh` or of
something that is no mesh, `use_abstract_mesh` of a `Mesh` or of another number of devices than the mesh
that is set, `with` on an `AbstractMesh`, `set_mesh(mesh)` or an `AbstractMesh` as a decorator; and axes
that `jax.sharding.no_collectives` does not take, as they are in no set.

## Why is this bad?
JAX raises. Which mesh is set is decided outside of what is traced.

## Example
```python
import jax
import jax.numpy as jnp

mesh = jax.make_mesh((2, 4), ("data", "model"))


@jax.jit
def double(x):
    with jax.set_mesh(mesh):
        return x * 2


double(jnp.ones((8, 4)))  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp

mesh = jax.make_mesh((2, 4), ("data", "model"))


@jax.jit
def double(x):
    return x * 2


with jax.set_mesh(mesh):
    double(jnp.ones((8, 4)))
```

## What JAX says
`jax.set_mesh`, `jax.sharding.use_abstract_mesh`, `jax.sharding.get_mesh` and `with` on an `AbstractMesh`
raise `ValueError`; calling what `jax.set_mesh(mesh)` returns raises `TypeError` (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.set_mesh.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import call_text, function_text


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a mesh that cannot be set, or read, at this place."""
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or use.function not in _FUNCTIONS:
        return
    if verdict.cause in (Cause.MESH_CONTEXT, Cause.BAD_ARGUMENT):
        yield Problem(call_text(function_text(use), verdict.detail), use.place)


_FUNCTIONS = frozenset(
    {
        "AbstractMesh.__call__",
        "AbstractMesh.__enter__",
        "jax.set_mesh",
        "jax.sharding.get_abstract_mesh",
        "jax.sharding.get_mesh",
        "jax.sharding.no_collectives",
        "jax.sharding.use_abstract_mesh",
    }
)

RULE = Rule(
    code="SHL407",
    name="mesh-context",
    summary="A mesh is set or requested in a way or at a place that JAX does not allow",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
