"""# part-as-whole (SHL322)

## What it does
Finds code that copies the part of an array on one device to the host, the first of `addressable_shards` or
`addressable_data(0)`, where the array is split and no other part is copied there. An information.

## Why is this bad?
It is all of the array only while that is replicated. Of losses that are split over the batch, it is an eighth
on eight devices, and their mean is that of the first examples.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
losses = jax.device_put(jnp.arange(64.0), NamedSharding(mesh, P("data")))
mean = np.asarray(losses.addressable_shards[0].data).mean()
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
losses = jax.device_put(jnp.arange(64.0), NamedSharding(mesh, P("data")))
mean = np.asarray(losses).mean()
```

## What JAX says
Nothing (JAX 0.10.2). Code that copies every part in turn, and tests, are not reported.

## References
- https://github.com/vllm-project/tpu-inference/pull/3592
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shardlint.model.findings import Group, Severity
from shardlint.model.spans import Span
from shardlint.model.uses import CallUse, Use
from shardlint.rules.base import Problem, ProjectRule, RuleSettings

_PART = "jax.Array(part "


def check(uses: Sequence[CallUse], settings: RuleSettings) -> Iterable[tuple[Use, Problem]]:
    """Report places where only the first part of an array is copied."""
    copied: dict[Span, list[CallUse]] = {}
    for use in uses:
        if use.silent is not None and use.function.startswith(_PART):
            copied.setdefault(use.place.resolve(), []).append(use)
    for each in copied.values():
        if {use.function for use in each} == {f"{_PART}0)"}:
            text = f"{each[0].silent}: the others lie elsewhere; copy the whole array"
            yield each[0], Problem(text, each[0].place, severity=Severity.INFO)


RULE = ProjectRule(
    code="SHL322",
    name="part-as-whole",
    summary="The part of an array on one device is copied for the whole",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
