"""# keywords-with-in-shardings (SHL208)

## What it does
Finds calls with keyword arguments of functions that are jitted with `in_shardings`.

## Why is this bad?
`in_shardings` are matched with the positional arguments. JAX refuses any keyword argument beside them, also
one that is static.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))
double = jax.jit(lambda x: x * 2, in_shardings=NamedSharding(mesh, P("data")))
double(x=jnp.ones((8, 16)))  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))
double = jax.jit(lambda x: x * 2, in_shardings=NamedSharding(mesh, P("data")))
double(jnp.ones((8, 16)))
```

## What JAX says
`ValueError` as the function is traced (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.jit.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report keyword arguments beside in_shardings."""
    verdict = use.verdict
    if use.function == "jax.jit" and isinstance(verdict, Rejected) and verdict.cause is Cause.MISUSE:
        yield Problem(f"{verdict.detail}; give them by position", use.place)


RULE = Rule(
    code="SHL208",
    name="keywords-with-in-shardings",
    summary="A function jitted with in_shardings is called with keyword arguments",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
