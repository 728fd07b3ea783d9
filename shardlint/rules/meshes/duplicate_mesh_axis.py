"""# duplicate-mesh-axis (SHL402)

## What it does
Finds a mesh with two axes of one name.

## Why is this bad?
JAX builds the mesh, but it is of no use: only one of the two axes can be named, and what names it
fails later, far from here, sometimes with the process. That is an error, where both have several devices.

## Example
```python
import jax
import numpy as np
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "data"))
```

## Use instead
```python
import jax
import numpy as np
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
```

## What JAX says
Nothing where the mesh is made; its first use may raise (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.Mesh
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.meshes.construction import duplicate_names
from shardlint.model.findings import Group
from shardlint.model.uses import MeshUse, Placement
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import api_text, spec_text


def check(use: MeshUse | Placement, settings: RuleSettings) -> Iterable[Problem]:
    """Report the first name that a mesh has twice, and specs that use such a name."""
    if isinstance(use, Placement):
        if isinstance(use.verdict, Rejected) and use.verdict.cause is Cause.REPEATED_AXIS:
            text = f'two axes of the mesh are named "{use.verdict.axis}", which {spec_text(use)} names'
            yield Problem(f"{text}: {api_text(use)} fails; give them names of their own", use.place)
        return
    if isinstance(use.verdict, Rejected) or not isinstance(use.names, tuple):
        return
    if repeated := duplicate_names(use.names):
        yield Problem(
            f'two axes of the mesh are named "{repeated[0]}": JAX builds it, and fails where it is used',
            use.names_place or use.place,
        )


RULE = Rule(
    code="SHL402",
    name="duplicate-mesh-axis",
    summary="A mesh has two axes with the same name",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(MeshUse, Placement),
    check=check,
)
