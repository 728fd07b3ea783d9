"""# spec-without-mesh (SHL206)

## What it does
Finds a bare `PartitionSpec` where no mesh is set.

## Why is this bad?
A spec names axes; without a mesh there are none. `with jax.set_mesh(mesh):` or `jax.set_mesh(mesh)`
gives it one, and `NamedSharding(mesh, spec)` brings its own.

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
`RuntimeError`; `nnx.Param(out_sharding=)` raises `ValueError` (JAX 0.10.2, Flax 0.12.8). Flax does
not see `with mesh:`.

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.set_mesh.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.verdicts import Cause, Rejected
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.wording import SPEC_KINDS, SpecHolder, api_text, spec_text
from shardlint.uses import ParameterUse


def check(use: SpecHolder, settings: RuleSettings) -> Iterable[Problem]:
    """Report a spec for which JAX finds no mesh."""
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.NO_MESH:
        return
    bind = "" if isinstance(use, ParameterUse) else f", or pass NamedSharding(mesh, {spec_text(use)})"
    place = (use.names_place or use.place) if isinstance(use, ParameterUse) else use.place
    yield Problem(
        f"{api_text(use)} is given {spec_text(use)} where no mesh is set; "
        f"set one with jax.set_mesh(mesh){bind}",
        place,
    )


RULE = Rule(
    code="SHL206",
    name="spec-without-mesh",
    summary="A bare PartitionSpec is used where no mesh is set",
    docs=__doc__,
    kinds=SPEC_KINDS,
    check=check,
)
