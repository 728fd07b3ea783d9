"""The same elements in another shape: `reshape`, `broadcast_in_dim`, `transpose`, `squeeze` …"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NoReturn

from shardlint.laws.dims import Dim, Shape, equal, product
from shardlint.laws.propagation.elementwise import both_sets, reduced_of, unreduced_of
from shardlint.laws.propagation.operands import (
    Operand,
    Outcome,
    OutSharding,
    Partitions,
    bound,
    canonical,
    greater,
    law,
    operand_of,
    operands_of,
    refuse,
    same,
    same_mesh,
    unsure,
)
from shardlint.laws.propagation.out_shardings import settled
from shardlint.laws.propagation.primitives import Sets, finished, standard
from shardlint.laws.types import ArrayType, TypeSharding
from shardlint.laws.values import Entry, Mesh, Spec, entry_axes
from shardlint.laws.verdicts import Cause

#: One dimension of the shorter shape: its size, or the sizes of the longer one that it is made of.
_Part = Dim | list[Dim]


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
            return known.typed(known.partitions)
        return known.typed(_reshaped(known, sizes, in_order=order is None))

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
    if known.shape != sizes or list(broadcast_dimensions) != list(range(known.rank)):
        bound(context, known)
    return finished(context, wanted, len(sizes), sizes)


@law
def expand_dims(context: Mesh | None, operand: ArrayType, dimensions: Sequence[int]) -> Outcome:
    """`lax.expand_dims`: new dimensions of size 1, replicated. ``dimensions`` are the result's."""
    known = operand_of(operand)
    rank = known.rank + len(dimensions)
    old = iter(known.shape)
    sizes = tuple(1 if i in dimensions else next(old) for i in range(rank))
    return _spread(context, known, sizes, [i for i in range(rank) if i not in dimensions])


def _spread(context: Mesh | None, operand: Operand, sizes: Shape, places: Sequence[int]) -> TypeSharding:
    """`_broadcast_in_dim_sharding_rule`; what has the shape already is forwarded as it is."""
    if operand.rank == len(sizes) and not places:
        return operand.untouched
    operand = bound(context, operand)
    entries = iter(operand.partitions)
    spread = tuple(next(entries) if i in places else None for i in range(len(sizes)))
    spec = Spec(spread, operand.unreduced, operand.reduced)
    made = finished(context, TypeSharding(operand.mesh or context, spec), len(sizes), sizes)
    forwarded = operand.mesh is None and _same_shape(operand.shape, sizes)
    return operand.untouched if forwarded else made


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
    for dimension, (count, entry) in enumerate(zip(reps, known.listed, strict=True)):
        if entry is not None and not same(count, 1):
            refuse(
                Cause.UNSUPPORTED, "a repeated dimension that is not sharded",
                dimension=dimension, entry=entry, size=known.shape[dimension],
            )  # fmt: skip
    return known.untouched


def _unchanged(operand: Operand, sizes: Shape, wanted: TypeSharding | None) -> bool:
    """Whether `lax.reshape` has nothing to do: the same shape, and no other sharding."""
    if wanted is not None:
        spec = wanted.spec
        held = (operand.partitions, operand.unreduced, operand.reduced)
        if operand.mesh is None or wanted.mesh is None or not same_mesh(operand.mesh, wanted.mesh):
            return False
        if held != (spec.entries, spec.unreduced, spec.reduced):
            return False
    return _same_shape(operand.shape, sizes)


def _same_shape(old: Shape, new: Shape) -> bool:
    answers = [equal(one, other) for one, other in zip(old, new, strict=False)]
    if len(old) != len(new) or False in answers:
        return False
    if None in answers:
        unsure("whether the shape changes is not known")
    return True


def _reshaped(operand: Operand, sizes: Shape, *, in_order: bool) -> Partitions:
    """The entries of a sharded operand in its new shape."""
    if _same_shape(_without_ones(operand.shape), _without_ones(sizes)):
        entries = iter([e for n, e in zip(operand.shape, operand.listed, strict=True) if not same(n, 1)])
        return tuple(None if same(n, 1) else next(entries) for n in sizes)
    if len(sizes) > operand.rank:
        parts = _split_of(operand, operand.shape, sizes)
        if parts is not None:
            return _split(operand, parts, len(sizes), in_order)
    if len(sizes) < operand.rank:
        parts = _split_of(operand, sizes, operand.shape)
        if parts is not None:
            return _merged(operand, sizes, parts, in_order)
    return _unsupported(operand)


def _without_ones(shape: Shape) -> Shape:
    return tuple(size for size in shape if not same(size, 1))


def _unsupported(operand: Operand) -> NoReturn:
    dimension, entry = next((i, e) for i, e in enumerate(operand.partitions) if e is not None)
    refuse(
        Cause.UNSUPPORTED, "out_sharding= for a reshape of a sharded dimension",
        dimension=dimension, entry=entry, size=operand.shape[dimension],
    )  # fmt: skip


def _split_of(operand: Operand, short: Shape, long: Shape) -> list[_Part] | None:
    """The sizes of ``short`` as parts of ``long``, where at most one is split (`_split_on_one_axis`).

    None where it cannot be read so. More than one split is refused at once. The loop is JAX's own, with
    its order of questions, since shapes with sizes of 1 have more than one reading.
    """
    ones = 0
    while same(short[-1], 1) and same(long[-1], 1):
        short, long, ones = short[:-1], long[:-1], ones + 1
    parts: list[_Part] = []
    i = j = splits = 0
    while j < len(long):
        if i >= len(short):
            refuse(Cause.UNSUPPORTED, "out_sharding= for a reshape to sizes of 1", "IndexError")
        if same(short[i], long[j]):
            parts.append(short[i])
        else:
            splits += 1
            if splits > 1:
                _unsupported(operand)
            run = [long[j]]
            while not same(product(run), short[i]) or (j + 1 < len(long) and same(long[j + 1], 1)):
                if greater(product(run), short[i]):
                    return None
                if same(product(run), short[i]) and i + 1 < len(short) and same(long[j + 1], short[i + 1]):
                    break
                j += 1
                if j >= len(long):
                    return None
                run.append(long[j])
            parts.append(run)
        i, j = i + 1, j + 1
    if len(parts) != len(short):
        refuse(Cause.UNSUPPORTED, "out_sharding= for a reshape to sizes of 1", "AssertionError")
    return parts + [1] * ones


def _split(operand: Operand, parts: list[_Part], rank: int, in_order: bool) -> Partitions:
    """`_split_an_axis_sharding_rule`: the axes of a split dimension go to its parts, from the left."""
    entries: list[Entry] = []
    for part, entry in zip(parts, operand.partitions, strict=True):
        if not isinstance(part, list):
            entries.append(entry)
        elif entry is None:
            entries.extend([None] * len(part))
        elif in_order:
            entries.extend(_dealt(operand, entry_axes(entry), part))
        else:
            _unsupported(operand)
    assert len(entries) == rank
    return tuple(entries)


def _merged(operand: Operand, sizes: Shape, parts: list[_Part], in_order: bool) -> Partitions:
    """`_merge_an_axis_sharding_rule`: a merged dimension lies along the axes of its first parts."""
    entries: list[Entry] = []
    left = iter(operand.listed)
    for size, part in zip(sizes, parts, strict=True):
        if not isinstance(part, list):
            entries.append(next(left))
            continue
        merged = [next(left) for _ in part]
        if all(entry is None for entry in merged):
            entries.append(None)
            continue
        while merged[-1] is None:
            merged.pop()
        if None in merged or not in_order:
            _unsupported(operand)
        axes = tuple(chain.from_iterable(entry_axes(entry) for entry in merged))
        entries.extend(_dealt(operand, axes, [size]))
    return tuple(entries)


def _dealt(operand: Operand, axes: tuple[str, ...], sizes: Sequence[Dim]) -> Partitions:
    """Axes dealt to dimensions, each as many as divide it (`lax.split_partitions`)."""
    assert operand.mesh is not None
    left, entries = list(axes), []
    for size in sizes:
        taken: list[str] = []
        while left and greater(size, 1):
            ways = operand.mesh.size_of(left[0])
            if not same(size % ways, 0):
                _unsupported(operand)
            size = size // ways
            taken.append(left.pop(0))
        entries.append(tuple(taken))
    if left:
        refuse(
            Cause.UNSUPPORTED, "out_sharding= for a reshape that leaves axes over", "AssertionError",
            entry=left[0],
        )  # fmt: skip
    return canonical(entries)


def _reshaped_sets(operand: Operand, wanted: TypeSharding | None) -> Sets:
    """`_reshape_ur_rule`: unreduced and reduced axes stay as they are, in ``out_sharding`` too."""
    unreduced = unreduced_of(operand)
    if wanted is not None and wanted.spec.unreduced != unreduced:
        refuse(Cause.OUT_SHARDING, "the unreduced axes of the operand", "ValueError")
    reduced = reduced_of(operand)
    if wanted is not None and wanted.spec.reduced != reduced:
        refuse(Cause.OUT_SHARDING, "the reduced axes of the operand", "ValueError")
    return unreduced, reduced
