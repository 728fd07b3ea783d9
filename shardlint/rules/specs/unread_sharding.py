"""# unread-sharding (SHL617)

## What it does
Finds calls that hand a sharding, a spec, or a tree of these to a function of the program that does not
read it, and variables and attributes that get one and are nowhere read.

## Why is this bad?
The caller says how something is to be laid out, and nothing is: what the function makes or returns lies where
it did, on one device perhaps, or whole on every device.

## Example
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


def prefetch(batches, sharding):
    for batch in batches:
        yield jnp.asarray(batch)


(batch,) = prefetch([np.ones((32, 16), np.float32)], NamedSharding(mesh, P("data")))
```

## Use instead
```python
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


def prefetch(batches, sharding):
    for batch in batches:
        yield jax.device_put(batch, sharding)


(batch,) = prefetch([np.ones((32, 16), np.float32)], NamedSharding(mesh, P("data")))
```

## What JAX says
Nothing: it never sees the sharding (JAX 0.10.2). Methods, decorated functions and functions that a table
holds may have to take what others of their kind do, and one that returns what it is given, as it is, stands
for another that is not there: these are not reported, nor are names that begin with an underscore. Variables
of a module, and attributes, are reported in programs only: where something runs at top level or below
`if __name__ == "__main__"`, and their name occurs nowhere else in the file.

## References
- https://docs.jax.dev/en/latest/sharded-computation.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.model.findings import Group
from shardlint.model.uses import CallUse, UnreadVariableUse
from shardlint.rules.base import Problem, Rule, RuleSettings


def check(use: CallUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a sharding that nothing reads."""
    if use.silent is not None and use.function == "a layout (unread)":
        yield Problem(use.silent, use.place)


RULE = Rule(
    code="SHL617",
    name="unread-sharding",
    summary="A sharding is given to a function, or to a variable, and not read",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(CallUse, UnreadVariableUse),
    check=check,
)
