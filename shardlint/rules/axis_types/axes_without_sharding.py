"""# axes-without-sharding (SHL711)

## What it does
Finds calls of functions wrapped by `jax.sharding.auto_axes` without ``out_sharding=``, or by
`explicit_axes` without ``in_sharding=`` or without a mesh in the context; and ``axes=`` that the mesh lacks.

## Why is this bad?
Inside `auto_axes` types say nothing of shardings, so JAX has to be told how the results are sharded
when they come out; `explicit_axes` has to be told how the arguments are that go in.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, PartitionSpec as P, auto_axes

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
jax.set_mesh(mesh)

project = auto_axes(lambda x, kernel: x @ kernel)
project(jnp.ones((8, 16)), jnp.ones((16, 32)))  # raises TypeError
```

## Use instead
```python
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, PartitionSpec as P, auto_axes

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
jax.set_mesh(mesh)

project = auto_axes(lambda x, kernel: x @ kernel, out_sharding=P("data", "model"))
project(jnp.ones((8, 16)), jnp.ones((16, 32)))
```

## What JAX says
`TypeError`: "Missing required keyword argument: 'out_sharding'"; `ValueError` without a mesh, `KeyError` for
an axis that the mesh lacks (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/notebooks/explicit-sharding.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Rejected
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings

#: The functions whose calls this is about.
_FUNCTIONS = frozenset({"jax.sharding.auto_axes", "jax.sharding.explicit_axes"})


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a call that lacks a sharding or a mesh, or names an axis that the mesh lacks."""
    verdict = use.verdict
    if use.function in _FUNCTIONS and isinstance(verdict, Rejected):
        yield Problem(f"a function wrapped by `{use.function}` wants {verdict.detail}", use.place)


RULE = Rule(
    code="SHL711",
    name="axes-without-sharding",
    summary="auto_axes without out_sharding, explicit_axes without in_sharding",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
