"""# spec-arity (SHL301)

## What it does
Finds specs or shardings whose number is not that of the function's arguments or results: `in_specs`
and `out_specs` of `shard_map`, `in_shardings` and `out_shardings` of `jit`. And trees that `jax.tree.map`
cannot walk together, if there are specs or shardings in one of them: where the first has a dict, a tuple or a
box (`nn.Partitioned`), each other one needs the same.

## Why is this bad?
A tuple of specs is matched with the arguments (or results) one by one. JAX rejects the call when
the counts differ. One spec that is not in a tuple stands for all of them.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def scale(x, factor):
    return x * factor


scaled = jax.shard_map(scale, mesh=mesh, in_specs=(P("data"),), out_specs=P("data"))
scaled(jnp.ones((8, 4)), jnp.ones((8, 4)))  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def scale(x, factor):
    return x * factor


scaled = jax.shard_map(scale, mesh=mesh, in_specs=(P("data"), P("data")), out_specs=P("data"))
scaled(jnp.ones((8, 4)), jnp.ones((8, 4)))
```

## What JAX says
`shard_map` and `jit` raise `ValueError` when the function is called, `jax.tree.map` at once (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.shard_map.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Api, Cause, Rejected
from shardlint.model.uses import TREE_MAP, ArityUse, CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import count_text, name_text

#: What is counted, in the user's words: each spec given, and what it is matched with.
_COUNTED = {
    Api.SHARD_MAP_IN: ("in_specs", "spec", "argument"),
    Api.SHARD_MAP_OUT: ("out_specs", "spec", "result"),
    Api.JIT_IN: ("in_shardings", "sharding", "argument"),
    Api.JIT_OUT: ("out_shardings", "sharding", "result"),
}


def check(use: ArityUse | CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report too many or too few specs."""
    if not isinstance(use.verdict, Rejected):
        return
    if isinstance(use, CallUse):
        if use.function == TREE_MAP:
            yield Problem(f"the trees for `{TREE_MAP}` differ: {use.verdict.detail}", use.place)
        return
    if use.verdict.cause is not Cause.ARITY:
        return
    keyword, given, due = _COUNTED.get(use.api, (use.api.value, "spec", "value"))
    if use.mismatch is not None:
        yield Problem(f"{keyword} is no prefix of what it is for: {use.mismatch}", use.place)
        return
    verb = "returns" if due == "result" else "is called with"
    yield Problem(
        f"{keyword} holds {count_text(use.given, given)}, "
        f"but {name_text(use.function)} {verb} {count_text(use.due, due)}; give one for each",
        use.place,
    )


RULE = Rule(
    code="SHL301",
    name="spec-arity",
    summary="The number of specs differs from the number of arguments or results",
    docs=__doc__,
    kinds=(ArityUse, CallUse),
    check=check,
)
