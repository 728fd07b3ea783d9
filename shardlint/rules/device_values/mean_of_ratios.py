"""# mean-of-ratios (SHL316)

## What it does
Finds `pmean` and `psum` in a body of `shard_map` of a quotient of two numbers, both of another part of the
data on each device, of products of such means, or the logarithm of such a sum (`jax.nn.logsumexp` over a part
of the data), and of gradients that each device clipped before: an information.

## Why is this bad?
The mean of the devices' ratios is the ratio of the sums only if all divisors are equal. With a mask, or
examples of different lengths, a device with few tokens counts as much as one with many.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


def loss(x, mask):
    return jax.lax.pmean((x * mask).sum() / mask.sum(), "data")


specs = {"in_specs": (P("data"), P("data")), "out_specs": P()}
y = jax.shard_map(loss, mesh=mesh, **specs)(jnp.arange(64.0), jnp.arange(64.0) % 3 + 1)
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


def loss(x, mask):
    return jax.lax.psum((x * mask).sum(), "data") / jax.lax.psum(mask.sum(), "data")


specs = {"in_specs": (P("data"), P("data")), "out_specs": P()}
y = jax.shard_map(loss, mesh=mesh, **specs)(jnp.arange(64.0), jnp.arange(64.0) % 3 + 1)
```

## What JAX says
Nothing (JAX 0.10.2). A mean over a dimension is not reported: its divisor is a size, which all devices share.

## References
- https://docs.jax.dev/en/latest/notebooks/shard_map.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group, Severity
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a reduction of ratios."""
    if use.silent is not None and use.function == "jax.lax(ratio)":
        yield Problem(use.silent, use.place, severity=Severity.INFO)


RULE = Rule(
    code="SHL316",
    name="mean-of-ratios",
    summary="A mean over devices of ratios whose divisors differ",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
