"""# malformed-logical-rules (SHL507)

## What it does
Finds logical axis rules that Flax cannot read: a dict, a rule that is no pair, rules of a variable that
contradict those of the context; and names that are no tuple of names.

## Why is this bad?
Rules are a sequence of pairs `(name, mesh axes)`, because their order matters to linen. A dict, or one
pair that is not inside a tuple, is refused with a message about unpacking.

## Example
```python
import flax.linen as nn

rules = {"embed": "data", "mlp": "model"}
nn.logical_to_mesh_axes(("embed", "mlp"), rules)  # raises ValueError
```

## Use instead
```python
import flax.linen as nn

rules = (("embed", "data"), ("mlp", "model"))
nn.logical_to_mesh_axes(("embed", "mlp"), rules)
```

## What JAX says
`ValueError` (`TypeError` for a rule that cannot be unpacked at all) where the rules are used, not where they
are set (Flax 0.12.8).

## References
- https://flax.readthedocs.io/en/latest/api_reference/flax.linen/spmd.html
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.flax.logical_axes import Mistake
from shardlint.model.findings import Fix
from shardlint.model.uses import LogicalAxesUse
from shardlint.rules.base import Problem, Rule, RuleSettings

if TYPE_CHECKING:
    from shardlint.fixes.rewrites.fix_request import FixRequest


def check(use: LogicalAxesUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report rules or names of the wrong form."""
    match use.mistake:
        case Mistake.NOT_RULES:
            yield Problem(
                f"{use.text} is no sequence of rules; write them as pairs, ((name, mesh axes), ...)"
                if use.text[:1] == "{"
                else f"{use.text} is no logical axis rule; write each as a pair, (name, mesh axes)",
                use.place,
            )
        case Mistake.NOT_NAMES:
            yield Problem(
                f"{use.text} is no tuple of logical names, one a dimension; each is a string or None",
                use.place,
            )
        case Mistake.INCONSISTENT if isinstance(use.verdict, Rejected):
            yield Problem(
                f'the rules of the variable and of the context give "{use.text}" different mesh axes: '
                f"{use.verdict.detail}",
                use.place,
            )


def fix(request: FixRequest) -> Fix:
    """Return the fix that writes a dict of logical axis rules as pairs."""
    import libcst as cst

    from shardlint.fixes.rewrites.calls import is_pair, pairs
    from shardlint.fixes.rewrites.fix_request import SAFE, UNSAFE
    from shardlint.fixes.syntax.program_tree import CannotFix

    node = request.node()
    if not isinstance(node, cst.Dict) or not node.elements or not all(map(is_pair, node.elements)):
        raise CannotFix
    applicability = SAFE if request.is_argument(node) else UNSAFE
    return request.fix("write the rules as pairs", applicability, {node: pairs})


RULE = Rule(
    code="SHL507",
    name="malformed-logical-rules",
    summary="Logical axis rules or names have a form that Flax cannot read",
    docs=__doc__,
    kinds=(LogicalAxesUse,),
    check=check,
    fix=fix,
)
