"""# result-of-copies (SHL313)

## What it does
Finds results of `shard_map` whose out_specs name an axis along which all devices hold equal data: it was
reduced or gathered over the axis, or comes from an argument that every device has whole.

## Why is this bad?
JAX puts side by side what the devices return: the same rows, once for each device. Often the reduction is
the mistake: over an axis that splits the tokens, `psum` adds up the outputs of different tokens.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def layer(x, w):
    return jax.lax.psum(x @ w, ("data", "model"))


specs = {"in_specs": (P("data", "model"), P("model")), "out_specs": P("data")}
y = jax.shard_map(layer, mesh=mesh, **specs)(jnp.ones((8, 16)), jnp.ones((16, 4)))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def layer(x, w):
    return jax.lax.psum(x @ w, "model")


specs = {"in_specs": (P("data", "model"), P("model")), "out_specs": P("data")}
y = jax.shard_map(layer, mesh=mesh, **specs)(jnp.ones((8, 16)), jnp.ones((16, 4)))
```

## What JAX says
Nothing: it checks that out_specs name each axis that a result varies over, not that a result varies over each
axis that they name (JAX 0.10.2). Not reported are constants, and dimensions of one element a device, with
which a body stacks one value of each.

## References
- https://docs.jax.dev/en/latest/notebooks/shard_map.html
- https://github.com/vllm-project/tpu-inference/pull/2248
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings

#: The end of `CallUse.function` of a result that is made of copies.
_COPIES = "(out_specs=copies)"


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a result of which JAX puts equal copies side by side."""
    if use.silent is not None and use.function.endswith(_COPIES):
        yield Problem(
            f"{use.silent}: leave the axis out of out_specs, or do not reduce or gather over it", use.place
        )


RULE = Rule(
    code="SHL313",
    name="result-of-copies",
    summary="out_specs name an axis over which a result of shard_map does not vary",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
