"""# partition-names-too-long (SHL501)

## What it does
Finds Flax parameters with more partitioning names than dimensions, such as a bias that got its
kernel's names.

## Why is this bad?
linen keeps the names unseen until they are used: `get_partition_spec` passes them on, and placing
the parameter raises. nnx rejects them at once when a mesh is set.

## Example
```python
import flax.linen as nn
import jax
import jax.numpy as jnp

zeros = nn.with_partitioning(nn.initializers.zeros_init(), (None, "model"))
layer = nn.Dense(16, bias_init=zeros)
variables = layer.init(jax.random.key(0), jnp.ones((4, 8)))
```

## Use instead
```python
import flax.linen as nn
import jax
import jax.numpy as jnp

zeros = nn.with_partitioning(nn.initializers.zeros_init(), ("model",))
layer = nn.Dense(16, bias_init=zeros)
variables = layer.init(jax.random.key(0), jnp.ones((4, 8)))
```

## What JAX says
linen: nothing at `init`, `ValueError` where the names are used with a mesh. nnx: `ValueError`, or
`AssertionError` on Explicit axes (JAX 0.10.2, Flax 0.12.8).

## References
- https://flax.readthedocs.io/en/latest/api_reference/flax.linen/spmd.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.values import Spec, Unknown
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.findings import Group
from shardlint.model.uses import ParameterUse, Placement
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import (
    ARRAY_KINDS,
    array_text,
    count_text,
    is_parameter,
    shape_text,
    spec_of,
    spec_text,
    surplus_place,
)
from shardlint.rules.shared_fixes import without_surplus


def check(use: ParameterUse | Placement, settings: RuleSettings) -> Iterable[Problem]:
    """Report names beyond the parameter's rank; linen accepts them until they are used."""
    verdict, names = use.verdict, spec_of(use)
    if not is_parameter(use) or isinstance(use.shape, Unknown) or not isinstance(names, Spec):
        return
    if isinstance(verdict, Rejected) and verdict.cause is not Cause.TOO_LONG:
        return
    if len(names) > len(use.shape):
        yield Problem(
            f"{array_text(use)} has rank {len(use.shape)}, shape {shape_text(use.shape)}, "
            f"but {count_text(len(names), 'partitioning name')}: {spec_text(use)}",
            surplus_place(use, len(use.shape)),
        )


RULE = Rule(
    code="SHL501",
    name="partition-names-too-long",
    summary="A Flax parameter has more partitioning names than dimensions",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=ARRAY_KINDS,
    explains=("SHL201",),
    check=check,
    fix=without_surplus,
)
