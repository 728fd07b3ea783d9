"""# idle-axis (SHL614)

## What it does
Finds jitted functions that compute gradients, and in which an axis of several devices splits nothing: neither
the parameters nor the batch, nor anything that the function constrains, nor an argument of a `shard_map` in
it, also where a mesh is set and all that the function gets lies on none (each device of the mesh has it
whole); and calls of a `pmap` that computes gradients, all of whose arguments hold one copy for each device.
Of another function it is an information, where it gets an array whole that the program also places split,
and asks for no other layout, or arrays from no mesh with rows like those of one that is split: a batch for
evaluation.

## Why is this bad?
The compiler distributes only what is split somewhere. The devices along the axis all get the same batch, and
all compute the same gradients: with more of them nothing is faster.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
weights = jax.device_put(jnp.ones((64, 64)), NamedSharding(mesh, P(None, "model")))
batch = jax.device_put(jnp.ones((32, 64)), NamedSharding(mesh, P()))


@jax.jit
def gradient(weights, batch):
    return jax.grad(lambda w: jnp.mean((batch @ w) ** 2))(weights)


update = gradient(weights, batch)
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
weights = jax.device_put(jnp.ones((64, 64)), NamedSharding(mesh, P(None, "model")))
batch = jax.device_put(jnp.ones((32, 64)), NamedSharding(mesh, P("data")))


@jax.jit
def gradient(weights, batch):
    return jax.grad(lambda w: jnp.mean((batch @ w) ** 2))(weights)


update = gradient(weights, batch)
```

## What JAX says
Nothing (JAX 0.10.2). It is said only where the layouts of all arguments are known, and nothing that the
function asks for names the axis. An array that the function reads from outside, instead of taking it as an
argument, is a constant of the program: every device has it whole, however it was split.

## References
- https://docs.jax.dev/en/latest/sharded-computation.html
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shardlint.laws.core.dims import divisible, product
from shardlint.laws.core.values import Spec, Unknown, entry_axes
from shardlint.model.findings import Group, Severity
from shardlint.model.memory_uses import IdleUse
from shardlint.model.uses import Placement, Use
from shardlint.rules.base import Problem, ProjectRule, RuleSettings
from shardlint.rules.placements import splits


def check(uses: Sequence[IdleUse | Placement], _: RuleSettings) -> Iterable[tuple[Use, Problem]]:
    """Report the axes that split nothing."""
    placed = [use for use in uses if isinstance(use, Placement) and not use.environment.in_jit]
    split = [use for use in placed if splits(use)]
    named = [use for use in placed if use.subject != "the array"]
    whole = {(use.subject, use.shape, use.mesh) for use in named if splits(use) is False}
    for use in uses:
        if not isinstance(use, IdleUse):
            continue
        text = " and ".join(f'"{axis}" ({use.mesh.size_of(axis)} devices)' for axis in use.axes)
        same = f"nothing in it is split over {text}: these devices all compute the same"
        if use.trains:
            problem = f"`{use.function}` computes gradients, and {same}; split the batch"
            yield use, Problem(problem, use.place, severity=Severity.WARNING)
            continue
        other = next((one for one in split if one.shape in use.shapes and _key(one, use) in whole), None)
        like = next((one for one in split if _is_like_rows(one, use)), None)
        if other is not None:
            problem = (
                f"`{use.function}` gets {other.subject} whole, which is split by {other.spec} elsewhere: "
                f"every device along {text} computes on all of it"
            )
            yield use, Problem(problem, use.place, severity=Severity.INFO)
        elif like is not None:
            problem = (
                f"`{use.function}` gets arrays from no mesh, with rows like those of {like.subject}, which "
                f"is split by {like.spec} elsewhere: every device along {text} computes on all of them"
            )
            yield use, Problem(problem, use.place, severity=Severity.INFO)


def _key(placed: Placement, use: IdleUse) -> tuple[object, ...]:
    """Return what tells an array from others that the program places, on the mesh of a jitted function."""
    return placed.subject, placed.shape, use.mesh


def _is_like_rows(placed: Placement, use: IdleUse) -> bool:
    """Return whether an array that the program splits along its first dimension, over all axes that are idle
    here, has rows of the shape of those of an array that is given from no mesh, as many as could be split."""
    if placed.mesh != use.mesh or not isinstance(placed.spec, Spec) or isinstance(placed.shape, Unknown):
        return False
    first = entry_axes(placed.spec.entries[0]) if placed.spec.entries else ()
    ways = product(use.mesh.size_of(axis) for axis in first if axis in use.mesh.names)
    return (
        bool(first)
        and set(first) <= set(use.axes)
        and any(rows[1:] == placed.shape[1:] and divisible(rows[0], ways) is True for rows in use.rows)
    )


RULE = ProjectRule(
    code="SHL614",
    name="idle-axis",
    summary="A training step splits nothing over a mesh axis",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(IdleUse, Placement),
    check=check,
)
