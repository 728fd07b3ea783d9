"""The same elements in another shape: `reshape`, `broadcast_in_dim`, `transpose`, `squeeze` …"""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import AxisType, Mesh, Spec
from shardlint.laws.core.verdicts import Cause
from shardlint.laws.propagation.elementwise import both_sets, reduced_of, unreduced_of
from shardlint.laws.propagation.forbidden_collectives import check_dimensions, check_reshard
from shardlint.laws.propagation.operands import (
    Operand,
    Outcome,
    OutSharding,
    Partitions,
    all_of,
    bound,
    explicit,
    law,
    operand_of,
    operands_of,
    refuse,
    same,
    same_mesh,
)
from shardlint.laws.propagation.out_shardings import settled
from shardlint.laws.propagation.primitives import Sets, finished, standard
from shardlint.laws.propagation.reshape_plan import reshaped, same_shape
from shardlint.laws.versions.era import since


@law
def reshape(
    context: Mesh | None,
    operand: ArrayType,
    new_sizes: Sequence[Dim],
    dimensions: Sequence[int] | None = None,
    out_sharding: OutSharding = None,
) -> Outcome:
    """`lax.reshape`: sizes of 1 come and go, and one dimension may be split or some merged into one.

    `_reshape_sharding_rule`; whatever else happens to a sharded array needs ``out_sharding=``. A
    replicated one takes any shape. ``new_sizes`` hold no -1; ``dimensions`` is the order, or None.
    """
    known, wanted, sizes = operand_of(operand), settled(context, out_sharding), tuple(new_sizes)
    order = None if dimensions is None or list(dimensions) == list(range(known.rank)) else dimensions
    if order is None and known.rank and _unchanged(known, sizes, wanted):
        return known.untouched
    known = bound(context, known)

    def rule() -> TypeSharding:
        if wanted is not None:
            return wanted
        if all(entry is None for entry in known.partitions):
            return known.typed((None,) * len(sizes) if since("0.11.1") else known.partitions)
        return known.typed(reshaped(known, sizes, in_order=order is None))

    return standard(
        context, [known], len(sizes), rule, shape=sizes, sets=lambda: _reshaped_sets(known, wanted)
    )


@law
def broadcast_in_dim(
    context: Mesh | None,
    operand: ArrayType,
    shape: Sequence[Dim],
    broadcast_dimensions: Sequence[int],
    out_sharding: OutSharding = None,
) -> Outcome:
    """`lax.broadcast_in_dim`: the entries in their order, new dimensions replicated, or ``out_sharding``.

    `_broadcast_in_dim_sharding_rule`. Where nothing changes but the sharding, it is a `reshard`.
    """
    known, wanted, sizes = operand_of(operand), settled(context, out_sharding), tuple(shape)
    if wanted is None:
        return _spread(context, known, sizes, broadcast_dimensions)
    in_place = list(broadcast_dimensions) == list(range(known.rank)) and known.rank == len(sizes)
    if in_place and same_shape(known.shape, sizes):
        check_reshard(known, wanted)
        return finished(context, wanted, len(sizes), sizes, [known])
    known = bound(context, known)
    if not since("0.11.0"):
        return finished(context, wanted, len(sizes), sizes, [known])
    whole = wanted.mesh is not None and _takes_sets(wanted.mesh)

    def rule() -> TypeSharding:
        check_dimensions(_entries_in(known, sizes, broadcast_dimensions), wanted)
        return wanted

    return standard(
        context, [known], len(sizes), rule, shape=sizes,
        sets=lambda: (wanted.spec.unreduced, wanted.spec.reduced) if whole else both_sets(known),
    )  # fmt: skip


def _takes_sets(mesh: Mesh) -> bool:
    """Return whether `broadcast_in_dim` takes unreduced and reduced axes from an ``out_sharding`` here."""
    if not since("0.12.0"):
        return all_of(mesh, AxisType.EXPLICIT)
    return explicit(mesh) and AxisType.AUTO not in mesh.types


@law
def expand_dims(context: Mesh | None, operand: ArrayType, dimensions: Sequence[int]) -> Outcome:
    """`lax.expand_dims`: new dimensions of size 1, replicated. ``dimensions`` are the result's."""
    known = operand_of(operand)
    rank = known.rank + len(dimensions)
    old = iter(known.shape)
    sizes = tuple(1 if i in dimensions else next(old) for i in range(rank))
    return _spread(context, known, sizes, [i for i in range(rank) if i not in dimensions])


def _entries_in(operand: Operand, sizes: Shape, places: Sequence[int]) -> Partitions:
    """Return the operand's entries at these places of a result, whose other dimensions are replicated."""
    entries = iter(operand.partitions)
    return tuple(next(entries) if i in places else None for i in range(len(sizes)))


def _spread(context: Mesh | None, operand: Operand, sizes: Shape, places: Sequence[int]) -> TypeSharding:
    """`_broadcast_in_dim_sharding_rule`; what has the shape already is forwarded as it is."""
    if operand.rank == len(sizes) and not places:
        return operand.untouched
    operand = bound(context, operand)
    spread = _entries_in(operand, sizes, places)
    if since("0.11.0"):
        made = standard(
            context, [operand], len(sizes), lambda: TypeSharding(operand.mesh or context, Spec(spread)),
            shape=sizes, sets=lambda: both_sets(operand),
        )  # fmt: skip
    else:
        spec = Spec(spread, operand.unreduced, operand.reduced)
        made = finished(context, TypeSharding(operand.mesh or context, spec), len(sizes), sizes, [operand])
    forwarded = operand.mesh is None and same_shape(operand.shape, sizes)
    return operand.untouched if forwarded else made


@law
def bitcast_convert_type(context: Mesh | None, operand: ArrayType, rank: int) -> Outcome:
    """`lax.bitcast_convert_type` to a result of this rank: a last dimension more or less, replicated.

    `_bitcast_convert_type_sharding_rule`; a sharded last dimension loses its sharding as it goes.
    """
    (known,) = operands_of(context, operand)
    return standard(
        context, [known], rank,
        lambda: known.typed((*(known.partitions if rank == known.rank else known.listed), None)[:rank]),
    )  # fmt: skip


@law
def transpose(context: Mesh | None, operand: ArrayType, permutation: Sequence[int]) -> Outcome:
    """`lax.transpose`: the entries in the new order (`_transpose_sharding_rule`)."""
    known = operand_of(operand)
    if list(permutation) == list(range(known.rank)):
        return known.untouched
    known = bound(context, known)
    return standard(
        context, [known], known.rank, lambda: known.typed([known.partitions[i] for i in permutation]),
        sets=lambda: both_sets(known),
    )  # fmt: skip


@law
def squeeze(context: Mesh | None, operand: ArrayType, dimensions: Sequence[int]) -> Outcome:
    """`lax.squeeze`: the other entries (`_squeeze_sharding_rule`). ``dimensions`` are not negative."""
    known = operand_of(operand)
    if not dimensions:
        return known.untouched
    known = bound(context, known)
    entries = [entry for i, entry in enumerate(known.partitions) if i not in dimensions]
    return standard(
        context, [known], len(entries), lambda: known.typed(entries), sets=lambda: both_sets(known)
    )


@law
def rev(context: Mesh | None, operand: ArrayType) -> Outcome:
    """`lax.rev`: as the operand (`_rev_sharding_rule`)."""
    (known,) = operands_of(context, operand)
    return standard(context, [known], known.rank, lambda: known.typed(known.partitions))


@law
def tile(context: Mesh | None, operand: ArrayType, reps: Sequence[Dim]) -> Outcome:
    """`lax.tile`, one count a dimension: what is repeated may not be sharded (`_tile_abstract_eval`)."""
    (known,) = operands_of(context, operand)

    def rule() -> TypeSharding:
        for dimension, (count, entry) in enumerate(zip(reps, known.listed, strict=True)):
            if entry is not None and not same(count, 1):
                refuse(
                    Cause.UNSUPPORTED, "a repeated dimension that is not sharded",
                    dimension=dimension, entry=entry, size=known.shape[dimension],
                )  # fmt: skip
        return known.untouched

    if not since("0.12.0"):
        return rule()
    return standard(context, [known], known.rank, rule, in_context=False)


def _unchanged(operand: Operand, sizes: Shape, wanted: TypeSharding | None) -> bool:
    """Return whether `lax.reshape` has nothing to do: the same shape, and no other sharding."""
    if wanted is not None:
        spec = wanted.spec
        held = (operand.partitions, operand.unreduced, operand.reduced)
        if operand.mesh is None or wanted.mesh is None or not same_mesh(operand.mesh, wanted.mesh):
            return False
        if held != (spec.entries, spec.unreduced, spec.reduced):
            return False
    return same_shape(operand.shape, sizes)


def _reshaped_sets(operand: Operand, wanted: TypeSharding | None) -> Sets:
    """`_reshape_ur_rule`: unreduced and reduced axes stay as they are, in ``out_sharding`` too."""
    unreduced = unreduced_of(operand)
    if wanted is not None and wanted.spec.unreduced != unreduced:
        refuse(Cause.OUT_SHARDING, "the unreduced axes of the operand", "ValueError")
    reduced = reduced_of(operand)
    if wanted is not None and wanted.spec.reduced != reduced:
        refuse(Cause.OUT_SHARDING, "the reduced axes of the operand", "ValueError")
    return unreduced, reduced
