"""# offload-lost (SHL621)

## What it does
Finds calls of a jitted function, in a loop or on an attribute, whose result takes the place of an argument in
the memory of the host, and lies in that of the devices: from the second call on nothing is on the host.

## Why is this bad?
What is put on the host between steps, such as the moments of an optimizer, is there to leave room on the
devices. A jitted function gives back what it computed on the devices there, unless out_shardings name the
memory of the host.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
on_device = NamedSharding(mesh, P("data"))
on_host = on_device.with_memory_kind("pinned_host")
weights = jax.device_put(jnp.ones((8, 4)), on_device)
moments = jax.device_put(jnp.zeros((8, 4)), on_host)


@jax.jit
def step(weights, moments):
    moments = 0.9 * jax.device_put(moments, on_device) + weights
    return weights - 0.1 * moments, moments


for _ in range(3):
    weights, moments = step(weights, moments)
```

## Use instead
```python
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
on_device = NamedSharding(mesh, P("data"))
on_host = on_device.with_memory_kind("pinned_host")
weights = jax.device_put(jnp.ones((8, 4)), on_device)
moments = jax.device_put(jnp.zeros((8, 4)), on_host)


@partial(jax.jit, out_shardings=(on_device, on_host))
def step(weights, moments):
    moments = 0.9 * jax.device_put(moments, on_device) + weights
    return weights - 0.1 * moments, moments


for _ in range(3):
    weights, moments = step(weights, moments)
```

## What JAX says
Nothing (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/notebooks/host-offloading.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a result on the devices in the place of an argument on the host."""
    if use.silent is not None and use.function == "jax.jit(left the host)":
        yield Problem(f"{use.silent}; name the memory of the host in out_shardings", use.place)


RULE = Rule(
    code="SHL621",
    name="offload-lost",
    summary="A result on the devices takes the place of an argument in the memory of the host",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(CallUse,),
    check=check,
)
