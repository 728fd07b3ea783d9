"""# spec-without-mesh (SHL206)

## What it does
Finds a bare `PartitionSpec` where no mesh is set, or where a sharding is needed.

## Why is this bad?
A spec names axes; without a mesh there are none. `with jax.set_mesh(mesh):` or `jax.set_mesh(mesh)`
gives it one, and `NamedSharding(mesh, spec)` brings its own. A thread has none of the meshes that others set:
neither one of `threading.Thread` nor one of an executor.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

x = jax.device_put(jnp.ones((8, 16)), P("data"))  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, P("data")))
```

## What JAX says
`device_put` raises `ValueError`; `jit`'s shardings and `with_sharding_constraint` raise
`RuntimeError`; `nnx.Param(out_sharding=)` raises `ValueError`. `jnp.zeros(device=)` and
`make_array_from_callback` take no bare spec under any mesh: `AttributeError` and `TypeError` (JAX
0.10.2, Flax 0.12.8). Flax does not see `with mesh:`.

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.set_mesh.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.values import Junk
from shardlint.laws.core.verdicts import Api, Cause, Rejected
from shardlint.model.uses import Placement
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import (
    SPEC_KINDS,
    SpecHolder,
    api_text,
    entry_place,
    is_nnx,
    is_parameter,
    spec_of,
    spec_text,
)

_SHARD_MAP = (Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT)


def check(use: SpecHolder, settings: RuleSettings) -> Iterable[Problem]:
    """Report a spec for which JAX finds no mesh, or one where only a sharding is allowed."""
    verdict, place = use.verdict, entry_place(use, None)
    if not isinstance(verdict, Rejected):
        return
    spec = spec_of(use)
    none = isinstance(spec, Junk) and spec.text == "None"
    given, wanted = ("None", "P()") if none else (spec_text(use), spec_text(use))
    bound = f"NamedSharding(mesh, {wanted})"
    if verdict.cause is Cause.BAD_ARGUMENT and isinstance(use, Placement):
        yield Problem(f"{api_text(use)} takes a sharding, not a bare {spec_text(use)}; pass {bound}", place)
    elif verdict.cause is Cause.NO_MESH:
        way_out = "set one with jax.set_mesh(mesh)"
        if is_nnx(use):
            way_out += " (`with mesh:` sets none for nnx)"
        if isinstance(use, Placement) and not is_parameter(use):
            way_out += ", or pass " + ("mesh=" if use.api in _SHARD_MAP else bound)
        yield Problem(f"{api_text(use)} is given {given} where no mesh is set; {way_out}", place)


RULE = Rule(
    code="SHL206",
    name="spec-without-mesh",
    summary="A bare PartitionSpec is used where no mesh is set or a sharding is needed",
    docs=__doc__,
    kinds=SPEC_KINDS,
    check=check,
)
