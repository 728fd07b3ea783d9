"""# compiled-again (SHL619)

## What it does
Finds calls of a jitted function, in a loop or on an attribute, whose result takes the place of an argument
that holds arrays or numbers on no mesh beside others that lie on one: the counter of a training state, the
optimizer's; or arrays that it returns in another layout: caches for which out_shardings name one spec.
And calls of `jax.jit` in a loop that get another function each time: a lambda, a function defined around the
call, a bound method, or what `jax.shard_map`, `jax.vmap` or `jax.grad` has just returned. And static
arguments of `jax.jit` and `jax.pmap` that are another number in each pass of a loop, where the function only
computes with it: a learning rate, a scale.

## Why is this bad?
The first call compiles the function for an argument that lies nowhere. What it returns lies on the mesh, so
the second call has another layout, and compiles everything once more: for a large model that takes minutes.
By the identity of a function JAX finds what it compiled for it: for another one it compiles in each call, and
so it does for each value of a static argument.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
state = {"w": jax.device_put(jnp.ones(64), NamedSharding(mesh, P("data"))), "step": jnp.zeros((), jnp.int32)}


@jax.jit
def train_step(state):
    return {"w": state["w"] * 0.9, "step": state["step"] + 1}


for _ in range(3):
    state = train_step(state)
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
state = {
    "w": jax.device_put(jnp.ones(64), NamedSharding(mesh, P("data"))),
    "step": jax.device_put(jnp.zeros((), jnp.int32), NamedSharding(mesh, P())),
}


@jax.jit
def train_step(state):
    return {"w": state["w"] * 0.9, "step": state["step"] + 1}


for _ in range(3):
    state = train_step(state)
```

## What JAX says
Nothing, unless `jax_log_compiles` or `jax_explain_cache_misses` is set (JAX 0.10.2). It is an information:
the result is right.

## References
- https://github.com/jax-ml/jax/issues/15924
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group, Severity
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a jitted function that its second call compiles again."""
    if use.silent is not None and use.function == "jax.jit(compiled again)":
        text = f"{use.silent}, so that the second call compiles the function again; use jax.device_put first"
        yield Problem(text, use.place, severity=Severity.INFO)
    if use.silent is not None and use.function == "jax.jit(compiled in each call)":
        text = f"{use.silent}, and jax.jit compiles it again; jit it once, outside, and pass it what differs"
        yield Problem(text, use.place, severity=Severity.INFO)
    if use.silent is not None and use.function == "jax.jit(compiled for each number)":
        text = f"{use.silent}; JAX compiles the function for each, and once only if it is passed as an array"
        yield Problem(text, use.place, severity=Severity.INFO)
    if use.silent is not None and use.function == "jax.jit(compiled for another layout)":
        text = f"{use.silent}, so that the second call compiles the function again; ask for the same layout"
        yield Problem(text, use.place, severity=Severity.INFO)


RULE = Rule(
    code="SHL619",
    name="compiled-again",
    summary="A jitted function compiles again, for arguments that lie elsewhere, or as it is another",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(CallUse,),
    check=check,
)
