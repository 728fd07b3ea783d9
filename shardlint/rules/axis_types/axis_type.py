"""# axis-type (SHL701)

## What it does
Finds calls that do not take mesh axes of the type they get, such as an unreduced axis that is Auto.

## Why is this bad?
An axis is Auto (the compiler decides), Explicit (the type of the array decides) or Manual (inside
`shard_map`). `jax.make_mesh` makes Explicit axes since JAX 0.9, `Mesh(...)` Auto ones, and each
call takes some types only.

## Example
```python
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
partial_sums = NamedSharding(mesh, P("data", unreduced={"model"}))  # raises ValueError
```

## Use instead
```python
import jax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))
partial_sums = NamedSharding(mesh, P("data", unreduced={"model"}))
```

## What JAX says
`NamedSharding` raises `ValueError` for an unreduced or reduced axis that is not Explicit (JAX
0.10.2).

## References
- https://docs.jax.dev/en/latest/parallel.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.values import AxisType, Spec, entry_axes
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import Placement
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import (
    SPEC_KINDS,
    SpecHolder,
    api_text,
    entry_of,
    entry_place,
    mesh_of,
    spec_of,
)

_WAY_OUT = {
    AxisType.EXPLICIT: "use jax.sharding.reshard, or make the mesh with axis_types=(AxisType.Auto, ...)",
    AxisType.AUTO: "use with_sharding_constraint, or make the mesh with axis_types=(AxisType.Explicit, ...)",
    AxisType.MANUAL: "inside shard_map only the axes that stay Auto may be named",
}


def check(use: SpecHolder, settings: RuleSettings) -> Iterable[Problem]:
    """Report an axis of a type that the call does not accept."""
    verdict, mesh = use.verdict, mesh_of(use)
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.AXIS_TYPE:
        return
    named = verdict.axis or next(iter(entry_axes(entry_of(use, verdict.dimension))), None)
    # What to change is the call or the mesh, not the spec, unless the spec itself is refused.
    place = use.place if isinstance(use, Placement) else entry_place(use, verdict.dimension)
    if mesh is None or named is None or named not in mesh.names:
        detail = f": {verdict.detail}" if verdict.detail else ""
        yield Problem(f"{api_text(use)} does not take the mesh's axis types{detail}", place)
        return
    kind = mesh.type_of(named)
    article = "a" if kind is AxisType.MANUAL else "an"
    yield Problem(f'"{named}" is {article} {kind} axis, {_way_out(use, named, kind)}', place)


def _way_out(use: SpecHolder, axis: str, kind: AxisType) -> str:
    spec = spec_of(use)
    if isinstance(spec, Spec) and axis in spec.unreduced | spec.reduced:
        explicit = "make the mesh with axis_types=(AxisType.Explicit, ...)"
        return f"and only Explicit axes can be unreduced or reduced; {explicit}"
    return f"which {api_text(use)} does not take; {_WAY_OUT[kind]}"


RULE = Rule(
    code="SHL701",
    name="axis-type",
    summary="A call does not accept mesh axes of this type",
    docs=__doc__,
    kinds=SPEC_KINDS,
    check=check,
)
