"""# not-an-array (SHL213)

## What it does
Finds functions, strings and other objects in a tree that `jax.device_put` places, or that is an argument of a
jitted function, and `jax.ShapeDtypeStruct`s that `jax.device_put` is to place.

## Why is this bad?
A leaf of a tree that JAX takes is an array or a number. The activations in a module of Equinox are leaves,
and so is an object of a class that is not registered as a pytree, with all that it holds.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("data",))
layer = {"kernel": jnp.ones((16, 8)), "activation": jax.nn.relu}
layer = jax.device_put(layer, NamedSharding(mesh, P()))  # raises TypeError
```

## Use instead
```python
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("data",))
layer = {"kernel": jnp.ones((16, 8)), "activation": jax.nn.relu}
layer["kernel"] = jax.device_put(layer["kernel"], NamedSharding(mesh, P()))
```

## What JAX says
`TypeError` as the function is called, inside jit as well (JAX 0.10.2, 0.12.0.1). Static arguments of jit
(`static_argnums`) may be anything that has a hash. For modules of Equinox there are `equinox.filter_shard`
and `equinox.filter_jit`, which pass the arrays alone.

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.device_put.html
- https://docs.jax.dev/en/latest/pytrees.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Rejected
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings

_ENDING = "(leaf)"


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a leaf that is no array."""
    verdict = use.verdict
    if not use.function.endswith(_ENDING) or not isinstance(verdict, Rejected):
        return
    function = use.function.removesuffix(_ENDING)
    takes = "a jitted function takes" if function == "jax.jit" else f"`{function}` takes"
    yield Problem(f"{verdict.detail}, and {takes} arrays and numbers only", use.place)


RULE = Rule(
    code="SHL213",
    name="not-an-array",
    summary="A tree that is placed, or passed to a jitted function, has a leaf that is no array",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
