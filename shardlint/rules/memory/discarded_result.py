"""# discarded-result (SHL611)

## What it does
Finds `device_put`, `with_sharding_constraint`, `reshard` and collectives whose result is not used, while the
array that they are given is used afterwards; also where `jax.tree.map` or a function of the program does no
more than that for the arrays it is given, and where a function binds the result to a name that nothing reads.

## Why is this bad?
Arrays do not change: these functions return another array, and leave the old one where it is. The program
runs on, with the layout that it had before.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


@jax.jit
def noise(key):
    x = jax.random.normal(key, (1024, 1024))
    jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data")))
    return x


y = noise(jax.random.key(0))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


@jax.jit
def noise(key):
    x = jax.random.normal(key, (1024, 1024))
    x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data")))
    return x


y = noise(jax.random.key(0))
```

## What JAX says
Nothing: it drops what nothing uses (JAX 0.10.2). Tests and
calls in a `try` may be made only to see whether they work: they are not reported.

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.lax.with_sharding_constraint.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a call whose result is lost, outside of tests."""
    if use.silent is not None and use.function == "jax.Array(discarded)":
        yield Problem(use.silent, use.place)


RULE = Rule(
    code="SHL611",
    name="discarded-result",
    summary="The result of a placement or a collective is not used",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
