"""# invalid-spec-entry (SHL101)

## What it does
Finds entries of a `PartitionSpec` that are neither an axis name, nor a tuple of names, nor `None`:
a nested tuple, a set, a dict, a number, `None` inside a tuple.

## Why is this bad?
Each entry says over which mesh axes one dimension is split. JAX rejects anything else, some of it
in `P(...)` itself, some only when the spec meets a mesh.

## Example
```python
from jax.sharding import PartitionSpec as P

spec = P((("data", "model"),), None)  # raises ValueError
```

## Use instead
```python
from jax.sharding import PartitionSpec as P

spec = P(("data", "model"), None)
```

## What JAX says
`P(...)` raises `ValueError` for a nested tuple and `TypeError` for a set or a dict.
`NamedSharding(mesh, spec)` raises `ValueError` for a number other than 0 and for `None` in a tuple
(JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.PartitionSpec
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from shardlint.laws.core.values import Junk, Unknown, entry_text
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.findings import Fix
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import SPEC_KINDS, SpecHolder, entry_of, entry_place

if TYPE_CHECKING:
    from shardlint.fixes.rewrites.fix_request import FixRequest


def check(use: SpecHolder, settings: RuleSettings) -> Iterable[Problem]:
    """Report an entry that JAX rejects."""
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.BAD_ENTRY:
        return
    entry = entry_of(use, verdict.dimension)
    culprit = entry
    if isinstance(entry, tuple) and verdict.part is not None and verdict.part < len(entry):
        culprit = entry[verdict.part]
    what = (
        f"{entry_text(culprit)} is {_kind(culprit)}" if not isinstance(culprit, Unknown) else verdict.detail
    )
    where = f" in {entry_text(entry)}" if culprit is not entry else ""
    yield Problem(
        f"{what}{where}; an entry of a PartitionSpec is an axis name, a flat tuple of names, or None",
        entry_place(use, verdict.dimension),
    )


def _kind(value: object) -> str:
    if isinstance(value, Junk):
        article = "an" if value.type[:1] in "aeiou" else "a"
        return f"{article} {value.type}"
    return "a nested tuple" if isinstance(value, tuple) else "no axis name"


def fix(request: FixRequest) -> Fix:
    """Return the fix that writes the names of a nested tuple as one tuple, or as one name."""
    import libcst as cst

    from shardlint.fixes.rewrites.fix_request import SAFE, UNSAFE, in_place_of, literal
    from shardlint.fixes.rewrites.specs import leaves_of
    from shardlint.fixes.syntax.program_tree import CannotFix

    node = request.node()
    if not isinstance(node, cst.Tuple | cst.List):
        raise CannotFix
    leaves = [*leaves_of(node)]
    names = [leaf for leaf in leaves if isinstance(literal(leaf), str)]
    nothing = [leaf for leaf in leaves if literal(leaf) is None]
    if len(names) + len(nothing) != len(leaves) or not names:
        raise CannotFix
    written = ", ".join(request.tree.written(name) for name in names)
    if "\n" in written or "#" in request.tree.written(node):
        raise CannotFix
    text = written if len(names) == 1 else f"({written})"
    return request.fix(f"write {text}", UNSAFE if nothing else SAFE, {node: in_place_of(text)})


RULE = Rule(
    code="SHL101",
    name="invalid-spec-entry",
    summary="A PartitionSpec has an entry that is no axis name, tuple of names or None",
    docs=__doc__,
    kinds=SPEC_KINDS,
    check=check,
    fix=fix,
)
