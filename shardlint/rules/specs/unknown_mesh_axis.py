"""# unknown-mesh-axis (SHL103)

## What it does
Finds axis names in a `PartitionSpec` that the mesh it is bound to does not have.

## Why is this bad?
JAX rejects the spec where it meets the mesh. Most are misspellings, or names of another mesh.

## Example
```python
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
sharding = NamedSharding(mesh, P(None, "modle"))  # raises ValueError
```

## Use instead
```python
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
sharding = NamedSharding(mesh, P(None, "model"))
```

## What JAX says
`NamedSharding(mesh, spec)`, and every call that takes a spec under a mesh, raises `ValueError` (JAX
0.10.2). A spec that meets no known mesh is never reported.

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.NamedSharding
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from shardlint.laws.core.values import entry_text
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import ParameterUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import (
    SPEC_KINDS,
    SpecHolder,
    entry_place,
    mesh_of,
    names_text,
    near_miss,
    spec_of,
)
from shardlint.rules.shared_fixes import nearest_axis


def check(use: SpecHolder, settings: RuleSettings) -> Iterable[Problem]:
    """Report an axis that the mesh does not have."""
    verdict, mesh = use.verdict, mesh_of(use)
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.UNKNOWN_AXIS or mesh is None:
        return
    if isinstance(use, ParameterUse) and isinstance(spec_of(use), str):
        return  # partition-names-string says more
    axis = verdict.axis or ""
    has = names_text(mesh.names) or "no axes"
    yield Problem(
        f'the mesh has {has}, but no axis "{axis}"{_way_out(axis, mesh.names)}',
        entry_place(use, verdict.dimension),
    )


def _way_out(axis: str, known: tuple[str, ...]) -> str:
    parts = tuple(re.split(r"[,\s]+", axis))
    if len(parts) > 1 and set(parts) <= set(known):
        return f"; several axes for one dimension are a tuple, {entry_text(parts)}"
    return near_miss(axis, known)


RULE = Rule(
    code="SHL103",
    name="unknown-mesh-axis",
    summary="A PartitionSpec names an axis that its mesh lacks",
    docs=__doc__,
    kinds=SPEC_KINDS,
    check=check,
    fix=nearest_axis,
)
