"""Windows over arrays: convolution and `reduce_window`."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import Mesh
from shardlint.laws.core.verdicts import Cause
from shardlint.laws.propagation.operands import Outcome, OutSharding, law, operands_of, refuse, same, ways
from shardlint.laws.propagation.out_shardings import settled
from shardlint.laws.propagation.primitives import resized, standard


@law
def conv_general_dilated(
    context: Mesh | None,
    lhs: ArrayType,
    rhs: ArrayType,
    shape: Sequence[Dim],
    lhs_feature: int,
    out_sharding: OutSharding = None,
) -> Outcome:
    """`lax.conv_general_dilated` with a result of this shape (`_conv_general_dilated_sharding_rule`).

    The kernel must be replicated, and so must the features (dimension ``lhs_feature``, which is
    ``dimension_numbers.lhs_spec[1]``); the result is as the input, position by position. Anything else
    needs ``out_sharding=``.
    """
    wanted, sizes = settled(context, out_sharding), tuple(shape)
    left, right = operands_of(context, lhs, rhs)

    def rule() -> TypeSharding:
        if wanted is not None:
            return wanted
        if right.unreduced and right.mesh is not None and not same(right.mesh.device_count, 1):
            refuse(Cause.AMBIGUOUS, "out_sharding= for a kernel that is unreduced")
        for dimension, entry in enumerate(right.partitions):
            if not same(ways(right.mesh, entry), 1):
                refuse(
                    Cause.AMBIGUOUS, "out_sharding= for a kernel that is sharded",
                    dimension=dimension, entry=entry, size=right.shape[dimension],
                )  # fmt: skip
        entry = left.listed[lhs_feature]
        if entry is not None:
            refuse(
                Cause.AMBIGUOUS, "out_sharding= for features that are sharded",
                dimension=lhs_feature, entry=entry, size=left.shape[lhs_feature],
            )  # fmt: skip
        return resized(left, sizes, "a convolution")

    return standard(context, [left, right], left.rank, rule, shape=sizes)


@law
def reduce_window(context: Mesh | None, operand: ArrayType, shape: Sequence[Dim]) -> Outcome:
    """`lax.reduce_window_sum`, `max` and `min` with a result of this shape: as `slice`."""
    (known,), sizes = operands_of(context, operand), tuple(shape)
    return standard(context, [known], known.rank, lambda: resized(known, sizes, "a window"))
