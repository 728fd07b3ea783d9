"""# local-numbers (SHL321)

## What it does
Finds numbers in a body of `shard_map` that count within one device's part of a dimension, and are taken for
places in the whole: the `argmax` of one part, returned without the place where the part begins, and a range
from 0 (positions, labels, the wave numbers of `fftfreq`), or the first elements of an array that all devices
have (`table[:t]`), where they meet a dimension that is split: any of data that is computed from that of all
devices, and others than the first in a body that moves no data. An information. And the other way round:
labels or token ids, which are places in the whole, that pick from the part that each device has
(`table[ids]`, `take_along_axis`, a one-hot product), where a sum over the devices follows.

## Why is this bad?
Every device counts its part from 0. A token is found in the first part of the vocabulary, whichever device
has it; the queries of each device see the keys of the first one only. The sum of the rows that a token picks
in all parts of an embedding is the embedding of no token.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("model",))


def token(logits):
    best = jnp.max(logits, axis=-1)
    number = jnp.argmax(logits, axis=-1)
    mine = best == jax.lax.pmax(best, "model")
    return jax.lax.pmax(jnp.where(mine, number, -1), "model")


specs = {"in_specs": P(None, "model"), "out_specs": P()}
y = jax.shard_map(token, mesh=mesh, **specs)(jnp.eye(4, 64, 30))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("model",))


def token(logits):
    best = jnp.max(logits, axis=-1)
    number = jnp.argmax(logits, axis=-1) + jax.lax.axis_index("model") * logits.shape[1]
    mine = best == jax.lax.pmax(best, "model")
    return jax.lax.pmax(jnp.where(mine, number, -1), "model")


specs = {"in_specs": P(None, "model"), "out_specs": P()}
y = jax.shard_map(token, mesh=mesh, **specs)(jnp.eye(4, 64, 30))
```

## What JAX says
Nothing (JAX 0.10.2). It may be meant where parts are independent of each other, so that only results that no
longer tell the device are reported, and ranges along the first dimension, that of examples, only where they
meet data that is computed from that of all; no range where the body moves data along the axis otherwise, or
asks for its `axis_index`.
What picks is reported where it comes from an argument of integers which all devices share: not where it was
drawn at random, sorted, counted, taken modulo something, or where a mask that tells the devices apart comes
before the sum.

## References
- https://github.com/NVIDIA/TransformerEngine/pull/2349
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group, Severity
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a number within one device's part."""
    if use.silent is not None and use.function == "jax.shard_map(number)":
        yield Problem(use.silent, use.place, severity=Severity.INFO)
    elif use.silent is not None and use.function == "jax.shard_map(index)":
        yield Problem(use.silent, use.place)


RULE = Rule(
    code="SHL321",
    name="local-numbers",
    summary="Places in a device's part of a dimension are taken for places in the whole, or the reverse",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
