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

from shardlint.laws.exceptions import is_caught
from shardlint.laws.verdicts import Rejected
from shardlint.laws.versions import find_change
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.uses import ApiReference

#: What an import of a name, an import of a module and an attribute raise; a use does not tell them apart.
_RAISED = ("ImportError", "ModuleNotFoundError", "AttributeError")


def check(use: ApiReference, settings: RuleSettings) -> Iterable[Problem]:
    """Report a name that is gone, where nothing guards it."""
    caught = use.environment.caught
    if not isinstance(use.verdict, Rejected) or any(is_caught(exception, caught) for exception in _RAISED):
        return
    change = find_change(use.name)
    since = f" since JAX {change.since}" if change and change.since else " from JAX"
    instead = f"; use {change.instead}" if change else ""
    yield Problem(f"`{use.name}` is gone{since}{instead}", use.place)


RULE = Rule(
    code="SHL802",
    name="removed-api",
    summary="A name about sharding is gone from JAX",
    docs=__doc__,
    kinds=(ApiReference,),
    check=check,
)
