"""# unlike-replicas (SHL324)

## What it does
Finds weights that each device of a `pmap` drew with another key, and whose gradients another `pmap` combines
with `pmean` or `psum`.

## Why is this bad?
Every device begins with other weights. It adds the mean of gradients that were taken at as many different
points to its own, so that the weights stay as far apart as they were. What is saved, and evaluated, is the
first device's.

## Example
```python
import functools

import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.key(0), jax.local_device_count())
w = jax.pmap(lambda key: jax.random.normal(key, (4,)))(keys)


@functools.partial(jax.pmap, axis_name="batch")
def step(w, x):
    grads = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return w - 0.1 * jax.lax.pmean(grads, "batch")


w = step(w, jnp.ones((jax.local_device_count(), 2, 4)))
```

## Use instead
```python
import functools

import jax
import jax.numpy as jnp

keys = jnp.stack([jax.random.key(0)] * jax.local_device_count())
w = jax.pmap(lambda key: jax.random.normal(key, (4,)))(keys)


@functools.partial(jax.pmap, axis_name="batch")
def step(w, x):
    grads = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return w - 0.1 * jax.lax.pmean(grads, "batch")


w = step(w, jnp.ones((jax.local_device_count(), 2, 4)))
```

## What JAX says
Nothing (JAX 0.10.2). An ensemble, whose members are never combined, is not reported, nor are weights that are
averaged before.

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.pmap.html
- https://github.com/keras-team/keras/pull/21261
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report gradients, by weights that differ, that are combined."""
    if use.silent is not None and use.function == "jax.pmap(replicas)":
        yield Problem(use.silent, use.place)


RULE = Rule(
    code="SHL324",
    name="unlike-replicas",
    summary="Devices hold weights that were drawn with different keys, and share their gradients",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
