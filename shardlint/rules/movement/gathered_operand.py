"""# gathered-operand (SHL618)

## What it does
Finds operations along a dimension that is split over devices for which the compiler gathers the whole array
on each of them: Fourier transforms, decompositions of matrices, cumulative sums, the largest elements
(`jax.lax.top_k` over a vocabulary that is split), sorting all elements, slices at a position that the data
decide, which are read, or written with more than one row (a cache that is split over its length),
and slices of several rows at a fixed position, written by `.at[...]`; arrays that a compiled function gives
to a callback on the host (`jax.pure_callback`, `jax.debug.print`), which gets them whole, what was computed
from them row by row included; and arguments that
`vmap` maps a `shard_map` over along a split dimension, without `spmd_axis_name`. From 64 MiB on
(`max-replicated-bytes` sets the limit) it is a warning, below that an information, as are elements that a
mask (`x[mask]`, `jnp.compress`, `jnp.unique`) picks outside of jit, which are not split, and arrays that
`jnp.split` cuts into pieces along a split dimension, or a slice from the start on (`qkv[..., :width]`): a
weight that holds gate and up side by side, or what was multiplied with it. Each piece lies on some of the
devices, and parts of it move to the others.

## Why is this bad?
Each device holds the array whole, all do the same work, and all wait for the interconnect: the split saves
nothing.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("seq",))
cache = jax.device_put(jnp.zeros((8, 1024, 64)), NamedSharding(mesh, P(None, "seq")))


@jax.jit
def write(cache, new, position):
    return jax.lax.dynamic_update_slice_in_dim(cache, new, position, axis=1)


cache = write(cache, jnp.ones((8, 4, 64)), jnp.int32(3))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("batch",))
cache = jax.device_put(jnp.zeros((8, 1024, 64)), NamedSharding(mesh, P("batch")))


@jax.jit
def write(cache, new, position):
    return jax.lax.dynamic_update_slice_in_dim(cache, new, position, axis=1)


cache = write(cache, jnp.ones((8, 4, 64)), jnp.int32(3))
```

## What JAX says
Nothing: the compiled code has an all-gather (JAX 0.6.2 to 0.12.0.1). Before JAX 0.12.0 Fourier transforms are
gathered along whatever is split, the batch included; `jax.shard_map` over the batch keeps each part where it
is, and calls back for each. Along its last dimension alone, a transform of complex numbers is done in parts,
which is not reported. On Explicit axes JAX raises for some of these, which unsupported-on-sharded-dimension
finds.

## References
- https://github.com/jax-ml/jax/issues/15680
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from shardlint.laws.core.values import Spec, Unknown, entry_axes
from shardlint.laws.placement.array_bytes import array_bytes
from shardlint.laws.placement.movement import moved_by_cut, resharded_bytes
from shardlint.model.findings import Group, Severity
from shardlint.model.memory_uses import MAPPED_SHARD_MAP, GatherUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.support.sizes import size_text


def check(use: GatherUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report an array that is gathered for an operation along a dimension that is split."""
    if use.loop:
        return
    if use.bounds:
        yield _cut(use)
        return
    if use.chosen:
        yield _chosen(use)
        return
    total = None if isinstance(use.shape, Unknown) else array_bytes(use.shape, use.dtype)
    sent = None if total is None or use.partly else sent_whole(use, total)
    size = "" if total is None else f", {size_text(total)},"
    cost = "" if sent is None else f", for which each sends {size_text(sent)}"
    large = total is not None and total >= settings.replicated_bytes
    what = "an index" if use.function == "[]" else f"`{use.function}`"
    if use.function == MAPPED_SHARD_MAP:
        what = "`vmap` of a `shard_map` without spmd_axis_name"
    held = "split" if use.partly else "laid out"
    yield Problem(
        f"{use.subject} is {held} as {use.spec}, and {what} does not work on parts along "
        f"{_dimensions_text(use.dimensions)}: the array{size} is gathered on each device{cost}",
        use.place,
        severity=Severity.WARNING if large else Severity.INFO,
    )


def _cut(use: GatherUse) -> Problem:
    """Report an array whose pieces must be split over its devices anew."""
    (at,), ways = use.dimensions, devices_along(use)
    total = None if isinstance(use.shape, Unknown) else array_bytes(use.shape, use.dtype)
    moved = ""
    if total is not None and not isinstance(use.shape, Unknown) and isinstance(size := use.shape[at], int):
        moved = f", {size_text(total * moved_by_cut(size, use.bounds, ways) // size)} of {size_text(total)}"
    pieces, cut = len(use.bounds) - 1, f"along dimension {at}, which {use.spec} splits over {ways} devices"
    if pieces == 1:
        text = f"a slice cuts the first {use.bounds[1]} of {use.subject} off {cut}: it lies on some"
    else:
        text = f"`{use.function}` cuts {use.subject} into {pieces} pieces {cut}: each lies on some"
    text += f", and moves to be split over all{moved}"
    return Problem(text, use.place, severity=Severity.INFO)


def _chosen(use: GatherUse) -> Problem:
    """Report an array outside of jit of which the data choose some elements."""
    what = "a mask" if use.function == "[]" else f"`{use.function}`"
    whole = len(use.dimensions) == sum(bool(entry_axes(entry)) for entry in use.spec.entries)
    along = f"they are not split along {_dimensions_text(use.dimensions)}"
    text = (
        f"{use.subject} is laid out as {use.spec}, and outside of jit {what} picks elements as the data "
        f"decide: {'each device holds all of them' if whole else along}, and a jitted function that gets "
        "them is compiled for each number of them"
    )
    return Problem(text, use.place, severity=Severity.INFO)


def devices_along(use: GatherUse) -> int:
    """Return how many devices the array is split over along its first gathered dimension; 0 if it is not
    known."""
    sizes = [use.mesh.size_of(axis) for axis in entry_axes(use.spec.entries[use.dimensions[0]])]
    return math.prod(size if isinstance(size, int) else 0 for size in sizes)


def sent_whole(use: GatherUse, total: int) -> int | None:
    """Return the bytes that each device sends where an array of ``total`` bytes is gathered; None if that is
    not known."""
    entries = enumerate(use.spec.entries)
    after = Spec(tuple(None if at in use.dimensions else entry for at, entry in entries))
    return resharded_bytes(use.mesh, use.spec, after, total)


def _dimensions_text(dimensions: tuple[int, ...]) -> str:
    if len(dimensions) == 1:
        return f"dimension {dimensions[0]}"
    return f"the dimensions {', '.join(map(str, dimensions[:-1]))} and {dimensions[-1]}"


RULE = Rule(
    code="SHL618",
    name="gathered-operand",
    summary="An operation gathers an array along a dimension that is split over devices",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(GatherUse,),
    check=check,
)
