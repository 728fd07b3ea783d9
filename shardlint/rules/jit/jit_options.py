"""# jit-options (SHL212)

## What it does
Finds calls of `jax.jit` with options that exclude one another: `device` or `backend` beside `in_shardings` or
`out_shardings`, or both of `device` and `backend`.

## Why is this bad?
Each of them says where the function runs, and JAX takes one answer.

## Example
```python
import jax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))
rows = NamedSharding(mesh, P("data"))
double = jax.jit(lambda x: x * 2, in_shardings=rows, backend="cpu")  # raises ValueError
```

## Use instead
```python
import jax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))
rows = NamedSharding(mesh, P("data"))
double = jax.jit(lambda x: x * 2, in_shardings=rows)
```

## What JAX says
`ValueError` as jit is called (JAX 0.10.2). `device` and `backend` are deprecated: the devices of a sharding,
or of an array that is passed, say where a function runs.

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.jit.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Rejected
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report options of jit that exclude one another."""
    verdict = use.verdict
    if use.function == "jax.jit options" and isinstance(verdict, Rejected):
        yield Problem(f"{verdict.detail} in `jax.jit`; give one of them", use.place)


RULE = Rule(
    code="SHL212",
    name="jit-options",
    summary="`jax.jit` is given options that exclude one another",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
