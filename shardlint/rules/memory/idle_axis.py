"""# idle-axis (SHL614)

## What it does
Finds jitted functions that compute gradients, and in which an axis of several devices splits nothing: neither
the parameters nor the batch, nor anything that the function constrains.

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
program asks for inside jit names the axis.

## References
- https://docs.jax.dev/en/latest/sharded-computation.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from shardlint.laws.core.values import Marker, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Api
from shardlint.model.findings import Group, Severity
from shardlint.model.uses import (
    CollectiveUse,
    IdleUse,
    LogicalAxesUse,
    OperationUse,
    ParameterUse,
    Placement,
    Use,
)
from shardlint.rules.base import Problem, ProjectRule, RuleSettings

#: What may lay out a part of a jitted function, though it is written outside.
_AROUND = frozenset({Api.JIT_OUT, Api.SHARD_MAP_IN, Api.SHARD_MAP_OUT})


def check(uses: Sequence[Use], settings: RuleSettings) -> Iterable[tuple[Use, Problem]]:
    """Report the axes that split no argument, where nothing inside jit may name them."""
    steps = [use for use in uses if isinstance(use, IdleUse)]
    for step in steps:
        # What the program reaches otherwise is no part of the step.
        ways = (None, step.environment.entry)
        named = _named(use for use in uses if use.environment.entry in ways)
        idle = [axis for axis in step.axes if named is not None and axis not in named]
        if idle:
            text = " and ".join(f'"{axis}" ({step.mesh.size_of(axis)} devices)' for axis in idle)
            yield (
                step,
                Problem(
                    f"`{step.function}` computes gradients, and nothing in it is split over {text}: "
                    f"these devices all compute the same; split the batch",
                    step.place,
                    severity=Severity.WARNING,
                ),
            )


def _named(uses: Iterable[Use]) -> set[str] | None:
    """Return the axes that uses may name inside jit; None if they are not all known."""
    named: set[str] = set()
    for use in uses:
        for spec in _specs(use):
            axes = _axes(spec)
            if axes is None:
                return None
            named |= axes
        if isinstance(use, CollectiveUse | LogicalAxesUse):
            named |= set(use.axes)
    return named


def _specs(use: Use) -> Iterator[object]:
    """Yield the specs that a use may ask for inside jit."""
    if isinstance(use, Placement) and (use.environment.in_jit or use.api in _AROUND):
        yield use.spec
    if isinstance(use, ParameterUse):
        yield from (use.names, use.axes)
    if isinstance(use, OperationUse):
        yield use.out_sharding


def _axes(spec: object) -> set[str] | None:
    """Return the axes that a spec names; None if they are not known."""
    if isinstance(spec, Unknown):
        return None
    if not isinstance(spec, Spec):
        return set()
    parts = [part for entry in spec.entries for part in (entry if isinstance(entry, tuple) else (entry,))]
    if any(isinstance(part, Unknown | Marker) for part in parts):
        return None
    return {axis for entry in spec.entries for axis in entry_axes(entry)}


RULE = ProjectRule(
    code="SHL614",
    name="idle-axis",
    summary="A training step splits nothing over a mesh axis",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(CollectiveUse, IdleUse, LogicalAxesUse, OperationUse, ParameterUse, Placement),
    check=check,
    rests_on_absence=True,
)
