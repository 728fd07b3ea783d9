"""# uneven-constraint (SHL205)

## What it does
Finds a `with_sharding_constraint` inside `jit` over a dimension that does not divide.

## Why is this bad?
Outside `jit` it would be an error. Inside, on Auto axes, nothing is raised. XLA pads the dimension and
splits it, which costs copies, and where `jit` returns the array the constraint is not kept: the dimension
comes out whole on every device along the axis, and costs the memory that sharding it was to save.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


@jax.jit
def activations(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(None, "model")))


activations(jnp.ones((8, 10)))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


@jax.jit
def activations(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(None, "model")))


activations(jnp.ones((8, 12)))
```

## What JAX says
Nothing: in the compiled code the dimension is padded and split, and the sharding of the result shows it
replicated (JAX 0.10.2). Since JAX 0.11.2 an array that jit returns is split over a part of the axis where the
size and the axis have a common factor: it is then refused (`IndivisibleError`) or, by the order of the mesh's
axes, has a `GSPMDSharding` that no spec can name: in a `jit` without arguments, with a bare spec under
`jax.set_mesh`, JAX raises `KeyError` for it.

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.lax.with_sharding_constraint.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.dims import product
from shardlint.laws.core.values import Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Returned
from shardlint.model.findings import Group
from shardlint.model.uses import ParameterUse, Placement
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import (
    ARRAY_KINDS,
    array_text,
    axes_text,
    entry_of,
    meeting,
    mesh_of,
    size_text,
    sizes_text,
)

_DONE = {
    None: "JAX pads it, and replicates it where jit returns it",
    Returned.REFUSED: "JAX pads it, and raises where jit returns it",
    Returned.NAMELESS: "JAX pads it, and splits it over a part of an axis where jit returns it",
}


def check(use: Placement | ParameterUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report dimensions whose axes what jit returns does not keep."""
    verdict, mesh = use.verdict, mesh_of(use)
    if not isinstance(verdict, Accepted) or mesh is None or isinstance(use.shape, Unknown):
        return
    done = _DONE[verdict.returned]
    for dimension in verdict.replicated:
        size, entry = use.shape[dimension], entry_of(use, dimension)
        if size == 1 and verdict.returned is None:
            # An example that a model is initialized with has one row: there is nothing to split.
            continue
        ways = product(mesh.size_of(axis) for axis in entry_axes(entry))
        would = sizes_text(size, ways)
        place, written = meeting(use, dimension)
        yield Problem(
            f"dimension {dimension} of {array_text(use)} has size {size_text(size)}, not divisible by "
            f"{axes_text(entry, mesh)}: {done}" + (f"; {would} would be split" if would else ""),
            place,
            related=written,
        )


RULE = Rule(
    code="SHL205",
    name="uneven-constraint",
    summary="A constraint inside jit on an indivisible dimension, which what jit returns does not keep",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=ARRAY_KINDS,
    check=check,
)
