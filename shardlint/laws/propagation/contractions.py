"""Contractions: `lax.dot_general`, of which matmul, einsum and tensordot are made."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import Mesh, Spec, entry_axes
from shardlint.laws.core.verdicts import Cause
from shardlint.laws.propagation.elementwise import scalars_follow, unreduced_of
from shardlint.laws.propagation.forbidden_collectives import check_dimensions, check_sums
from shardlint.laws.propagation.operands import (
    Operand,
    Outcome,
    OutSharding,
    Partitions,
    law,
    operands_of,
    refuse,
    same_mesh,
)
from shardlint.laws.propagation.out_shardings import settled
from shardlint.laws.propagation.primitives import Sets, standard
from shardlint.laws.versions.era import since

#: ``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``.
DimensionNumbers = tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]


@law
def dot_general(
    context: Mesh | None,
    lhs: ArrayType,
    rhs: ArrayType,
    dimension_numbers: DimensionNumbers,
    out_sharding: OutSharding = None,
) -> Outcome:
    """`lax.dot_general`: the batch entries, then those left of each operand (`_dot_general_sharding_rule`).

    Contracting dimensions sharded alike are ambiguous: JAX wants ``out_sharding=``.
    """
    wanted = settled(context, out_sharding)
    left, right = scalars_follow(context, operands_of(context, lhs, rhs))
    (left_sum, right_sum), (left_batch, right_batch) = dimension_numbers
    left_kept = [i for i in range(left.rank) if i not in (*left_sum, *left_batch)]
    right_kept = [i for i in range(right.rank) if i not in (*right_sum, *right_batch)]

    def rule() -> TypeSharding:
        if left.mesh is not None and right.mesh is not None and not same_mesh(left.mesh, right.mesh):
            refuse(Cause.OTHER_MESH, "operands of one mesh")
        if wanted is not None:
            check_sums((*_pick(left, left_sum), *_pick(right, right_sum)), wanted)
            for batch in (_pick(left, left_batch), _pick(right, right_batch)):
                check_dimensions((*batch, *_pick(left, left_kept), *_pick(right, right_kept)), wanted)
            return wanted
        wide = not since("0.11.1")
        _check_alike(left, right, left_batch, right_batch, "batch dimensions sharded alike", wide=wide)
        _check_alike(left, right, left_sum, right_sum, "contracting dimensions sharded alike")
        for i, j in zip(left_sum, right_sum, strict=True):
            if left.partitions[i] is not None and right.partitions[j] is not None:
                refuse(
                    Cause.AMBIGUOUS, "out_sharding= for contracting dimensions that are both sharded",
                    dimension=i, entry=left.partitions[i], size=left.shape[i],
                )  # fmt: skip
        entries = (*_pick(left, left_batch), *_pick(left, left_kept), *_pick(right, right_kept))
        return TypeSharding(left.mesh or right.mesh, Spec(entries))

    def sets() -> Sets:
        if unreduced_of(left) or unreduced_of(right):
            refuse(Cause.UNSUPPORTED, "operands without unreduced axes")
        if wanted is None or not wanted.spec.unreduced:
            return frozenset(), frozenset()
        summed = _pick(left, left_sum)
        if summed != _pick(right, right_sum):
            refuse(Cause.OUT_SHARDING, "contracting dimensions sharded alike for an unreduced result")
        if wanted.spec.unreduced != {axis for entry in summed for axis in entry_axes(entry)}:
            refuse(Cause.OUT_SHARDING, "unreduced axes that are those of the contracting dimensions")
        return wanted.spec.unreduced, frozenset()

    shape = tuple([left.shape[i] for i in (*left_batch, *left_kept)] + [right.shape[i] for i in right_kept])
    return standard(context, [left, right], len(shape), rule, shape=shape, sets=sets)


@law
def ragged_dot_general(
    context: Mesh | None,
    operands: Sequence[ArrayType],
    shape: Sequence[Dim],
    out_sharding: OutSharding = None,
) -> Outcome:
    """`lax.ragged_dot`, `ragged_dot_general` of two operands and group sizes: ``out_sharding=`` always.

    `_ragged_dot_general_sharding_rule`: NotImplementedError without.
    """
    wanted, sizes = settled(context, out_sharding), tuple(shape)

    def rule() -> TypeSharding:
        return wanted or refuse(Cause.AMBIGUOUS, "out_sharding= for a ragged product", "NotImplementedError")

    return standard(context, operands_of(context, *operands), len(sizes), rule, shape=sizes)


def _check_alike(
    left: Operand,
    right: Operand,
    left_dims: Sequence[int],
    right_dims: Sequence[int],
    wanted: str,
    *,
    wide: bool = True,
) -> None:
    """`lax._check_specs_match`: where dimensions meet, both are alike or (``wide``) one is replicated."""
    for i, j in zip(left_dims, right_dims, strict=True):
        one, other = left.partitions[i], right.partitions[j]
        if one != other and not (wide and None in (one, other)):
            refuse(Cause.CONFLICT, wanted, dimension=i, entry=other or one, size=left.shape[i])


def _pick(operand: Operand, dimensions: Sequence[int]) -> Partitions:
    return tuple(operand.partitions[i] for i in dimensions)
