"""# logical-rule-unknown-mesh-axis (SHL506)

## What it does
Finds logical axis rules that map a name to an axis which the mesh does not have.

## Why is this bad?
Rules are often written for another mesh than the one in use. The name then stands for an axis that is not
there, and every array that carries it is refused.

## Example
```python
import flax.linen as nn
import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
rules = (("embed", "data"), ("mlp", "tensor"))
nn.logical_to_mesh_sharding({"kernel": P("embed", "mlp")}, mesh, rules)  # raises ValueError
```

## Use instead
```python
import flax.linen as nn
import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
rules = (("embed", "data"), ("mlp", "model"))
nn.logical_to_mesh_sharding({"kernel": P("embed", "mlp")}, mesh, rules)
```

## What JAX says
`ValueError` when the resolved names meet the mesh: in `logical_to_mesh_sharding`, `with_logical_constraint`,
at linen's `init` and `apply` under a mesh, and as an nnx variable is made (JAX 0.10.2, Flax 0.12.8).

## References
- https://flax.readthedocs.io/en/latest/api_reference/flax.linen/spmd.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.flax.logical_axes import Mistake
from shardlint.model.uses import LogicalAxesUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import names_text


def check(use: LogicalAxesUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a name whose rule maps it to an unknown mesh axis."""
    if use.mistake is Mistake.UNKNOWN_MESH_AXIS:
        yield Problem(
            f'the rules map "{use.text}" to {names_text(use.axes)}, which is no axis of the mesh; '
            "name one of its axes in the rule, or None",
            use.place,
        )


RULE = Rule(
    code="SHL506",
    name="logical-rule-unknown-mesh-axis",
    summary="A logical axis rule maps a name to an axis that the mesh does not have",
    docs=__doc__,
    kinds=(LogicalAxesUse,),
    explains=("SHL103",),
    check=check,
)
