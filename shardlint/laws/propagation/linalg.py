"""Linear algebra over batches of matrices: `cholesky`, `eigh`, `svd`, `qr`, `lu`, `triangular_solve`."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.laws.propagation.operands import Outcome, law, operand_of, refuse
from shardlint.laws.propagation.primitives import standard
from shardlint.laws.types import ArrayType, TypeSharding
from shardlint.laws.values import Mesh
from shardlint.laws.verdicts import Cause


@law
def linalg(context: Mesh | None, operands: Sequence[ArrayType], ranks: Sequence[int], rank: int) -> Outcome:
    """A result of this rank of an operation on operands of these ranks, and dimensions of batches before.

    `linalg.linalg_sharding_rule`: batches sharded alike, everything else replicated.
    """
    known = [operand_of(operand) for operand in operands]

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
