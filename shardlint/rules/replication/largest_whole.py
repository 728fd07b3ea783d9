"""# largest-whole (SHL624)

## What it does
Finds trees of arrays of which one call splits most matrices over the devices, but leaves whole those that
hold most of the bytes, though one of their dimensions could be split just so.

## Why is this bad?
A rule that splits whatever it can often looks at one dimension only. The embedding of 50,257 words is not
divisible by 8, so the largest array of the model lies on every device, with its gradient and the
optimizer's moments.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("fsdp",))


def spec_of(x):
    return P("fsdp") if x.shape[0] % mesh.shape["fsdp"] == 0 else P()


params = {"embedding": jnp.zeros((50257, 64))}
params |= {f"layer_{i}": jnp.zeros((64, 256)) for i in range(4)}
params = jax.tree.map(lambda x: jax.device_put(x, NamedSharding(mesh, spec_of(x))), params)
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("fsdp",))


def spec_of(x):
    for i in sorted(range(x.ndim), key=lambda i: -x.shape[i]):
        if x.shape[i] % mesh.shape["fsdp"] == 0:
            return P(*[None] * i, "fsdp")
    return P()


params = {"embedding": jnp.zeros((50257, 64))}
params |= {f"layer_{i}": jnp.zeros((64, 256)) for i in range(4)}
params = jax.tree.map(lambda x: jax.device_put(x, NamedSharding(mesh, spec_of(x))), params)
```

## What JAX says
Nothing: each array may have a layout of its own (JAX 0.10.2). It is an information, since the whole ones may
be meant. At least three matrices must be split, and twice as many as are whole.

## References
- https://github.com/jax-ml/jax/discussions/16300
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

from shardlint.laws.core.values import Mesh, Spec, entry_axes
from shardlint.laws.core.verdicts import Api
from shardlint.laws.placement.array_bytes import array_bytes, text_of_bytes
from shardlint.model.findings import Group, Severity
from shardlint.model.uses import Fact, Placement, Use
from shardlint.rules.base import Problem, ProjectRule, RuleSettings
from shardlint.rules.messages.common import names_text, shape_text
from shardlint.rules.placements import splits

_APIS = (Api.DEVICE_PUT, Api.JIT_IN, Api.JIT_OUT)
_RANK_OF_MATRICES = 2
#: The fewest matrices that are split.
_FEWEST = 3


def check(uses: Sequence[Placement], settings: RuleSettings) -> Iterable[tuple[Use, Problem]]:
    """Report the largest whole array of each tree whose whole arrays hold most of the bytes."""
    calls: dict[Hashable, list[Placement]] = {}
    for use in uses:
        if use.api in _APIS and use.variants == 1 and len(_sizes(use)) >= _RANK_OF_MATRICES:
            ways = tuple(fact.place for fact in use.facts if fact.kind == "call")
            calls.setdefault((use.place, use.environment.entry, use.mesh, use.api, ways), []).append(use)
    for tree in calls.values():
        split = [use for use in tree if splits(use)]
        whole = [use for use in tree if splits(use) is False]
        if len(split) < max(_FEWEST, 2 * len(whole)) or not whole or _total(whole) <= _total(split):
            continue
        largest = max(whole, key=lambda use: _total([use]))
        axes = next((axes for use in split if (axes := _axes(use))), ())
        if (dimension := _divisible(largest, axes)) is not None:
            yield largest, _problem(largest, whole, tree, dimension, axes)


def _problem(
    largest: Placement,
    whole: Sequence[Placement],
    tree: Sequence[Placement],
    dimension: int,
    axes: Sequence[str],
) -> Problem:
    shown = any(fact.kind == "use" for fact in largest.facts)
    return Problem(
        f"{largest.subject}, {shape_text(_sizes(largest))} {largest.dtype}, lies whole on every device, and "
        f"with it {text_of_bytes(_total(whole))} of the {text_of_bytes(_total(tree))} that are placed here; "
        f"its dimension {dimension} could be split over {names_text(axes)}, as most arrays are",
        largest.spec_place or largest.place,
        severity=Severity.INFO,
        related=() if shown else (Fact("it is placed here", largest.place),),
    )


def _sizes(use: Placement) -> tuple[int, ...]:
    """Return the shape of an array if it is known, or nothing."""
    sizes = tuple(size for size in use.shape if isinstance(size, int)) if isinstance(use.shape, tuple) else ()
    return sizes if isinstance(use.shape, tuple) and len(sizes) == len(use.shape) else ()


def _total(uses: Iterable[Placement]) -> int:
    return sum(array_bytes(_sizes(use), use.dtype) or 0 for use in uses)


def _axes(use: Placement) -> tuple[str, ...]:
    """Return the axes that split the first dimension that is split."""
    entries = use.spec.entries if isinstance(use.spec, Spec) else ()
    return next((axes for entry in entries if (axes := tuple(entry_axes(entry)))), ())


def _divisible(use: Placement, axes: Sequence[str]) -> int | None:
    """Return the largest dimension of an array that these axes can split."""
    assert isinstance(use.mesh, Mesh)
    sizes = [use.mesh.size_of(axis) for axis in axes]
    ways = math.prod(size for size in sizes if isinstance(size, int))
    fitting = [(size, -i) for i, size in enumerate(_sizes(use)) if size % ways == 0]
    return -max(fitting)[1] if ways > 1 and fitting else None


RULE = ProjectRule(
    code="SHL624",
    name="largest-whole",
    summary="The largest arrays of a tree lie whole on every device, though most are split",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(Placement,),
    check=check,
)
