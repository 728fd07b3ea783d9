"""# gradient-of-a-sum (SHL317)

## What it does
Finds results of a `shard_map` with ``check_vma=False``, or of a `pmap`, that are computed from the gradient
of a value that was summed with `psum`: by what is split over the axis, or summed over the axis once more.
With and without the check: a `psum` or `pmean` of a gradient over an axis along which its argument is split.

## Why is this bad?
Without the check JAX does not know which values are equal on all devices, and the transpose of a `psum` is a
`psum`: the gradient comes multiplied by the number of devices. The loss goes down all the same, with a
learning rate that depends on the mesh. And where each device has its own part of a weight, its gradient is
of that part: added up over these devices, all parts get the same update.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("model",))


def gradient(w, x):
    return jax.grad(lambda w: jax.lax.psum(jnp.sum(x * w), "model"))(w)


specs = {"in_specs": (P("model"), P("model")), "out_specs": P("model")}
y = jax.shard_map(gradient, mesh=mesh, check_vma=False, **specs)(jnp.ones(16), jnp.arange(16.0))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("model",))


def gradient(w, x):
    return jax.grad(lambda w: jax.lax.psum(jnp.sum(x * w), "model"))(w)


specs = {"in_specs": (P("model"), P("model")), "out_specs": P("model")}
y = jax.shard_map(gradient, mesh=mesh, **specs)(jnp.ones(16), jnp.arange(16.0))
```

## What JAX says
Nothing (JAX 0.10.2). With the check, which is the default of `shard_map`, gradients are right; `pmap` has
none. A `pmean` of the gradients by what all devices share makes up for the factor, and is not reported, nor
is what the body divides by the number of devices, or perhaps does; nor are gradients by an argument of which
each device has one element along the split dimension, since it may be a copy for each.

## References
- https://docs.jax.dev/en/latest/notebooks/shard_map.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a gradient that is multiplied by the number of devices, or combined with others."""
    if use.silent is not None and use.function in ("jax.grad(psum)", "jax.grad(own)"):
        yield Problem(use.silent, use.place)


RULE = Rule(
    code="SHL317",
    name="gradient-of-a-sum",
    summary="A gradient is multiplied by the number of devices, or combined with those of other parts",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
