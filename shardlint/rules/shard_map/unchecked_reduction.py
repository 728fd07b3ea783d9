"""# unchecked-reduction (SHL311)

## What it does
Finds results of a `shard_map` with `check_vma=False` that vary over a mesh axis which their `out_specs` do
not name; results of a `pmap` that differ from device to device, and for which its `out_axes` are None;
`flax.jax_utils.unreplicate` of such numbers; and copies of `flax.jax_utils.replicate` that the program
replaces by such numbers (`state, loss = step(state, batch)`).

## Why is this bad?
Each device along the axis holds another value, and the spec promises one value for all of them. With the
check turned off nothing is raised: the result is that of any one device, a part of a sum that looks like the
whole.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def loss(x):
    return jnp.mean(x**2)


total = jax.shard_map(loss, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
total(jnp.ones((8, 4)))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def loss(x):
    return jax.lax.pmean(jnp.mean(x**2), "data")


total = jax.shard_map(loss, mesh=mesh, in_specs=P("data"), out_specs=P())
total(jnp.ones((8, 4)))
```

## What JAX says
Nothing. With `check_vma=True`, the default, `shard_map` raises `ValueError`; `pmap` has no such check (JAX
0.10.2, 0.12.0.1). What devices have exchanged by other means than a reduction, as by `ppermute`, is not taken
to differ. Of what a `pmap` returns only numbers are told, and not keys, which are to differ.

## References
- https://docs.jax.dev/en/latest/notebooks/shard_map.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings

#: The ends of `CallUse.function`, and of shard_map's flag, old and new.
_UNCHECKED = "(check_vma=False)"


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a result that differs between devices, of which JAX takes one unchecked."""
    if use.silent is not None and use.function.endswith(_UNCHECKED):
        yield Problem(
            f"{use.silent}, which its spec does not name, and check_vma=False lets it pass: the result is "
            "that of one device; reduce it with jax.lax.psum or pmean, or name the axis in out_specs",
            use.place,
        )
    elif use.silent is not None and use.function == "flax.jax_utils.unreplicate":
        yield Problem(
            f"{use.silent}, and the first device's is taken for that of all; reduce it there with "
            "jax.lax.pmean or psum",
            use.place,
        )
    elif use.silent is not None and use.function == "jax.pmap(out_axes=None)":
        yield Problem(
            f"{use.silent}, and None in out_axes keeps the first device's, without those of the others; "
            "reduce it in the function with jax.lax.pmean or psum, or give it an axis in out_axes",
            use.place,
        )
    elif use.silent is not None and use.function == "jax.pmap(drifting)":
        yield Problem(
            f"{use.silent} from device to device: average the gradients there with jax.lax.pmean",
            use.place,
        )


RULE = Rule(
    code="SHL311",
    name="unchecked-reduction",
    summary="check_vma=False hides that a result of shard_map varies over an axis that out_specs do not name",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
