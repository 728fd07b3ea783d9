"""# deprecated-api (SHL801)

## What it does
Finds names that JAX has deprecated and still has.

## Why is this bad?
It runs, with a `DeprecationWarning` that Python hides by default, until a release removes the name.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.shard_map import shard_map
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
double = shard_map(lambda x: 2 * x, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
double(jnp.ones((8, 4)))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
double = jax.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
double(jnp.ones((8, 4)))
```

## What JAX says
`DeprecationWarning`. `jax.experimental.shard_map` and `jax.experimental.pjit.pjit` are deprecated
since JAX 0.8.0, `jax.interpreters.pxla` since 0.8.2, `with mesh:` since 0.10.1. Nothing is said as long as
`target-jax` includes a release that lacks what replaces the name.

## References
- https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.versions import is_removed, state_of
from shardlint.model.findings import Group, Severity
from shardlint.model.uses import ApiReference
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.versions import described, first_name
from shardlint.rules.shared_fixes import with_new_name


def check(use: ApiReference, settings: RuleSettings) -> Iterable[Problem]:
    """Report a deprecated name, if all targeted releases have its replacement."""
    state = state_of(use.name, use.release)
    if state is None or not state.deprecated or state.row is None or settings.target.is_older:
        return
    if is_removed(first_name(state.row.instead), settings.target.low):
        return
    instead = f"; use {state.row.instead}" if state.row.instead else ""
    since = f" since JAX {state.row.since}" if state.row.since else ""
    yield Problem(
        f"{described(state.name)} is deprecated{since}{instead}",
        use.place,
        severity=Severity.WARNING,
    )


RULE = Rule(
    code="SHL801",
    name="deprecated-api",
    summary="A deprecated name of a sharding API",
    docs=__doc__,
    group=Group.VERSIONS,
    kinds=(ApiReference,),
    check=check,
    fix=with_new_name,
)
