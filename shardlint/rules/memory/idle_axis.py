"""# idle-axis (SHL614)

## What it does
Finds jitted functions that compute gradients, and in which an axis of several devices splits nothing: neither
the parameters nor the batch, nor anything that the function constrains.

## Why is this bad?
The compiler distributes only what is split somewhere. The devices along the axis all get the same batch, and
all compute the same gradients: with more of them nothing is faster.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
weights = jax.device_put(jnp.ones((64, 64)), NamedSharding(mesh, P(None, "model")))
batch = jax.device_put(jnp.ones((32, 64)), NamedSharding(mesh, P()))


@jax.jit
def gradient(weights, batch):
    return jax.grad(lambda w: jnp.mean((batch @ w) ** 2))(weights)


update = gradient(weights, batch)
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
weights = jax.device_put(jnp.ones((64, 64)), NamedSharding(mesh, P(None, "model")))
batch = jax.device_put(jnp.ones((32, 64)), NamedSharding(mesh, P("data")))


@jax.jit
def gradient(weights, batch):
    return jax.grad(lambda w: jnp.mean((batch @ w) ** 2))(weights)


update = gradient(weights, batch)
```

## What JAX says
Nothing (JAX 0.10.2). It is said only where the layouts of all arguments are known, and nothing that the
function asks for names the axis. An array that the function reads from outside, instead of taking it as an
argument, is a constant of the program: every device has it whole, however it was split.

## References
- https://docs.jax.dev/en/latest/sharded-computation.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group, Severity
from shardlint.model.uses import IdleUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: IdleUse, _: RuleSettings) -> Iterable[Problem]:
    """Report the axes that split nothing."""
    text = " and ".join(f'"{axis}" ({use.mesh.size_of(axis)} devices)' for axis in use.axes)
    yield Problem(
        f"`{use.function}` computes gradients, and nothing in it is split over {text}: "
        f"these devices all compute the same; split the batch",
        use.place,
        severity=Severity.WARNING,
    )


RULE = Rule(
    code="SHL614",
    name="idle-axis",
    summary="A training step splits nothing over a mesh axis",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(IdleUse,),
    check=check,
)
