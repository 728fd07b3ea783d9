"""# made-whole (SHL607)

## What it does
Finds arrays that a jitted function without out_shardings makes itself, and so leaves whole: arrays of the
shape of an argument that is split (an optimizer's moments, a cache beside its keys), or, under a mesh that is
set, of 64 MiB in all (`max-replicated-bytes` sets the limit). And arrays that the program makes outside of
jit, whole on one device or on each, and gives to a jitted function beside an array of the same name that is
split, and that they could be split as: sums of gradients from `jnp.zeros(p.shape)`, averages from a copy on
the host, a buffer for what is collected; or beside one that has the same three dimensions or more, and is
split; or beside anything that is split, from that limit on; or if the model gives it names that are axes of
the mesh, which nothing applied. Arrays that are made whole on one device, and split by `jax.device_put`
afterwards, are an information, if they are of that limit or more, or if a jitted function makes them. So are
numpy arrays that a jitted function gets in a loop, beside arrays that are split and together no larger; and
matrices on one device that a `pmap` gets in a loop with None in its in_axes, or a jitted function beside
arrays on a mesh: each call copies them to all devices. So is an array, whole on every device of a mesh, that
an nnx variable gets whose names are axes of that mesh.

## Why is this bad?
The compiler has no layout to go by for zeros: each is whole on every device, or all are on a single one. The
parameters are split, and twice as much beside them is not. Outside jit `jnp.zeros_like` takes the sharding of
its argument; inside it does not.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("fsdp",))
params = {"kernel": jax.device_put(jnp.ones((64, 64)), NamedSharding(mesh, P("fsdp")))}


@jax.jit
def moments_of(params):
    return jax.tree.map(jnp.zeros_like, params)


moments = moments_of(params)
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("fsdp",))
params = {"kernel": jax.device_put(jnp.ones((64, 64)), NamedSharding(mesh, P("fsdp")))}


def moments_of(params):
    return jax.tree.map(jnp.zeros_like, params)


shardings = jax.tree.map(lambda x: x.sharding, params)
moments = jax.jit(moments_of, out_shardings=shardings)(params)
```

## What JAX says
Nothing (JAX 0.10.2). Constraints inside the function count, and arrays that the program places afterwards are
not reported.

## References
- https://github.com/google-deepmind/gemma/issues/648
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import Spec, entry_axes
from shardlint.laws.placement.array_bytes import text_of_bytes
from shardlint.model.findings import Group, Severity
from shardlint.model.memory_uses import (
    ASSIGNED,
    EACH_CALL,
    EACH_JITTED_CALL,
    HOST,
    MADE_IN_JIT,
    MadeUse,
    RestoreUse,
)
from shardlint.model.uses import CallUse, ParameterUse, Placement, Use
from shardlint.rules.base import Problem, ProjectRule, RuleSettings
from shardlint.rules.messages.common import shape_text
from shardlint.rules.named_parameters import NamedParameters

#: What is said of arrays that each call of a function copies, by `MadeUse.outside`.
_COPIED = {
    EACH_CALL: "and None in in_axes has each call of `{}` copy it to all; copy it once, with "
    "flax.jax_utils.replicate and 0 in in_axes, or jax.device_put to P() on a mesh",
    EACH_JITTED_CALL: "and each call of `{}` copies it to those that the other arguments lie on; copy "
    "it once, with jax.device_put to P() on their mesh",
}
#: The function that splits what was made before.
_SPLITTING = "jax.device_put"


def check(
    uses: Sequence[MadeUse | Placement | RestoreUse | ParameterUse | CallUse], settings: RuleSettings
) -> Iterable[tuple[Use, Problem]]:
    """Report arrays that a jitted function makes whole, and that are not placed afterwards."""
    placed = {use.made_at.resolve() for use in uses if isinstance(use, Placement) and use.made_at is not None}
    restored = {use.place.resolve() for use in uses if isinstance(use, RestoreUse)}
    calls = (use for use in uses if isinstance(use, CallUse) and use.function == MADE_IN_JIT)
    compiled = {use.place.resolve() for use in calls}
    parameters = NamedParameters(uses)
    assigned: set[object] = set()
    for use in uses:
        if not isinstance(use, MadeUse) or use.place.resolve() in restored:
            continue
        # What is given whole is certainly not placed; another array that the line makes may be.
        if use.place.resolve() in placed and not use.outside:
            continue
        others = "" if use.number == 1 else f" and {use.number - 1} more, {text_of_bytes(use.total)} in all"
        kind = f"{shape_text(use.shape)} {use.dtype}"
        if use.outside == HOST:
            text = (
                f"{use.subject}, {kind}{others}, is a numpy array: each call of `{use.function}` copies it "
                "whole to every device of the mesh; use jax.device_put once"
            )
            large = use.total >= settings.replicated_bytes
            yield use, Problem(text, use.place, severity=Severity.WARNING if large else Severity.INFO)
            continue
        if use.function == ASSIGNED:
            at = (use.facts[0].place if use.facts else use.place).resolve()
            if at in assigned:
                continue
            assigned.add(at)
            text = f"{use.subject}, {kind}, gets an array that is whole on {use.outside}, though {use.split}"
            yield use, Problem(text, use.place, severity=Severity.INFO)
            continue
        if use.outside in _COPIED:
            told = _COPIED[use.outside].format(use.function)
            text = f"{use.subject}, {kind}{others}, lies on one device, {told}"
            large = use.total >= settings.replicated_bytes
            yield use, Problem(text, use.place, severity=Severity.WARNING if large else Severity.INFO)
            continue
        names = None if use.split is not None else _unapplied(use, parameters)
        small = use.split is None and names is None and use.total < settings.replicated_bytes
        jitted = use.function == _SPLITTING and use.place.resolve() in compiled
        if small and not jitted:
            continue
        if use.function == _SPLITTING:
            text = (
                f"{use.subject}, {kind}{others}, is made whole on one device before it is split: "
                f"{'give' if jitted else 'make it inside jit with'} out_shardings"
            )
            yield use, Problem(text, use.place, severity=Severity.INFO)
            continue
        why = f"though {use.split or names}"
        if use.split is None and names is None:
            why = "beside arguments that are split" if use.outside else "under the mesh that is set"
        text = (
            f"{use.subject} for `{use.function}`, {kind}{others}, is made here whole on {use.outside}, {why}"
            if use.outside is not None
            else f"{use.subject} of `{use.function}`, {kind}{others}, is made inside jit without "
            f"out_shardings and stays whole, {why}"
        )
        yield use, Problem(text, use.place, severity=Severity.WARNING)


def _unapplied(use: MadeUse, parameters: NamedParameters) -> str | None:
    """Return which names of an array would split it on the mesh that it is given to; None if it has none."""
    if use.mesh is None:
        return None
    several = {name for name in use.mesh.names if equal(use.mesh.size_of(name), 1) is False}
    for leaf in use.leaves:
        parameter = parameters.of(leaf)
        names = None if parameter is None else parameter.axes if parameter.logical else parameter.names
        axes = (
            {axis for entry in names.entries for axis in entry_axes(entry)}
            if isinstance(names, Spec)
            else set()
        )
        if parameter is not None and axes and axes <= several:
            return f"`{'/'.join(parameter.path)}` has the names {names}, which nothing applied"
    return None


RULE = ProjectRule(
    code="SHL607",
    name="made-whole",
    summary="A jitted function without out_shardings makes arrays that stay whole",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(MadeUse, Placement, RestoreUse, ParameterUse, CallUse),
    check=check,
)
