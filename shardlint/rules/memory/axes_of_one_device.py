"""# axes-of-one-device (SHL608)

## What it does
Finds arrays whose specs name only axes of one device, on a mesh that has larger ones: an information.

## Why is this bad?
The array is meant to be split and lies whole on every device. Often the axis that was meant has another name:
the batch is split over ``data``, which is 1, and the devices are all on ``fsdp``, so that each computes the
whole batch. Where a mesh deliberately has one device on that axis, nothing is wrong.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(1, 8), ("data", "fsdp"))
batch = jax.device_put(jnp.ones((32, 16)), NamedSharding(mesh, P("data")))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(1, 8), ("data", "fsdp"))
batch = jax.device_put(jnp.ones((32, 16)), NamedSharding(mesh, P(("data", "fsdp"))))
```

## What JAX says
Nothing: an axis of one device splits an array in one part (JAX 0.10.2). In tests, and in files named as
tests are (`test_*.py`, `*_test.py`, `conftest.py`), nothing is reported: they make meshes with axes of one
device on purpose, to try a layout on them.

## References
- https://github.com/AI-Hypercomputer/maxdiffusion/issues/89
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.values import Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Api
from shardlint.model.findings import Group, Severity
from shardlint.model.uses import Placement
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import array_text, names_text
from shardlint.source.workspace.test_files import is_named_as_test

#: Calls that show where an array would lie, and put it nowhere.
_ASKING = (Api.SHARD_SHAPE, Api.SHAPE_DTYPE_STRUCT, Api.LINEN_SHARDING, Api.NNX_SHARDING)


def check(use: Placement, settings: RuleSettings) -> Iterable[Problem]:
    """Report an array that no axis of its spec splits, though the mesh has axes that would."""
    mesh, spec = use.mesh, use.spec
    if not isinstance(mesh, Mesh) or not isinstance(spec, Spec) or not isinstance(use.verdict, Accepted):
        return
    if use.environment.test or is_named_as_test(use.place.path):
        return
    if use.api in _ASKING or any(isinstance(entry, Unknown) for entry in spec.entries):
        return
    sizes = {name: size for name, size in zip(mesh.names, mesh.sizes, strict=True) if isinstance(size, int)}
    axes = tuple(dict.fromkeys(axis for entry in spec.entries for axis in entry_axes(entry)))
    larger = tuple(f'"{name}" ({size})' for name, size in sizes.items() if size > 1)
    if not axes or not larger or any(sizes.get(axis) != 1 for axis in axes):
        return
    yield Problem(
        f"{array_text(use)} is whole on every device: {names_text(axes)} "
        f"{'has' if len(axes) == 1 else 'have'} one device, and the mesh's others are on {', '.join(larger)}",
        next((place for place in use.entry_places if place is not None), use.place),
        severity=Severity.INFO,
    )


RULE = Rule(
    code="SHL608",
    name="axes-of-one-device",
    summary="A spec names only axes of size 1, although the mesh has larger ones",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(Placement,),
    check=check,
)
