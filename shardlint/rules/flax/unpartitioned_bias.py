"""# unpartitioned-bias (SHL503)

## What it does
Finds a layer whose kernel is partitioned on its output dimension and whose bias is not partitioned.

Logical names count as the rules in force translate them: nothing is said where they give the outputs no
mesh axis, or where the rules are not known. A bias of fewer than 16 elements is left alone, since nothing is
saved by splitting it; one below `max-replicated-bytes` (64 MiB), as nearly all are, is an information.

## Why is this bad?
The layer's output is split along that axis, and so is the part of the bias that each device needs.
A bare bias is replicated, with its gradient and optimizer state, and leaves the layer half
annotated. That costs its size, and little time: of 2048 numbers, a step of Adam gathers the new bias and both
moments, 8 KiB each, where a split bias needs none of that (JAX 0.10.2, compiled for 2 x 4 devices).

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

from shardlint.laws.core.dims import product
from shardlint.laws.core.values import Entry, Spec, Unknown, entry_axes, entry_text
from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.placement.array_bytes import array_bytes
from shardlint.model.findings import Group, Severity
from shardlint.model.uses import Fact, ParameterUse, Use
from shardlint.rules.base import Problem, ProjectRule, RuleSettings
from shardlint.rules.messages.common import array_text, spec_text

#: A smaller bias is left alone.
_WORTH_SPLITTING = 16

#: What one object made, by name.
_Layer = dict[str, ParameterUse]


def check(uses: Sequence[ParameterUse], settings: RuleSettings) -> Iterable[tuple[Use, Problem]]:
    """Report each unpartitioned bias beside a kernel that is partitioned on the dimensions they share."""
    for layer in _layers(uses):
        kernel, bias = layer.get("kernel"), layer.get("bias")
        if kernel is None or bias is None or bias.names is not None or _is_small(bias):
            continue
        if isinstance(kernel.verdict, Rejected) or isinstance(bias.verdict, Rejected):
            continue
        # Only what the rules make of logical names tells whether they split anything.
        split = _output_entries(kernel, bias, kernel.axes if kernel.logical else kernel.names)
        if any(entry_axes(entry) for entry in split):
            names = _output_entries(kernel, bias, kernel.names)
            yield (
                bias,
                Problem(
                    f"{array_text(bias)} is not partitioned, but its `kernel` is, {spec_text(kernel)}: "
                    f"give bias_init the names {entry_text(names)}",
                    bias.owner_place,
                    severity=Severity.WARNING if _is_large(bias, settings) else Severity.INFO,
                    related=_kernel_facts(kernel),
                ),
            )


def _layers(uses: Iterable[ParameterUse]) -> Iterable[_Layer]:
    """Return the parameters, grouped by the object that created them.

    Uses are in the order of the program, and an object creates each of its parameters once: a name that
    occurs again belongs to another object, created on the same line.
    """
    found: list[_Layer] = []
    latest: dict[Hashable, _Layer] = {}
    for use in uses:
        # The parts of an attention layer are made by one call.
        line = (use.owner_place, use.owner, use.path[:-1], use.environment.entry, use.variant)
        if line not in latest or use.name in latest[line]:
            latest[line] = {}
            found.append(latest[line])
        latest[line][use.name] = use
    return found


def _is_small(bias: ParameterUse) -> bool:
    if isinstance(bias.shape, Unknown):
        return False
    size = product(bias.shape)
    return isinstance(size, int) and size < _WORTH_SPLITTING


def _is_large(bias: ParameterUse, settings: RuleSettings) -> bool:
    """Return whether a bias has a size that should not be whole on every device."""
    total = None if isinstance(bias.shape, Unknown) else array_bytes(bias.shape, bias.dtype)
    return total is not None and total >= settings.replicated_bytes


def _output_entries(
    kernel: ParameterUse, bias: ParameterUse, names: Spec | str | Unknown | None
) -> tuple[Entry, ...]:
    """Return the kernel's names for the dimensions that the bias has too: its last ones."""
    if isinstance(kernel.shape, Unknown) or isinstance(bias.shape, Unknown) or not isinstance(names, Spec):
        return ()
    rank, shared = len(kernel.shape), len(bias.shape)
    if len(names) > rank or shared >= rank:
        return ()
    return (names.entries + (None,) * (rank - len(names)))[rank - shared :]


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
