"""# unconstrained-not-allowed (SHL204)

## What it does
Finds `P.UNCONSTRAINED` where the layout must be definite.

## Why is this bad?
`UNCONSTRAINED` leaves a dimension to the compiler, so it means something in
`with_sharding_constraint` only. An array that is placed, or an argument or result of `jit`, needs a
definite layout.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, P(P.UNCONSTRAINED, "model")))  # raises KeyError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, P(None, "model")))
```

## What JAX says
`device_put` raises `KeyError`; `jit`'s in_shardings and out_shardings raise `ValueError` (JAX
0.10.2).

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.PartitionSpec
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.findings import Fix
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import SPEC_KINDS, SpecHolder, api_text, entry_place

if TYPE_CHECKING:
    from shardlint.fixes.rewrites.fix_request import FixRequest


def check(use: SpecHolder, settings: RuleSettings) -> Iterable[Problem]:
    """Report UNCONSTRAINED where JAX rejects it."""
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.UNCONSTRAINED:
        return
    yield Problem(
        f"{api_text(use)} needs a definite layout, and P.UNCONSTRAINED leaves dimension {verdict.dimension} "
        "to the compiler; name an axis, or None",
        entry_place(use, verdict.dimension),
    )


def fix(request: FixRequest) -> Fix:
    """Return the fix that writes None for a layout that is left open."""
    import libcst as cst

    from shardlint.fixes.rewrites.fix_request import UNSAFE, in_place_of
    from shardlint.fixes.syntax.program_tree import CannotFix

    node = request.node()
    if not isinstance(node, cst.Attribute):
        raise CannotFix
    return request.fix("write None", UNSAFE, {node: in_place_of("None")})


RULE = Rule(
    code="SHL204",
    name="unconstrained-not-allowed",
    summary="P.UNCONSTRAINED is used where JAX needs a definite layout",
    docs=__doc__,
    kinds=SPEC_KINDS,
    check=check,
    fix=fix,
)
