"""The checks around every primitive's own rule: the meshes of its operands, and the result's type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from shardlint.laws.core.array_types import TypeSharding
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import AxisType, Mesh, Spec, entry_axes
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.propagation.forbidden_collectives import check_result
from shardlint.laws.propagation.operands import (
    Operand,
    alike,
    all_of,
    canonical,
    divides,
    explicit,
    refuse,
    same_mesh,
    unsure,
    ways,
)
from shardlint.laws.versions.era import since

#: The unreduced and reduced axes of a result.
Sets = tuple[frozenset[str], frozenset[str]]
_NO_SETS: Sets = (frozenset(), frozenset())
_ONCE = "along one dimension of the result"


def standard(
    context: Mesh | None,
    operands: Sequence[Operand],
    rank: int,
    rule: Callable[[], TypeSharding],
    *,
    shape: Shape | None = None,
    sets: Callable[[], Sets] | None = None,
    in_context: bool = True,
) -> TypeSharding:
    """Return the type of a primitive's result (`lax.utils.standard_abstract_eval`, `call_sharding_rule`).

    ``rank`` and ``shape`` are the result's; the shape is needed where the rule may return a spec that does
    not divide it. The rule is called only where the context or an operand has Explicit axes. Without ``sets``
    the primitive has no rule for unreduced and reduced axes. Some primitives do not compare meshes with the
    context's (``in_context``).
    """
    if in_context:
        check_context(context, operands)
    mesh = common_mesh(operands)
    if not explicit(context) and not explicit(mesh):
        return TypeSharding(mesh or context, Spec((None,) * rank))
    result = rule()
    _no_axis_twice(result.spec)
    if sets is None and any(o.unreduced or o.reduced for o in operands):
        refuse(Cause.UNSUPPORTED, "operands without unreduced or reduced axes", "NotImplementedError")
    if sets is None and (result.spec.unreduced or result.spec.reduced):
        refuse(Cause.UNSUPPORTED, "a result without unreduced or reduced axes", "NotImplementedError")
    unreduced, reduced = _NO_SETS if sets is None else sets()
    sharded = frozenset(axis for entry in result.spec.entries for axis in entry_axes(entry))
    if unreduced & reduced or sharded & (unreduced | reduced):
        refuse(
            Cause.CONFLICT,
            "no dimension along axes that the result is reduced or unreduced over",
            "ValueError",
        )
    if (unreduced | reduced) - set(result.mesh.names if result.mesh is not None else ()):
        refuse(Cause.OTHER_MESH, "reduced and unreduced axes that its result's mesh has", "ValueError")
    typed = TypeSharding(result.mesh, Spec(result.spec.entries, unreduced, reduced))
    check_result(operands, typed)
    return finished(context if in_context else None, typed, rank, shape, operands)


def check_context(context: Mesh | None, operands: Sequence[Operand]) -> None:
    """`core.check_avals_context_mesh`: a mesh other than the context's is rejected, unless it is all Auto."""
    for operand in operands:
        _check_mesh(context, operand.mesh)


def common_mesh(operands: Sequence[Operand]) -> Mesh | None:
    """`lax.utils._get_abstract_mesh_from_avals`: the common mesh of all operands with a mesh."""
    found: Mesh | None = None
    for operand in operands:
        if operand.mesh is None:
            continue
        if found is not None and not same_mesh(found, operand.mesh):
            if all_of(found, AxisType.AUTO) and all_of(operand.mesh, AxisType.AUTO):
                return None
            refuse(Cause.OTHER_MESH, "operands of one mesh", "ValueError")
        found = operand.mesh
    return found


def finished(
    context: Mesh | None,
    typed: TypeSharding,
    rank: int,
    shape: Shape | None = None,
    operands: Sequence[Operand] = (),
) -> TypeSharding:
    """Return the type of an array (`core.get_sharding`): one entry for each dimension, each dividing it.

    A spec that is too long loses trailing Nones until 0.11.1, later on meshes without Explicit axes only; any
    other surplus entry is rejected.
    """
    mesh, spec = typed.mesh, typed.spec
    entries = canonical(spec.entries)
    if entries[rank:]:
        own = spec.unreduced or spec.reduced
        strict = explicit(mesh) if since("0.11.1") else own and not since("0.11.0")
        if strict or any(entries[rank:]):
            refuse(
                Cause.TOO_LONG, "a spec no longer than the rank",
                "ValueError" if strict else "AssertionError",
                dimension=rank, size=rank, ways=len(entries),
            )  # fmt: skip
    entries = (*entries, *(None,) * (rank - len(entries)))[:rank]
    for dimension, (size, entry) in enumerate(zip(shape or (), entries, strict=False)):
        if entry is not None and not divides(operands, mesh, entry, size):
            refuse(
                Cause.INDIVISIBLE, "a dimension that its axes divide", "ValueError",
                dimension=dimension, entry=entry, size=size, ways=ways(mesh, entry),
            )  # fmt: skip
    _check_mesh(context, mesh)
    return TypeSharding(mesh, Spec(entries, spec.unreduced, spec.reduced))


def resized(operand: Operand, shape: Shape, what: str) -> TypeSharding:
    """Return the operand's sharding for another shape (`slicing._get_sharding_for_varying_out_shape`).

    Where a sharded dimension changes its size, its axes must divide the new one. Since 0.11.0 a result of one
    element is replicated.
    """
    ones = [alike(size, 1) for size in shape]
    if False not in ones and any(operand.partitions) and since("0.11.0"):
        if None in ones:
            unsure("whether the result has one element is not known")
        return operand.typed((None,) * len(shape))
    for dimension, (old, new, entry) in enumerate(zip(operand.shape, shape, operand.partitions, strict=True)):
        if entry is None or old == new:
            continue
        if not divides([operand], operand.mesh, entry, new):
            refuse(
                Cause.UNSUPPORTED, f"{what} that leaves a sharded dimension divisible by its axes",
                dimension=dimension, entry=entry, size=new, ways=ways(operand.mesh, entry),
            )  # fmt: skip
    return operand.typed(operand.partitions)


def _check_mesh(context: Mesh | None, mesh: Mesh | None) -> None:
    if context is None or mesh is None:
        return
    if all_of(context, AxisType.AUTO) and all_of(mesh, AxisType.AUTO):
        return
    if not same_mesh(context, mesh):
        refuse(Cause.OTHER_MESH, "operands of the context's mesh", "ValueError")


def _no_axis_twice(spec: Spec) -> None:
    """`named_sharding._check_unique_resources`, as `call_shape_dtype_sharding_rule` reports it."""
    counts = Counter(axis for entry in spec.entries for axis in entry_axes(entry))
    for dimension, entry in enumerate(spec.entries):
        for axis in entry_axes(entry):
            if counts[axis] > 1:
                refuse(Cause.CONFLICT, f'"{axis}" {_ONCE}', dimension=dimension, entry=axis)


def is_axis_twice(verdict: Rejected) -> bool:
    """Return whether a result is refused since an axis would split two of its dimensions."""
    return verdict.cause is Cause.CONFLICT and verdict.detail.endswith(_ONCE)
