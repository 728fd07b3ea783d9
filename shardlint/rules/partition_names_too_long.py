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

from shardlint.laws.values import Spec, Unknown
from shardlint.laws.verdicts import Cause, Rejected
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.wording import array_text, count_text, entry_place, shape_text, spec_text
from shardlint.uses import ParameterUse


def check(use: ParameterUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report names beyond the parameter's rank; linen accepts them until they are used."""
    verdict = use.verdict
    if isinstance(verdict, Rejected) and verdict.cause is not Cause.TOO_LONG:
        return
    if isinstance(use.shape, Unknown) or not isinstance(use.names, Spec) or len(use.names) <= len(use.shape):
        return
    yield Problem(
        f"{array_text(use)} has rank {len(use.shape)}, shape {shape_text(use.shape)}, "
        f"but {count_text(len(use.names), 'partitioning name')}: {spec_text(use)}",
        entry_place(use, len(use.shape)),
    )


RULE = Rule(
    code="SHL501",
    name="partition-names-too-long",
    summary="A Flax parameter has more partitioning names than dimensions",
    docs=__doc__,
    kinds=(ParameterUse,),
    check=check,
)
