"""# silently-empty-entry (SHL105)

## What it does
Finds entries of a `PartitionSpec` that JAX silently turns into `None`: `P(0)`, `P("")`, `P(())`,
`P(False)`. An entry that is computed (`P(mesh.axis_names, None)`, where the mesh may be empty) counts only
where the spec meets an array. That somebody wrote an empty tuple is an information: some mean it.

## Why is this bad?
It looks as if the dimension were sharded, and nothing is: every device along the axis that was
meant holds the whole dimension.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, P(0, None)))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, P("data", None)))
```

## What JAX says
Nothing: an entry that is false becomes `None` (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.PartitionSpec
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from shardlint.laws.core.values import Entry, Junk, Spec, entry_axes, entry_text
from shardlint.laws.core.verdicts import Rejected
from shardlint.model.findings import Fix, Group, Severity
from shardlint.model.spans import Place
from shardlint.model.uses import ParameterUse, Placement, SpecUse, Use
from shardlint.rules.base import Problem, ProjectRule, RuleSettings
from shardlint.rules.messages.common import entry_place

if TYPE_CHECKING:
    from shardlint.fixes.rewrites.fix_request import FixRequest

#: The places of a spec's entries.
Places = tuple[Place | None, ...]
#: Each use with what is wrong with it.
Found = Iterable[tuple[Use, Problem]]


def check(uses: Sequence[SpecUse | Placement | ParameterUse], settings: RuleSettings) -> Found:
    """Report entries that shard nothing although they are not None."""
    # A spec that meets an array brings the places of its entries.
    met: dict[Places, list[Spec]] = {}
    for use in uses:
        spec = None if isinstance(use, SpecUse) else _spec_of(use)
        if isinstance(spec, Spec):
            met.setdefault(use.entry_places, []).append(spec)
    for use in uses:
        if not isinstance(use, SpecUse) or isinstance(use.verdict, Rejected):
            continue
        for dimension, entry in enumerate(use.spec.entries):
            # What computes an entry may also compute one that shards.
            idle = dimension in use.computed and all(
                _shards(spec, dimension) for spec in met.get(use.entry_places, ())
            )
            if _is_empty(entry) and not _is_choice(use, entry) and not idle:
                yield (
                    use,
                    Problem(
                        f"{entry_text(entry)} does not shard this dimension: JAX treats it as None; "
                        "name a mesh axis, or write None",
                        entry_place(use, dimension),
                        severity=Severity.INFO if entry == () and dimension not in use.computed else None,
                    ),
                )


def _spec_of(use: Placement | ParameterUse) -> object:
    return use.spec if isinstance(use, Placement) else use.names


def _shards(spec: Spec, dimension: int) -> bool:
    """Return whether a spec shards a dimension."""
    return dimension < len(spec.entries) and bool(entry_axes(spec.entries[dimension]))


def _is_empty(entry: Entry) -> bool:
    return entry == () or entry == "" or (isinstance(entry, Junk) and entry.falsy)


def _is_choice(use: SpecUse, entry: Entry) -> bool:
    """Return whether an entry is an empty tuple among several possible values: programs mean "no axes here"
    by that."""
    return entry == () and use.variants > 1


def fix(request: FixRequest) -> Fix:
    """Return the fix that writes None for an entry that shards nothing."""
    import libcst as cst

    from shardlint.fixes.rewrites.fix_request import SAFE, UNSAFE, in_place_of, literal
    from shardlint.fixes.syntax.program_tree import CannotFix

    node = request.node()
    value = literal(node)
    empty = value == "" or (isinstance(node, cst.Tuple) and not node.elements)
    if not empty and (value is None or value):
        raise CannotFix
    return request.fix("write None", SAFE if empty else UNSAFE, {node: in_place_of("None")})


RULE = ProjectRule(
    code="SHL105",
    name="silently-empty-entry",
    summary="A PartitionSpec has an entry that JAX silently reads as None",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(SpecUse, Placement, ParameterUse),
    check=check,
    fix=fix,
)
