"""Reductions: reduced dimensions lose their sharding."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.values import Mesh, entry_axes
from shardlint.laws.core.verdicts import Cause
from shardlint.laws.propagation.elementwise import both_sets, reduced_of
from shardlint.laws.propagation.operands import Outcome, OutSharding, law, operands_of, refuse, unsure
from shardlint.laws.propagation.out_shardings import settled
from shardlint.laws.propagation.primitives import Sets, standard


@law
def reduce(context: Mesh | None, operand: ArrayType, axes: Sequence[int]) -> Outcome:
    """`lax.reduce_max`, `reduce_prod`, `reduce_and`, `argmax`, `lax.reduce` …: the other entries.

    `_reduce_op_sharding_rule`, `_argminmax_sharding_rule`, `_reduce_logical_sharding_rule`. ``axes`` are
    not negative. For sums there is `reduce_sum`.
    """
    (known,) = operands_of(context, operand)
    if (known.unreduced or known.reduced) and len(axes) == known.rank:
        unsure("the class of the exception differs from one reduction to another")
    return standard(
        context, [known], known.rank - len(axes),
        lambda: known.typed([e for i, e in enumerate(known.listed) if i not in axes]),
    )  # fmt: skip


@law
def reduce_sum(
    context: Mesh | None, operand: ArrayType, axes: Sequence[int], out_sharding: OutSharding = None
) -> Outcome:
    """`lax.reduce_sum`: the other entries, or ``out_sharding`` (`_reduce_sum_sharding_rule`)."""
    wanted = settled(context, out_sharding)
    (known,) = operands_of(context, operand)

    def rule() -> TypeSharding:
        if wanted is not None:
            return wanted
        return known.typed([e for i, e in enumerate(known.partitions) if i not in axes])

    def sets() -> Sets:
        if wanted is not None and wanted.spec.unreduced:
            summed = {axis for i in axes for axis in entry_axes(known.partitions[i])} | known.unreduced
            if wanted.spec.unreduced - summed:
                refuse(Cause.OUT_SHARDING, "unreduced axes that the summed dimensions lie along")
            return wanted.spec.unreduced, reduced_of(known)
        return both_sets(known)

    shape = tuple(size for i, size in enumerate(known.shape) if i not in axes)
    return standard(context, [known], len(shape), rule, shape=shape, sets=sets)


@law
def argminmax(context: Mesh | None, operand: ArrayType, axis: int) -> Outcome:
    """`lax.argmax`, `lax.argmin`: the other entries (`_argminmax_sharding_rule`)."""
    (known,) = operands_of(context, operand)
    return standard(
        context,
        [known],
        known.rank - 1,
        lambda: known.typed([e for i, e in enumerate(known.listed) if i != axis]),
    )
