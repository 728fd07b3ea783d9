"""# logical-axes-collide (SHL508)

## What it does
Finds arrays of which two dimensions have the same logical name, or logical names for the same mesh axis.
Names that a program looks up in a table of its own to make a `P` count too: `P(rules[a], rules[b])`.

## Why is this bad?
A mesh axis can split one dimension only. linen gives it to the name whose rule comes first, and the other
dimension is silently whole on every device; nnx refuses the array. In a table of the program's own, one name
for two dimensions passes only as long as it stands for no mesh axis.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
rules = (("embed", "model"), ("mlp", "model"))
with jax.set_mesh(mesh), nnx.logical_axis_rules(rules):
    nnx.Param(jnp.ones((8, 16)), out_sharding=("embed", "mlp"))  # raises DuplicateSpecError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
rules = (("embed", "data"), ("mlp", "model"))
with jax.set_mesh(mesh), nnx.logical_axis_rules(rules):
    nnx.Param(jnp.ones((8, 16)), out_sharding=("embed", "mlp"))
```

## What JAX says
nnx: `DuplicateSpecError`. linen: nothing for two names on one mesh axis, `ValueError` for one name on two
dimensions (JAX 0.10.2, Flax 0.12.8).

## References
- https://flax.readthedocs.io/en/latest/api_reference/flax.linen/spmd.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.flax.logical_axes import Mistake
from shardlint.model.findings import Severity
from shardlint.model.uses import LogicalAxesUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import names_text


def check(use: LogicalAxesUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report two dimensions that map to one mesh axis.

    For activations it is a note at most: rules are often written so that the batch takes the axis first.
    """
    if use.mistake is Mistake.REPEATED_NAME:
        yield Problem(f'two dimensions are both named "{use.text}"; each needs a name of its own', use.place)
    elif use.mistake is Mistake.ONE_MESH_AXIS:
        refused = isinstance(use.verdict, Rejected) or use.library == "nnx"
        outcome = "which is refused" if refused else "so this one is silently not sharded"
        yield Problem(
            f'"{use.text}" would lie along {names_text(use.axes)}, where another dimension lies already, '
            f"{outcome}; give one of the two another mesh axis, or None",
            use.place,
            None if refused or use.function != "with_logical_constraint" else Severity.INFO,
        )


RULE = Rule(
    code="SHL508",
    name="logical-axes-collide",
    summary="The logical names of two dimensions of an array map to the same mesh axis",
    docs=__doc__,
    kinds=(LogicalAxesUse,),
    explains=("SHL102",),
    check=check,
)
