"""# moved-array (SHL604)

## What it does
Finds arrays inside `jax.jit` that certainly have one layout, and are asked for in another one by
`with_sharding_constraint`, out_shardings or a shard_map's in_specs, so that most of the array must move
between devices. From 64 MiB on (`max-replicated-bytes` sets the limit) it is a warning, below that an
information, as is a shard_map that only gathers its argument.

## Why is this bad?
All devices wait for the interconnect, in every step. Often one of two places was changed and the other was
forgotten: both specs are meant to be the same.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.ones((4096, 4096)), NamedSharding(mesh, P("data", "model")))


@jax.jit
def scaled(x):
    return jax.lax.with_sharding_constraint(x * 2, NamedSharding(mesh, P("model", "data")))


y = scaled(x)
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.ones((4096, 4096)), NamedSharding(mesh, P("data", "model")))


@jax.jit
def scaled(x):
    return jax.lax.with_sharding_constraint(x * 2, NamedSharding(mesh, P("data", "model")))


y = scaled(x)
```

## What JAX says
Nothing: the compiler inserts collectives (JAX 0.10.2). A layout is certain for an argument that is committed,
or placed by in_shardings, for what a constraint returns, for what is computed from such arrays of one layout
element by element, and for what reshapes and transposes make of them. The rows of a product, or of a layer of
Flax, are those of the batch, and split as it came. Not reported is an array that is
gathered, so that each device keeps its part, unless only some of the axes that split the first dimension are
left out: a batch over `("data", "fsdp")` that is asked for over `"data"`; or all of them, where it is a
product, or a layer's result, that stays split along another dimension, or where a product follows with a
weight that these axes do not split either, or where the rows meet the same ones of an array that is still
split, element by element. That is an information.

## References
- https://github.com/jax-ml/jax/issues/21562
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from shardlint.laws.core.values import Unknown
from shardlint.laws.placement.array_bytes import array_bytes
from shardlint.laws.placement.movement import Movement, gathered_rows, movement, resharded_bytes
from shardlint.model.findings import Group, Severity
from shardlint.model.memory_uses import SHARD_MAP, MoveUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import names_text
from shardlint.support.sizes import size_text


def check(use: MoveUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report an array of which the devices hold at most half of what they need."""
    if isinstance(use.shape, Unknown):
        return
    found, total = movement(use.mesh, use.before, use.after, use.shape), array_bytes(use.shape, use.dtype)
    if found is None or total is None:
        return
    idle = use.idle or (
        gathered_rows(use.mesh, use.before, use.after, use.computed) if found.gathered else ()
    )
    if idle:
        axes = names_text(idle)
        yield Problem(
            f"{use.subject} is laid out as {use.before}, and `{use.function}` asks for {use.after}: "
            f"the devices along {axes} get the same rows of the batch",
            use.place,
            severity=Severity.INFO,
        )
    if use.idle:
        return
    # A constraint that gathers is how a weight is collected for one product.
    mapped = use.function == SHARD_MAP
    if (found.gathered and not mapped) or 2 * found.moved < found.wanted:
        return
    large = total >= settings.replicated_bytes and not found.gathered
    yield Problem(
        f"{use.subject} is laid out as {use.before}, and `{use.function}` asks for {use.after}: "
        f"{_amount(use, found, total)}",
        use.place,
        severity=Severity.WARNING if large else Severity.INFO,
    )


def _amount(use: MoveUse, found: Movement, total: int) -> str:
    """Return what a device sends where the steps of the compiler are known, else what must move at least."""
    assert not isinstance(use.shape, Unknown)
    sent = resharded_bytes(use.mesh, use.before, use.after, total)
    if sent is not None:
        return f"each device sends {size_text(sent)}"
    count = math.prod(size for size in use.shape if isinstance(size, int))
    return f"at least {size_text(total / max(count, 1) * found.moved)} must move between devices"


RULE = Rule(
    code="SHL604",
    name="moved-array",
    summary="An array inside jit must be moved, because its layout differs from the one requested",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(MoveUse,),
    check=check,
)
