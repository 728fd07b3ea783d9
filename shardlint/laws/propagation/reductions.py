"""Reductions: reduced dimensions lose their sharding."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.values import Mesh, entry_axes
from shardlint.laws.core.verdicts import Cause
from shardlint.laws.propagation.elementwise import reduced_of, unreduced_of
from shardlint.laws.propagation.forbidden_collectives import check_dimensions, check_sums
from shardlint.laws.propagation.operands import (
    Operand,
    Outcome,
    OutSharding,
    law,
    operands_of,
    refuse,
    unsure,
)
from shardlint.laws.propagation.out_shardings import settled
from shardlint.laws.propagation.primitives import Sets, standard
from shardlint.laws.versions.era import since


@law
def reduce(
    context: Mesh | None,
    operand: ArrayType,
    axes: Sequence[int],
    operation: str | None = None,
    out_sharding: OutSharding = None,
) -> Outcome:
    """`lax.reduce_max`, `reduce_prod`, `reduce_and`, `argmax`, `lax.reduce` …: the other entries.

    `_reduce_op_sharding_rule`, `_argminmax_sharding_rule`, `_reduce_logical_sharding_rule`. ``axes`` are
    not negative. For sums there is `reduce_sum`. ``operation`` is ``max``, ``prod``, ``and`` …, which matters
    to operands with unreduced or reduced axes alone. Since 0.11.1 maxima and minima take ``out_sharding``.
    """
    wanted = settled(context, out_sharding)
    (known,) = operands_of(context, operand)
    own = bool(known.unreduced or known.reduced)
    if wanted is not None:
        kept = tuple(size for i, size in enumerate(known.shape) if i not in axes)
        return standard(
            context,
            [known],
            len(kept),
            lambda: _requested(known, axes, wanted),
            shape=kept,
            sets=lambda: _of_extremes(known, wanted),
        )
    if own and since("0.11.1") and operation is None:
        unsure("which reduction meets unreduced or reduced axes is not known")
    if own and since("0.11.1") and operation in ("max", "min"):
        return standard(
            context, [known], known.rank - len(axes),
            lambda: known.typed([e for i, e in enumerate(known.partitions) if i not in axes]),
            sets=lambda: _of_extremes(known),
        )  # fmt: skip
    if own and len(axes) == known.rank and operation is None:
        unsure("the class of the exception differs from one reduction to another")
    # Of a logical reduction only the entries that stay are looked up.
    idle = len(axes) == known.rank and operation in ("and", "or", "xor")
    return standard(
        context, [known], known.rank - len(axes),
        lambda: known.typed(() if idle else [e for i, e in enumerate(known.listed) if i not in axes]),
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
            return _requested(known, axes, wanted)
        return known.typed([e for i, e in enumerate(known.partitions) if i not in axes])

    def sets() -> Sets:
        if wanted is not None and wanted.spec.unreduced:
            summed = {axis for i in axes for axis in entry_axes(known.partitions[i])} | known.unreduced
            if wanted.spec.unreduced - summed:
                refuse(Cause.OUT_SHARDING, "unreduced axes that the summed dimensions lie along")
            unreduced = wanted.spec.unreduced
        else:
            unreduced = unreduced_of(known)
        if wanted is not None and wanted.spec.reduced and since("0.11.1"):
            refuse(Cause.OUT_SHARDING, "an out_sharding without reduced axes", "ValueError")
        return unreduced, reduced_of(known)

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


def _requested(operand: Operand, axes: Sequence[int], wanted: TypeSharding) -> TypeSharding:
    """Return an ``out_sharding=`` (`_reduce_op_sharding_rule_with_out_sharding`)."""
    check_sums([operand.partitions[i] for i in axes], wanted)
    check_dimensions(tuple(e for i, e in enumerate(operand.partitions) if i not in axes), wanted)
    return wanted


def _of_extremes(operand: Operand, wanted: TypeSharding | None = None) -> Sets:
    """`_reduce_max_ur_rule`: an unreduced sum is no unreduced maximum, neither as operand nor as result.

    Releases before 0.12.0 take the one operand for the other.
    """
    if wanted is not None and wanted.spec.unreduced:
        refuse(Cause.OUT_SHARDING, "an out_sharding whose unreduced axes are of the kind of the reduction")
    unreduced = unreduced_of(operand)
    if unreduced and since("0.12.0"):
        refuse(Cause.UNSUPPORTED, "an operand that is not an unreduced sum", "ValueError")
    if unreduced:
        unsure("what is unreduced by another operation than a sum is not followed")
    if wanted is not None and wanted.spec.reduced:
        refuse(Cause.OUT_SHARDING, "an out_sharding without reduced axes", "ValueError")
    return unreduced, reduced_of(operand)
