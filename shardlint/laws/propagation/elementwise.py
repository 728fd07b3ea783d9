"""Operations on elements: unary and n-ary ones, conversions, `select_n` and `clamp`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.values import AxisType, Entry, Mesh, Spec, entry_axes
from shardlint.laws.core.verdicts import Cause
from shardlint.laws.propagation.operands import (
    Operand,
    Outcome,
    all_of,
    law,
    operands_of,
    refuse,
    same_mesh,
    unsure,
)
from shardlint.laws.propagation.primitives import Sets, standard
from shardlint.laws.versions.era import since


@law
def elementwise(context: Mesh | None, *operands: ArrayType, operation: str | None = None) -> Outcome:
    """`lax.add`, `lax.exp`, `lax.pow` …: operands of one rank, or scalars (`broadcasting_sharding_rule`).

    Along each dimension at most one sharding may occur; what is replicated, or of size 1, follows it.
    jax.numpy broadcasts to one rank and shape first, by `broadcast_in_dim`. ``operation`` is the
    primitive's name, which matters to operands with unreduced or reduced axes alone.
    """
    known = operands_of(context, *operands)
    if operation is None and any(operand.unreduced or operand.reduced for operand in known):
        unsure("which operation meets unreduced or reduced axes is not known")
    if len(known) == 2:
        known = scalars_follow(context, known)
    ranks = {operand.rank for operand in known} - {0}
    if len(ranks) > 1:
        unsure("operands of different ranks are no operands of lax")
    rank = max(ranks, default=0)
    sets = None if operation == "integer_pow" else lambda: _meet(context, known, operation)
    if len(known) == 1:
        return standard(context, known, rank, lambda: known[0].typed(known[0].partitions), sets=sets)
    return standard(context, known, rank, lambda: broadcast(context, known), sets=sets)


@law
def convert(context: Mesh | None, operand: ArrayType) -> Outcome:
    """`lax.convert_element_type`, `lax.reduce_precision`: as the operand.

    A conversion to the dtype that an array has is no operation: JAX returns the array.
    """
    (known,) = operands_of(context, operand)
    return standard(
        context, [known], known.rank, lambda: known.typed(known.partitions),
        sets=lambda: both_sets(known),
    )  # fmt: skip


@law
def select_n(context: Mesh | None, which: ArrayType, *cases: ArrayType) -> Outcome:
    """`lax.select_n`: cases of one sharding, and ``which`` a scalar or sharded alike.

    `_select_sharding_rule`; cases without a mesh are passed over.
    """
    chooser, *known = operands_of(context, which, *cases)
    meshed = [case for case in known if case.mesh is not None]

    def rule() -> TypeSharding:
        if not meshed:
            return TypeSharding(context, Spec())
        first = meshed[0]
        for case in meshed[1:]:
            agree(first, case, "cases of one sharding", sets=True)
        if chooser.rank and chooser.mesh is not None:
            agree(first, chooser, "a scalar `which`, or one of the cases' sharding")
        return first.typed(first.partitions)

    return standard(
        context, [chooser, *known], known[0].rank, rule,
        sets=lambda: both_sets(meshed[0]) if meshed else (frozenset(), frozenset()),
    )  # fmt: skip


@law
def clamp(context: Mesh | None, low: ArrayType, operand: ArrayType, high: ArrayType) -> Outcome:
    """`lax.clamp`: as the operand; the bounds are not looked at (`_clamp_sharding_rule`)."""
    below, known, above = operands_of(context, low, operand, high)
    return standard(context, [below, known, above], known.rank, lambda: known.typed(known.partitions))


def broadcast(context: Mesh | None, operands: Sequence[Operand]) -> TypeSharding:
    """`lax.broadcasting_sharding_rule`; operands of different ranks but scalars are a TypeError before it."""
    mesh: Mesh | None = None
    for operand in operands:
        if operand.mesh is not None and mesh is not None and not same_mesh(mesh, operand.mesh):
            refuse(Cause.OTHER_MESH, "operands of one mesh")
        mesh = operand.mesh or mesh
    arrays = [operand for operand in operands if operand.rank]
    rank = arrays[0].rank if arrays else 0
    entries = tuple(_along(arrays, dimension) for dimension in range(rank))
    return TypeSharding(mesh or context, Spec(entries))


def _along(arrays: Sequence[Operand], dimension: int) -> Entry:
    """Return the sharding of one dimension of the result: the only one that an operand has there."""
    found: Entry = None
    for array in arrays:
        entry = array.partitions[dimension]
        if found is not None and entry is not None and entry != found:
            refuse(
                Cause.CONFLICT, "operands sharded alike along each dimension",
                dimension=dimension, entry=entry, size=array.shape[dimension],
            )  # fmt: skip
        found = found or entry
    return found


def agree(first: Operand, other: Operand, wanted: str, *, sets: bool = False) -> None:
    """Stop unless two operands have one sharding (`NamedSharding.__eq__`): mesh, spec and optionally sets."""
    if first.mesh is None or other.mesh is None:
        alike = first.mesh is other.mesh
    else:
        alike = same_mesh(first.mesh, other.mesh)
    if not alike:
        refuse(Cause.OTHER_MESH, wanted)
    for dimension, (one, two) in enumerate(zip(first.partitions, other.partitions, strict=False)):
        if one != two:
            refuse(
                Cause.CONFLICT, wanted,
                dimension=dimension, entry=two or one, size=other.shape[dimension],
            )  # fmt: skip
    if first.rank != other.rank or (
        sets and (first.unreduced, first.reduced) != (other.unreduced, other.reduced)
    ):
        refuse(Cause.CONFLICT, wanted)


def both_sets(operand: Operand) -> Sets:
    """The unreduced and reduced axes of an operand (`core.getu`, `core.getr`).

    Before 0.12.0 they may not be there on a mesh that is not all Explicit: a bare AssertionError.
    """
    return unreduced_of(operand), reduced_of(operand)


def unreduced_of(operand: Operand) -> frozenset[str]:
    """`core.getu`."""
    return _of_explicit(operand, operand.unreduced)


def reduced_of(operand: Operand) -> frozenset[str]:
    """`core.getr`."""
    return _of_explicit(operand, operand.reduced)


def _of_explicit(operand: Operand, axes: frozenset[str]) -> frozenset[str]:
    if axes and not all_of(operand.mesh, AxisType.EXPLICIT) and not since("0.12.0"):
        refuse(Cause.UNSUPPORTED, "unreduced and reduced axes of meshes all Explicit only", "AssertionError")
    return axes


def without_unreduced(operand: Operand) -> Sets:
    """`lax.unop_ur_rule`: reduced axes stay, unreduced ones are refused."""
    unreduced, reduced = both_sets(operand)
    if unreduced:
        refuse(Cause.UNSUPPORTED, "an operand without unreduced axes", "NotImplementedError")
    return frozenset(), reduced


def _nonlinear() -> NoReturn:
    """Stop where an operation may not be taken of what is unreduced."""
    refuse(
        Cause.UNSUPPORTED, "operands without unreduced axes",
        "ShardingTypeError" if since("0.12.0") else "NotImplementedError",
    )  # fmt: skip


def _meet(context: Mesh | None, operands: Sequence[Operand], operation: str | None) -> Sets:
    """`lax.nary_ur_rule`, `unop_ur_rule`: all operands reduced over the same axes, none unreduced.

    But sums of what is unreduced alike are unreduced (`_add_ur_rule`), and so is a product of what is
    unreduced with what is reduced over the same axes (`_mul_ur_rule`), and a quotient since 0.11.1
    (`_div_ur_rule`).
    """
    if len(operands) == 1:
        own = both_sets(operands[0])
        if own[0] and not (operation == "neg" and since("0.12.0")):
            _nonlinear()
        return own
    found = {reduced for operand in operands if (reduced := reduced_of(operand))}
    if len(found) > 1:
        refuse(Cause.CONFLICT, "operands reduced over the same axes")
    reduced = next(iter(found), frozenset())
    for operand in operands if reduced else ():
        _check_reduced(context, operand, reduced)
    unreduced = [unreduced_of(operand) for operand in operands]
    if not any(unreduced):
        return frozenset(), reduced
    if operation == "add" or (operation == "sub" and since("0.12.0")):
        if unreduced[0] != unreduced[1]:
            refuse(Cause.CONFLICT, "operands unreduced over the same axes")
        return unreduced[0], reduced
    if operation == "mul":
        if (unreduced[0] or operands[0].reduced) != (unreduced[1] or operands[1].reduced) or all(unreduced):
            refuse(Cause.CONFLICT, "a factor reduced over the axes that the other is unreduced over")
        return unreduced[0] or unreduced[1], frozenset()
    if operation == "div" and since("0.11.1"):
        if unreduced[1] or unreduced[0] != operands[1].reduced:
            refuse(
                Cause.CONFLICT, "a divisor reduced over the axes that the dividend is unreduced over",
                "ValueError",
            )  # fmt: skip
        return unreduced[0], frozenset()
    return _nonlinear()


def _check_reduced(context: Mesh | None, operand: Operand, reduced: frozenset[str]) -> None:
    """`lax.default_nary_reduced_rule`: where one is reduced, none is replicated or sharded."""
    sharded = frozenset(axis for entry in operand.partitions for axis in entry_axes(entry))
    names = frozenset(context.names if context is not None else ())
    if (names - sharded - operand.unreduced - operand.reduced) & reduced:
        refuse(Cause.CONFLICT, "no operand replicated over axes that another is reduced over")
    if sharded & reduced:
        refuse(Cause.CONFLICT, "no operand sharded along axes that another is reduced over")


def scalars_follow(context: Mesh | None, operands: list[Operand]) -> list[Operand]:
    """`core.insert_reduced_reshard`: a replicated scalar is reduced over what the other is."""
    reduced = operands[0].reduced | operands[1].reduced
    if not reduced or context is None or not all_of(context, AxisType.EXPLICIT):
        return operands
    return [
        o if o.rank or (o.reduced | o.unreduced) & reduced else Operand((), context, (), reduced=reduced)
        for o in operands
    ]
