"""# static-without-hash (SHL215)

## What it does
Finds arguments of jitted functions that `static_argnums` or `static_argnames` make static, and of `jax.pmap`
those that `static_broadcasted_argnums` does, if they have no hash: arrays, lists, dicts and sets, tuples that
hold one, and objects of classes with `__eq__` and without `__hash__`, such as a dataclass that is not frozen.

## Why is this bad?
JAX compiles the function for each value of a static argument, and looks the compiled one up by its hash.

## Example
```python
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("data",))


@dataclass
class Config:
    scale: float = 2.0


@partial(jax.jit, static_argnums=0, out_shardings=NamedSharding(mesh, P("data")))
def scaled(config, x):
    return config.scale * x


y = scaled(Config(), jnp.ones(8))  # raises ValueError
```

## Use instead
```python
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("data",))


@dataclass(frozen=True)
class Config:
    scale: float = 2.0


@partial(jax.jit, static_argnums=0, out_shardings=NamedSharding(mesh, P("data")))
def scaled(config, x):
    return config.scale * x


y = scaled(Config(), jnp.ones(8))
```

## What JAX says
`ValueError` as the function is called (JAX 0.10.2, 0.12.0.1): "Non-hashable static arguments are not
supported". Scalars of numpy have a hash, its arrays and those of JAX have none.

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.jit.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Rejected
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a static argument without a hash."""
    verdict = use.verdict
    if use.function.endswith("(static)") and isinstance(verdict, Rejected):
        transform = use.function.removesuffix("(static)")
        yield Problem(f"{verdict.detail}: static arguments of {transform} need a hash", use.place)


RULE = Rule(
    code="SHL215",
    name="static-without-hash",
    summary="A static argument of a jitted or mapped function has no hash",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
