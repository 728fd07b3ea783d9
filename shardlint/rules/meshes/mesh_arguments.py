"""# mesh-arguments (SHL406)

## What it does
Finds meshes that are made of the wrong things: axis names that are `None` or no names at all, `axis_types`
that are no tuple of `AxisType` (strings, a list, the dict of older releases), numbers where devices are
meant, arguments that the function does not have.

## Why is this bad?
JAX rejects the mesh.

## Example
```python
import jax

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=("auto", "auto"))  # raises TypeError
```

## Use instead
```python
import jax
from jax.sharding import AxisType

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))
```

## What JAX says
`Mesh`, `jax.make_mesh` and `AbstractMesh` raise `TypeError`, of a name that is None `ValueError`.
`AbstractMesh` cannot take lists, and its old form `AbstractMesh((("x", 4), ("y", 2)))` is gone.
`create_hybrid_device_mesh` raises `ValueError` on CPU devices, which are in no slice (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.Mesh
- https://docs.jax.dev/en/latest/_autosummary/jax.make_mesh.html
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.findings import Fix
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import MESH_FUNCTIONS, call_text, function_text

if TYPE_CHECKING:
    from shardlint.fixes.rewrites.fix_request import FixRequest


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report an invalid argument of a mesh."""
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.BAD_ARGUMENT:
        return
    if use.function in MESH_FUNCTIONS:
        yield Problem(call_text(function_text(use), verdict.detail), use.place)


def fix(request: FixRequest) -> Fix:
    """Return the fix that writes members of `AxisType` for their names."""
    import libcst as cst

    from shardlint.fixes.rewrites.fix_request import SAFE, in_place_of, literal
    from shardlint.fixes.syntax.program_tree import CannotFix, Change

    node = request.node()
    words = {"auto": "Auto", "explicit": "Explicit", "manual": "Manual"}
    if not isinstance(node, cst.Tuple) or not node.elements:
        raise CannotFix
    members = [(one.value, words.get(str(literal(one.value)).lower())) for one in node.elements]
    if any(member is None for _, member in members):
        raise CannotFix
    needed = request.names(node).of("AxisType")
    changes: dict[cst.CSTNode, Change] = {
        element: in_place_of(f"{needed.name}.{member}") for element, member in members
    }
    return request.fix(f"write the members of {needed.name}", SAFE, changes, needed.edits)


RULE = Rule(
    code="SHL406",
    name="mesh-arguments",
    summary="A mesh has invalid axis names, axis_types or devices",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
    fix=fix,
)
