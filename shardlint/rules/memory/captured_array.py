"""# captured-array (SHL616)

## What it does
Finds arrays that a jitted function takes from outside (a closure, a global variable, `self`, an argument
bound by `functools.partial`) instead of as arguments, if they are split over a mesh, or have 64 MiB or more
in all (`max-replicated-bytes` sets the limit). Also numpy arrays that such a function returns as they are,
and `out_shardings` split (information): `jax.device_put` lays them out without a program.

## Why is this bad?
Such an array is a constant of the compiled program, and its sharding is lost: each device has all of it,
beside its part of the array itself. Compilation takes longer, and the program keeps the values that the array
had when it was traced.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("fsdp",))
on = NamedSharding(mesh, P("fsdp"))
kernel = jax.device_put(jnp.ones((1024, 1024)), on)


@jax.jit
def forward(x):
    return jnp.tanh(x @ kernel)


y = forward(jax.device_put(jnp.ones((64, 1024)), on))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("fsdp",))
on = NamedSharding(mesh, P("fsdp"))
kernel = jax.device_put(jnp.ones((1024, 1024)), on)


@jax.jit
def forward(kernel, x):
    return jnp.tanh(x @ kernel)


y = forward(kernel, jax.device_put(jnp.ones((64, 1024)), on))
```

## What JAX says
Nothing (JAX 0.6.2, 0.10.2 and 0.12.0.1), unless they have 2 GB in all: then it warns. With
`JAX_USE_SIMPLIFIED_JAXPR_CONSTANTS=1` in the environment (0.10.2, 0.12.0.1) such arrays are passed as
arguments, with their shardings; shardlint says nothing where the program sets it.

## References
- https://docs.jax.dev/en/latest/jit-compilation.html
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shardlint.laws.core.values import entry_axes
from shardlint.laws.placement.array_bytes import array_bytes, text_of_bytes
from shardlint.model.findings import Group, Severity
from shardlint.model.memory_uses import CapturedUse
from shardlint.model.uses import Use
from shardlint.rules.base import Problem, ProjectRule, RuleSettings
from shardlint.rules.messages.common import shape_text


def check(uses: Sequence[CapturedUse], settings: RuleSettings) -> Iterable[tuple[Use, Problem]]:
    """Report each call of a jitted function that takes arrays from outside, which are large or split."""
    calls: dict[object, dict[object, CapturedUse]] = {}
    yield from _returned([use for use in uses if use.returned and _splits(use)])
    for use in uses:
        if use.function is not None and not use.returned and _ways(use) > 1:
            read = use.facts[0].place.resolve()
            arrays = calls.setdefault((use.place.resolve(), use.function), {})
            arrays.setdefault((use.subject, use.shape, use.dtype, read), use)
    reported: set[object] = set()
    for arrays in calls.values():
        # Calls of one function read the same arrays.
        if arrays.keys() <= reported:
            continue
        reported |= arrays.keys()
        held = list(arrays.values())
        split = [use for use in held if _splits(use)]
        if not split and sum(map(_bytes, held)) < settings.replicated_bytes:
            continue
        shown = max(split or held, key=_bytes)
        name = "an array" if shown.subject is None else f"`{shown.subject}`"
        lies = f" split by {shown.spec}" if split else ""
        others = "" if len(held) == 1 else f" and {len(held) - 1} more"
        size = text_of_bytes(_bytes(shown))
        text = (
            f"`{shown.function}` takes {name} from outside{others}: {shape_text(shown.shape)} {shown.dtype}"
            f"{lies} is a constant of the program, {size} on every device; pass it as an argument"
        )
        yield shown, Problem(text, shown.place, severity=Severity.WARNING)


def _returned(uses: Sequence[CapturedUse]) -> Iterable[tuple[Use, Problem]]:
    """Report each call of a jitted function that returns numpy arrays as they are, to be split."""
    calls: dict[object, dict[str | None, CapturedUse]] = {}
    for use in uses:
        calls.setdefault((use.place.resolve(), use.function), {})[use.subject] = use
    for results in calls.values():
        shown = max(results.values(), key=_bytes)
        others = "" if len(results) == 1 else f" and {len(results) - 1} more"
        total = text_of_bytes(sum(map(_bytes, results.values())))
        text = (
            f"`{shown.function}` returns `{shown.subject}`{others} as numpy made it: a constant of the"
            f" program, whole on every device, {total} in all, which out_shardings then split;"
            " jax.device_put(array, sharding) sends each device its part"
        )
        yield shown, Problem(text, shown.place, severity=Severity.INFO)


def _bytes(use: CapturedUse) -> int:
    return array_bytes(use.shape, use.dtype) or 0


def _ways(use: CapturedUse) -> int:
    """Return the number of devices, 1 where it is not known."""
    count = use.mesh.device_count
    return count if isinstance(count, int) else 1


def _splits(use: CapturedUse) -> bool:
    """Return whether an axis of several devices splits the array."""
    axes = [axis for entry in use.spec.entries for axis in entry_axes(entry)]
    sizes = dict(zip(use.mesh.names, use.mesh.sizes, strict=True))
    return any(isinstance(sizes.get(axis), int) and sizes[axis] != 1 for axis in axes)


RULE = ProjectRule(
    code="SHL616",
    name="captured-array",
    summary="A jitted function takes an array from outside: a constant, whole on every device",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(CapturedUse,),
    check=check,
)
