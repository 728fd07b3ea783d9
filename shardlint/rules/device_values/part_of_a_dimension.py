"""# part-of-a-dimension (SHL319)

## What it does
Finds operations in a body of `shard_map` that work along a dimension that is split over devices, and so take
one device's part of it for the whole: a softmax over the vocabulary, a norm over the features, a running sum,
a sort, a Fourier transform, a convolution or pooling whose windows overlap, a shift (`jnp.roll`, the targets
`tokens[:, 1:]`), an initializer whose deviation is that for the size (`lecun_normal`); and products of all
pairs (attention, a kernel, a contrastive loss) that have the pairs within one part only. In a body of `pmap`,
contrastive losses whose labels (`jnp.arange`) count the rows that this device has, and arrays that were cut
into a part for each device (`x.reshape(devices, -1)`). An information.

## Why is this bad?
Each device divides by its own part's sum. The probabilities of one row add up to the number of devices, and
a norm depends on how the mesh was cut. A running sum, or a recurrence, starts anew on each device, and
queries never see the keys of the others. The last token of each part has no target.
Rows of weights that each of 16 devices draws for itself are four times too large.

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
the first dimension, that of examples, no roll or flip is reported, and a mean only where it is that of all
numbers and normalises them (advantages), not that of each feature (batch normalisation). Such means, running
sums, sorts, transforms, shifts and pairs are reported where no collective but a reduction (`psum`, `pmean`,
`pmax`, `pmin`) runs over the axis and nothing asks for its `axis_index`; integers are left out, unless they
are shifted: they often count on each device.

## References
- https://docs.jax.dev/en/latest/notebooks/shard_map.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group, Severity
from shardlint.model.uses import PartUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: PartUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report an operation on one device's part."""
    if use.silent is not None and use.function == "jax.shard_map(part)":
        yield Problem(use.silent, use.place, severity=Severity.INFO)


RULE = Rule(
    code="SHL319",
    name="part-of-a-dimension",
    summary="An operation takes one device's part of a split dimension for the whole",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(PartUse,),
    check=check,
)
