"""# names-unboxed (SHL512)

## What it does
Finds `nn.get_partition_spec` and `nn.get_sharding` of a tree in which nothing has names any more, though the
model gives names to its parameters: `nn.unbox` was called before.

## Why is this bad?
The names are in linen's boxes (`nn.Partitioned`), which `nn.unbox` takes away. The spec of an array without a
box is `P()`: all that is placed by these specs is whole on every device.

## Example
```python
import flax.linen as nn
import jax
import jax.numpy as jnp

init = nn.with_partitioning(nn.initializers.lecun_normal(), (None, "model"))
model = nn.Dense(128, kernel_init=init, use_bias=False)


def create(key):
    return nn.unbox(model.init(key, jnp.ones((1, 64))))


specs = nn.get_partition_spec(jax.eval_shape(create, jax.random.key(0)))
```

## Use instead
```python
import flax.linen as nn
import jax
import jax.numpy as jnp

init = nn.with_partitioning(nn.initializers.lecun_normal(), (None, "model"))
model = nn.Dense(128, kernel_init=init, use_bias=False)


def create(key):
    return model.init(key, jnp.ones((1, 64)))


specs = nn.get_partition_spec(jax.eval_shape(create, jax.random.key(0)))
```

## What JAX says
Nothing: `P()` is a spec (Flax 0.12.8). Trees in which no array is known to have lost names are not reported.

## References
- https://flax.readthedocs.io/en/latest/api_reference/flax.linen/spmd.html
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shardlint.model.findings import Group, Severity
from shardlint.model.uses import BareTreeUse, Fact, ParameterUse, Use
from shardlint.rules.base import Problem, ProjectRule, RuleSettings
from shardlint.rules.named_parameters import NamedParameters


def check(
    uses: Sequence[BareTreeUse | ParameterUse], settings: RuleSettings
) -> Iterable[tuple[Use, Problem]]:
    """Report each call that asks for names that parameters had, and lost."""
    parameters = NamedParameters(uses)
    for use in uses:
        if not isinstance(use, BareTreeUse):
            continue
        for leaf in use.leaves:
            if (lost := parameters.of(leaf)) is not None:
                text = (
                    f"nothing in this tree has names, so `{use.function}` gives P() for all; "
                    f"`{'/'.join(lost.path)}` had {lost.names}, before it was unboxed"
                )
                facts = () if lost.names_place is None else (Fact("its names", lost.names_place),)
                yield use, Problem(text, use.place, severity=Severity.WARNING, related=facts)
                break


RULE = ProjectRule(
    code="SHL512",
    name="names-unboxed",
    summary="Specs are asked of parameters whose names were taken away",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(BareTreeUse, ParameterUse),
    check=check,
)
