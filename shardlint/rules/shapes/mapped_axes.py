"""# mapped-axes (SHL209)

## What it does
Finds arguments of `jax.vmap` and `jax.pmap` that cannot be mapped over together: another number of examples,
no such axis, `in_axes` for another number of arguments; and a `pmap` over more examples than devices.

## Why is this bad?
JAX raises as the function is called. `pmap` gives each device one example.

## Example
```python
import jax
import jax.numpy as jnp

rows = jnp.ones((8, 16))
columns = jnp.ones((16, 8))
jax.vmap(jnp.dot)(rows, columns)  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp

rows = jnp.ones((8, 16))
columns = jnp.ones((16, 8))
jax.vmap(jnp.dot, in_axes=(0, 1))(rows, columns)
```

## What JAX says
`vmap` raises `ValueError`; `pmap` `IndivisibleError` or `ValueError`, and `IndexError` for an array without
the axis (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings

_WAYS_OUT = {
    Cause.MISUSE: "",
    Cause.INDIVISIBLE: "; pmap takes one example a device: split the axis in two, or use jax.jit on a mesh",
}


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report arguments that do not fit in_axes."""
    verdict = use.verdict
    if use.function not in ("jax.vmap", "jax.pmap") or not isinstance(verdict, Rejected):
        return
    if verdict.cause in _WAYS_OUT:
        yield Problem(f"{use.function}: {verdict.detail}{_WAYS_OUT[verdict.cause]}", use.place)


RULE = Rule(
    code="SHL209",
    name="mapped-axes",
    summary="Arguments of vmap or pmap have different sizes along the mapped axis",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
