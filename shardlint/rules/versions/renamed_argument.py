"""# renamed-argument (SHL804)

## What it does
Finds arguments that JAX no longer takes, or takes under another name: `check_rep=` and `auto=` of
`jax.shard_map`, `auto=` of the old one, `shape_tuple=` of `AbstractMesh`, `vma=` of `ShapeDtypeStruct`,
`a_min=` of `jnp.clip`; and what `jax.jit` never took, `in_axis_resources=` and `out_sharding=`.

## Why is this bad?
The call raises before anything is mapped. Programs that moved from `jax.experimental.shard_map` often keep
the arguments of the old function.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
specs = {"mesh": mesh, "in_specs": P("data"), "out_specs": P("data")}
double = jax.shard_map(lambda x: 2 * x, check_rep=False, **specs)  # raises TypeError
double(jnp.ones((8, 4)))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
specs = {"mesh": mesh, "in_specs": P("data"), "out_specs": P("data")}
double = jax.shard_map(lambda x: 2 * x, check_vma=False, **specs)
double(jnp.ones((8, 4)))
```

## What JAX says
`TypeError`: `shard_map() got an unexpected keyword argument 'check_rep'`.

## References
- https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.versions import state_of
from shardlint.model.findings import Group
from shardlint.model.uses import ApiReference
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.versions import described, is_argument
from shardlint.rules.shared_fixes import with_new_name


def check(use: ApiReference, settings: RuleSettings) -> Iterable[Problem]:
    """Report an argument that the release no longer takes."""
    state = state_of(use.name, use.release)
    if (
        state is None
        or state.there
        or state.row is None
        or not is_argument(use.name)
        or settings.target.is_older
    ):
        return
    if use.reached and not isinstance(use.verdict, Rejected):
        return
    since = f" since JAX {state.row.since}" if state.row.since else ""
    instead = f"; use {state.row.instead}" if state.row.instead else ""
    where = "" if use.reached else " (where this is reached)"
    yield Problem(f"{described(use.name)} is not taken{since}{instead}{where}", use.place)


RULE = Rule(
    code="SHL804",
    name="renamed-argument",
    summary="An argument that JAX has removed or renamed",
    docs=__doc__,
    group=Group.VERSIONS,
    kinds=(ApiReference,),
    check=check,
    fix=with_new_name,
    explains=("SHL307",),
)
