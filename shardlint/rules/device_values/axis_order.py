"""# axis-order (SHL315)

## What it does
Finds `axis_index`, `all_gather`, `psum_scatter` and `all_to_all` over several axes in another order than the
one in which the specs of their `shard_map` split a dimension over them, and numbers of devices that are
computed in another order: `axis_index("model") * n + axis_index("data")`, with `n` devices along `"data"`.
And slices that are taken by the number along one axis, where there are more of them than its devices, and as
many as those of another axis.

## Why is this bad?
The order of the axes numbers the devices, the last one the fastest, and a spec numbers its shards in the same
way. With ``("data", "model")`` in the one and ``("model", "data")`` in the other, most devices take another's
part: the shapes fit, and the values are wrong.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def positions(x):
    start = jax.lax.axis_index(("model", "data")) * x.shape[0]
    return start + jnp.arange(x.shape[0])


row = P(("data", "model"))
y = jax.shard_map(positions, mesh=mesh, in_specs=row, out_specs=row)(jnp.ones((16, 4)))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def positions(x):
    start = jax.lax.axis_index(("data", "model")) * x.shape[0]
    return start + jnp.arange(x.shape[0])


row = P(("data", "model"))
y = jax.shard_map(positions, mesh=mesh, in_specs=row, out_specs=row)(jnp.ones((16, 4)))
```

## What JAX says
Nothing: each order is as good as the other (JAX 0.10.2). Sums do not depend on it, and where some spec of the
`shard_map` has the collective's order, nothing is reported; nor is an index that is only folded into a key.

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.lax.axis_index.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings

_ORDER = "jax.lax(order)"


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a collective over axes in another order than the specs'."""
    if use.silent is not None and use.function == _ORDER:
        yield Problem(f"{use.silent}: devices take each other's parts", use.place)


RULE = Rule(
    code="SHL315",
    name="axis-order",
    summary="A collective names several axes in a different order than the specs",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
