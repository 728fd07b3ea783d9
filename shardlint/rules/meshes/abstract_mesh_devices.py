"""# abstract-mesh-devices (SHL408)

## What it does
Finds an `AbstractMesh`, or a `NamedSharding` on one, that is asked for its devices: by an attribute, or
outside of jit by a constraint on an array that does not lie on such a mesh.

## Why is this bad?
An `AbstractMesh` holds names and sizes only. `jax.sharding.get_abstract_mesh()` gives one, also where
`jax.set_mesh` set a mesh of devices.

## Example
```python
import jax
from jax.sharding import AbstractMesh

mesh = AbstractMesh((2, 4), ("data", "model"))
devices = mesh.devices  # raises ValueError
```

## Use instead
```python
import jax
import numpy as np
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
devices = mesh.devices
```

## What JAX says
`devices`, `device_ids`, `local_devices`, `local_mesh` and `is_multi_process` of an `AbstractMesh` raise
`ValueError`, and so do `device_set`, `addressable_devices` and `is_fully_addressable` of a sharding on it
(JAX 0.10.2). `axis_names`, `shape`, `size` and `axis_types` can be read.

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.AbstractMesh
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.meshes.contexts import CONCRETE_ONLY, PLACED_ONLY
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report operations on an abstract mesh that only a mesh of devices supports."""
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.DEVICES:
        return
    name = use.function.rpartition(".")[2]
    if name in CONCRETE_ONLY | PLACED_ONLY:
        yield Problem(f"{verdict.detail}; a Mesh has them", use.place)
    elif name == "with_sharding_constraint":
        yield Problem(f"{verdict.detail}; jax.device_put it on a Mesh of that shape first", use.place)


RULE = Rule(
    code="SHL408",
    name="abstract-mesh-devices",
    summary="An AbstractMesh is asked for devices",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
