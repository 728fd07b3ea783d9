"""# part-of-a-dimension (SHL319)

## What it does
Finds data in a body of `shard_map` that is normalised along a dimension that is split over devices, by the
sum or mean of what one device holds: a softmax over the vocabulary, a norm over the features. An
information.

## Why is this bad?
Each device divides by its own part's sum. The probabilities of one row add up to the number of devices, and
a norm depends on how the mesh was cut.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("model",))


def probabilities(x, table):
    return jax.nn.softmax(x @ table)


specs = {"in_specs": (P(), P(None, "model")), "out_specs": P(None, "model")}
y = jax.shard_map(probabilities, mesh=mesh, **specs)(jnp.ones((4, 16)), jnp.ones((16, 32)))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("model",))


def probabilities(x, table):
    e = jnp.exp(x @ table)
    return e / jax.lax.psum(e.sum(-1, keepdims=True), "model")


specs = {"in_specs": (P(), P(None, "model")), "out_specs": P(None, "model")}
y = jax.shard_map(probabilities, mesh=mesh, **specs)(jnp.ones((4, 16)), jnp.ones((16, 32)))
```

## What JAX says
Nothing (JAX 0.10.2). It may be meant, where the devices' results are weighted and combined afterwards. Along
the first dimension, that of examples, nothing is reported but a softmax.

## References
- https://docs.jax.dev/en/latest/notebooks/shard_map.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group, Severity
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a normalisation by one device's part."""
    if use.silent is not None and use.function == "jax.shard_map(part)":
        yield Problem(use.silent, use.place, severity=Severity.INFO)


RULE = Rule(
    code="SHL319",
    name="part-of-a-dimension",
    summary="Data is normalised by one device's part of a split dimension",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
