"""# duplicate-spec-axis (SHL102)

## What it does
Finds a mesh axis that a `PartitionSpec` uses twice, in two entries or in one.

## Why is this bad?
A mesh axis can split one dimension of an array only. JAX rejects the spec where it meets a mesh.

## Example
```python
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
sharding = NamedSharding(mesh, P("model", "model"))  # raises DuplicateSpecError
```

## Use instead
```python
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
sharding = NamedSharding(mesh, P("data", "model"))
```

## What JAX says
`NamedSharding(mesh, spec)` raises `DuplicateSpecError`, which is not a `ValueError`; `shard_map`
may raise it as late as lowering (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.PartitionSpec
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.values import Spec, entry_axes
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import SPEC_KINDS, SpecHolder, entry_place, spec_of


def check(use: SpecHolder, settings: RuleSettings) -> Iterable[Problem]:
    """Report an axis that JAX rejects because the spec names it twice."""
    verdict, spec = use.verdict, spec_of(use)
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.DUPLICATE_AXIS:
        return
    if not isinstance(spec, Spec) or verdict.axis is None:
        return
    yield Problem(
        f'axis "{verdict.axis}" is used twice{_where(spec, verdict.axis)}; '
        "a mesh axis can split one dimension only",
        entry_place(use, verdict.dimension),
    )


def _where(spec: Spec, axis: str) -> str:
    if axis in spec.unreduced | spec.reduced:
        return ", among them as unreduced or reduced"
    dimensions = [d for d, entry in enumerate(spec.entries) for name in entry_axes(entry) if name == axis]
    if len(dimensions) < 2:
        return ""
    first, second = dimensions[:2]
    return f" for dimension {first}" if first == second else f", for dimensions {first} and {second}"


RULE = Rule(
    code="SHL102",
    name="duplicate-spec-axis",
    summary="A PartitionSpec uses a mesh axis twice",
    docs=__doc__,
    kinds=SPEC_KINDS,
    check=check,
)
