"""# spec-arguments (SHL106)

## What it does
Finds a `PartitionSpec` or a `NamedSharding` that is made of the wrong things: `unreduced=` or `reduced=`
that is no set of axis names, a memory kind that no device has, something that is no mesh where the mesh is
meant, a spec added to a list, a class derived from `PartitionSpec`.

## Why is this bad?
JAX rejects it, sometimes with an exception that does not name the mistake:
`NamedSharding(mesh, "data", "model")` complains about a memory kind.

## Example
```python
import jax
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"))
sharding = NamedSharding(mesh, P("data"), memory_kind="tpu_hbm")  # raises ValueError
```

## Use instead
```python
import jax
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"))
sharding = NamedSharding(mesh, P("data"), memory_kind="device")
```

## What JAX says
`P(unreduced=["x"])` raises `TypeError`, `P(unreduced={None})` `ValueError`; deriving from `P` raises
`TypeError`, `P("x") + ["y"]` `NotImplementedError`. `NamedSharding` raises `ValueError` for a memory kind
that there is not, and `AttributeError` for a mesh that is none (JAX 0.10.2). The memory kinds are `device`,
`pinned_host` and `unpinned_host`.

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.PartitionSpec
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.NamedSharding
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import call_text

_FUNCTIONS = frozenset(
    {"jax.sharding.NamedSharding", "jax.sharding.PartitionSpec", "jax.sharding.PartitionSpec.__add__"}
)


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report an invalid argument of a spec or a sharding."""
    verdict = use.verdict
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.BAD_ARGUMENT:
        return
    if use.function in _FUNCTIONS:
        name = "NamedSharding" if use.function.endswith("NamedSharding") else "PartitionSpec"
        yield Problem(call_text(name, verdict.detail), use.place)


RULE = Rule(
    code="SHL106",
    name="spec-arguments",
    summary="A PartitionSpec or NamedSharding has invalid arguments",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
