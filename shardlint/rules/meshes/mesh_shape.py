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

from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import CallUse, MeshUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import RESHAPE, function_text, shape_text, size_text


def check(use: MeshUse | CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a shape that the devices do not fit, or that is not a shape."""
    verdict = use.verdict
    if isinstance(use, CallUse):
        if isinstance(verdict, Rejected) and verdict.cause is Cause.MESH_SHAPE:
            yield Problem(f"{function_text(use)} rejects the shape: {verdict.detail}", use.place)
        return
    place = use.shape_place or use.place
    if not isinstance(verdict, Rejected) or isinstance(use.shape, Unknown):
        return
    shape = shape_text(use.shape)
    if verdict.cause is Cause.DEVICE_COUNT and verdict.stage == RESHAPE and use.devices is not None:
        yield Problem(
            f"{size_text(use.devices)} devices cannot take the shape {shape}; "
            "its sizes must multiply to the number of devices",
            place,
        )
    elif verdict.cause is Cause.MESH_SHAPE:
        yield Problem(f"{use.function} rejects the shape {shape}: only one size may be -1", place)


RULE = Rule(
    code="SHL404",
    name="mesh-shape",
    summary="The devices cannot be arranged in the mesh's shape",
    docs=__doc__,
    kinds=(MeshUse, CallUse),
    check=check,
)
