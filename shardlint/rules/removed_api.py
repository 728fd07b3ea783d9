"""# removed-api (SHL802)

## What it does
Finds names that JAX no longer has.

## Why is this bad?
The import, or the line that reaches for the name, fails on current JAX.

## Example
```python
from jax.sharding import PositionalSharding  # raises ImportError
```

## Use instead
```python
from jax.sharding import NamedSharding
```

## What JAX says
`ImportError` (`ModuleNotFoundError` for a module) from an import, `AttributeError` from an
attribute (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.findings import Severity
from shardlint.laws.exceptions import is_caught
from shardlint.rules.api_versions import find_change
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.uses import ApiReference

#: What an import, and what an attribute, of a name that is gone raises.
_RAISED = ("ImportError", "AttributeError")


def check(use: ApiReference, settings: RuleSettings) -> Iterable[Problem]:
    """Report a name that is gone."""
    change, caught = find_change(use.name), use.environment.caught
    if change is None or not change.removed or any(is_caught(name, caught) for name in _RAISED):
        return
    since = f"since JAX {change.since}" if change.since else "from current JAX"
    yield Problem(
        f"`{change.name}` is gone {since}; use {change.instead}", use.place, severity=Severity.ERROR
    )


RULE = Rule(
    code="SHL802",
    name="removed-api",
    summary="A name about sharding is gone from JAX",
    docs=__doc__,
    kinds=(ApiReference,),
    check=check,
)
