"""# spec-on-scalar (SHL203)

## What it does
Finds a spec with entries on a scalar.

## Why is this bad?
A scalar has no dimension to split, so JAX rejects every spec but `P()`, `P(None)` included. It
happens when one spec is used for a whole tree of arrays with a step counter or a loss in it.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
step = jax.device_put(jnp.int32(0), NamedSharding(mesh, P("data")))  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
step = jax.device_put(jnp.int32(0), NamedSharding(mesh, P()))
```

## What JAX says
Every call that places an array raises `ValueError` (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.NamedSharding
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Api, Cause, Rejected
from shardlint.model.uses import Placement
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import FLAX_APIS, array_text, spec_text, surplus_place
from shardlint.rules.shared_fixes import without_surplus

#: Reported as out-spec-longer-than-result and partition-names-too-long.
_OTHERS = FLAX_APIS | {Api.SHARD_MAP_OUT}


def check(use: Placement, settings: RuleSettings) -> Iterable[Problem]:
    """Report a spec with entries for a scalar."""
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.TOO_LONG:
        return
    if use.api in _OTHERS or use.shape != ():
        return
    yield Problem(
        f"{array_text(use)} is a scalar, which {spec_text(use)} cannot split; use P()", surplus_place(use, 0)
    )


RULE = Rule(
    code="SHL203",
    name="spec-on-scalar",
    summary="A spec with entries is given for a scalar",
    docs=__doc__,
    kinds=(Placement,),
    check=check,
    fix=without_surplus,
)
