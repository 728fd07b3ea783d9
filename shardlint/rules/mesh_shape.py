"""# mesh-shape (SHL404)

## What it does
Finds device arrays that cannot be brought into the mesh's shape, and shapes that no mesh can have.

## Why is this bad?
`np.array(jax.devices()).reshape(...)` keeps the number of devices, so the sizes must multiply to
it.

## Example
```python
import jax
import numpy as np
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()).reshape(3, 2), ("data", "model"))  # raises ValueError
```

## Use instead
```python
import jax
import numpy as np
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))
```

## What JAX says
NumPy's `reshape` raises `ValueError`. `jax.make_mesh` raises `TypeError` for a shape that is not a
sequence and `IndexError` for a size of 0 (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.Mesh
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.values import Unknown
from shardlint.laws.verdicts import Cause, Rejected
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.wording import RESHAPE, shape_text, size_text
from shardlint.uses import MeshUse


def check(use: MeshUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a shape that the devices cannot take, or that is none."""
    verdict, place = use.verdict, use.shape_place or use.place
    if not isinstance(verdict, Rejected) or isinstance(use.shape, Unknown):
        return
    shape = shape_text(use.shape)
    if verdict.cause is Cause.DEVICE_COUNT and verdict.stage == RESHAPE and use.devices is not None:
        yield Problem(
            f"{size_text(use.devices)} devices cannot take the shape {shape}; "
            "its sizes must multiply to the number of devices",
            place,
        )
    elif verdict.cause in (Cause.MESH_SHAPE, Cause.BAD_ARGUMENT):
        several = sum(size == -1 for size in use.shape) > 1
        why = verdict.detail or ("only one size may be -1" if several else "no mesh can have it")
        yield Problem(f"{use.function} rejects the shape {shape}: {why}", place)


RULE = Rule(
    code="SHL404",
    name="mesh-shape",
    summary="The devices cannot take the mesh's shape",
    docs=__doc__,
    kinds=(MeshUse,),
    check=check,
)
