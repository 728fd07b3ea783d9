"""# operands-apart (SHL625)

## What it does
Finds arrays inside `jax.jit` that meet in one computation, and that one mesh axis splits along different
dimensions of it: a weight with a dimension for the heads is split along another one, and multiplied with
activations that are split by heads; a product is asked for split by the columns of a weight that is split by
rows, though the activations are whole along that axis; two arrays that are added; what is written into a
cache, and the cache. From 64 MiB on (`max-replicated-bytes` sets the limit) it is a warning, below that an
information.

## Why is this bad?
Each device has other parts of the two than it needs: one of them moves between devices in every step. Split
along the dimension that the other one is split along, it would lie where it is needed.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
q = jax.device_put(jnp.ones((16, 8, 32)), NamedSharding(mesh, P("data", "model")))
w = jax.device_put(jnp.ones((8, 32, 64)), NamedSharding(mesh, P(None, None, "model")))


@jax.jit
def projected(q, w):
    return jnp.einsum("tnp,npl->tnl", q, w)


y = projected(q, w)
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
q = jax.device_put(jnp.ones((16, 8, 32)), NamedSharding(mesh, P("data", "model")))
w = jax.device_put(jnp.ones((8, 32, 64)), NamedSharding(mesh, P("model")))


@jax.jit
def projected(q, w):
    return jnp.einsum("tnp,npl->tnl", q, w)


y = projected(q, w)
```

## What JAX says
Nothing: the compiled code has an all-to-all or an all-gather (JAX 0.10.2 and 0.12.0.1). It is said where the
layouts of both are certain. Of a product only the second operand is judged, the weight: not a weight that is
stored in parts along an axis that splits the batch, which is gathered for each product on purpose. On
Explicit axes JAX raises instead.

## References
- https://github.com/vllm-project/tpu-inference/pull/1859
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.placement.array_bytes import array_bytes
from shardlint.model.findings import Group, Severity
from shardlint.model.memory_uses import ApartUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.support.sizes import size_text


def check(use: ApartUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report an operand that one axis splits along another dimension than what it meets."""
    total = array_bytes(use.shape, use.dtype)
    size = "" if total is None else f", {size_text(total)},"
    if use.function:
        other = use.other_subject or "the other operand"
        text = (
            f"{use.subject}{size} is laid out as {use.spec}, and {other} as {use.other}: "
            f'"{use.axis}" splits them along different dimensions of what `{use.function}` computes, and one '
            f"of them moves between devices; {use.subject} fits if its dimension {use.met} is split"
        )
    else:
        text = (
            f"{use.subject}{size} is laid out as {use.spec}, and its product is asked for as {use.other}: "
            f"it moves between devices, or the product does; {use.subject} fits if its dimension {use.met} "
            f'is split over "{use.axis}"'
        )
    large = total is not None and total >= settings.replicated_bytes
    yield Problem(text, use.place, severity=Severity.WARNING if large else Severity.INFO)


RULE = Rule(
    code="SHL625",
    name="operands-apart",
    summary="Two arrays meet that one mesh axis splits along different dimensions",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(ApartUse,),
    check=check,
)
