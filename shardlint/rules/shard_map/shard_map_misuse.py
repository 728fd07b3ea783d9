"""# shard-map-misuse (SHL307)

## What it does
Finds calls of `jax.shard_map` that JAX does not take as they are: a mesh given by position, an `axis_names`
that is no set or names an axis that the mesh lacks, specs that name an axis that is not manual, a mesh that
is not the one in context.

## Why is this bad?
`jax.shard_map` takes only the function by position. `axis_names` is a set of the mesh's axes, and with a
part of them only these may stand in the specs. Inside `jax.set_mesh`, or inside another `shard_map`, the
mesh is the one in context. What is not so raises, often only when the mapped function is called.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))

double = jax.shard_map(
    lambda x: 2 * x, mesh=mesh, in_specs=P("data"), out_specs=P("data"), axis_names=("data",)
)
double(jnp.ones((8, 4)))  # raises TypeError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))

double = jax.shard_map(
    lambda x: 2 * x, mesh=mesh, in_specs=P("data"), out_specs=P("data"), axis_names={"data"}
)
double(jnp.ones((8, 4)))
```

## What JAX says
Arguments that the signature does not have raise `TypeError` at once. The rest is met when the mapped function
is called: `TypeError` for what is of another type, `ValueError` for axes and meshes that do not fit
(JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.shard_map.html
- https://docs.jax.dev/en/latest/notebooks/shard_map.html
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.transforms.shard_map import SIGNATURES
from shardlint.model.findings import Fix
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings

if TYPE_CHECKING:
    from shardlint.fixes.rewrites.fix_request import FixRequest


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a call of shard_map, or of the function it returns, that JAX rejects."""
    if isinstance(use.verdict, Rejected) and use.function in SIGNATURES:
        yield Problem(use.verdict.detail, use.place)


def fix(request: FixRequest) -> Fix:
    """Return the fix that passes by keyword the arguments for which `jax.shard_map` demands it."""
    import libcst as cst

    from shardlint.fixes.rewrites.calls import named
    from shardlint.fixes.rewrites.fix_request import SAFE
    from shardlint.fixes.syntax.program_tree import CannotFix

    verdict = request.use.verdict
    if not isinstance(verdict, Rejected) or "by position" not in verdict.detail:
        raise CannotFix
    node = request.node()
    if not isinstance(node, cst.Call):
        raise CannotFix
    return request.fix("name the arguments", SAFE, {node: named(node, 1)})


RULE = Rule(
    code="SHL307",
    name="shard-map-misuse",
    summary="shard_map is called with arguments, a mesh or axis_names that JAX rejects",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
    fix=fix,
)
