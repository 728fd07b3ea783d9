"""# mesh-shape-names-mismatch (SHL401)

## What it does
Finds a mesh whose number of axis names is not that of its dimensions.

## Why is this bad?
Each dimension of the device array is one axis. JAX rejects the mesh. `("xy")` is a string, one
name, not a tuple.

## Example
```python
import jax
import numpy as np
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()), ("data", "model"))  # raises ValueError
```

## Use instead
```python
import jax
import numpy as np
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
```

## What JAX says
`Mesh`, `jax.make_mesh` and `AbstractMesh` raise `ValueError` (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.Mesh
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import MeshUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import count_text, names_text, shape_text


def check(use: MeshUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report names, or axis types, that do not match the mesh's dimensions."""
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.MESH_NAMES:
        return
    if verdict.detail == "axis_types" or not isinstance(use.names, tuple):
        what = f"{verdict.ways} {'axis_types' if verdict.detail else 'axis names'}"
    else:
        listed = f" ({names_text(use.names)})" if use.names else ""
        what = f"{count_text(len(use.names), 'axis name')}{listed}"
    shape = "" if isinstance(use.shape, Unknown) else f" of shape {shape_text(use.shape)}"
    rank = verdict.size if isinstance(verdict.size, int) else 0
    yield Problem(
        f"{what} for a mesh{shape}, which has {count_text(rank, 'dimension')}; give one each",
        use.names_place or use.place,
    )


RULE = Rule(
    code="SHL401",
    name="mesh-shape-names-mismatch",
    summary="The number of axis names differs from the number of mesh dimensions",
    docs=__doc__,
    kinds=(MeshUse,),
    check=check,
)
