"""# compiled-for-others (SHL211)

## What it does
Finds calls of a function compiled ahead of time (`jax.jit(f).lower(...).compile()`) with other arguments than
those that it was lowered for: another structure, shape or dtype, or an array committed to another sharding.
An array or `jax.ShapeDtypeStruct` without a sharding stands for one that is whole: on one device, or on the
devices of other arguments that are whole there.

## Why is this bad?
A compiled function is one program for one set of types and layouts. `jax.jit` would compile another; this one
refuses.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
rows = NamedSharding(mesh, P("data"))
batch = jax.ShapeDtypeStruct((16, 8), jnp.float32, sharding=rows)
double = jax.jit(lambda x: x * 2).lower(batch).compile()
double(jax.device_put(jnp.ones((16, 8)), NamedSharding(mesh, P(None, "data"))))  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
rows = NamedSharding(mesh, P("data"))
batch = jax.ShapeDtypeStruct((16, 8), jnp.float32, sharding=rows)
double = jax.jit(lambda x: x * 2).lower(batch).compile()
double(jax.device_put(jnp.ones((16, 8)), rows))
```

## What JAX says
`TypeError` for another structure, shape or dtype, `ValueError` for another sharding (JAX 0.10.2). Arguments
that the function does not use may lie anywhere, and arrays that are committed to nothing are moved.

## References
- https://docs.jax.dev/en/latest/aot.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings

_WAYS_OUT = {
    Cause.ARITY: "pass what it was lowered with, without static arguments",
    Cause.MISUSE: "lower the function for it",
    Cause.OTHER_SHARDING: "move the array with jax.device_put, or lower the function for where it is",
}


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report arguments of a compiled function that it was not compiled for."""
    verdict = use.verdict
    if use.function == "jax.stages.Compiled" and isinstance(verdict, Rejected):
        yield Problem(f"{verdict.detail}; {_WAYS_OUT[verdict.cause]}", use.place)


RULE = Rule(
    code="SHL211",
    name="compiled-for-others",
    summary="A function compiled ahead of time is called with arguments that it was not compiled for",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
