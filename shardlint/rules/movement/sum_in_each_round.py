"""# sum-in-each-round (SHL626)

## What it does
Finds `psum` and `pmean` in the body of a `lax.scan` or `fori_loop`, in `pmap` or under `check_vma=False`,
whose results the loop only adds up: gradients of small batches, summed over the devices in each. And a
`lax.while_loop` that `vmap` maps over a batch which is split over devices, inside jit, if each example
decides when its loop ends. Both are an information.

## Why is this bad?
All devices wait for one another in each round, and the gradients are sent as often as there are small
batches. The sum of the sums is the same if each device adds up its own, and all sum once after the loop. A
loop over a batch goes on until the last example is done, so that the devices ask one another in each round;
under `jax.shard_map` each device's loop ends by itself.

## Example
```python
import jax
import jax.numpy as jnp


def gradient(w, batches):
    def add(total, x):
        grads = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return total + jax.lax.pmean(grads, "batch"), None

    return jax.lax.scan(add, jnp.zeros_like(w), batches)[0]


w, x = jnp.ones(4), jnp.arange(256.0).reshape(8, 4, 2, 4)
y = jax.pmap(gradient, axis_name="batch", in_axes=(None, 0))(w, x)
```

## Use instead
```python
import jax
import jax.numpy as jnp


def gradient(w, batches):
    def add(total, x):
        return total + jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w), None

    return jax.lax.pmean(jax.lax.scan(add, jnp.zeros_like(w), batches)[0], "batch")


w, x = jnp.ones(4), jnp.arange(256.0).reshape(8, 4, 2, 4)
y = jax.pmap(gradient, axis_name="batch", in_axes=(None, 0))(w, x)
```

## What JAX says
Nothing: the compiled code has an all-reduce in the body of a while loop (JAX 0.10.2 and 0.12.0.1). Numbers
without dimensions are not reported, nor sums that something else in the loop reads.

## References
- https://github.com/alpa-projects/alpa/pull/90
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group, Severity
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a sum over devices in each round of a loop that could be taken once."""
    if use.silent is not None and use.function == "jax.lax(each round)":
        yield Problem(use.silent, use.place, severity=Severity.INFO)


RULE = Rule(
    code="SHL626",
    name="sum-in-each-round",
    summary="The devices wait for one another in each round of a loop that could sum once, or end alone",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(CallUse,),
    check=check,
)
