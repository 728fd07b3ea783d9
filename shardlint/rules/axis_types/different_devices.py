"""# different-devices (SHL708)

## What it does
Finds calls of a jitted function with arrays that lie on different devices, on the same devices in another
order, or on other devices than the mesh that `jax.set_mesh` set.

## Why is this bad?
A jitted computation runs on one list of devices. Arrays that the program put on devices stay there, and JAX
does not move them together.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

whole = Mesh(np.array(jax.devices()), ("data",))
half = Mesh(np.array(jax.devices()[:4]), ("data",))
x = jax.device_put(jnp.ones((8, 16)), NamedSharding(whole, P("data")))
y = jax.device_put(jnp.ones((8, 16)), NamedSharding(half, P("data")))
jax.jit(lambda x, y: x + y)(x, y)  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

whole = Mesh(np.array(jax.devices()), ("data",))
x = jax.device_put(jnp.ones((8, 16)), NamedSharding(whole, P("data")))
y = jax.device_put(jnp.ones((8, 16)), NamedSharding(whole, P("data")))
jax.jit(lambda x, y: x + y)(x, y)
```

## What JAX says
`ValueError` as the function is called or lowered (JAX 0.10.2). Arguments that no result is computed from do
not count, nor do arrays that were put nowhere. An array on Explicit axes that `jax.device_put` puts on a
device keeps the mesh in its type: operators outside of jit refuse it (0.10.2 and 0.12.0.1).

## References
- https://docs.jax.dev/en/latest/faq.html#controlling-data-and-computation-placement-on-devices
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report arrays on different devices in one computation."""
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.DEVICES:
        return
    if use.function == "jax.jit":
        way_out = "a computation runs on one list of devices: jax.device_put both on one mesh"
        yield Problem(f"{verdict.detail}; {way_out}", use.place)
    elif use.function == "jax.jit(typed elsewhere)":
        way_out = "to leave the mesh, jax.device_put it on a SingleDeviceSharding"
        yield Problem(f"{verdict.detail}; {way_out}", use.place)


RULE = Rule(
    code="SHL708",
    name="different-devices",
    summary="Arrays on different devices meet in one computation",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
