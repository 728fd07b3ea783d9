"""# committed-elsewhere (SHL207)

## What it does
Finds an array that the program put on devices with one sharding, and that goes to a function jitted with
another in `in_shardings`.

## Why is this bad?
What `device_put`, `make_array_from_callback` or `out_shardings` placed is committed: `jax.jit` does not move
it. `in_shardings` say how an argument comes, and move only arrays that are committed nowhere.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))
x = jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, P(None, "model")))
double = jax.jit(lambda x: x * 2, in_shardings=NamedSharding(mesh, P("data")))
double(x)  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))
rows = NamedSharding(mesh, P("data"))
x = jax.device_put(jnp.ones((8, 16)), rows)
double = jax.jit(lambda x: x * 2, in_shardings=rows)
double(x)
```

## What JAX says
`ValueError` as the function is called or lowered, not as it is traced (JAX 0.10.2). Two shardings are the
same where every device holds the same part of the array: names of axes, axes of one device and trailing
`None`s do not matter.

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.jit.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report an argument of jit that is committed to another sharding than in_shardings state."""
    verdict = use.verdict
    if use.function == "jax.jit" and isinstance(verdict, Rejected) and verdict.cause is Cause.OTHER_SHARDING:
        way_out = "jax.jit moves no committed array: jax.device_put it there, or leave in_shardings out"
        yield Problem(f"{verdict.detail}; {way_out}", use.place)


RULE = Rule(
    code="SHL207",
    name="committed-elsewhere",
    summary="An argument is committed to a sharding that differs from in_shardings",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
