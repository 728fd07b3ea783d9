"""# deleted-array (SHL613)

## What it does
Finds arrays that are used after they were donated to a jitted function (`donate_argnums`,
`donate_argnames`), or that are given to it twice in the call that donates them: parameters, say, and an
average that starts as the very same arrays. Another name of the array (`first = weights`) counts, and a
function that donates its argument to a jitted one donates it for its caller, too.

## Why is this bad?
A result takes the buffer of the array, which is deleted for the caller: what uses its data afterwards raises.
Where it is not certain that a result takes it, this depends on the layout that the compiler chooses: a
warning. That is also said of a loop that donates the same array in each round.

## Example
```python
import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnums=0)
def step(weights, gradient):
    return weights - 0.1 * gradient


weights = jnp.ones((64, 64))
new = step(weights, jnp.ones((64, 64)))
change = jnp.abs(new - weights).max()  # raises RuntimeError
```

## Use instead
```python
import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnums=0)
def step(weights, gradient):
    new = weights - 0.1 * gradient
    return new, jnp.abs(new - weights).max()


weights = jnp.ones((64, 64))
weights, change = step(weights, jnp.ones((64, 64)))
```

## What JAX says
`RuntimeError`: `Array has been deleted with shape=float32[64,64]`, on CPU, too (JAX 0.10.2). Shape, dtype and
sharding may still be asked for. An array that the function does not use, that no result can replace, or that
jit moves to other devices first, is not deleted; nor is one, on CPU, whose buffer a numpy array shares
(`np.asarray`, `jax.device_get`), nor any with `jax_debug_nans` or `jax_disable_jit`. An array that is given
twice ends in a `JaxRuntimeError` (`Attempt to donate the same buffer twice`) on one device, and ends the
process on several CPU devices. It is reported where both arguments are certainly the same: written alike, or
the same dict, list or object.

## References
- https://docs.jax.dev/en/latest/faq.html#buffer-donation
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Rejected
from shardlint.model.findings import Group
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report the use of an array that was donated before."""
    if use.function == "jax.Array(deleted)" and use.silent is not None:
        may = "is deleted" if isinstance(use.verdict, Rejected) else "may be deleted"
        yield Problem(f"{use.silent}: it {may}", use.place)
    if use.function == "jax.Array(donated twice)" and use.silent is not None:
        takes = "a result takes" if isinstance(use.verdict, Rejected) else "a result may take"
        yield Problem(f"{use.silent}: {takes} its buffer while it is still used", use.place)


RULE = Rule(
    code="SHL613",
    name="deleted-array",
    summary="An array is used after it was donated",
    docs=__doc__,
    group=Group.CORRECTNESS,
    kinds=(CallUse,),
    check=check,
)
