"""# columns-after-columns (SHL623)

## What it does
Finds two products inside `jax.jit` that follow one another, with nothing but functions of single elements
between them (a bias, an activation, a gate), and whose weights both split their columns over the same mesh
axis, where the second weight has less than half as many columns as rows.

## Why is this bad?
After the first product each device has some of the columns of its result, and the second one needs all: they
are gathered on each device. With the second weight split by rows each device multiplies the columns that it
has, and only the sums are exchanged, which are smaller: the rule for the two projections of an MLP.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.ones((16, 64)), NamedSharding(mesh, P("data")))
up = jax.device_put(jnp.ones((64, 256)), NamedSharding(mesh, P(None, "model")))
down = jax.device_put(jnp.ones((256, 64)), NamedSharding(mesh, P(None, "model")))


@jax.jit
def mlp(x, up, down):
    return jax.nn.gelu(x @ up) @ down


y = mlp(x, up, down)
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.ones((16, 64)), NamedSharding(mesh, P("data")))
up = jax.device_put(jnp.ones((64, 256)), NamedSharding(mesh, P(None, "model")))
down = jax.device_put(jnp.ones((256, 64)), NamedSharding(mesh, P("model", None)))


@jax.jit
def mlp(x, up, down):
    return jax.nn.gelu(x @ up) @ down


y = mlp(x, up, down)
```

## What JAX says
Nothing: the compiled code has an all-gather in place of an all-reduce (JAX 0.10.2 and 0.12.0.1). It is said
where the layouts of both weights are certain, as is that of the rows, which the axis does not split: where a
batch is split over the axis that splits the weights, they are stored in parts, and gathered themselves. Every
other axis of several devices splits the rows: along one that is idle the compiler may divide the product.

## References
- https://arxiv.org/abs/1909.08053
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.values import Spec, entry_axes
from shardlint.laws.placement.array_bytes import array_bytes
from shardlint.laws.placement.movement import column_costs
from shardlint.model.findings import Group, Severity
from shardlint.model.memory_uses import ColumnsUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import names_text
from shardlint.support.sizes import size_text


def check(use: ColumnsUse, _: RuleSettings) -> Iterable[Problem]:
    """Report an operand that is gathered, if sums of products would be less than half as large."""
    width, columns = use.shape[-1], use.columns
    # An all-reduce sends what it sums up twice.
    if not isinstance(width, int) or not isinstance(columns, int) or width <= 2 * columns:
        return
    first, last = (*use.spec.entries, None, None)[:2]
    axes = names_text(entry_axes(last))
    text = (
        f"{use.subject} splits its columns over {axes}, and so did the weight before: what was multiplied "
        "with that is gathered on each device{}; split by rows, {}, only the products are summed up{}"
    )
    whole, out = array_bytes(use.shape, use.dtype), array_bytes((*use.shape[:-1], columns), use.dtype)
    costs = None if whole is None or out is None else column_costs(use.mesh, use.held, whole, out)
    gathered, summed = ("", "") if costs is None else map(size_text, costs)
    if costs is not None:
        gathered, summed = f", for which each sends {gathered}", f", {summed}"
    text = text.format(gathered, Spec((last, first)), summed)
    yield Problem(text, use.place, severity=Severity.INFO)


RULE = Rule(
    code="SHL623",
    name="columns-after-columns",
    summary="Two products follow one another whose weights split their columns over the same axis",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(ColumnsUse,),
    check=check,
)
