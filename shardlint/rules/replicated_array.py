"""# replicated-array (SHL601)

## What it does
Finds arrays and parameters of 64 MiB or more (`replicated-bytes` sets the limit) that are placed
whole on every device of a mesh.

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
0.10.2). Constraints inside `jit` are not reported: gathering a weight there for one product is what
FSDP does.

## References
- https://docs.jax.dev/en/latest/parallel.html
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from shardlint.findings import Severity
from shardlint.laws.memory import dtype_size
from shardlint.laws.values import Spec, Unknown, entry_axes
from shardlint.laws.verdicts import Accepted, Api, Rejected
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.wording import ARRAY_KINDS, array_text, mesh_of, shape_text, spec_of
from shardlint.uses import ParameterUse, Placement

#: Calls that place nothing for long, or nothing at all.
_PASSING = (Api.CONSTRAINT, Api.DEVICE_PUT_IN_JIT, Api.SHARD_SHAPE)


def check(use: Placement | ParameterUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report an array that is large, and whole on each of several devices."""
    mesh, shape, itemsize = mesh_of(use), _static_shape(use), use.dtype and dtype_size(use.dtype)
    if mesh is None or shape is None or not itemsize or not _is_placed(use):
        return
    sizes = {name: size for name, size in zip(mesh.names, mesh.sizes, strict=True) if isinstance(size, int)}
    total = int(math.prod(shape) * itemsize)
    if len(sizes) < len(mesh.sizes) or total < settings.replicated_bytes or not _is_replicated(use, sizes):
        return
    devices = mesh.device_count
    yield Problem(
        f"{array_text(use)}, {shape_text(shape)} {use.dtype}, is whole on each of {devices} devices, "
        f"{bytes_text(total)} on each{_saving(shape, sizes, total)}",
        (use.names_place or use.place) if isinstance(use, ParameterUse) else use.place,
        severity=Severity.WARNING,
    )


def bytes_text(count: int) -> str:
    """Write a number of bytes in binary units: ``64 MiB``, ``1.5 GiB``."""
    amount, units = float(count), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while amount >= 1024 and len(units) > 1:
        amount /= 1024
        units.pop(0)
    return f"{amount:.1f}".removesuffix(".0") + f" {units[0]}"


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
    """Whether no axis of more than one device splits the array, of those there are."""
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


def _saving(shape: tuple[int, ...], sizes: dict[str, int], total: int) -> str:
    """What splitting over the largest axis that divides a dimension would leave on each device."""
    for axis, size in sorted(sizes.items(), key=lambda item: -item[1]):
        fitting = [d for d, length in enumerate(shape) if size > 1 and length and length % size == 0]
        if fitting:
            largest = max(fitting, key=lambda d: shape[d])
            left = bytes_text(total // size)
            return f'; splitting dimension {largest} over "{axis}" ({size} devices) would leave {left}'
    return ""


RULE = Rule(
    code="SHL601",
    name="replicated-array",
    summary="A large array is whole on every device",
    docs=__doc__,
    kinds=ARRAY_KINDS,
    check=check,
)
