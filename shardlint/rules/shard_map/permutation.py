"""# permutation (SHL310)

## What it does
Finds permutations of devices in which one sends or receives twice, or that name devices the axis lacks;
and such as leave devices without anything to receive.

## Why is this bad?
Every device along the axis may send to one other and receive from one. What receives nothing gets zeros,
silently: on purpose at the ends of a pipeline, but by mistake where a ring is closed over fewer devices than
the axis has.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def pass_on(x):
    return jax.lax.ppermute(x, "model", [(i, (i + 1) % 3) for i in range(4)])


jax.shard_map(pass_on, mesh=mesh, in_specs=P("model"), out_specs=P("model"))(jnp.ones(8))  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def pass_on(x):
    return jax.lax.ppermute(x, "model", [(i, (i + 1) % 4) for i in range(4)])


jax.shard_map(pass_on, mesh=mesh, in_specs=P("model"), out_specs=P("model"))(jnp.ones(8))
```

## What JAX says
`ValueError` for a device that sends or receives twice and `IndexError` for one that is not there, when the
program is lowered and uses what the call gives: where that is not sure, it is a warning. `ValueError` when
a `pshuffle` is traced with something else than a permutation. Nothing where a device receives nothing (JAX
0.10.2).

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.lax.ppermute.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.transforms.collectives import has_ring
from shardlint.model.findings import Severity
from shardlint.model.uses import CollectiveUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import names_text, refused


def check(use: CollectiveUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report pairs that are not a permutation, or that leave out devices."""
    verdict, axes = use.verdict, names_text(use.axes)
    if isinstance(verdict, Rejected):
        if verdict.cause is Cause.PERMUTATION:
            yield refused(use, str(verdict.detail))
    elif use.silent is not None and use.function in ("ppermute", "pshuffle") and use.varying is None:
        # A shift that is left open at its ends is how pipelines and halos work.
        closed = has_ring(dict(use.arguments).get("perm"))
        yield Problem(
            f"`{use.function}` over {axes}: {use.silent}",
            use.place,
            Severity.WARNING if closed else Severity.INFO,
        )


RULE = Rule(
    code="SHL310",
    name="permutation",
    summary="A ppermute that is not a permutation, or leaves devices without a sender",
    docs=__doc__,
    kinds=(CollectiveUse,),
    check=check,
)
