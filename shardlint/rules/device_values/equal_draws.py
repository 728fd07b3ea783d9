"""# equal-draws (SHL314)

## What it does
Finds random numbers in a body of `shard_map`, or of a `pmap` with an axis name, that are drawn with one key
on all devices of an axis, and meet data, element by element, of which each device has another part: dropout
(of linen, nnx and Equinox), noise, sampling. Where a `vmap` maps over keys and split data together, each
example has a draw of its own, and the place is that where the body makes the keys.

## Why is this bad?
Every device draws the same numbers. With 8 devices there is noise for one eighth of the batch, eight times:
rows far apart drop the same units, which trains worse and shows nowhere.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


def dropout(x, key):
    keep = jax.random.bernoulli(key, 0.5, x.shape)
    return jnp.where(keep, 2 * x, 0)


specs = {"in_specs": (P("data"), P()), "out_specs": P("data")}
y = jax.shard_map(dropout, mesh=mesh, **specs)(jnp.ones((16, 64)), jax.random.key(0))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


def dropout(x, key):
    key = jax.random.fold_in(key, jax.lax.axis_index("data"))
    keep = jax.random.bernoulli(key, 0.5, x.shape)
    return jnp.where(keep, 2 * x, 0)


specs = {"in_specs": (P("data"), P()), "out_specs": P("data")}
y = jax.shard_map(dropout, mesh=mesh, **specs)(jnp.ones((16, 64)), jax.random.key(0))
```

## What JAX says
Nothing: a key is an array like any other (JAX 0.10.2). What is drawn for weights is not reported: they are
meant to be equal, and meet the data in a product of matrices, or with fewer dimensions. Under `pmap`, stacks
of copies (`flax.jax_utils.replicate`, and what a `pmap` returns alike for all devices) are no data that is
split; `nnx.Dropout` is judged where its call is given the key.

## References
- https://docs.jax.dev/en/latest/jax.random.html
- https://github.com/young-geng/scalax/issues/6
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings

_EQUAL = "jax.random(equal)"


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report random numbers that are the same for different parts of the data."""
    if use.silent is not None and use.function == _EQUAL:
        yield Problem(
            f"{use.silent}, though the data they meet is split; fold jax.lax.axis_index into the key",
            use.place,
        )


RULE = Rule(
    code="SHL314",
    name="equal-draws",
    summary="All devices draw the same random numbers for different parts of the data",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
