"""# api-not-yet-there (SHL803)

## What it does
Finds names and arguments that come later than a release of JAX that the project means to run on
(`target-jax`, else its own jax requirement).
The example is found with `target-jax = ">=0.5"`: `jax.set_mesh` is there since JAX 0.7.1.

## Why is this bad?
The program runs on the machine it was written on and fails where an older JAX, which the project says
it supports, is installed.

## Example
```python
import jax
import numpy as np
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
with jax.set_mesh(mesh):
    pass
```

## Use instead
```python
import jax
import numpy as np
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
if hasattr(jax, "set_mesh"):
    with jax.set_mesh(mesh):
        pass
else:
    with mesh:
        pass
```

## What JAX says
Releases without the name raise `ImportError` (`ModuleNotFoundError` for a module) from an import,
`AttributeError` from an attribute and `TypeError` for an argument. It is an error if none of the target's
releases has the name, else a warning that says which ones lack it.

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


def check(use: ApiReference, settings: RuleSettings) -> Iterable[Problem]:
    """Report a name that the release does not have yet, unless the program guards against that."""
    state = state_of(use.name, use.release)
    if state is None or not state.added or state.later is None:
        return
    if not isinstance(use.verdict, Rejected) or (not is_argument(use.name) and is_guarded(use)):
        return
    yield Problem(f"{described(use.name)} is there only since JAX {state.later.since}", use.place)


RULE = Rule(
    code="SHL803",
    name="api-not-yet-there",
    summary="A sharding API that is newer than the project's JAX",
    docs=__doc__,
    group=Group.VERSIONS,
    kinds=(ApiReference,),
    check=check,
)
