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

from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.versions import state_of
from shardlint.model.findings import Group
from shardlint.model.uses import ApiReference
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.versions import described, is_argument, is_guarded
from shardlint.rules.shared_fixes import with_new_name


def check(use: ApiReference, settings: RuleSettings) -> Iterable[Problem]:
    """Report a name that is removed, unless the program guards against that.

    It is a warning where it is not certain that the name is reached.
    """
    state = state_of(use.name, use.release)
    if state is None or state.there or state.row is None or is_argument(use.name) or settings.target.is_older:
        return
    if (use.reached and not isinstance(use.verdict, Rejected)) or is_guarded(use):
        return
    since = f" since JAX {state.row.since}" if state.row.since else " from JAX"
    instead = f"; use {state.row.instead}" if state.row.instead else ""
    where = "" if use.reached else " (where this is reached)"
    yield Problem(f"{described(use.name)} is gone{since}{instead}{where}", use.place)


RULE = Rule(
    code="SHL802",
    name="removed-api",
    summary="A sharding API that JAX has removed",
    docs=__doc__,
    group=Group.VERSIONS,
    kinds=(ApiReference,),
    check=check,
    fix=with_new_name,
)
