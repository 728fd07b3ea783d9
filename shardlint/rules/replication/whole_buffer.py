"""# whole-buffer (SHL622)

## What it does
Finds arrays of three dimensions or more that a jitted function gets whole on every device, and returns so by
its out_shardings, and into which it writes what is split along one of their dimensions: a cache of keys and
values without axes, beside heads that are split.

## Why is this bad?
The cache could be split as its contents are. Instead each device holds all of it, and in every step the
devices send each other what they write. In inference the cache is often larger than the weights.

## Example
```python
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
rows, heads = NamedSharding(mesh, P("data")), NamedSharding(mesh, P(None, "model"))
x = jax.device_put(jnp.ones((16, 64)), rows)
keys = jax.device_put(jnp.ones((64, 8, 16)), heads)
home = NamedSharding(mesh, P())
cache = jnp.zeros((16, 128, 8, 16), device=home)


@functools.partial(jax.jit, out_shardings=home)
def step(cache, keys, x, position):
    return cache.at[:, position].set(jnp.einsum("bd,dnh->bnh", x, keys))


cache = step(cache, keys, x, 0)
```

## Use instead
```python
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
rows, heads = NamedSharding(mesh, P("data")), NamedSharding(mesh, P(None, "model"))
x = jax.device_put(jnp.ones((16, 64)), rows)
keys = jax.device_put(jnp.ones((64, 8, 16)), heads)
home = NamedSharding(mesh, P("data", None, "model"))
cache = jnp.zeros((16, 128, 8, 16), device=home)


@functools.partial(jax.jit, out_shardings=home)
def step(cache, keys, x, position):
    return cache.at[:, position].set(jnp.einsum("bd,dnh->bnh", x, keys))


cache = step(cache, keys, x, 0)
```

## What JAX says
Nothing (JAX 0.10.2). Without out_shardings the compiler may split the result. A layout is followed through
products, indices and what is computed element by element; where it is not known, nothing is said.

## References
- https://github.com/google-deepmind/gemma/issues/648
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shardlint.laws.core.values import Spec, entry_axes
from shardlint.laws.core.verdicts import Api
from shardlint.laws.placement.array_bytes import array_bytes, text_of_bytes
from shardlint.model.findings import Group
from shardlint.model.memory_uses import WrittenUse
from shardlint.model.spans import Span
from shardlint.model.uses import Placement, Use
from shardlint.rules.base import Problem, ProjectRule, RuleSettings
from shardlint.rules.messages.common import names_text, shape_text


def check(uses: Sequence[WrittenUse | Placement], settings: RuleSettings) -> Iterable[tuple[Use, Problem]]:
    """Report an array that stays whole, and could be split as what is written into it, once for each place
    where that is."""
    returned = {
        (use.mesh, use.shape, use.dtype)
        for use in uses
        if isinstance(use, Placement) and use.api is Api.JIT_OUT and isinstance(use.spec, Spec)
        if not any(map(entry_axes, use.spec.entries))
    }
    seen: set[Span] = set()
    for use in uses:
        if not isinstance(use, WrittenUse) or (use.mesh, use.shape, use.dtype) not in returned:
            continue
        if (written := use.written.resolve()) in seen:
            continue
        seen.add(written)
        total = array_bytes(use.shape, use.dtype)
        size = "" if total is None else f", {text_of_bytes(total)}"
        text = (
            f"{use.subject}, {shape_text(use.shape)} {use.dtype}{size}, is whole on each device, and what is "
            f"written into it is split over {names_text(use.axes)}: split its dimension {use.dimension}, too"
        )
        yield use, Problem(text, use.place)


RULE = ProjectRule(
    code="SHL622",
    name="whole-buffer",
    summary="An array is whole on every device, though what is written into it is split",
    docs=__doc__,
    group=Group.MEMORY,
    kinds=(WrittenUse, Placement),
    check=check,
)
