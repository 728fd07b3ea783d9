"""# replicated-array (SHL601)

## What it does
Finds arrays and parameters of 64 MiB or more (`max-replicated-bytes` sets the limit) that end up whole on
every device of a mesh: placed with an empty spec, without partitioning, or made by a function that is
jitted under `jax.set_mesh` without `out_shardings`.

## Why is this bad?
Nothing fails until memory runs out. Each device holds all of it, where it could hold a part; an
optimizer keeps two or three more arrays of the same size.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
table = jnp.zeros((8192, 2048), device=NamedSharding(mesh, P()))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
table = jnp.zeros((8192, 2048), device=NamedSharding(mesh, P("model")))
```

## What JAX says
Nothing. `P()`, `P(None)` and a parameter without partitioning mean the same: replicated (JAX
0.10.2). The names that `nn.with_partitioning` gives a parameter are metadata: `jax.jit(model.init)`
without `out_shardings` leaves it whole all the same. Constraints inside `jit` are not reported:
gathering a weight there for one product is what FSDP does.

## References
- https://docs.jax.dev/en/latest/parallel.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.values import Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Api, Rejected
from shardlint.laws.placement.array_bytes import array_bytes, best_split, text_of_bytes
from shardlint.model.findings import Group, Severity
from shardlint.model.uses import ParameterUse, Placement
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import ARRAY_KINDS, array_text, entry_of, mesh_of, shape_text, spec_of

#: Calls that place nothing for long, or nothing at all.
_PASSING = (Api.CONSTRAINT, Api.DEVICE_PUT_IN_JIT, Api.SHARD_SHAPE)


def check(use: Placement | ParameterUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a large array that is replicated on several devices."""
    mesh, shape = mesh_of(use), _static_shape(use)
    total = None if shape is None else array_bytes(shape, use.dtype)
    if mesh is None or shape is None or total is None or not _is_placed(use):
        return
    sizes = {name: size for name, size in zip(mesh.names, mesh.sizes, strict=True) if isinstance(size, int)}
    if len(sizes) < len(mesh.sizes) or total < settings.replicated_bytes or not _is_replicated(use, sizes):
        return
    yield Problem(
        f"{array_text(use)}, {shape_text(shape)} {use.dtype}, is whole on every device: "
        f"{text_of_bytes(total)} on each of {mesh.device_count} devices{_saving(use, mesh, shape, total)}",
        (use.names_place or use.place) if isinstance(use, ParameterUse) else use.place,
        severity=Severity.WARNING,
    )


def _is_placed(use: Placement | ParameterUse) -> bool:
    if isinstance(use, Placement):
        return isinstance(use.verdict, Accepted) and use.api not in _PASSING
    return not isinstance(use.verdict, Rejected)


def _static_shape(use: Placement | ParameterUse) -> tuple[int, ...] | None:
    if isinstance(use.shape, Unknown):
        return None
    static = tuple(size for size in use.shape if isinstance(size, int))
    return static if len(static) == len(use.shape) else None


def _is_replicated(use: Placement | ParameterUse, sizes: dict[str, int]) -> bool:
    """Return whether no axis of more than one device splits the array."""
    if all(size == 1 for size in sizes.values()):
        return False
    spec = spec_of(use)
    if spec is None:
        return isinstance(use, ParameterUse)
    if not isinstance(spec, Spec) or spec.unreduced:
        return False
    if any(isinstance(entry, Unknown) for entry in spec.entries):
        return False
    return all(sizes.get(axis, 2) == 1 for entry in spec.entries for axis in entry_axes(entry))


def _saving(use: Placement | ParameterUse, mesh: Mesh, shape: tuple[int, ...], total: int) -> str:
    """Return the effect of the best split over one axis on each device; a named dimension is given by its
    name."""
    split = best_split(mesh, shape)
    if split is None:
        return ""
    name = entry_of(use, split.dimension)
    dimension = f'"{name}"' if isinstance(name, str) else f"dimension {split.dimension}"
    return f'; {text_of_bytes(total / split.ways)} if {dimension} is sharded over "{split.axis}"'


RULE = Rule(
    code="SHL601",
    name="replicated-array",
    summary="A large array is whole on every device",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=ARRAY_KINDS,
    check=check,
)
