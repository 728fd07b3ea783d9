"""# collected-on-one-device (SHL627)

## What it does
Finds arrays that lie split over several devices, are put on one device with `jax.device_put`, and given to a
jitted function from there.

## Why is this bad?
The function runs where its arguments are: on that device alone, while the others wait. The array has to fit
on it, and its parts move there first. Given as it lies, the array is computed with on all of its devices.

## Example
```python
import jax
import jax.numpy as jnp


@jax.jit
def spread(samples):
    return jnp.std(samples, axis=(0, 1))


sample = jax.pmap(lambda key: jax.random.normal(key, (100, 4)))
samples = sample(jax.random.split(jax.random.key(0), jax.device_count()))
samples = jax.device_put(samples, jax.devices()[0])
print(spread(samples))
```

## Use instead
```python
import jax
import jax.numpy as jnp


@jax.jit
def spread(samples):
    return jnp.std(samples, axis=(0, 1))


sample = jax.pmap(lambda key: jax.random.normal(key, (100, 4)))
samples = sample(jax.random.split(jax.random.key(0), jax.device_count()))
print(spread(samples))
```

## What JAX says
Nothing (JAX 0.10.2 and 0.12.0.1). An array that is only read on the host, or shown, is not reported.

## References
- https://docs.jax.dev/en/latest/faq.html#faq-data-placement
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group, Severity
from shardlint.model.memory_uses import CollectedUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CollectedUse, _: RuleSettings) -> Iterable[Problem]:
    """Report an array that is collected on one device, and computed with there."""
    text = (
        f"{use.subject} lies split over {use.devices} devices, and is collected on one: `{use.function}` "
        "computes with it on that device alone"
    )
    yield Problem(text, use.place, severity=Severity.INFO)


RULE = Rule(
    code="SHL627",
    name="collected-on-one-device",
    summary="An array that is split over devices is collected on one, and computed with there",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(CollectedUse,),
    check=check,
)
