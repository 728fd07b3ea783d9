"""Parts of arrays: `slice`, `dynamic_slice`, `dynamic_update_slice`, `gather` and `scatter`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import Entry, Mesh, Spec
from shardlint.laws.core.verdicts import Cause
from shardlint.laws.propagation.elementwise import (
    agree,
    both_sets,
    reduced_of,
    unreduced_of,
    without_unreduced,
)
from shardlint.laws.propagation.operands import (
    Operand,
    Outcome,
    law,
    operands_of,
    refuse,
    same,
    same_mesh,
    unsure,
)
from shardlint.laws.propagation.primitives import Sets, resized, standard
from shardlint.laws.versions.era import since
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """`lax.GatherDimensionNumbers`, and in their words `ScatterDimensionNumbers`.

    Of a scatter ``offset`` is ``update_window_dims``, ``collapsed`` is ``inserted_window_dims``,
    ``start_index_map`` is ``scatter_dims_to_operand_dims``.
    """

    offset: tuple[int, ...]
    collapsed: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching: tuple[int, ...] = ()
    indices_batching: tuple[int, ...] = ()


@law
def slice(context: Mesh | None, operand: ArrayType, shape: Sequence[Dim]) -> Outcome:
    """`lax.slice` to a result of this shape: the axes of a cut dimension must divide what is left."""
    (known,), sizes = operands_of(context, operand), tuple(shape)
    return standard(
        context, [known], known.rank, lambda: resized(known, sizes, "a slice"), sets=lambda: both_sets(known)
    )


@law
def dynamic_slice(
    context: Mesh | None, operand: ArrayType, starts: Sequence[ArrayType], slice_sizes: Sequence[Dim]
) -> Outcome:
    """`lax.dynamic_slice`: as `slice`; ``starts`` are the scalar indices."""
    (known, *first), sizes = operands_of(context, operand, *starts), tuple(slice_sizes)
    return standard(
        context, [known, *first], known.rank, lambda: resized(known, sizes, "a slice"),
        sets=lambda: without_unreduced(known),
    )  # fmt: skip


@law
def dynamic_update_slice(
    context: Mesh | None, operand: ArrayType, update: ArrayType, starts: Sequence[ArrayType]
) -> Outcome:
    """`lax.dynamic_update_slice`: the update is sharded as the operand, and the result too."""
    known, new, *first = operands_of(context, operand, update, *starts)

    def rule() -> TypeSharding:
        agree(known, new, "an update sharded as the operand", sets=True)
        return known.typed(known.partitions)

    def sets() -> Sets:
        if any(start.unreduced or start.reduced for start in first) and since("0.12.0"):
            refuse(Cause.UNSUPPORTED, "starts without unreduced or reduced axes")
        return both_sets(known)

    return standard(context, [known, new, *first], known.rank, rule, sets=sets)


@law
def gather(
    context: Mesh | None,
    operand: ArrayType,
    indices: ArrayType,
    window: Window,
    slice_sizes: Sequence[Dim],
) -> Outcome:
    """`lax.gather`, of which indexing with arrays and `jnp.take` are made (`_gather_sharding_rule`).

    Dimensions that are cut must be replicated, and the indices too but along batching dimensions.
    """
    (known, where), sizes = operands_of(context, operand, indices), tuple(slice_sizes)
    rank = len(window.offset) + where.rank - 1

    def rule() -> TypeSharding:
        mesh = _one_mesh(context, [known, where])
        if not since("0.11.0"):
            _ = known.listed, where.listed
        if not any((*known.partitions, *where.partitions)):
            return TypeSharding(mesh, Spec())
        return TypeSharding(mesh, Spec(_gathered(known, where, window, sizes, rank)))

    sets = (lambda: _gathered_sets(known, where)) if since("0.11.1") else None
    return standard(context, [known, where], rank, rule, sets=sets)


@law
def scatter(
    context: Mesh | None,
    operand: ArrayType,
    indices: ArrayType,
    updates: ArrayType,
    window: Window,
    operation: str | None = None,
) -> Outcome:
    """`lax.scatter`, `scatter_add` …, of which ``.at[].set`` is made (`_scatter_sharding_rule`).

    ``operation`` is the primitive's name, which matters to operands with unreduced or reduced axes alone.
    """
    known, where, new = operands_of(context, operand, indices, updates)
    if operation is None and since("0.11.1") and any(o.unreduced or o.reduced for o in (known, where, new)):
        unsure("which operation meets unreduced or reduced axes is not known")

    def rule() -> TypeSharding:
        mesh = _one_mesh(context, [known, where, new])
        if not since("0.11.1"):
            _ = known.listed, where.listed, new.listed
        if not any((*known.partitions, *where.partitions, *new.partitions)):
            return TypeSharding(mesh, Spec())
        return TypeSharding(mesh, Spec(_scattered(known, where, new, window)))

    summed = operation == "scatter_add" and since("0.11.1")
    sets = (lambda: _summed_sets(known, where, new)) if summed else None
    return standard(context, [known, where, new], known.rank, rule, sets=sets)


def _gathered_sets(operand: Operand, indices: Operand) -> Sets:
    """`slicing._gather_ur_rule`: reduced axes of the operand stay, others may not be there."""
    if unreduced_of(operand) or unreduced_of(indices):
        refuse(Cause.UNSUPPORTED, "operands without unreduced axes", "NotImplementedError")
    if reduced_of(indices):
        refuse(Cause.UNSUPPORTED, "indices without reduced axes")
    reduced = reduced_of(operand)
    if reduced and any(indices.partitions):
        refuse(Cause.UNSUPPORTED, "indices that are not sharded", "NotImplementedError")
    return frozenset(), reduced


def _summed_sets(operand: Operand, indices: Operand, updates: Operand) -> Sets:
    """`slicing._scatter_ur_rule`: operand and updates unreduced over the same axes."""
    if reduced_of(operand) or reduced_of(indices) or reduced_of(updates):
        refuse(Cause.UNSUPPORTED, "operands without reduced axes", "NotImplementedError")
    if unreduced_of(indices):
        refuse(Cause.UNSUPPORTED, "indices without unreduced axes")
    unreduced = unreduced_of(operand)
    if unreduced != unreduced_of(updates):
        refuse(Cause.CONFLICT, "updates unreduced over the axes of the operand")
    if unreduced and any(indices.partitions):
        refuse(Cause.UNSUPPORTED, "indices that are not sharded", "NotImplementedError")
    return unreduced, frozenset()


def _one_mesh(context: Mesh | None, operands: Sequence[Operand]) -> Mesh | None:
    """`slicing._resolve_mesh`: the operands' mesh, else the context's."""
    meshes = [operand.mesh for operand in operands if operand.mesh is not None]
    if any(not same_mesh(meshes[0], mesh) for mesh in meshes[1:]):
        refuse(Cause.OTHER_MESH, "operands of one mesh")
    return meshes[0] if meshes else context


def _gathered(
    operand: Operand, indices: Operand, window: Window, sizes: Sequence[Dim], rank: int
) -> tuple[Entry, ...]:
    """`slicing._gather_spec_computation`: the operand's entries at offsets, the indices' elsewhere."""
    for dimension in window.start_index_map:
        entry = operand.partitions[dimension]
        if entry is not None and not same(sizes[dimension], operand.shape[dimension]):
            _ask(operand, dimension, "out_sharding= for indexing into a sharded dimension")
    from_indices = list(indices.partitions)
    for dimension, batch in zip(window.operand_batching, window.indices_batching, strict=True):
        entry, other = operand.partitions[dimension], from_indices[batch]
        if entry is not None and other is not None and entry != other:
            _ask(operand, dimension, "indices sharded as the operand along batching dimensions")
        from_indices[batch] = other or entry
    for dimension, entry in enumerate(indices.partitions):
        if entry is not None and dimension not in window.indices_batching:
            _ask(indices, dimension, "out_sharding= for indices that are sharded")
    gone = {*window.collapsed, *window.operand_batching}
    offsets = iter([entry for i, entry in enumerate(operand.partitions) if i not in gone])
    queries = iter(from_indices)
    return tuple(next(offsets) if i in window.offset else next(queries) for i in range(rank))


def _scattered(operand: Operand, indices: Operand, updates: Operand, window: Window) -> tuple[Entry, ...]:
    """`slicing._scatter_spec_computation`: the operand's entries, those of the others where it has none."""
    places: list[int | None] = list(range(indices.rank - 1))
    for place in window.offset:
        places.insert(place, None)
    updates_batching = [places.index(i) for i in window.indices_batching]
    result = list(operand.partitions)
    for dimension, batch, row in zip(
        window.operand_batching, window.indices_batching, updates_batching, strict=True
    ):
        entries = (operand.partitions[dimension], indices.partitions[batch], updates.partitions[row])
        if len({entry for entry in entries if entry is not None}) > 1:
            _ask(operand, dimension, "indices and updates sharded as the operand along batching dimensions")
        result[dimension] = entries[0] or entries[1] or entries[2]
    gone = {*window.collapsed, *window.operand_batching}
    others = [i for i in range(operand.rank) if i not in gone]
    for place, dimension in zip(window.offset, others, strict=True):
        entry, other = operand.partitions[dimension], updates.partitions[place]
        if entry is None and other is None:
            continue
        if entry != other or not same(updates.shape[place], operand.shape[dimension]):
            _ask(operand, dimension, "updates sharded as the operand, and whole along sharded dimensions")
    for dimension in window.collapsed:
        if operand.partitions[dimension] is not None:
            _ask(operand, dimension, "out_sharding= for an update of a sharded dimension")
    for dimension, entry in enumerate(updates.partitions):
        if entry is not None and dimension not in (*updates_batching, *window.offset):
            _ask(updates, dimension, "out_sharding= for updates that are sharded")
    for dimension, entry in enumerate(indices.partitions):
        if entry is not None and (dimension == indices.rank - 1 or dimension not in window.indices_batching):
            _ask(indices, dimension, "out_sharding= for indices that are sharded")
    return tuple(result)


def _ask(operand: Operand, dimension: int, wanted: str) -> NoReturn:
    refuse(
        Cause.AMBIGUOUS, wanted,
        dimension=dimension, entry=operand.partitions[dimension], size=operand.shape[dimension],
    )  # fmt: skip
