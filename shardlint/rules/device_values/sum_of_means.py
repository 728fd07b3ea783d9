"""# sum-of-means (SHL320)

## What it does
Finds results of `shard_map` that are computed from the sum, over devices, of each device's mean, and that
nothing divides: an information. The same for the sum of the gradients of such means, also in `pmap` and
through the optimizers of optax that are linear in gradients (`sgd`).

## Why is this bad?
The sum of the means is as many times the mean as there are devices. A loss that grows with the mesh is seen;
a gradient is not, and its learning rate is another one on another mesh. JAX makes that sum itself where the
gradient of a device's mean is taken by what all devices share.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


def step(w, x):
    grads = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return w - 0.1 * grads


specs = {"in_specs": (P(), P("data")), "out_specs": P()}
y = jax.shard_map(step, mesh=mesh, **specs)(jnp.ones(4), jnp.arange(32.0).reshape(8, 4) / 32)
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


def step(w, x):
    grads = jax.grad(lambda w: jax.lax.pmean(jnp.mean((x @ w) ** 2), "data"))(w)
    return w - 0.1 * grads


specs = {"in_specs": (P(), P("data")), "out_specs": P()}
y = jax.shard_map(step, mesh=mesh, **specs)(jnp.ones(4), jnp.arange(32.0).reshape(8, 4) / 32)
```

## What JAX says
Nothing (JAX 0.10.2). What is divided by anything in the body is not reported; the caller may still divide
the result. Optimizers such as Adam take hardly any notice of the scale of gradients, and are not reported.

## References
- https://docs.jax.dev/en/latest/notebooks/shard_map.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group, Severity
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a sum of means."""
    if use.silent is not None and use.function.endswith("(means)"):
        yield Problem(use.silent, use.place, severity=Severity.INFO)


RULE = Rule(
    code="SHL320",
    name="sum-of-means",
    summary="A result is computed from the sum, and not the mean, of the devices' means",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
