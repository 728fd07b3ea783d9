"""# unknown-collective-axis (SHL303)

## What it does
Finds a collective (`psum`, `all_gather`, `axis_index`, …) over an axis that is not bound where it
runs, or over which `jax.sharding.no_collectives` forbids it.

## Why is this bad?
A collective talks to the devices along an axis that `shard_map` has made manual (or that
`vmap(axis_name=)` binds). Another name is unbound, and so is every mesh axis outside `shard_map`,
even inside `jit`.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def gather(x):
    return jax.lax.all_gather(x, "dp", tiled=True)


gathered = jax.shard_map(gather, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
gathered(jnp.ones((8, 4)))  # raises NameError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def gather(x):
    return jax.lax.all_gather(x, "data", tiled=True)


gathered = jax.shard_map(gather, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
gathered(jnp.ones((8, 4)))
```

## What JAX says
`NameError` when the body is traced; under `check_vma=True` some collectives raise `AssertionError`
(JAX 0.10.2). `ForbiddenCollectiveError` under `no_collectives` (JAX 0.12.0).

## References
- https://docs.jax.dev/en/latest/notebooks/shard_map.html#collectives-tutorial
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.spans import Place
from shardlint.model.uses import CollectiveUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import forbidden_text, names_text, near_miss
from shardlint.rules.shared_fixes import nearest_axis


def check(use: CollectiveUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report an axis that is not bound, or an axis of vmap where only mesh axes are allowed."""
    verdict, bound = use.verdict, use.environment.bound_axes
    if isinstance(verdict, Rejected) and verdict.cause is Cause.UNSUPPORTED:
        yield Problem(
            f"`{use.function}` inside shard_map: {verdict.detail}; "
            "use the array's own dimension, or turn the check off with check_vma=False",
            _place(use, verdict.axis or ""),
        )
        return
    if isinstance(verdict, Rejected) and verdict.cause is Cause.FORBIDDEN_COLLECTIVE:
        yield Problem(forbidden_text(use.function, verdict), _place(use, verdict.axis or ""))
        return
    if (
        not isinstance(verdict, Rejected)
        or verdict.cause is not Cause.UNBOUND_AXIS
        or isinstance(bound, Unknown)
    ):
        return
    axis = verdict.axis or ""
    names = [name for name, _ in bound]
    if names:
        there = "axis bound here is" if len(names) == 1 else "axes bound here are"
        why = f"but the {there} {names_text(names)}{near_miss(axis, names)}"
    else:
        why = "but no mesh axis is bound here; call it under jax.shard_map"
    yield Problem(f'`{use.function}` runs over "{axis}", {why}', _place(use, axis))


def _place(use: CollectiveUse, axis: str) -> Place:
    places = dict(zip(use.axes, use.axis_places, strict=False))
    return places.get(axis) or use.place


RULE = Rule(
    code="SHL303",
    name="unknown-collective-axis",
    summary="A collective runs over an axis that is not bound there",
    docs=__doc__,
    kinds=(CollectiveUse,),
    check=check,
    fix=nearest_axis,
)
