"""# ordered-effects (SHL214)

## What it does
Finds `jax.debug.print` and `jax.debug.callback` with `ordered=True` in a jitted function that runs on several
devices.

## Why is this bad?
JAX keeps such callbacks in order on one device, and compiles them for no more than one. That a branch of
`lax.cond` has the callback is enough, whether it is taken or not.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("data",))


@jax.jit
def step(x):
    jax.debug.print("sum {}", x.sum(), ordered=True)
    return x * 2


step(jax.device_put(jnp.ones(8), NamedSharding(mesh, P("data"))))  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("data",))


@jax.jit
def step(x):
    jax.debug.print("sum {}", x.sum())
    return x * 2


step(jax.device_put(jnp.ones(8), NamedSharding(mesh, P("data"))))
```

## What JAX says
`ValueError` as the function is lowered (JAX 0.10.2, 0.12.0.1): "The following ordered effects are not
supported for more than 1 device". `jax.experimental.io_callback` may be ordered on several devices.

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.debug.print.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Rejected
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report an ordered callback that is compiled for several devices."""
    verdict = use.verdict
    if use.function == "jax.jit(ordered)" and isinstance(verdict, Rejected):
        yield Problem(
            f"an ordered callback runs on one device only, and {verdict.detail}; leave out ordered=True, "
            "or use jax.experimental.io_callback",
            use.place,
        )


RULE = Rule(
    code="SHL214",
    name="ordered-effects",
    summary="An ordered callback is in a jitted function that runs on several devices",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
