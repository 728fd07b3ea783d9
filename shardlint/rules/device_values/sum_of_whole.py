"""# sum-of-whole (SHL318)

## What it does
Finds a `psum` or `psum_scatter` of a product that each device has a part of, to which an array that all
devices hold whole was added: a bias, a residual. The same of a product on whose parts the devices have
computed an activation (`relu`, `softmax`).

## Why is this bad?
Each device adds the whole array to its part, and the sum has it once for each device. On one device the
program is right, and on eight the bias counts eight times. An activation of a sum is not the sum of those of
its parts.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("model",))


def project(x, w, b):
    return jax.lax.psum(x @ w + b, "model")


specs = {"in_specs": (P(None, "model"), P("model"), P()), "out_specs": P()}
y = jax.shard_map(project, mesh=mesh, **specs)(jnp.ones((4, 16)), jnp.ones((16, 8)), jnp.ones(8))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("model",))


def project(x, w, b):
    return jax.lax.psum(x @ w, "model") + b


specs = {"in_specs": (P(None, "model"), P("model"), P()), "out_specs": P()}
y = jax.shard_map(project, mesh=mesh, **specs)(jnp.ones((4, 16)), jnp.ones((16, 8)), jnp.ones(8))
```

## What JAX says
Nothing: the sum is what was asked for (JAX 0.10.2). A product is one part of the whole where the dimension
that it sums over is split in both operands. A total that is divided by something first is not reported.

## References
- https://docs.jax.dev/en/latest/notebooks/shard_map.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a sum of parts with something whole in each."""
    if use.silent is not None and use.function == "jax.lax.psum(biased)":
        yield Problem(use.silent, use.place)


RULE = Rule(
    code="SHL318",
    name="sum-of-whole",
    summary="A sum of parts of a product that each device has changed before",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
