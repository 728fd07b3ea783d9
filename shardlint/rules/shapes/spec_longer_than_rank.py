"""# spec-longer-than-rank (SHL201)

## What it does
Finds a spec with more entries than its array has dimensions.

## Why is this bad?
JAX rejects it. Trailing `None`s count: `P("data", None)` does not fit a vector. A shorter spec is
fine.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
bias = jax.device_put(jnp.zeros((16,)), NamedSharding(mesh, P(None, "model")))  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
bias = jax.device_put(jnp.zeros((16,)), NamedSharding(mesh, P("model")))
```

## What JAX says
`device_put`, `jit`'s shardings, `with_sharding_constraint`, `shard_map`'s in_specs,
`jnp.zeros(device=)` and `make_array_from_callback` raise `ValueError`; on Explicit axes some of
them `AssertionError` (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.NamedSharding
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.values import Spec, Unknown
from shardlint.laws.core.verdicts import Api, Cause, Rejected
from shardlint.model.uses import Placement
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import FLAX_APIS, array_text, count_text, shape_text, surplus_place
from shardlint.rules.shared_fixes import without_surplus

#: Reported as out-spec-longer-than-result and partition-names-too-long.
_OTHERS = FLAX_APIS | {Api.SHARD_MAP_OUT}


def check(use: Placement, settings: RuleSettings) -> Iterable[Problem]:
    """Report a spec with more entries than the array has dimensions."""
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.TOO_LONG:
        return
    if use.api in _OTHERS or not use.shape or not isinstance(use.spec, Spec):
        return
    if isinstance(use.shape, Unknown):
        return
    rank, length = len(use.shape), len(use.spec)
    surplus = length - rank
    dropping = "the last entry" if surplus == 1 else f"{surplus} entries"
    yield Problem(
        f"{use.spec} has {count_text(length, 'entry')}, but {array_text(use)} has rank {rank}, "
        f"shape {shape_text(use.shape)}; drop {dropping}",
        surplus_place(use, rank if verdict.dimension is None else verdict.dimension),
    )


RULE = Rule(
    code="SHL201",
    name="spec-longer-than-rank",
    summary="A spec has more entries than its array has dimensions",
    docs=__doc__,
    kinds=(Placement,),
    check=check,
    fix=without_surplus,
)
