"""Valid values of ``out_sharding=``."""

from __future__ import annotations

from collections import Counter

from shardlint.laws.core.array_types import TypeSharding
from shardlint.laws.core.values import AxisType, Marker, Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Cause
from shardlint.laws.propagation.operands import OutSharding, all_of, canonical, refuse, same_mesh, unsure


def settled(context: Mesh | None, out_sharding: OutSharding) -> TypeSharding | None:
    """`sharding_impls.canonicalize_sharding`: on the context's mesh, naming Explicit axes only.

    A TypeSharding is a NamedSharding that could be made; a Spec is put on the context's mesh here.
    """
    if out_sharding is None:
        return None
    if isinstance(out_sharding, Unknown):
        unsure("the out_sharding is not known")
    if isinstance(out_sharding, Spec):
        if context is None:
            refuse(Cause.NO_MESH, "a mesh in the context for the spec", "ValueError")
        mesh, spec = context, out_sharding
        _check_spec(mesh, spec)
    elif out_sharding.mesh is None:
        return None
    else:
        mesh, spec = out_sharding.mesh, out_sharding.spec
        auto = all_of(mesh, AxisType.AUTO) and all_of(context, AxisType.AUTO)
        if not auto and context is not None and not same_mesh(mesh, context):
            refuse(Cause.OTHER_MESH, "an out_sharding on the context's mesh", "ValueError")
        if not {axis for entry in spec.entries for axis in entry_axes(entry)} <= set(mesh.names):
            unsure("the out_sharding cannot be made")
    for dimension, entry in enumerate(spec.entries):
        if entry is Marker.UNCONSTRAINED:
            refuse(Cause.UNCONSTRAINED, "no P.UNCONSTRAINED", "KeyError", dimension=dimension)
        for axis in entry_axes(entry):
            if mesh.type_of(axis) is not AxisType.EXPLICIT:
                refuse(Cause.OUT_SHARDING, "Explicit axes", "ValueError", dimension=dimension, entry=axis)
    for axis in sorted(spec.unreduced | spec.reduced):
        if mesh.type_of(axis) is not AxisType.EXPLICIT:
            refuse(Cause.OUT_SHARDING, "Explicit axes", "ValueError", entry=axis)
    return TypeSharding(mesh, Spec(canonical(spec.entries), spec.unreduced, spec.reduced))


def _check_spec(mesh: Mesh, spec: Spec) -> None:
    """`named_sharding.check_pspec`, as the NamedSharding is made of the context's mesh."""
    canonical([entry for entry in spec.entries if entry is not Marker.UNCONSTRAINED])
    counts = Counter(axis for entry in spec.entries for axis in entry_axes(entry))
    for dimension, entry in enumerate(spec.entries):
        for axis in entry_axes(entry):
            if counts[axis] > 1:
                refuse(
                    Cause.DUPLICATE_AXIS, "each axis once", "DuplicateSpecError",
                    dimension=dimension, entry=axis,
                )  # fmt: skip
    for dimension, entry in enumerate(spec.entries):
        for axis in entry_axes(entry):
            if axis not in mesh.names:
                refuse(Cause.UNKNOWN_AXIS, "axes of the mesh", "ValueError", dimension=dimension, entry=axis)
    if Marker.UNCONSTRAINED in spec.entries and AxisType.AUTO not in mesh.types:
        dimension = spec.entries.index(Marker.UNCONSTRAINED)
        refuse(Cause.UNCONSTRAINED, "no P.UNCONSTRAINED", "ValueError", dimension=dimension)
    for axis in sorted(spec.unreduced | spec.reduced):
        if axis not in mesh.names:
            refuse(Cause.UNKNOWN_AXIS, "axes of the mesh", "ValueError", entry=axis)
        if mesh.type_of(axis) is not AxisType.EXPLICIT:
            refuse(Cause.OUT_SHARDING, "Explicit axes", "ValueError", entry=axis)
