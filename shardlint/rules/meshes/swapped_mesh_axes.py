"""# swapped-mesh-axes (SHL411)

## What it does
Finds meshes whose sizes and axis names stand in different orders: the size that is named after one axis is
given to another, and the other way round. Affixes count as nothing: `num_data`, `data_parallel_size` and
`cfg.data` are all named after "data". Nothing is said where both sizes are known to be equal.

## Why is this bad?
The mesh is valid, and so is every spec. The model is split over as many devices as the batch should be, and
the batch over as many as the model should be.

## Example
```python
import jax
import numpy as np
from jax.sharding import Mesh

data, model = 4, 2
mesh = Mesh(np.array(jax.devices()).reshape(model, data), ("data", "model"))
```

## Use instead
```python
import jax
import numpy as np
from jax.sharding import Mesh

data, model = 4, 2
mesh = Mesh(np.array(jax.devices()).reshape(data, model), ("data", "model"))
```

## What JAX says
Nothing (JAX 0.10.2 and 0.12.0.1).

## References
- https://docs.jax.dev/en/latest/jax.sharding.html#jax.sharding.Mesh
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Rejected
from shardlint.model.findings import Group
from shardlint.model.uses import MeshUse
from shardlint.rules.base import Problem, Rule, RuleSettings

_AFFIXES = re.compile(
    "^(?:n|num|mesh|ici|dcn|size)_|_(?:size|dim|axis|parallel|parallelism|degree|devices|shards|ways)$"
)


def check(use: MeshUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report the first two axes of which each gets the size that is named after the other."""
    names, shape, written = use.names, use.shape, use.written
    if isinstance(use.verdict, Rejected) or not isinstance(names, tuple) or isinstance(shape, Unknown):
        return
    if not len(names) == len(shape) == len(written):
        return
    axes = [_named_after(name) for name in names]
    sizes = [text and _named_after(text) for text in written]
    for one, other in itertools.combinations(range(len(names)), 2):
        swapped = sizes[one] == axes[other] and sizes[other] == axes[one] and axes[one] != axes[other]
        if swapped and equal(shape[one], shape[other]) is not True:
            yield Problem(
                f'axis "{names[one]}" gets the size `{written[one]}`, and "{names[other]}" the size '
                f"`{written[other]}`: write the sizes in the order of the names",
                use.shape_place or use.place,
            )
            return


def _named_after(text: str) -> str:
    """Return the last word of a name, an attribute or an item, without affixes."""
    word, before = (re.findall(r"\w+", text) or [""])[-1].lower(), ""
    while word != before:
        word, before = _AFFIXES.sub("", word), word
    return word


RULE = Rule(
    code="SHL411",
    name="swapped-mesh-axes",
    summary="The sizes of a mesh and its axis names stand in different orders",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(MeshUse,),
    check=check,
)
