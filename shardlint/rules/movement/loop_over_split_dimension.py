"""# loop-over-split-dimension (SHL605)

## What it does
Finds `lax.scan` and `lax.map` over arrays whose first dimension is split over devices. From 64 MiB on
(`max-replicated-bytes` sets the limit) it is a warning, below that an information.

## Why is this bad?
Each step takes one slice, which lies on one device. All devices run all steps, so the compiler gathers the
whole array on each of them before the loop: the memory that the split was to save is used after all.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("fsdp",))
layers = jax.device_put(jnp.ones((16, 1024, 1024)), NamedSharding(mesh, P("fsdp")))


@jax.jit
def forward(x, layers):
    return jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, layers)[0]


y = forward(jnp.ones((8, 1024)), layers)
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("fsdp",))
layers = jax.device_put(jnp.ones((16, 1024, 1024)), NamedSharding(mesh, P(None, "fsdp")))


@jax.jit
def forward(x, layers):
    return jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, layers)[0]


y = forward(jnp.ones((8, 1024)), layers)
```

## What JAX says
On Auto axes nothing: the compiled code has an all-gather of the array (JAX 0.10.2). On Explicit axes it
raises, which unsupported-on-sharded-dimension finds. A batch that is reshaped into microbatches is split
along these: reshape it to `(rows, microbatches)` and swap both dimensions, and each device keeps its rows.

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.values import Unknown
from shardlint.laws.placement.array_bytes import array_bytes
from shardlint.laws.placement.movement import gathered_bytes
from shardlint.model.findings import Group, Severity
from shardlint.model.memory_uses import GatherUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.movement.gathered_operand import devices_along, sent_whole
from shardlint.support.sizes import size_text


def check(use: GatherUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report an array that a loop takes apart along a dimension that is split."""
    if not use.loop:
        return
    total = None if isinstance(use.shape, Unknown) else array_bytes(use.shape, use.dtype)
    size = "" if total is None else f", {size_text(total)},"
    ways, groups = devices_along(use), 0 if isinstance(use.shape, Unknown) else use.shape[0]
    if total is not None and isinstance(groups, int) and 0 < groups < ways:
        # A reshape into fewer groups than devices: as many devices as there are to each group share it.
        what = f"a part in {ways // groups} of the array{size}"
        sent: int | None = gathered_bytes(total // ways, groups)
    else:
        what = f"the whole array{size}"
        sent = None if total is None else sent_whole(use, total)
    cost = "" if sent is None else f", for which each sends {size_text(sent)}"
    large = total is not None and total >= settings.replicated_bytes
    yield Problem(
        f"`{use.function}` takes {use.subject} apart along dimension 0, which {use.spec} splits: {what} "
        f"is gathered on each device{cost}; split another dimension",
        use.place,
        severity=Severity.WARNING if large else Severity.INFO,
    )


RULE = Rule(
    code="SHL605",
    name="loop-over-split-dimension",
    summary="A loop iterates over a dimension that is split over devices",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(GatherUse,),
    check=check,
)
