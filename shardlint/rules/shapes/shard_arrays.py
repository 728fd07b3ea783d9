"""# shard-arrays (SHL210)

## What it does
Finds arrays given to `jax.make_array_from_single_device_arrays` that are too many or too few, or have not the
shape of a shard, and data given to `jax.make_array_from_process_local_data` that cannot be a part of an array
of the `global_shape`. Also callbacks of `jax.make_array_from_callback` that return something else than a
shard, or do not read the index that they are given, and return the same slice for each device.

## Why is this bad?
JAX makes one array of them without copying: it needs one for each device of the mesh, each the size of the
part that the device holds.

## Example
```python
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"))
rows = NamedSharding(mesh, P("data"))
parts = [jax.device_put(jnp.ones((8, 16)), device) for device in jax.devices()]
x = jax.make_array_from_single_device_arrays((8, 16), rows, parts)  # raises ValueError
```

## Use instead
```python
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"))
rows = NamedSharding(mesh, P("data"))
parts = [jax.device_put(jnp.ones((4, 16)), device) for device in jax.devices()]
x = jax.make_array_from_single_device_arrays((8, 16), rows, parts)
```

## What JAX says
`ValueError` (JAX 0.10.2). With several processes each gives the arrays of its own devices, or its own rows of
the data: fewer than the whole array has, and a whole number of times. In one process JAX before 0.7.1 did not
look at `global_shape`. A callback that returns the same slice for each device is a warning: nothing is
raised, and the array holds one part of the data over and over. It is quiet with several processes, each of
which may have a single device, and where the callback calls anything (`next(batches)`) or returns an array
that it only names, which may be one of zeros.

## References
- https://docs.jax.dev/en/latest/_autosummary/jax.make_array_from_single_device_arrays.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.verdicts import Rejected
from shardlint.model.findings import Severity
from shardlint.model.uses import CallUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report per-device arrays that do not make up the whole array."""
    verdict = use.verdict
    if use.function == "jax.make_array_from_callback":
        if isinstance(verdict, Rejected):
            yield Problem(
                f"{verdict.detail}; return the data at the index that the callback is given", use.place
            )
        elif use.silent is not None:
            yield Problem(use.silent, use.place, severity=Severity.WARNING)
    elif not isinstance(verdict, Rejected):
        return
    elif use.function == "jax.make_array_from_single_device_arrays":
        yield Problem(f"{verdict.detail}; give one array a device, each of a shard's shape", use.place)
    elif use.function == "jax.make_array_from_process_local_data":
        yield Problem(f"{verdict.detail}; give the rows of this process and the shape of all rows", use.place)


RULE = Rule(
    code="SHL210",
    name="shard-arrays",
    summary="Arrays of single devices or processes are not the parts of the array they are combined into",
    docs=__doc__,
    kinds=(CallUse,),
    check=check,
)
