"""# mesh-device-count (SHL403)

## What it does
Finds a mesh that needs another number of devices than there are, where that number is known: from
`XLA_FLAGS` in the program, `--devices`, `jax_num_cpu_devices` or `# shardlint: devices=8`.

## Why is this bad?
The product of the axis sizes is the number of devices. `jax.make_mesh` may use fewer than there
are, never more; `create_device_mesh` needs exactly as many, and `create_hybrid_device_mesh` as many as its
two shapes hold together.

## Example
```python
import jax

mesh = jax.make_mesh((4, 4), ("data", "model"))  # raises ValueError
```

## Use instead
```python
import jax

mesh = jax.make_mesh((2, 4), ("data", "model"))
```

## What JAX says
`jax.make_mesh` and `create_device_mesh` raise `ValueError` (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.make_mesh.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.dims import product
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import CallUse, MeshUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import RESHAPE, shape_text, size_text


def check(use: MeshUse | CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a mesh with more, or fewer, devices than there are."""
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.DEVICE_COUNT:
        return
    if isinstance(use, CallUse):
        if verdict.size is not None and verdict.ways is not None:
            yield Problem(
                f"the two shapes together hold {size_text(verdict.ways)} devices, "
                f"and there are {size_text(verdict.size)}",
                use.place,
            )
        return
    if verdict.stage == RESHAPE or isinstance(use.shape, Unknown) or use.devices is None:
        return
    needed = product(use.shape)
    yield Problem(
        f"a mesh of shape {shape_text(use.shape)} needs {size_text(needed)} devices, "
        f"and there are {size_text(use.devices)}; the axis sizes must multiply to that",
        use.shape_place or use.place,
    )


RULE = Rule(
    code="SHL403",
    name="mesh-device-count",
    summary="A mesh needs a different number of devices than there are",
    docs=__doc__,
    kinds=(MeshUse, CallUse),
    check=check,
)
