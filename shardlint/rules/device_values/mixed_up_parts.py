"""# mixed-up-parts (SHL323)

## What it does
Finds arrays that are joined along a dimension which a `shard_map` splits, and whose pieces its body takes
apart as if each device had its part of every array; and results of a body that are split along one dimension,
and that `out_specs` put together along another, or in another order of the axes than they were taken apart.

## Why is this bad?
Of q, k and v, one after the other, the first devices have a piece of q and the last ones a piece of v. With
one device all is right, and with more nothing fails: the shapes are those of the parts, and the values are
others. And where parts are put together along another dimension, the whole has another shape than what was
taken apart.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("model",))
gate, up = jnp.ones((16, 32)), jnp.full((16, 32), 2.0)


def feed_forward(x, w):
    gate, up = jnp.split(x @ w, 2, axis=-1)
    return jax.nn.silu(gate) * up


columns = P(None, "model")
both = jnp.concatenate([gate, up], axis=-1)
layer = jax.shard_map(feed_forward, mesh=mesh, in_specs=(P(), columns), out_specs=columns)
y = layer(jnp.ones((4, 16)), both)
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("model",))
gate, up = jnp.ones((16, 32)), jnp.full((16, 32), 2.0)


def feed_forward(x, w):
    gate, up = jnp.split(x @ w, 2, axis=-1)
    return jax.nn.silu(gate) * up


columns = P(None, "model")
both = jnp.concatenate([part.reshape(16, 8, -1) for part in (gate, up)], axis=-1).reshape(16, -1)
layer = jax.shard_map(feed_forward, mesh=mesh, in_specs=(P(), columns), out_specs=columns)
y = layer(jnp.ones((4, 16)), both)
```

## What JAX says
Nothing (JAX 0.10.2). A piece is taken apart by `split` or by slices, at the places where the arrays were
joined, divided by the devices. Nothing is said where each device has whole arrays, or where all have a joint
at that place.

## References
- https://github.com/sgl-project/sglang-jax/commit/f6063119
- https://github.com/vllm-project/tpu-inference/pull/2265
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings

_ENDS = ("(joined)", "(glued)")


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report parts that are others than the body, or the specs, take them for."""
    if use.silent is not None and use.function.endswith(_ENDS):
        yield Problem(use.silent, use.place)


RULE = Rule(
    code="SHL323",
    name="mixed-up-parts",
    summary="Pieces are taken apart, or put together, otherwise than they lie",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
