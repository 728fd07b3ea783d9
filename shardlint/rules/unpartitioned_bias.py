"""# unpartitioned-bias (SHL503)

## What it does
Finds a layer whose kernel is partitioned on its output dimension and whose bias is not partitioned.

## Why is this bad?
The layer's output is split along that axis, and so is the part of the bias that each device needs.
A bare bias is replicated, with its gradient and optimizer state, and leaves the layer half
annotated.

## Example
```python
import flax.linen as nn
import jax
import jax.numpy as jnp

kernel_init = nn.with_partitioning(nn.initializers.lecun_normal(), (None, "model"))
layer = nn.Dense(16, kernel_init=kernel_init)
variables = layer.init(jax.random.key(0), jnp.ones((4, 8)))
```

## Use instead
```python
import flax.linen as nn
import jax
import jax.numpy as jnp

kernel_init = nn.with_partitioning(nn.initializers.lecun_normal(), (None, "model"))
bias_init = nn.with_partitioning(nn.initializers.zeros_init(), ("model",))
layer = nn.Dense(16, kernel_init=kernel_init, bias_init=bias_init)
variables = layer.init(jax.random.key(0), jnp.ones((4, 8)))
```

## What JAX says
Nothing: `nn.get_partition_spec` gives the bias `P()` (Flax 0.12.8).

## References
- https://flax.readthedocs.io/en/latest/guides/parallel_training/flax_on_pjit.html
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from shardlint.findings import Group
from shardlint.laws.values import Entry, Spec, Unknown, entry_axes, entry_text
from shardlint.laws.verdicts import Rejected
from shardlint.rules.base import Problem, ProjectRule, RuleSettings
from shardlint.rules.wording import array_text, spec_text
from shardlint.uses import Fact, ParameterUse, Use


def check(uses: Sequence[ParameterUse], settings: RuleSettings) -> Iterable[tuple[Use, Problem]]:
    """Report each bare bias that stands beside a kernel partitioned on the dimensions they share."""
    kernels = {_layer(use): use for use in uses if use.name == "kernel"}
    for bias in uses:
        kernel = kernels.get(_layer(bias))
        if kernel is None or bias.name != "bias" or bias.names is not None:
            continue
        if isinstance(kernel.verdict, Rejected) or isinstance(bias.verdict, Rejected):
            continue
        shared = _output_entries(kernel, bias)
        if any(entry_axes(entry) for entry in shared):
            yield (
                bias,
                Problem(
                    f"{array_text(bias)} is not partitioned, but its `kernel` is, {spec_text(kernel)}: "
                    f"give bias_init the names {entry_text(shared)}",
                    bias.owner_place,
                    related=_kernel_facts(kernel),
                ),
            )


def _layer(use: ParameterUse) -> Hashable:
    # The parts of an attention layer are made by one call.
    return (use.owner_place, use.owner, use.environment.entry, use.variant)


def _output_entries(kernel: ParameterUse, bias: ParameterUse) -> tuple[Entry, ...]:
    """The kernel's entries for the dimensions that the bias has too: its last ones."""
    if (
        isinstance(kernel.shape, Unknown)
        or isinstance(bias.shape, Unknown)
        or not isinstance(kernel.names, Spec)
    ):
        return ()
    rank, shared = len(kernel.shape), len(bias.shape)
    if len(kernel.names) > rank or shared >= rank:
        return ()
    return (kernel.names.entries + (None,) * (rank - len(kernel.names)))[rank - shared :]


def _kernel_facts(kernel: ParameterUse) -> tuple[Fact, ...]:
    if kernel.names_place is None:
        return ()
    return (Fact("the kernel's names", kernel.names_place),)


RULE = ProjectRule(
    code="SHL503",
    name="unpartitioned-bias",
    summary="A layer's kernel is partitioned on its output dimension and its bias is not",
    docs=__doc__,
    group=Group.SUSPICIOUS,
    kinds=(ParameterUse,),
    check=check,
)
