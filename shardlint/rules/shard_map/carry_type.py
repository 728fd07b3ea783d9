"""# carry-type (SHL308)

## What it does
Finds loops that return another type than they began with, branches that return different types, and rules of
`jax.custom_vjp` whose cotangents have another type than the arguments: of arrays that vary over other mesh
axes, or are sharded otherwise.

## Why is this bad?
A type says more than shape and dtype: inside `shard_map` over which mesh axes the array varies, on Explicit
axes how it is sharded. `jnp.zeros` varies over none, so a sum of shards cannot begin with it as it is.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def total(x):
    start = jnp.zeros(4)
    return jax.lax.scan(lambda s, row: (s + row, None), start, x)[0]


jax.shard_map(total, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(jnp.ones((8, 4)))  # raises TypeError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def total(x):
    start = jax.lax.pcast(jnp.zeros(4), "data", to="varying")
    return jax.lax.scan(lambda s, row: (s + row, None), start, x)[0]


jax.shard_map(total, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(jnp.ones((8, 4)))
```

## What JAX says
`TypeError` when the loop is traced: carry input and output, or the outputs of branches, must have equal
types. `ValueError` when the derivative is traced of a rule's cotangent (since 0.8.3 at the latest). Under
``check_vma=False`` types do not say what varies (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/notebooks/shard_map.html#scan-vma
- https://docs.jax.dev/en/latest/notebooks/explicit-sharding.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.model.uses import CarryUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import names_text

_BRANCHES = ("cond", "switch")
_DERIVATIVE = "custom_vjp"


def check(use: CarryUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a carry, or a result of branches, whose types differ."""
    verdict, name = use.verdict, use.function.rpartition(".")[2]
    if not isinstance(verdict, Rejected) or verdict.cause is not Cause.CARRY:
        return
    if name == _DERIVATIVE:
        message = f"the cotangent of {use.path} must have the argument's type, {use.before}, not {use.after}"
    elif name in _BRANCHES:
        what = f"result{use.path}" if use.path else "results"
        message = f"the branches of `{name}` must have {what} of one type, not {use.before} and {use.after}"
    else:
        carry = f"carry{use.path}" if use.path else "the carry"
        message = f"{carry} of `{name}` starts as {use.before}, but the body returns {use.after}"
    yield Problem(f"{message}; {_way_out(use, verdict, name in _BRANCHES)}", use.place)


def _way_out(use: CarryUse, verdict: Rejected, branches: bool) -> str:
    if verdict.detail == "shape":
        return "the shapes must be equal"
    if verdict.detail != "varying":
        return "reshard one to the other's sharding"
    before, after = (kind.varying or frozenset() for kind in (use.before, use.after))
    added = sorted(after - before)
    axes = added or sorted(before - after)
    if use.function.endswith(_DERIVATIVE) and added:
        return (
            f"sum it: jax.lax.psum(..., {names_text(added) if len(added) == 1 else f'({names_text(added)})'})"
        )
    if use.function.endswith(_DERIVATIVE):
        target = "it"
    elif branches:
        target = "the first branch's" if added else "the other branch's"
    else:
        target = "the initial value" if added else "the result of the body"
    written = names_text(axes) if len(axes) == 1 else f"({names_text(axes)})"
    return f'cast {target} with jax.lax.pcast(..., {written}, to="varying")'


RULE = Rule(
    code="SHL308",
    name="carry-type",
    summary="A loop's carry changes its type, or branches return different types",
    docs=__doc__,
    kinds=(CarryUse,),
    check=check,
)
