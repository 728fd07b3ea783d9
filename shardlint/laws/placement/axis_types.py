"""Checks of axis types, and of the sharding in an array's type.

An array's type names the Explicit axes of its sharding only (`core.modify_spec_for_auto_manual`); Auto axes
are up to the compiler.
"""

from __future__ import annotations

from dataclasses import replace

from shardlint.laws.core.check_chain import Case, Check, Outcome, raising, staged
from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import AxisType, Entry, Marker, Mesh, Name, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided
from shardlint.laws.placement.checks import (
    empty_output,
    even,
    is_axis,
    known,
    located,
    none_passes,
    parts,
    unconstrained,
    unique,
    unknown_part,
)
from shardlint.laws.placement.partition_spec import canonical
from shardlint.laws.versions.era import since


def all_of(kind: AxisType, mesh: Mesh | Unknown | None) -> bool | None:
    """Return whether all axes of the mesh are of this type; None where the mesh is not known."""
    if isinstance(mesh, Unknown):
        return None
    return mesh is not None and set(mesh.types) == {kind}


def in_type(mesh: Mesh, entry: Entry) -> Entry:
    """Return the part of an entry that remains in an array's type: its Explicit axes, and unknowns."""
    return canonical(tuple(part for part in parts(entry) if _is_explicit(mesh, part) is not False))


def _is_explicit(mesh: Mesh | Unknown | None, part: Name) -> bool | None:
    if isinstance(part, Unknown) or not isinstance(mesh, Mesh):
        return None
    return is_axis(part) and part in mesh.names and mesh.type_of(str(part)) is AxisType.EXPLICIT


def array_type(stage: str) -> tuple[Check, ...]:
    """`core.get_sharding`, as an array of this sharding gets its type."""
    return staged(stage, no_surplus_in_type) + raising("ValueError", stage, even_in_type)


def no_surplus_in_type(case: Case) -> Outcome:
    """`core._make_lengths_same`: no entry past the rank names an Explicit axis; since 0.11.1 there may be
    none, and before 0.6 only if all are None.
    """
    both = known(case)
    if isinstance(both, Undecided):
        return both
    spec, shape = both
    named = any(parts(entry) for entry in spec.entries)
    if len(spec) > len(shape) and (since("0.11.1") or (named and not since("0.6.0"))):
        return _no_surplus(case, len(spec), len(shape))
    unsure = None
    for dimension, _, part in located(spec):
        explicit = dimension >= len(shape) and _is_explicit(case.mesh, part)
        if explicit:
            return Rejected(
                Cause.TOO_LONG, "AssertionError", "", dimension=len(shape), size=len(shape), ways=len(spec)
            )
        if explicit is None:
            unsure = Undecided("whether an entry past the rank names an Explicit axis is not known")
    return unsure


def _no_surplus(case: Case, entries: int, rank: int) -> Outcome:
    """Only a mesh without Explicit axes lets surplus entries go."""
    if not isinstance(case.mesh, Mesh):
        return Undecided("the axis types are not known")
    if AxisType.EXPLICIT not in case.mesh.types:
        return None
    return Rejected(Cause.TOO_LONG, "ValueError", "", dimension=rank, size=rank, ways=entries)


def unconstrained_in_type(case: Case) -> Outcome:
    """`core.modify_spec_for_auto_manual` looks every entry up, unless all axes are Auto."""
    auto = all_of(AxisType.AUTO, case.mesh)
    outcome = None if auto else unconstrained(case)
    return Undecided("the axis types are not known") if outcome and auto is None else outcome


def even_in_type(case: Case) -> Outcome:
    """`core._check_divisibility`: as `even`, but for the Explicit axes alone."""
    if isinstance(case.spec, Spec) and isinstance(case.mesh, Mesh):
        entries = tuple(in_type(case.mesh, entry) for entry in case.spec.entries)
        return even(replace(case, spec=Spec(entries)))
    return even(case) and Undecided("whether the Explicit axes divide the array is not known")


def only_auto(case: Case) -> Outcome:
    """`pjit.check_shardings_are_auto`: with_sharding_constraint takes no axis of another type."""
    return _only(AxisType.AUTO, case)


def same_mesh(case: Case) -> Outcome:
    """`sharding_impls.canonicalize_sharding`: the sharding's mesh is the context's, or both are all Auto."""
    both_auto = all_of(AxisType.AUTO, case.mesh) and all_of(AxisType.AUTO, case.context)
    return None if both_auto else same_axes(case)


def same_axes(case: Case) -> Outcome:
    """`pjit._get_new_mesh`: where there is a context mesh, it is the sharding's."""
    if not isinstance(case.mesh, Mesh) or not isinstance(case.context, Mesh):
        return None
    if _same_axes(case.mesh, case.context) is not False:
        return None
    return Rejected(Cause.OTHER_MESH, "ValueError", "", detail=str(case.context))


def agree(mesh: Mesh, context: Mesh) -> bool | None:
    """Return whether two meshes have the same axes, or only Auto axes, which most calls do not compare."""
    if all_of(AxisType.AUTO, mesh) and all_of(AxisType.AUTO, context):
        return True
    return _same_axes(mesh, context)


def _same_axes(mesh: Mesh, context: Mesh) -> bool | None:
    if (mesh.names, mesh.types) != (context.names, context.types):
        return False
    same = [equal(a, b) for a, b in zip(mesh.sizes, context.sizes, strict=True)]
    return False if False in same else None if None in same else True


def only_explicit(case: Case) -> Outcome:
    """`sharding_impls.canonicalize_sharding`: reshard takes no axis of another type.

    It looks every entry up as it comes to it, P.UNCONSTRAINED too (KeyError).
    """
    outcome = _only(AxisType.EXPLICIT, case)
    if not isinstance(case.spec, Spec) or Marker.UNCONSTRAINED not in case.spec.entries:
        return outcome
    open_at = case.spec.entries.index(Marker.UNCONSTRAINED)
    if isinstance(outcome, Rejected) and outcome.dimension is not None and outcome.dimension < open_at:
        return outcome
    certain = not isinstance(unknown_part(case.spec), Undecided) and isinstance(case.mesh, Mesh)
    return Rejected(Cause.UNCONSTRAINED, "KeyError" if certain else "Exception", "", dimension=open_at)


def _only(kind: AxisType, case: Case) -> Outcome:
    if not isinstance(case.spec, Spec):
        return Undecided("the spec is not known")
    for dimension, index, part in located(case.spec):
        if not is_axis(part):
            continue
        if not isinstance(case.mesh, Mesh):
            return Undecided("the mesh's axis types are not known")
        if part in case.mesh.names and case.mesh.type_of(str(part)) is not kind:
            return Rejected(
                Cause.AXIS_TYPE, "ValueError", "", dimension=dimension, part=index, axis=str(part)
            )
    return unknown_part(case.spec)


def of_one_type(case: Case) -> Outcome:
    """`flax.core.spmd._apply_sharding`: all axes of the mesh are Auto, or all are Explicit."""
    if not isinstance(case.mesh, Mesh):
        return Undecided("the mesh's axis types are not known")
    if all_of(AxisType.AUTO, case.mesh) or all_of(AxisType.EXPLICIT, case.mesh):
        return None
    return Rejected(Cause.AXIS_TYPE, "ValueError", "", detail=", ".join(case.mesh.types))


def on(kind: AxisType, *checks: Check) -> tuple[Check, ...]:
    """Return checks that run only where all axes of the mesh are of this type."""

    def limited(check: Check) -> Check:
        def made(case: Case) -> Outcome:
            applies = all_of(kind, case.mesh)
            outcome = check(case) if applies is not False else None
            return outcome if applies or outcome is None else Undecided("the axis types are not known")

        return made

    return tuple(limited(check) for check in checks)


def runs_on_mesh(case: Case) -> Outcome:
    """Arrays typed by a mesh need a jit that runs on its devices: those of the context, or of an argument."""
    if isinstance(case.context, Mesh) or all_of(AxisType.AUTO, case.mesh):
        return None
    if case.held is not None and any(map(parts, case.held.entries)):
        return None
    return Undecided("whether the jit runs on the mesh's devices is not known")


def context_runs(case: Case) -> Outcome:
    """An operation outside jit runs on one device, unless the context has a mesh."""
    if isinstance(runs_on_mesh(case), Undecided) and case.context is None and isinstance(case.mesh, Mesh):
        alone = equal(case.mesh.device_count, 1)
        if alone is False and AxisType.EXPLICIT in case.mesh.types:
            return Rejected(Cause.MESH_CONTEXT, "ValueError", "")
        return None if alone else Undecided("whether the mesh has one device is not known")
    return runs_on_mesh(case)


def asks_context(case: Case) -> Outcome:
    """Since 0.11.0 `lax.broadcast` asks no more than the context: without one the sharding is dropped.

    A scalar is not broadcast, but resharded.
    """
    if isinstance(case.context, Mesh) or not isinstance(case.mesh, Mesh) or not since("0.11.0"):
        return None
    if isinstance(case.shape, Unknown) or not case.shape:
        return None if case.shape == () else Undecided("whether the array is a scalar is not known")
    if case.context is None:
        return Accepted(dropped=AxisType.EXPLICIT in case.mesh.types)
    return Undecided("whether there is a context mesh is not known")


def if_asked(check: Check) -> Check:
    """Return a check that, since 0.11.0, runs only where the context asks for the sharding."""

    def made(case: Case) -> Outcome:
        outcome = check(case)
        if outcome is None or not since("0.11.0"):
            return outcome
        if isinstance(case.context, Unknown):
            return Undecided("whether there is a context mesh is not known")
        asked = asks_context(case)
        return asked if isinstance(asked, Undecided) else outcome

    return made


def as_held(case: Case) -> Outcome:
    """The array must already be sharded as the spec says; no array is sharded unevenly, or twice over one
    axis.
    """
    if not isinstance(case.spec, Spec):
        return Undecided("the spec is not known")
    if isinstance(repeated := unique(case), Rejected):
        return replace(repeated, exception="AssertionError")
    if case.held is None:
        if isinstance(uneven := even(case), Rejected):
            return replace(uneven, cause=Cause.OTHER_SHARDING, exception="AssertionError")
        return Undecided("the array's sharding is not known")
    width = max(len(case.spec), len(case.held))
    unsure = unknown_part(case.spec) or unknown_part(case.held)
    if unsure is not None:
        return unsure
    for dimension, (wanted, entry) in enumerate(
        zip(_padded(case.spec, width), _padded(case.held, width), strict=True)
    ):
        if wanted != entry:
            return Rejected(
                Cause.OTHER_SHARDING, "AssertionError", "", dimension=dimension, detail=str(case.held)
            )
    return None


def _padded(spec: Spec, width: int) -> tuple[Entry, ...]:
    """Return the entries as a type holds them (`PartitionSpec._normalized_spec_for_aval`)."""
    entries = tuple(None if entry is Marker.UNCONSTRAINED else canonical(entry) for entry in spec.entries)
    return entries + (None,) * (width - len(entries))


def constrained(case: Case) -> Outcome:
    """`pjit.with_sharding_constraint`: where all axes of the context mesh are Explicit it only asserts.

    A context mesh that is not known is assumed to be the sharding's own, or none. Before 0.7 it never
    asserts: 0.6.2 refuses such a context.
    """
    asserts = all_of(AxisType.EXPLICIT, case.context)
    if isinstance(case.mesh, Mesh) and not all_of(AxisType.AUTO, case.mesh) and not since("0.7.0"):
        refused = only_auto(case)
        if refused is None and asserts is not False and since("0.6.2"):
            refused = (
                Rejected(Cause.AXIS_TYPE, "ValueError", "")
                if asserts
                else Undecided("the context mesh is not known")
            )
        return refused
    if asserts is None and all_of(AxisType.EXPLICIT, case.mesh) is False:
        asserts = False
    asserted = None if asserts is False else _reductions(case) or as_held(case)
    constraining = None if asserts else only_auto(case)
    if asserts is not None:
        return asserted or constraining
    if isinstance(asserted, Rejected) and isinstance(constraining, Rejected):
        return replace(constraining, exception="Exception")
    if asserted is None and constraining is None:
        return None
    return Undecided("whether all axes of the context mesh are Explicit is not known")


def _reductions(case: Case) -> Outcome:
    """`pjit.assert_shardings_equal` iterates over both specs: neither may have unreduced or reduced axes."""
    for spec in (case.held, case.spec):
        if isinstance(spec, Spec) and (spec.unreduced or spec.reduced):
            if isinstance(unique(case), Rejected):
                return None
            detail = "" if case.held is None or case.held == case.spec else str(case.held)
            return Rejected(Cause.OTHER_SHARDING, "ValueError", "", detail=detail)
    return None


def constrained_as_typed(case: Case) -> Outcome:
    """As `constrained`, for an array whose type holds the sharding of the constraint."""
    if isinstance(case.spec, Spec) and (case.spec.unreduced or case.spec.reduced):
        return Undecided("what becomes of unreduced and reduced axes is not known")
    return constrained(replace(case, held=case.spec) if isinstance(case.spec, Spec) else case)


def empty_constrained(case: Case) -> Outcome:
    """As `empty_output`, where `constrained` does not only assert."""
    return None if all_of(AxisType.EXPLICIT, case.context) is not False else empty_output(case)


def in_context(check: Check) -> Check:
    """Return a check that runs only under the mesh of `jax.set_mesh`."""

    def made(case: Case) -> Outcome:
        outcome = None if case.context is None else check(case)
        if isinstance(case.context, Unknown) and outcome is not None:
            return Undecided("whether there is a context mesh is not known")
        return outcome

    return made


def as_held_if_explicit(case: Case) -> Outcome:
    """`shard_map` on Explicit axes alone: the argument must be sharded as in_specs say."""
    return on(AxisType.EXPLICIT, as_held)[0](case)


def closed_over(case: Case) -> Outcome:
    """None for a shard_map argument closes over it, which no array sharded on Explicit axes allows."""
    if case.spec is not None or all_of(AxisType.AUTO, case.mesh):
        return none_passes(case)
    if case.held is None or not isinstance(case.mesh, Mesh):
        return Undecided("the array's sharding is not known")
    for dimension, entry in enumerate(case.held.entries):
        if in_type(case.mesh, entry) is not None:
            return Rejected(
                Cause.OTHER_SHARDING, "NotImplementedError", "", dimension=dimension, detail=str(case.held)
            )
    return Accepted()
