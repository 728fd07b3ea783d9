"""# missing-reduction (SHL305)

## What it does
Finds results of a `shard_map` that vary over a mesh axis which their `out_specs` do not name.

## Why is this bad?
Each device along the axis holds another value: a sum over its own shard, say. A spec that leaves the axis
out promises one value for all of them. Usually a `psum` or `pmean` is missing.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def loss(x):
    return jnp.mean(x**2)


total = jax.shard_map(loss, mesh=mesh, in_specs=P("data"), out_specs=P())
total(jnp.ones((8, 4)))  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def loss(x):
    return jax.lax.pmean(jnp.mean(x**2), "data")


total = jax.shard_map(loss, mesh=mesh, in_specs=P("data"), out_specs=P())
total(jnp.ones((8, 4)))
```

## What JAX says
`shard_map` raises `ValueError` when the body is traced, unless ``check_vma=False`` turns its check off; the
result is then that of any one device (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/notebooks/shard_map.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import Placement
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import array_text, names_text


def check(use: Placement, settings: RuleSettings) -> Iterable[Problem]:
    """Report a result that differs between devices although the spec states that it is the same on them."""
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.VARYING:
        return
    axes = names_text(verdict.detail.split(", "))
    yield Problem(
        f"{array_text(use)} varies over {axes}, which {use.spec} does not name; "
        f"reduce it with jax.lax.psum or pmean over {axes}, or name the axis in out_specs",
        use.place,
    )


RULE = Rule(
    code="SHL305",
    name="missing-reduction",
    summary="A result of shard_map varies over an axis that out_specs do not name",
    docs=__doc__,
    kinds=(Placement,),
    check=check,
)
