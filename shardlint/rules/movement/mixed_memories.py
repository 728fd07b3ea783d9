"""# mixed-memories (SHL620)

## What it does
Finds operations on arrays of which some lie in the memory of the devices and others in that of the host.

## Why is this bad?
JAX computes with arrays of one memory, and moves none by itself. A state that is kept on the host between
steps, such as the moments of an optimizer, is put on the devices before it is used, and back afterwards.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
on_device = NamedSharding(mesh, P("data"))
on_host = on_device.with_memory_kind("pinned_host")
moments = jax.device_put(jnp.zeros((8, 4)), on_host)
gradients = jax.device_put(jnp.ones((8, 4)), on_device)
updated = moments + gradients  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
on_device = NamedSharding(mesh, P("data"))
on_host = on_device.with_memory_kind("pinned_host")
moments = jax.device_put(jnp.zeros((8, 4)), on_host)
gradients = jax.device_put(jnp.ones((8, 4)), on_device)
updated = jax.device_put(moments, on_device) + gradients
```

## What JAX says
`ValueError`: memory_space of all inputs must be the same. Numbers and arrays of rank 0 go with both, and so
does memory of the kind `unpinned_host`, which counts as the devices' (JAX 0.7.2 to 0.12.0.1).

## References
- https://docs.jax.dev/en/latest/notebooks/host-offloading.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report an operation whose operands lie in different memories."""
    verdict = use.verdict
    if isinstance(verdict, Rejected) and verdict.cause is Cause.MEMORY:
        operation = use.function.removeprefix("memory of ")
        yield Problem(f"{operation}: {verdict.detail}; jax.device_put one where the other is", use.place)


RULE = Rule(
    code="SHL620",
    name="mixed-memories",
    summary="An operation has operands in the memory of the devices and in that of the host",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
