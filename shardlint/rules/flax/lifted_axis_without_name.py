"""# lifted-axis-without-name (SHL509)

## What it does
Finds Flax transforms (`nn.scan`, `nn.vmap`, `nnx.vmap`) that stack partitioned parameters along a new axis
and give that axis no name.

## Why is this bad?
The parameters get a dimension in front, and their names must get an entry too. linen refuses to go on
without one. nnx leaves the names as they are, so that each now belongs to another dimension, which shows
when the stack is sharded again: by an optimizer's state, for instance.

## Example
```python
import flax.linen as nn
import jax
import jax.numpy as jnp


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        init = nn.with_partitioning(nn.initializers.lecun_normal(), (None, "model"))
        return nn.Dense(8, use_bias=False, kernel_init=init)(x), None


stack = nn.scan(Block, variable_axes={"params": 0}, split_rngs={"params": True}, length=4)
stack().init(jax.random.key(0), jnp.ones((2, 8)), None)  # raises PartitioningUnspecifiedError
```

## Use instead
```python
import flax.linen as nn
import jax
import jax.numpy as jnp


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        init = nn.with_partitioning(nn.initializers.lecun_normal(), (None, "model"))
        return nn.Dense(8, use_bias=False, kernel_init=init)(x), None


stack = nn.scan(
    Block,
    variable_axes={"params": 0},
    split_rngs={"params": True},
    length=4,
    metadata_params={nn.PARTITION_NAME: None},
)
stack().init(jax.random.key(0), jnp.ones((2, 8)), None)
```

## What JAX says
linen: `PartitioningUnspecifiedError` as the variables leave the transform. nnx: nothing (Flax 0.12.8).

## References
- https://flax.readthedocs.io/en/latest/api_reference/flax.linen/transformations.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.flax.logical_axes import Mistake
from shardlint.model.uses import LogicalAxesUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import name_text


def check(use: LogicalAxesUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report a transform that stacks named parameters without a name for the new axis."""
    if use.mistake is not Mistake.UNNAMED_AXIS:
        return
    argument = "metadata_params" if use.library == "linen" else "transform_metadata"
    module = "nn" if use.library == "linen" else "nnx"
    yield Problem(
        f"{use.function} stacks {name_text(use.text)}, which has partitioning names, along an axis without a "
        f"name; pass {argument}={{{module}.PARTITION_NAME: None}}, or a mesh axis",
        use.place,
    )


RULE = Rule(
    code="SHL509",
    name="lifted-axis-without-name",
    summary="A transform stacks partitioned parameters along an unnamed axis",
    docs=__doc__,
    kinds=(LogicalAxesUse,),
    check=check,
)
