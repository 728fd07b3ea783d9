"""# restored-without-sharding (SHL615)

## What it does
Finds arrays that Orbax restores without being told where to, in programs with a mesh of several devices, and
that are not placed afterwards: from a target whose arrays are on one device, a warning; an information if the
file also saves arrays on one device, and the target has no shardings, or there is none. Where there are also
shardings on such a mesh, that is said of every target without shardings of 64 MiB or more
(`max-replicated-bytes` sets the limit), or with a matrix whose shape is split elsewhere, unless the file
saves arrays that are split. And arrays that are restored as numpy arrays, and given to a jitted function
beside arrays that are split.

## Why is this bad?
An array of the target that lies on one device says that the restored one should lie there as well, however it
was saved: all weights end up in the memory of the first device, or on none if they do not fit. Without a
sharding, that of the checkpoint counts: what was saved on one device is restored on one device, and what was
saved on a mesh of other devices cannot be restored.

## Example
```python
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("fsdp",))
weights = {"kernel": jax.device_put(jnp.ones((64, 64)), NamedSharding(mesh, P("fsdp")))}
path = tempfile.mkdtemp() + "/weights"
with ocp.StandardCheckpointer() as checkpointer:
    checkpointer.save(path, weights)
with ocp.StandardCheckpointer() as checkpointer:
    restored = checkpointer.restore(path, {"kernel": jnp.zeros((64, 64))})
```

## Use instead
```python
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("fsdp",))
weights = {"kernel": jax.device_put(jnp.ones((64, 64)), NamedSharding(mesh, P("fsdp")))}
path = tempfile.mkdtemp() + "/weights"
with ocp.StandardCheckpointer() as checkpointer:
    checkpointer.save(path, weights)
target = {"kernel": jax.ShapeDtypeStruct((64, 64), jnp.float32, sharding=NamedSharding(mesh, P("fsdp")))}
with ocp.StandardCheckpointer() as checkpointer:
    restored = checkpointer.restore(path, target)
```

## What JAX says
Nothing. Orbax 0.12.8 warns where it takes the sharding from the file ("unsafe when restoring on a different
topology"), and says nothing of a target on one device.

## References
- https://github.com/google/orbax/issues/1110
- https://orbax.readthedocs.io/en/latest/guides/checkpoint/checkpointing_pytrees.html
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import Mesh, Unknown
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.placement.array_bytes import text_of_bytes
from shardlint.model.findings import Group, Severity
from shardlint.model.memory_uses import SAVED_ALONE, SAVED_SPLIT, RestoreUse
from shardlint.model.uses import CallUse, MeshUse, Placement, ShardingUse, Use
from shardlint.rules.base import Problem, ProjectRule, RuleSettings
from shardlint.rules.placements import splits


def check(
    uses: Sequence[RestoreUse | CallUse | MeshUse | Placement | ShardingUse], settings: RuleSettings
) -> Iterable[tuple[Use, Problem]]:
    """Report what is restored without a sharding, where the program has a mesh, and not placed afterwards."""
    placed = {use.made_at.resolve() for use in uses if isinstance(use, Placement) and use.made_at is not None}
    several = [use for use in uses if _is_of_several(use)]
    if not several:
        return
    kept = any(isinstance(use, CallUse) and use.function == SAVED_SPLIT for use in uses)
    laid = [] if kept else [use for use in uses if isinstance(use, Placement) and splits(use)]
    split = not all(isinstance(use, MeshUse) for use in several)
    saved = {use.place.path for use in uses if isinstance(use, CallUse) and use.function == SAVED_ALONE}
    for use in uses:
        if not isinstance(use, RestoreUse) or use.environment.test or use.place.resolve() in placed:
            continue
        if use.given_to is not None:
            others = f" and {use.number - 1} more are" if use.number > 1 else " is"
            text = (
                f"{use.subject}{others} restored as numpy for `{use.given_to}`: each call copies it whole to "
                "every device of the mesh; give shardings"
            )
            yield use, Problem(text, use.place, severity=Severity.WARNING)
            continue
        here = use.place.path in saved
        # What is restored without a target is not known, nor whether it is placed afterwards.
        if use.subject is None and not here:
            continue
        more = f" and {use.number - 1} more, {text_of_bytes(use.total)} in all," if use.number > 1 else ""
        if use.alone:
            text = (
                f"{use.subject}{more} of the target {'is' if use.number == 1 else 'are'} on one device, and "
                "what is restored is whole on that device, however it was saved; give shardings"
            )
            yield use, Problem(text, use.place, severity=Severity.WARNING)
            continue
        like = next((one for one in laid if one.shape in use.shapes), None)
        if not here and like is None and (not split or use.total < settings.replicated_bytes):
            continue
        what = (
            "no sharding says" if use.subject is None else f"{use.subject}{more} of the target does not say"
        )
        text = f"{what} where to restore: each array gets the layout that it was saved with"
        if like is not None:
            text += f", though {like.subject}, of the shape of one, is split by {like.spec}"
        yield use, Problem(text, use.place, severity=Severity.INFO)


def _is_of_several(use: Use) -> bool:
    """Return whether a use is of a mesh of several devices."""
    if isinstance(use, MeshUse):
        sizes = () if isinstance(use.shape, Unknown) else use.shape
        return isinstance(use.verdict, Accepted) and any(equal(size, 1) is False for size in sizes)
    mesh = use.mesh if isinstance(use, Placement | ShardingUse) else None
    return isinstance(mesh, Mesh) and equal(mesh.device_count, 1) is False


RULE = ProjectRule(
    code="SHL615",
    name="restored-without-sharding",
    summary="A checkpoint is restored without shardings",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(RestoreUse, CallUse, MeshUse, Placement, ShardingUse),
    check=check,
)
