"""# mesh-smaller-than-devices (SHL405)

## What it does
Finds a `jax.make_mesh` that takes fewer devices than there are, where their number is known: from
`XLA_FLAGS` in the program, `--devices`, `jax_num_cpu_devices` or `# shardlint: devices=8`.

Meshes of one device, and meshes of devices that the program chose (`devices=jax.devices()[:4]`), are meant.

## Why is this bad?
`jax.make_mesh` takes the first devices and says nothing of the others, which then hold nothing and compute
nothing.

## Example
```python
import jax

mesh = jax.make_mesh((2, 2), ("data", "model"))
```

## Use instead
```python
import jax

mesh = jax.make_mesh((4, 2), ("data", "model"))
```

## What JAX says
Nothing (JAX 0.10.2). `jax.experimental.mesh_utils.create_device_mesh` raises instead.

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.make_mesh.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Accepted
from shardlint.model.findings import Group
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a mesh that leaves devices idle."""
    if use.function != "jax.make_mesh" or use.silent is None or not isinstance(use.verdict, Accepted):
        return
    yield Problem(
        f"the mesh {use.silent}, and the others stay idle; "
        "let the sizes multiply to their number, or choose some with devices=",
        use.place,
    )


RULE = Rule(
    code="SHL405",
    name="mesh-smaller-than-devices",
    summary="A mesh uses fewer devices than there are",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
