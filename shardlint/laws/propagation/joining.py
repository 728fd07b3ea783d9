"""Arrays put together and taken apart: `concatenate`, `stack`, `pad`, `split`, `unstack`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import Mesh, Spec
from shardlint.laws.core.verdicts import Cause, Rejected, Undecided
from shardlint.laws.propagation.elementwise import agree, both_sets, scalars_follow
from shardlint.laws.propagation.operands import (
    Operand,
    Outcome,
    OutSharding,
    law,
    operand_of,
    operands_of,
    refuse,
    unsure,
)
from shardlint.laws.propagation.out_shardings import settled
from shardlint.laws.propagation.primitives import (
    Sets,
    check_context,
    common_mesh,
    finished,
    resized,
    standard,
)


@law
def concatenate(context: Mesh | None, operands: Sequence[ArrayType], dimension: int) -> Outcome:
    """`lax.concatenate`: operands of one sharding, along the joined dimension too.

    `_concatenate_sharding_rule`: all equal but those without a mesh. A single one is returned untouched.
    """
    if len(operands) == 1:
        return operand_of(operands[0]).untouched
    known = operands_of(context, *operands)
    shape = list(known[0].shape)
    shape[dimension] = sum((operand.shape[dimension] for operand in known[1:]), shape[dimension])
    # what is sharded alike has sizes that the axes divide, and so has their sum
    uneven = any(operand.mesh is None for operand in known)
    return standard(
        context, known, len(shape), lambda: _joined(context, known),
        shape=tuple(shape) if uneven else None, sets=lambda: _joined_sets(known),
    )  # fmt: skip


@law
def stack(context: Mesh | None, operands: Sequence[ArrayType], axis: int) -> Outcome:
    """`lax.stack`: operands of one sharding; the new dimension, ``axis``, is replicated."""
    known = operands_of(context, *operands)
    known = scalars_follow(context, known) if len(known) == 2 else known

    def rule() -> TypeSharding:
        joined = _joined(context, known)
        entries = list(joined.spec.entries)
        entries.insert(axis, None)
        return TypeSharding(joined.mesh, Spec(tuple(entries)))

    return standard(context, known, known[0].rank + 1, rule, sets=lambda: _joined_sets(known))


@law
def pad(context: Mesh | None, operand: ArrayType, padding_value: ArrayType, shape: Sequence[Dim]) -> Outcome:
    """`lax.pad` to a result of this shape: where a sharded dimension changes, its axes must divide it."""
    known, value = scalars_follow(context, operands_of(context, operand, padding_value))
    sizes = tuple(shape)
    return standard(
        context, [known, value], known.rank, lambda: resized(known, sizes, "padding"),
        sets=lambda: both_sets(known),
    )  # fmt: skip


@law
def split(
    context: Mesh | None, operand: ArrayType, sizes: Sequence[Dim], axis: int
) -> Union[tuple[TypeSharding, ...], Rejected, Undecided]:
    """`lax.split`: one type a part; the axes of a split dimension must divide each part."""
    (known,) = operands_of(context, operand)
    results: list[TypeSharding] = []
    for size in sizes:
        shape = (*known.shape[:axis], size, *known.shape[axis + 1 :])
        results.append(_part(context, known, shape))
    return tuple(results)


@law
def unstack(context: Mesh | None, operand: ArrayType, axis: int) -> Outcome:
    """`lax.unstack`: the type of each part; the dimension that goes may not be sharded."""
    (known,) = operands_of(context, operand)

    def rule() -> TypeSharding:
        entry = known.listed[axis]
        if entry is not None:
            refuse(
                Cause.UNSUPPORTED, "a dimension that is not sharded",
                dimension=axis, entry=entry, size=known.shape[axis],
            )  # fmt: skip
        return known.typed([e for i, e in enumerate(known.partitions) if i != axis])

    return standard(context, [known], known.rank - 1, rule, sets=lambda: both_sets(known))


def _part(context: Mesh | None, operand: Operand, shape: Shape) -> TypeSharding:
    return standard(
        context, [operand], operand.rank, lambda: resized(operand, shape, "a split"),
        sets=lambda: both_sets(operand),
    )  # fmt: skip


def _joined(context: Mesh | None, operands: Sequence[Operand]) -> TypeSharding:
    meshed = [operand for operand in operands if operand.mesh is not None]
    if not meshed:
        return TypeSharding(context, Spec())
    for operand in meshed[1:]:
        agree(meshed[0], operand, "operands of one sharding", sets=True)
    return meshed[0].typed(meshed[0].partitions)


def _joined_sets(operands: Sequence[Operand]) -> Sets:
    """`_concatenate_ur_rule`: `_joined` has seen that all with a mesh have the same axes."""
    for operand in operands:
        both_sets(operand)
    meshed = [operand for operand in operands if operand.mesh is not None]
    return both_sets(meshed[0]) if meshed else (frozenset(), frozenset())


@law
def iota(context: Mesh | None, shape: Sequence[Dim], out_sharding: OutSharding = None) -> Outcome:
    """`lax.iota`, `broadcasted_iota`: replicated over the context's mesh, or ``out_sharding``.

    `_iota_abstract_eval`. What broadcasts a scalar constant (`lax.full`, `jnp.zeros`) is typed alike.
    """
    wanted = settled(context, out_sharding) or TypeSharding(context, Spec())
    return finished(context, wanted, len(shape), tuple(shape))


@law
def one_hot(
    context: Mesh | None, labels: ArrayType, shape: Sequence[Dim], axis: int, out_sharding: OutSharding
) -> Outcome:
    """`jax.nn.one_hot(out_sharding=)` of this shape: all but the classes, at ``axis``, as the labels.

    `functions._one_hot`: it looks the entry of the classes up, which must be there.
    """
    wanted, (known,) = settled(context, out_sharding), operands_of(context, labels)
    if wanted is None or known.unreduced or known.reduced:
        unsure("the out_sharding has no mesh, or the labels are unreduced or reduced")
    check_context(context, [known])
    if wanted.spec.unreduced or wanted.spec.reduced:
        refuse(Cause.UNSUPPORTED, "an out_sharding without unreduced and reduced axes", "NotImplementedError")
    entries = wanted.spec.entries
    rest = (*entries[:axis], *entries[axis + 1 :])
    padded = (*rest, *(None,) * (known.rank - len(rest)))
    if padded != known.partitions:
        place = next((i for i, (a, b) in enumerate(zip(padded, known.partitions, strict=False)) if a != b), 0)
        refuse(
            Cause.CONFLICT, "an out_sharding that has the labels' own",
            dimension=place, entry=padded[place] if padded else None,
        )  # fmt: skip
    if axis >= len(entries):
        refuse(Cause.OUT_SHARDING, "an out_sharding with an entry for the classes", "IndexError")
    made = finished(context, wanted, len(shape), tuple(shape), [known])
    common_mesh([known, Operand(tuple(shape), made.mesh, made.spec.entries)])
    return made
