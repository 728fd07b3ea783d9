"""# collective-shape (SHL304)

## What it does
Finds collectives whose array or arguments do not fit: `psum_scatter` or `all_to_all` over a
dimension that does not divide, or one that the array does not have.

## Why is this bad?
`psum_scatter` and `all_to_all` split a dimension among the devices of the axis. With `tiled=True`
its size must be a multiple of their number; without, exactly their number. The size is that of one
shard, not of the whole array.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def scatter(x):
    return jax.lax.psum_scatter(x, "model", tiled=True)


scattered = jax.shard_map(scatter, mesh=mesh, in_specs=P(), out_specs=P("model"), check_vma=False)
scattered(jnp.ones((6, 16)))  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def scatter(x):
    return jax.lax.psum_scatter(x, "model", tiled=True)


scattered = jax.shard_map(scatter, mesh=mesh, in_specs=P(), out_specs=P("model"), check_vma=False)
scattered(jnp.ones((8, 16)))
```

## What JAX says
`ValueError` when the body is traced; `IndexError` for a dimension that the array lacks. A
negative `scatter_dimension` raises `ValueError` when the program is lowered and uses what the call gives:
where that is not sure, it is a warning (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.lax.psum_scatter.html
- https://docs.jax.dev/en/latest/_autosummary/jax.lax.all_to_all.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import CollectiveUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import refused, size_text, sizes_text


def check(use: CollectiveUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a collective that JAX rejects because of its array's shape or its own arguments."""
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.cause not in (Cause.INDIVISIBLE, Cause.BAD_ARGUMENT):
        return
    yield refused(use, _misfit(verdict))


def _misfit(verdict: Rejected) -> str:
    size, ways = verdict.size, verdict.ways
    if size is None or ways is None or verdict.dimension is None:
        return verdict.detail or "JAX rejects its arguments"
    message = f"dimension {verdict.dimension} has size {size_text(size)} on each device"
    if verdict.cause is not Cause.INDIVISIBLE:
        return f"{message}, which without tiled=True must be the number of devices, {size_text(ways)}"
    would = sizes_text(size, ways)
    return f"{message}, which {size_text(ways)} devices cannot share" + (
        f"; {would} would do" if would else ""
    )


RULE = Rule(
    code="SHL304",
    name="collective-shape",
    summary="A collective gets an array or arguments that it cannot take",
    docs=__doc__,
    kinds=(CollectiveUse,),
    check=check,
)
