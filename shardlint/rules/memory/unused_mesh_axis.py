"""# unused-mesh-axis (SHL602)

## What it does
Finds an axis of more than one device, of a mesh that holds large arrays, that no spec and no collective
of the program names.

## Why is this bad?
Devices along an axis that nothing is split over all hold and compute the same. A mesh of (2, 4) whose
second axis is unused does the work of two devices on eight.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
table = jnp.zeros((8192, 4096), device=NamedSharding(mesh, P("data")))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
table = jnp.zeros((8192, 4096), device=NamedSharding(mesh, P("data", "model")))
```

## What JAX says
Nothing: each shard lies on as many devices as the axis has (JAX 0.10.2). It is reported only where the
program places an array of `max-replicated-bytes` or more on the mesh, everything that it places is known,
and the axis is written nowhere else.

## References
- https://docs.jax.dev/en/latest/notebooks/Distributed_arrays_and_automatic_parallelization.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from shardlint.laws.core.values import Marker, Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Api
from shardlint.laws.placement.array_bytes import device_bytes, text_of_bytes
from shardlint.model.findings import Group, Severity
from shardlint.model.uses import (
    CallUse,
    CollectiveUse,
    LogicalAxesUse,
    MeshUse,
    OperationUse,
    ParameterUse,
    Placement,
    ShardingUse,
    SpecUse,
    Use,
)
from shardlint.rules.base import Problem, ProjectRule, RuleSettings
from shardlint.rules.messages.common import array_text

#: Calls that show where an array would lie, and put it nowhere.
_ASKING = (Api.SHARD_SHAPE, Api.SHAPE_DTYPE_STRUCT, Api.LINEN_SHARDING, Api.NNX_SHARDING)


def check(uses: Sequence[Use], settings: RuleSettings) -> Iterable[tuple[Use, Problem]]:
    """Report each axis of a mesh that nothing is sharded over, if the whole program is known."""
    used = {axis for use in uses for axis in _axes(use)}
    by_path: dict[str, list[Use]] = {}
    for use in uses:
        by_path.setdefault(use.place.path, []).append(use)
    for ours in by_path.values():
        if any(_is_open(use) for use in ours):
            continue
        for mesh in (use for use in ours if isinstance(use, MeshUse)):
            largest = max(_held(ours, mesh), key=lambda one: one[0], default=None)
            if largest is None or largest[0] < settings.replicated_bytes:
                continue
            for axis, size in _unused(mesh, used):
                yield mesh, _problem(mesh, axis, size, *largest)


def _problem(mesh: MeshUse, axis: str, size: int, count: int, array: Placement) -> Problem:
    return Problem(
        f'nothing is split over "{axis}" ({size} devices): what lies on this mesh is held {size} times over, '
        f"{array_text(array)} with {text_of_bytes(count)} on each device",
        mesh.names_place or mesh.place,
        severity=Severity.WARNING,
    )


def _unused(mesh: MeshUse, used: set[str]) -> Iterator[tuple[str, int]]:
    """Yield the axes of several devices that neither a use nor the text names again."""
    if not isinstance(mesh.names, tuple) or isinstance(mesh.shape, Unknown) or mesh.mentioned is None:
        return
    for name, size in zip(mesh.names, mesh.shape, strict=False):
        if isinstance(size, int) and size > 1 and name not in used | mesh.mentioned:
            yield name, size


def _held(uses: Iterable[Use], mesh: MeshUse) -> Iterator[tuple[int, Placement]]:
    """Yield each device's share of the arrays that the program splits over the mesh.

    Replicated arrays have a rule of their own.
    """
    if not isinstance(mesh.verdict, Accepted) or mesh.environment.entry is not None:
        return
    for use in uses:
        if not isinstance(use, Placement) or not isinstance(use.mesh, Mesh) or use.mesh.abstract:
            continue
        placed = (
            isinstance(use.verdict, Accepted) and use.api not in _ASKING and use.environment.entry is None
        )
        sizes = isinstance(use.spec, Spec) and not isinstance(use.shape, Unknown)
        if (
            placed
            and sizes
            and any(_axes(use))
            and (use.mesh.names, use.mesh.sizes) == (mesh.names, mesh.shape)
        ):
            assert isinstance(use.spec, Spec) and not isinstance(use.shape, Unknown)
            # Where JAX takes more entries than there are dimensions, the others are None.
            spec = Spec(use.spec.entries[: len(use.shape)])
            count = device_bytes(use.mesh, spec, use.shape, use.dtype)
            if count is not None:
                yield count, use


def _specs(use: Use) -> Iterator[object]:
    if isinstance(use, SpecUse | ShardingUse | Placement):
        yield use.spec
    if isinstance(use, ParameterUse):
        yield from (use.names, use.axes)
    if isinstance(use, OperationUse):
        yield from (operand.sharding.spec for operand in use.operands if operand.sharding is not None)


def _axes(use: Use) -> Iterator[str]:
    """Yield the axes that a use names."""
    for spec in _specs(use):
        if isinstance(spec, Spec):
            yield from (axis for entry in spec.entries for axis in entry_axes(entry))
            yield from spec.unreduced | spec.reduced
    if isinstance(use, CollectiveUse | LogicalAxesUse):
        yield from use.axes


def _is_open(use: Use) -> bool:
    """Return whether a use may involve any axis: an unknown spec, or one that leaves it to the compiler."""
    for spec in _specs(use):
        if isinstance(spec, Unknown):
            return True
        if isinstance(spec, Spec):
            parts = [
                part for entry in spec.entries for part in (entry if isinstance(entry, tuple) else (entry,))
            ]
            if any(isinstance(part, Unknown | Marker) for part in parts):
                return True
    return isinstance(use, Placement | ShardingUse) and isinstance(use.mesh, Unknown)


RULE = ProjectRule(
    code="SHL602",
    name="unused-mesh-axis",
    summary="Nothing is split over a mesh axis of several devices",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(
        CallUse, CollectiveUse, MeshUse, OperationUse, ParameterUse, Placement, ShardingUse, SpecUse
    ),
    check=check,
    rests_on_absence=True,
)  # fmt: skip
