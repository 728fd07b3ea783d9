"""# axis-types-left-to-the-default (SHL805)

## What it does
Finds `jax.make_mesh` without `axis_types` in a project that means to run on releases before JAX 0.9.0 and on
later ones (`target-jax`, else its own jax requirement), or on those from 0.8.1 to 0.8.3.
The example is found with `target-jax = ">=0.8,<0.10"`.

## Why is this bad?
The axes are Auto before JAX 0.9.0 and Explicit since: `with_sharding_constraint` runs on one of them and
raises on the other, `reshard` the other way round. From 0.8.1 to 0.8.3 leaving the types out warns.

## Example
```python
import jax

mesh = jax.make_mesh((2, 4), ("data", "model"))
```

## Use instead
```python
import jax
from jax.sharding import AxisType

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))
```

## What JAX says
Nothing, or a `DeprecationWarning` from 0.8.1 to 0.8.3.

## References
- https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.versions import holds, is_removed
from shardlint.laws.versions.api_changes import EXPLICIT_BY_DEFAULT, WARNS_OF_DEFAULT
from shardlint.model.findings import Group, Severity
from shardlint.model.uses import ApiReference
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: ApiReference, settings: RuleSettings) -> Iterable[Problem]:
    """Report a mesh whose axes have other types by default in another targeted release."""
    if use.name != EXPLICIT_BY_DEFAULT or is_removed("jax.sharding.AxisType", settings.target.low):
        return
    if holds(EXPLICIT_BY_DEFAULT, settings.target.high) or holds(WARNS_OF_DEFAULT, use.release):
        yield Problem(
            "`jax.make_mesh` without axis_types makes Auto axes here and Explicit ones from JAX 0.9.0 on; "
            "say axis_types=",
            use.place,
            severity=Severity.WARNING,
        )


RULE = Rule(
    code="SHL805",
    name="axis-types-left-to-the-default",
    summary="The axis types of a mesh differ between the project's releases of JAX",
    docs=__doc__,
    group=Group.VERSIONS,
    kinds=(ApiReference,),
    check=check,
)
