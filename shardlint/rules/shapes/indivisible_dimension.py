"""# indivisible-dimension (SHL202)

## What it does
Finds a dimension whose size the number of devices along its mesh axes does not divide.

## Why is this bad?
Each device must hold the same amount. JAX rejects the array, most often only when the job starts on
the mesh that does not fit. The sizes of the axes in a tuple entry multiply.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
kernel = jnp.zeros((16, 10))
kernel = jax.device_put(kernel, NamedSharding(mesh, P(None, "model")))  # raises IndivisibleError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
kernel = jnp.zeros((16, 12))
kernel = jax.device_put(kernel, NamedSharding(mesh, P(None, "model")))
```

## What JAX says
`device_put`, `jit`'s shardings, `with_sharding_constraint` outside `jit`, `jnp.zeros(device=)` and
`make_array_from_callback` raise `IndivisibleError`; `shard_map` raises `ValueError` (JAX 0.10.2).
Inside `jit`, `with_sharding_constraint` accepts it on Auto axes: see uneven-constraint (SHL205).
JAX 0.7.2 to 0.8.3 also refuse to split an array of size 0 over a mesh, with AssertionError, where it is made
outside `jit`, or is the only result of a `jit`.

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.NamedSharding
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.values import entry_axes
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import ParameterUse, Placement
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import (
    ARRAY_KINDS,
    array_text,
    axes_text,
    entry_of,
    entry_place,
    meeting,
    mesh_of,
    size_text,
    sizes_text,
)


def check(use: Placement | ParameterUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a dimension that JAX rejects because its axes do not divide it."""
    verdict = use.verdict
    if isinstance(verdict, Rejected) and verdict.cause is Cause.EMPTY:
        message = f"dimension {verdict.dimension} of {array_text(use)} has size 0"
        yield Problem(f"{message}, and JAX does not split an empty array before 0.9", entry_place(use, None))
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.INDIVISIBLE:
        return
    entry, mesh = entry_of(use, verdict.dimension), mesh_of(use)
    if mesh is None or verdict.size is None or verdict.ways is None or not entry_axes(entry):
        return
    verb = "does not divide" if isinstance(verdict.size, int) else "never divides"
    would = sizes_text(verdict.size, verdict.ways)
    place, written = meeting(use, verdict.dimension)
    yield Problem(
        f"dimension {verdict.dimension} of {array_text(use)} has size {size_text(verdict.size)}, "
        f"which {axes_text(entry, mesh)} {verb}" + (f"; {would} would" if would else ""),
        place,
        related=written,
    )


RULE = Rule(
    code="SHL202",
    name="indivisible-dimension",
    summary="A dimension's size is not divisible by the number of devices it is split over",
    docs=__doc__,
    kinds=ARRAY_KINDS,
    check=check,
)
