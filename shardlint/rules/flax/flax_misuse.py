"""# flax-misuse (SHL510)

## What it does
Finds calls of Flax whose arguments it cannot use: an array where an initializer is wrapped, a sharding on
another mesh than the variable's, parameters of other shapes than the layer makes, such as a stack of one copy
for each device (`flax.jax_utils.replicate`) outside of `pmap`.

## Why is this bad?
What Flax says is far from the mistake: `'ArrayImpl' object is not callable` inside a layer, or a bare
`AssertionError`.

## Example
```python
import flax.linen as nn
import jax
import jax.numpy as jnp

key = jax.random.key(0)
kernel = nn.initializers.lecun_normal()(key, (8, 16))
layer = nn.Dense(16, kernel_init=nn.with_partitioning(kernel, (None, "model")))
layer.init(key, jnp.ones((4, 8)))  # raises TypeError
```

## Use instead
```python
import flax.linen as nn
import jax
import jax.numpy as jnp

key = jax.random.key(0)
kernel_init = nn.initializers.lecun_normal()
layer = nn.Dense(16, kernel_init=nn.with_partitioning(kernel_init, (None, "model")))
layer.init(key, jnp.ones((4, 8)))
```

## What JAX says
`TypeError` for an array in place of an initializer, when the parameter is made; `AssertionError` for a
`NamedSharding` on another mesh, when the nnx variable is made; `ScopeParamShapeError` for parameters of
other shapes, in `apply` (Flax 0.12.8).

## References
- https://flax.readthedocs.io/en/latest/api_reference/flax.linen/spmd.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings

_FUNCTIONS = frozenset(
    {"nn.with_partitioning", "nnx.with_partitioning", "nnx.Param", "the layer", "module.apply"}
)


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a call of Flax that fails because of its arguments."""
    verdict = use.verdict
    if use.function not in _FUNCTIONS or not isinstance(verdict, Rejected):
        return
    if verdict.cause in (Cause.MISUSE, Cause.OTHER_MESH):
        yield Problem(verdict.detail, use.place)


RULE = Rule(
    code="SHL510",
    name="flax-misuse",
    summary="Flax gets an array as an initializer, a sharding on another mesh, or parameters of other shapes",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
