"""# not-a-spec (SHL104)

## What it does
Finds a tuple, a string, `None`, an array or the shape of one where a `PartitionSpec` or a sharding is meant.

## Why is this bad?
JAX does not read a bare tuple or string as a spec, and takes no sharding from an array. It raises, often with
an `AttributeError` or a complaint about pytrees that does not name the mistake.

## Example
```python
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
sharding = NamedSharding(mesh, ("data", None))  # raises AttributeError
```

## Use instead
```python
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
sharding = NamedSharding(mesh, P("data", None))
```

## What JAX says
`NamedSharding(mesh, ("data", None))` and `NamedSharding(mesh, "data")` raise `AttributeError`,
`NamedSharding(mesh, None)` `TypeError`; `jit`'s shardings and `device_put` raise `TypeError` or
`ValueError` (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.PartitionSpec
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from shardlint.laws.core.values import Junk
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.findings import Fix
from shardlint.model.uses import CallUse, Placement, ShardingUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import api_text

if TYPE_CHECKING:
    from shardlint.fixes.rewrites.fix_request import FixRequest


def check(use: ShardingUse | Placement | CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report another value where a spec is meant."""
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.NOT_A_SPEC:
        return
    spec = None if isinstance(use, CallUse) else use.spec
    written = spec.text if isinstance(spec, Junk) else verdict.detail
    yield Problem(
        f"{written} is not a PartitionSpec, which {api_text(use)} needs; {_way_out(written)}", use.place
    )


def _way_out(written: str) -> str:
    if written == "None":
        return "`P()` says replicated"
    if written == "a NamedSharding":
        return "give its spec alone"
    if written in ("an array", "a ShapeDtypeStruct"):
        return "give its sharding or spec"
    if written.startswith("the mesh "):
        return "write `NamedSharding(mesh, P(...))`"
    if "P(" in written:
        return "give one spec"
    if written[:1] == "{" or written.startswith(("set(", "frozenset(")):
        return "write the axes in `P(...)`, in order"
    if written[:1] in "([" and written[-1:] in ")]":
        return f"write `P({written[1:-1].rstrip(', ')})`"
    return f"write `P({written})`" if written[:1] in "\"'" else "wrap it in `P(...)`"


def fix(request: FixRequest) -> Fix:
    """Return the fix that makes a spec of a tuple, a list or a string."""
    import libcst as cst

    from shardlint.fixes.rewrites.fix_request import SAFE, UNSAFE, literal
    from shardlint.fixes.rewrites.specs import called
    from shardlint.fixes.syntax.program_tree import CannotFix

    use = request.use
    if not isinstance(use, ShardingUse | Placement):
        raise CannotFix
    if isinstance(use, Placement) and not use.api.value.startswith("shard_map"):
        raise CannotFix  # a bare spec would need a mesh in the context
    if isinstance(use.spec, Junk) and "P(" in use.spec.text:
        raise CannotFix  # a tuple or list of specs: which is meant, only the author knows
    node = request.node()
    nothing = literal(node) is None
    if not nothing and not isinstance(literal(node), str) and not isinstance(node, cst.Tuple | cst.List):
        raise CannotFix
    needed = request.names(node).spec()
    if isinstance(node, cst.Tuple) and not node.lpar:
        raise CannotFix
    function = cst.parse_expression(needed.name)
    return request.fix(
        f"make it a {needed.name}",
        UNSAFE if nothing else SAFE,
        {node: lambda old: called(function, old)},
        needed.edits,
    )


RULE = Rule(
    code="SHL104",
    name="not-a-spec",
    summary="A tuple, string or None is used instead of a PartitionSpec",
    docs=__doc__,
    kinds=(ShardingUse, Placement, CallUse),
    check=check,
    fix=fix,
)
