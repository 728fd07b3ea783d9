"""The dimensions along which XLA gathers the operand of a Fourier transform on Auto axes."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.laws.versions.era import since


def gathered_by_transform(split: frozenset[int], axes: Sequence[int], real: bool) -> frozenset[int]:
    """Return the dimensions of those that are split along which the operand is gathered on each device.

    ``axes`` are transformed, the last of them first; ``real``: to or from real numbers. Before JAX 0.12.0 XLA
    gathers whatever is split, batches too; since then only along dimensions that it transforms. Along the
    last one alone it transforms complex numbers in parts (`HandleFft`): nothing is said of that.
    """
    last = axes[-1]
    if last in split and not real:
        return frozenset()
    return split & frozenset(axes) if since("0.12.0") else split
