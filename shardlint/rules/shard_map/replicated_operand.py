"""# replicated-operand (SHL309)

## What it does
Finds collectives over an axis that the array does not vary over, and casts to vary over one that it varies
over already.

## Why is this bad?
A sum of what all devices along an axis hold equally is that value times their number: a second `psum`, or a
`psum` of a gradient that JAX has summed already, makes no error, only wrong numbers. A `pmean` of such a
gradient leaves the sum as it is. A ring over one axis, by `ppermute`, of what only another axis splits moves
nothing: each device sees its own part in each round. Where JAX cannot tell what is meant, it raises: a cast
of what varies already, or a sum over two axes of what varies over one of them.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def gradient(w, x):
    g = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return jax.lax.pmean(g, "data")


step = jax.shard_map(gradient, mesh=mesh, in_specs=(P(), P("data")), out_specs=P())
step(jnp.ones(4), jnp.ones((8, 4)))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def gradient(w, x):
    return jax.grad(lambda w: jax.lax.pmean(jnp.mean((x @ w) ** 2), "data"))(w)


step = jax.shard_map(gradient, mesh=mesh, in_specs=(P(), P("data")), out_specs=P())
step(jnp.ones(4), jnp.ones((8, 4)))
```

## What JAX says
Nothing, of reductions. `ValueError` when it traces a `pcast` to varying of what varies, or a `psum`, `pmean`
or `psum_scatter` over several axes some of which the array varies over (JAX 0.10.2). With ``check_vma=False``
none of these, and gradients are not summed.

## References
- https://docs.jax.dev/en/latest/notebooks/shard_map.html#tracking-how-values-vary-over-manual-mesh-axes-and-check-vma-true
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.findings import Group
from shardlint.model.uses import CollectiveUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import names_text

_PERMUTING = ("ppermute", "pshuffle")
_REDUCE_ALSO = ("psum", "pmean", "psum_scatter")


def check(use: CollectiveUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a collective that is not suitable for the axes over which its array varies."""
    verdict, axes = use.verdict, names_text(use.axes)
    if isinstance(verdict, Rejected):
        if verdict.cause is Cause.OPERAND:
            yield Problem(f"`{use.function}` over {axes}: {verdict.detail}{_way_out(use)}", use.place)
    elif use.silent is not None and (use.function not in _PERMUTING or use.varying is not None):
        # Of an exchange that leaves out devices, no array is told.
        yield Problem(f"`{use.function}` over {axes}: {use.silent}", use.place)


def _way_out(use: CollectiveUse) -> str:
    if use.function in _REDUCE_ALSO:
        varying = [axis for axis in use.axes if axis in (use.varying or ())]
        return f"; reduce over {names_text(varying)} only" if varying else ""
    return ""


RULE = Rule(
    code="SHL309",
    name="replicated-operand",
    summary="A collective over an axis that its array does not vary over, or a cast without effect",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CollectiveUse,),
    check=check,
)
