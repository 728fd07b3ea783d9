"""# partition-names-too-short (SHL504)

## What it does
Finds a kernel with fewer partitioning names than dimensions, so that its axes fall on an input
dimension. A general dense layer may have several output dimensions, such as an attention's heads and
their size: names that end on one of those are as they are meant.

## Why is this bad?
Names are matched from the first dimension on, and a kernel's first dimension is the *input*.
`("model",)`, meant for the outputs, splits the inputs: every product then ends in a sum across
devices. If the inputs are meant, `("model", None)` says so.

## Example
```python
import flax.linen as nn
import jax
import jax.numpy as jnp

kernel_init = nn.with_partitioning(nn.initializers.lecun_normal(), ("model",))
layer = nn.Dense(16, kernel_init=kernel_init, use_bias=False)
variables = layer.init(jax.random.key(0), jnp.ones((4, 8)))
```

## Use instead
```python
import flax.linen as nn
import jax
import jax.numpy as jnp

kernel_init = nn.with_partitioning(nn.initializers.lecun_normal(), (None, "model"))
layer = nn.Dense(16, kernel_init=kernel_init, use_bias=False)
variables = layer.init(jax.random.key(0), jnp.ones((4, 8)))
```

## What JAX says
Nothing: a spec shorter than the rank is legal everywhere, and what it leaves out is not split (JAX
0.10.2).

## References
- https://flax.readthedocs.io/en/latest/api_reference/flax.linen/spmd.html
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.laws.core.values import Spec, Unknown, entry_axes, entry_text
from shardlint.laws.core.verdicts import Rejected
from shardlint.model.findings import Group
from shardlint.model.uses import ParameterUse
from shardlint.rules.base import Problem, Rule, RuleSettings
from shardlint.rules.messages.common import array_text, entry_place, names_text, shape_text, spec_text


def check(use: ParameterUse, settings: RuleSettings) -> Iterable[Problem]:
    """Report the axes of a kernel that apply to an input dimension because there are too few names."""
    if isinstance(use.verdict, Rejected) or use.name != "kernel" or isinstance(use.shape, Unknown):
        return
    if not isinstance(use.names, Spec) or len(use.names) >= len(use.shape):
        return
    names, rank = use.names.entries, len(use.shape)
    dimension = next((d for d, entry in enumerate(names) if entry_axes(entry)), None)
    if dimension is None or dimension >= _inputs(use.owner, rank):
        return
    padded = entry_text(names + (None,) * (rank - len(names)))
    outputs = entry_text((None,) * (rank - len(names)) + names)
    yield Problem(
        f"{spec_text(use)} on {array_text(use)} of shape {shape_text(use.shape)} puts "
        f"{names_text(entry_axes(names[dimension]))} on dimension {dimension}, not on the outputs; "
        f"write {outputs} for the outputs, or {padded} if dimension {dimension} is meant",
        entry_place(use, dimension),
    )


def _inputs(layer: str, rank: int) -> int:
    """Return the number of leading dimensions of a layer's kernel that are certainly not outputs."""
    if "Einsum" in layer:
        return 0  # its equation orders them
    if "Conv" in layer:
        # Windows and inputs; a transposed convolution may have its outputs before its inputs.
        return rank - (2 if "Transpose" in layer else 1)
    return 1


RULE = Rule(
    code="SHL504",
    name="partition-names-too-short",
    summary="A kernel has too few partitioning names, so they apply to its input dimension",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(ParameterUse,),
    check=check,
)
