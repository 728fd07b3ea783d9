"""# whole-argument (SHL312)

## What it does
Finds arrays for which `in_specs` of a `shard_map` hold `None`.

## Why is this bad?
`None` is not "no constraint", as in `jit`: the array is not an argument of the mapped function at all, but
closed over, and every device gets the whole of it. Where the result is put together along a mesh axis, it
comes out as many times too large. `P()` says that an array is meant to be whole.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))

double = jax.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=None, out_specs=P("data"))
double(jnp.ones((8, 4)))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))

double = jax.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
double(jnp.ones((8, 4)))
```

## What JAX says
Nothing: the result of the example has the shape `(16, 4)`. An array that is sharded over Explicit axes cannot
be closed over: `NotImplementedError` (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.shard_map.html
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from shardlint.model.findings import Fix, Group
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings

if TYPE_CHECKING:
    from shardlint.fixes.rewrites.fix_request import FixRequest


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report an array that is passed whole to every device."""
    if use.silent is not None and use.function.endswith("(in_specs=None)"):
        yield Problem(
            f"None in in_specs is no wish to keep a sharding: every device gets the whole of {use.silent}; "
            "P() says that it is meant so",
            use.place,
        )


def fix(request: FixRequest) -> Fix:
    """Return the fix that states by a spec that an argument of a shard_map is whole on every device."""
    from shardlint.fixes.rewrites.fix_request import UNSAFE, in_place_of, literal
    from shardlint.fixes.syntax.program_tree import CannotFix
    from shardlint.inference.syntax.node_fields import walk

    node = request.node()
    nothing = [inner for inner in walk(node) if literal(inner) is None]
    if len(nothing) != 1:
        raise CannotFix
    needed = request.names(nothing[0]).spec()
    text = f"{needed.name}()"
    return request.fix(f"write {text}", UNSAFE, {nothing[0]: in_place_of(text)}, needed.edits)


RULE = Rule(
    code="SHL312",
    name="whole-argument",
    summary="None in shard_map's in_specs gives every device the whole array",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(CallUse,),
    check=check,
    fix=fix,
)
