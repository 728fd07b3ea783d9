"""# unknown-logical-axis (SHL505)

## What it does
Finds logical axis names that no rule gives a mesh axis. It is a note where nothing is refused and the
name resembles no other: names that are to have no axis are often left out of the rules. A name that
resembles another, or that is a mesh axis and no logical name, is a warning.

## Why is this bad?
A misspelled name is not an error in linen: the dimension stays whole on every device. With
`RulesFallback.NO_CONSTRAINT` one such name switches off the whole constraint. In nnx the name is taken for
a mesh axis, which there is not.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
rules = (("embed", "data"), ("mlp", "model"))
with jax.set_mesh(mesh), nnx.logical_axis_rules(rules):
    nnx.Param(jnp.ones((8, 16)), out_sharding=("embed", "mpl"))  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax.sharding import Mesh

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
rules = (("embed", "data"), ("mlp", "model"))
with jax.set_mesh(mesh), nnx.logical_axis_rules(rules):
    nnx.Param(jnp.ones((8, 16)), out_sharding=("embed", "mlp"))
```

## What JAX says
nnx: `ValueError` as the variable is made. linen: nothing, or `ValueError` from `with_logical_constraint` with
`RulesFallback.RAISE_ERROR` (Flax 0.12.8).

## References
- https://flax.readthedocs.io/en/latest/api_reference/flax.linen/spmd.html
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.flax.logical_axes import Mistake
from shardlint.model.findings import Severity
from shardlint.model.uses import LogicalAxesUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import names_text, near_miss
from shardlint.rules.shared_fixes import nearest_axis


def check(use: LogicalAxesUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a name that is not mapped to a mesh axis."""
    silent = use.library == "linen" and not isinstance(use.verdict, Rejected)
    near = [name for name in use.known if not silent or _is_near(use.text, name)]
    hint = _mesh_axis(use) or near_miss(use.text, near)
    if use.mistake is Mistake.CONSTRAINT_OFF:
        yield Problem(
            f'no rule gives "{use.text}" a mesh axis, and NO_CONSTRAINT then drops the whole constraint, '
            f"{names_text(use.axes)} too{hint or _rule_for(use)}",
            use.place,
        )
    elif use.mistake is Mistake.UNKNOWN_NAME:
        severity = Severity.INFO if silent and not hint else None
        yield Problem(f"{_missing(use)}{hint or _way_out(use)}", use.place, severity)


def _mesh_axis(use: LogicalAxesUse) -> str:
    """Return a hint if a name is an axis of the mesh: a rule for it would only perpetuate the mistake."""
    if use.text not in use.mesh_axes:
        return ""
    message = f'; "{use.text}" is a mesh axis, and here stands a logical name'
    return f"{message}: the rules are for {names_text(use.known)}" if use.known else message


def _is_near(name: str, known: str) -> bool:
    """Return whether a name may be a misspelling: `kv_heads` is not one of `heads`, since it has one more
    word.
    """
    words, others = name.split("_"), known.split("_")
    if len(words) == len(others) and all(map(_alike, words, others)):
        return True
    return difflib.SequenceMatcher(None, known, name).ratio() >= 0.8


def _alike(one: str, other: str) -> bool:
    return bool(difflib.get_close_matches(one, [other], n=1))


def _rule_for(use: LogicalAxesUse) -> str:
    return f'; give the name a rule (("{use.text}", None) will do)'


def _missing(use: LogicalAxesUse) -> str:
    if use.library == "nnx":
        return f'"{use.text}" has no logical axis rule, and the mesh has {names_text(use.axes)} only'
    if isinstance(use.verdict, Rejected) and not use.axes:
        return f'no rule gives "{use.text}" a mesh axis that is free, and RAISE_ERROR refuses that'
    if isinstance(use.verdict, Rejected):
        return f'"{use.text}" is no logical axis that the rules know, and the mesh has no such axis'
    return f'"{use.text}" has no logical axis rule, so its dimension is silently not sharded'


def _way_out(use: LogicalAxesUse) -> str:
    if use.library == "linen" and not isinstance(use.verdict, Rejected):
        return f'; if that is meant, a rule ("{use.text}", None) says so'
    return f"; the rules are for {names_text(use.known)}" if use.known else "; add a rule for it"


RULE = Rule(
    code="SHL505",
    name="unknown-logical-axis",
    summary="A logical axis name has no rule",
    docs=__doc__,
    kinds=(LogicalAxesUse,),
    explains=("SHL103",),
    check=check,
    fix=nearest_axis,
)
