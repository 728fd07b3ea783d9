"""# unusable-donation (SHL606)

## What it does
Finds arguments that are donated to a jitted function, and most of whose bytes no result can take: there is no
result of that size on each device that another donated array has not taken. As an information, jitted
functions that give arguments away, as they got them, to a jitted function inside, without being donated them.

## Why is this bad?
The buffer is gone for the caller, and the step needs memory for its results all the same. Where the dtype or
the layout of a result was changed, training holds the parameters, or the optimizer's state, twice.

## Example
```python
import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnums=0)
def step(state, gradient):
    return (state - 0.1 * gradient).astype(jnp.bfloat16)


state = step(jnp.ones((1024, 1024)), jnp.ones((1024, 1024)))
```

## Use instead
```python
import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnums=0)
def step(state, gradient):
    return state - 0.1 * gradient


state = step(jnp.ones((1024, 1024)), jnp.ones((1024, 1024)))
```

## What JAX says
In some cases a warning when it compiles, `Some donated buffers were not usable`; in others, as in this one,
nothing (JAX 0.10.2). A result takes a donated buffer of its size on each device, whatever its shape. It is
reported only where all leaves of the donated arguments and of the results are known. What a jitted function
is donated inside another has no effect, and nothing says so (JAX 0.10.2 and 0.12.0.1): the outer function is
to be given `donate_argnums`, too.

## References
- https://docs.jax.dev/en/latest/faq.html#buffer-donation
- https://github.com/jax-ml/jax/issues/9675
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group, Severity
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings

_DONATED = "jax.jit(donate)"
_IGNORED = "jax.jit(donation ignored)"


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a donated argument that no result can take."""
    if use.silent is not None and use.function == _DONATED:
        yield Problem(f"{use.silent}: its buffer cannot be used again", use.place)
    if use.silent is not None and use.function == _IGNORED:
        yield Problem(use.silent, use.place, severity=Severity.INFO)


RULE = Rule(
    code="SHL606",
    name="unusable-donation",
    summary="A donated argument that no result can reuse",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(CallUse,),
    check=check,
)
