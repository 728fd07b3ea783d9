"""# out-spec-longer-than-result (SHL302)

## What it does
Finds an entry of `shard_map`'s `out_specs` longer than the rank of what the body returns.

## Why is this bad?
`out_specs` says along which dimensions the shards' results are joined. A sum that ends in a scalar,
or `psum_scatter` and `all_gather` without `tiled=True`, have another rank than one expects, and JAX
rejects the result.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def loss(x):
    return jax.lax.psum(x.sum(), ("data", "model"))


total = jax.shard_map(loss, mesh=mesh, in_specs=P("data", "model"), out_specs=P("data"))
total(jnp.ones((8, 16)))  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def loss(x):
    return jax.lax.psum(x.sum(), ("data", "model"))


total = jax.shard_map(loss, mesh=mesh, in_specs=P("data", "model"), out_specs=P())
total(jnp.ones((8, 16)))
```

## What JAX says
`shard_map` raises `ValueError` when the function is called; trailing `None`s count (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.shard_map.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Api, Cause, Rejected
from shardlint.model.uses import Placement
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import array_text, shape_text, spec_text, surplus_place
from shardlint.rules.shared_fixes import without_surplus


def check(use: Placement, settings: RuleSettings) -> Iterable[Problem]:
    """Report an out_spec with more entries than the result of one shard has dimensions."""
    verdict, shape = use.verdict, use.shape
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.TOO_LONG:
        return
    if use.api is not Api.SHARD_MAP_OUT or isinstance(shape, Unknown):
        return
    result = f"has rank {len(shape)}, shape {shape_text(shape)}" if shape else "is a scalar"
    way_out = (
        "drop entries, or keep the dimension in the body"
        if shape
        else "use P(), or keep a dimension in the body"
    )
    yield Problem(
        f"{array_text(use)} {result} on each device, too short for {spec_text(use)}; {way_out}",
        surplus_place(use, len(shape)),
    )


RULE = Rule(
    code="SHL302",
    name="out-spec-longer-than-result",
    summary="An entry of shard_map's out_specs is longer than the result's rank",
    docs=__doc__,
    kinds=(Placement,),
    check=check,
    fix=without_surplus,
)
