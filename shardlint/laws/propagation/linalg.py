"""Linear algebra over batches of matrices: `cholesky`, `eigh`, `svd`, `qr`, `lu`, `triangular_solve`."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import Mesh, entry_axes
from shardlint.laws.core.verdicts import Cause
from shardlint.laws.propagation.operands import Outcome, law, operands_of, refuse
from shardlint.laws.propagation.primitives import finished, standard


@law
def linalg(context: Mesh | None, operands: Sequence[ArrayType], ranks: Sequence[int], rank: int) -> Outcome:
    """Return the type of a result of this rank, for operands of these core ranks with batch dimensions
    before.

    `linalg.linalg_sharding_rule`: batches sharded alike, everything else replicated.
    """
    known = operands_of(context, *operands)

    def rule() -> TypeSharding:
        batches = []
        for operand, own in zip(known, ranks, strict=True):
            first = operand.rank - own
            for dimension, entry in enumerate(operand.listed[first:], first):
                if entry is not None:
                    refuse(
                        Cause.UNSUPPORTED, "matrices that are not sharded",
                        dimension=dimension, entry=entry, size=operand.shape[dimension],
                    )  # fmt: skip
            batches.append(operand.listed[:first])
        if any(batch != batches[0] for batch in batches[1:]):
            refuse(Cause.CONFLICT, "batches sharded alike")
        return known[0].typed(batches[0])

    return standard(context, known, rank, rule)


@law
def triangular_solve(
    context: Mesh | None, a: ArrayType, b: ArrayType, *, left_side: bool, transpose_a: bool
) -> Outcome:
    """`lax.linalg.triangular_solve`: batches sharded alike, nothing along what is contracted.

    `linalg._tri_solve_sharding`; ``b`` has the rank of ``a``.
    """
    left, right = operands_of(context, a, b)

    def rule() -> TypeSharding:
        batch = left.listed[:-2]
        if batch != right.listed[:-2]:
            refuse(Cause.CONFLICT, "batches sharded alike")
        rows, other = left.partitions[-2:], right.partitions[-2:]
        for operand, own, place in ((left, rows, left_side != transpose_a), (right, other, not left_side)):
            if own[place] is not None:
                dimension = operand.rank - 2 + place
                refuse(
                    Cause.UNSUPPORTED, "a contracted dimension that is not sharded",
                    dimension=dimension, entry=own[place], size=operand.shape[dimension],
                )  # fmt: skip
        solved = (rows[transpose_a], other[1]) if left_side else (other[0], rows[not transpose_a])
        entries = (*batch, *solved)
        axes = [axis for entry in entries for axis in entry_axes(entry)]
        if len(axes) != len(set(axes)):
            # JAX means to raise a ShardingTypeError, and stumbles over the message
            refuse(Cause.CONFLICT, "no axis along two dimensions of the result", "AttributeError")
        if axes and left.mesh is None:
            refuse(Cause.OTHER_MESH, "a matrix with a mesh", "ValueError")
        return left.typed(entries)

    return standard(context, [left, right], left.rank, rule, shape=right.shape)


@law
def fft(context: Mesh | None, operand: ArrayType, shape: Sequence[Dim]) -> Outcome:
    """`lax.fft` to a result of this shape: as the operand, also along transformed dimensions.

    `fft.fft_abstract_eval`. The axes must divide the new sizes (those of `rfft` and `irfft` differ). No
    mesh is compared with the context's, and lowering may still refuse.
    """
    (known,) = operands_of(context, operand)
    return finished(None, known.untouched, known.rank, tuple(shape), [known])
