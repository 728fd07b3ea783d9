"""# overlooked-mesh (SHL410)

## What it does
Finds constraints that are skipped because the mesh is set in one way and asked for in the other: Flax's
logical constraints under ``with mesh:``, and functions of the program that find no mesh and return their
array as it is; and logical constraints that are compiled under rules while no mesh is set, though their array
lies on one. `jax.sharding.get_abstract_mesh` does not see ``with mesh:``, and
``thread_resources.env.physical_mesh`` does not see `jax.set_mesh`.

## Why is this bad?
A mesh is set, and nothing is constrained on it: the compiler lays out every activation as it likes, and the
whole model may run on whole arrays. No message tells.

## Example
```python
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


@jax.jit
def layer(x):
    return nn.with_logical_constraint(jnp.tanh(x), ("batch", "hidden"))


with mesh, nn.logical_axis_rules([("batch", "data"), ("hidden", "model")]):
    y = layer(jnp.ones((8, 16)))
```

## Use instead
```python
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


@jax.jit
def layer(x):
    return nn.with_logical_constraint(jnp.tanh(x), ("batch", "hidden"))


with jax.set_mesh(mesh), nn.logical_axis_rules([("batch", "data"), ("hidden", "model")]):
    y = layer(jnp.ones((8, 16)))
```

## What JAX says
Nothing. ``with mesh:`` is deprecated and sets a mesh of its own, which `get_abstract_mesh` does not return;
Flax 0.12 asks the latter only (JAX 0.10.2, Flax 0.12.8). A function that asks for both is not reported.

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.set_mesh
- https://flax.readthedocs.io/en/latest/api_reference/flax.linen/spmd.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group, Severity
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings

#: What `CallUse.function` says, and what is to be written instead.
_ADVICE = {
    "with mesh:": "it does not look for what `with mesh:` sets; write `with jax.set_mesh(mesh):`",
    "jax.set_mesh(mesh)": "it does not look for what `jax.set_mesh` sets; have it ask "
    "jax.sharding.get_abstract_mesh()",
}


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a mesh that a constraint does not find."""
    if use.silent is not None and use.function == "jax.sharding.NamedSharding(None)":
        yield Problem(f"{use.silent}, without its constraint: give it the mesh", use.place, Severity.INFO)
    if use.silent is not None and use.function == "linen.with_logical_constraint(no mesh)":
        yield Problem(f"{use.silent}; enter `with jax.set_mesh(mesh):` around the call", use.place)
    if use.silent is not None and use.function in _ADVICE:
        yield Problem(f"{use.silent}: {_ADVICE[use.function]}", use.place)


RULE = Rule(
    code="SHL410",
    name="overlooked-mesh",
    summary="A constraint is skipped because it does not see how the mesh is set",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse,),
    check=check,
)
