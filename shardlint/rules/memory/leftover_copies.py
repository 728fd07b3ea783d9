"""# leftover-copies (SHL609)

## What it does
Finds stacks of one copy for each device, as `jax.pmap` takes them, in programs that place arrays on a mesh.

## Why is this bad?
`flax.jax_utils.replicate` puts a dimension in front of each array, with a copy for each device. A function
mapped by `jax.pmap` gets one copy; a jitted one gets them all. What is computed from the stack has that
dimension too: each device does the work of all, and the gradient of a mean is divided among the copies. A
sharding `P()` puts the whole stack on every device.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from flax import jax_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("batch",))
params = jax_utils.replicate({"kernel": jnp.ones((32, 10))})
params = jax.device_put(params, NamedSharding(mesh, P()))
x = jax.device_put(jnp.ones((64, 32)), NamedSharding(mesh, P("batch")))
y = jax.jit(lambda params, x: x @ params["kernel"])(params, x)
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("batch",))
params = {"kernel": jnp.ones((32, 10))}
params = jax.device_put(params, NamedSharding(mesh, P()))
x = jax.device_put(jnp.ones((64, 32)), NamedSharding(mesh, P("batch")))
y = jax.jit(lambda params, x: x @ params["kernel"])(params, x)
```

## What JAX says
Nothing: the shapes fit, with a dimension more (JAX 0.10.2, Flax 0.12.8). An argument of a jitted function is
reported beside arrays on another mesh whose first dimension is not the number of copies.

## References
- https://github.com/mlcommons/algorithmic-efficiency/pull/822
- https://docs.jax.dev/en/latest/migrate_pmap.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group
from shardlint.model.memory_uses import CopiesUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CopiesUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report each stack of copies."""
    count = f"{use.copies} devices" if isinstance(use.copies, int) else "each device"
    yield Problem(
        f"{use.subject} is a stack of copies for {count}, as `jax.pmap` takes them; here it is one array, "
        "and each device holds and computes with all copies: leave out `replicate`",
        use.place,
    )


RULE = Rule(
    code="SHL609",
    name="leftover-copies",
    summary="A stack of one copy for each device is placed on a mesh",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(CopiesUse,),
    check=check,
)
