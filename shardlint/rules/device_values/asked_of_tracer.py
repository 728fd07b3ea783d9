"""# asked-of-tracer (SHL325)

## What it does
Finds `if`, `while`, `int()`, `range()`, bounds of slices and the like in a `shard_map` or `pmap` that depend
on an array with another value on each device: the device's index, or its part of an argument.

## Why is this bad?
JAX runs the Python code once, for all devices, with a tracer for each such array. It has no value that
Python could test, or cut by.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("worker",))


def loss(weights, x):
    error = jnp.mean((x @ weights) ** 2)
    if jax.lax.axis_index("worker") == 0:  # raises TracerBoolConversionError
        error = error + jnp.sum(weights**2)
    return jax.lax.psum(error, "worker")


jax.shard_map(loss, mesh=mesh, in_specs=(P(), P("worker")), out_specs=P())(jnp.ones(4), jnp.ones((16, 4)))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("worker",))


def loss(weights, x):
    error = jnp.mean((x @ weights) ** 2)
    first = jax.lax.axis_index("worker") == 0
    error = error + jnp.where(first, jnp.sum(weights**2), 0.0)
    return jax.lax.psum(error, "worker")


jax.shard_map(loss, mesh=mesh, in_specs=(P(), P("worker")), out_specs=P())(jnp.ones(4), jnp.ones((16, 4)))
```

## What JAX says
`TracerBoolConversionError`, `ConcretizationTypeError`, `TracerIntegerConversionError`,
`TracerArrayConversionError`, or `IndexError` for bounds of slices, when the body is traced (JAX 0.10.2).

## References
- https://docs.jax.dev/en/latest/errors.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.transforms.tracers import ASKED, Asked
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings

_INSTEAD = {
    Asked.TRUTH: "use jnp.where or jax.lax.cond",
    Asked.NUMBER: "leave it an array",
    Asked.INDEX: "use jax.lax.fori_loop, or index a jnp.array",
    Asked.BOUND: "use jax.lax.dynamic_slice_in_dim",
    Asked.ITEMS: "use jax.numpy",
}


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report what Python asks of an array that differs from device to device."""
    verdict = use.verdict
    if use.function == ASKED and isinstance(verdict, Rejected):
        asked = Asked(verdict.detail)
        yield Problem(
            f'Python asks for {asked} of an array that differs along "{verdict.axis}": the code is traced '
            f"once for all devices; {_INSTEAD[asked]}",
            use.place,
        )


RULE = Rule(
    code="SHL325",
    name="asked-of-tracer",
    summary="Python asks for the value of an array that differs from device to device",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
