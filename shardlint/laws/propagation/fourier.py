"""Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.laws.dims import Dim
from shardlint.laws.propagation.operands import Outcome, law, operands_of
from shardlint.laws.propagation.primitives import finished
from shardlint.laws.types import ArrayType
from shardlint.laws.values import Mesh


@law
def fft(context: Mesh | None, operand: ArrayType, shape: Sequence[Dim]) -> Outcome:
    """`lax.fft` to a result of this shape: as the operand, also along transformed dimensions.

    `fft.fft_abstract_eval`. The axes must divide the new sizes (those of `rfft` and `irfft` differ). No
    mesh is compared with the context's, and lowering may still refuse.
    """
    (known,) = operands_of(context, operand)
    return finished(None, known.untouched, known.rank, tuple(shape), [known])
