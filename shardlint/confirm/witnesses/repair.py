"""The repaired twin of a mistake: the same call with a legal mesh, spec and shape."""

from __future__ import annotations

from dataclasses import replace

from shardlint.laws.core.values import AxisType, Entry, Marker, Mesh, Spec, entry_axes
from shardlint.laws.core.verdicts import Api, Cause

#: APIs that create arrays of a type, for which a jit must run on the mesh.
MAKE_TYPED = (
    *(Api.CREATE_OUT, Api.CREATE_OUT_IN_JIT, Api.EMPTY_OUT, Api.EMPTY_OUT_IN_JIT),
    *(Api.RANDOM_OUT, Api.RANDOM_OUT_IN_JIT),
)
#: The type that all axes must have for an API to place an array as its spec says, however it is sharded.
TYPE_TAKEN: dict[Api, AxisType] = {
    Api.CONSTRAINT: AxisType.AUTO,
    Api.CONSTRAINT_EAGER: AxisType.AUTO,
    Api.SHARD_MAP_IN: AxisType.AUTO,
    Api.RESHARD: AxisType.EXPLICIT,
    Api.RESHARD_IN_JIT: AxisType.EXPLICIT,
    **dict.fromkeys(MAKE_TYPED, AxisType.EXPLICIT),
}
#: APIs that place an array by a constraint, which takes Auto axes; how it is sharded before is no matter.
_CONSTRAINING = (Api.CONVERT, Api.CONVERT_IN_JIT)
_FRESH = "shardlint_axis_{}"


def repaired_spec(spec: Spec, mesh: Mesh | None, rank: int | None, cause: Cause | None) -> Spec:
    """Truncate the spec to the rank, and drop parts that name no mesh axis, or repeat an earlier one.

    Without a mesh every name is valid. UNCONSTRAINED stays where it is not the mistake.
    """
    seen: set[str] = set()
    entries: list[Entry] = []
    for entry in spec.entries[:rank]:
        if entry is Marker.UNCONSTRAINED and cause is not Cause.UNCONSTRAINED:
            entries.append(entry)
            continue
        kept = []
        for name in entry_axes(entry):
            if name not in seen and (mesh is None or name in mesh.names):
                seen.add(name)
                kept.append(name)
        entries.append(tuple(kept) if isinstance(entry, tuple) and kept else kept[0] if kept else None)
    return Spec(tuple(entries))


def spread_spec(mesh: Mesh, rank: int) -> Spec:
    """Return a better spec for replicated data: the largest axis on the first dimension."""
    largest = max(mesh.names, key=lambda name: _int(mesh.size_of(name)), default=None)
    return Spec((largest,)) if rank else Spec()


def repaired_mesh(mesh: Mesh | None, spec: Spec, api: Api, cause: Cause | None) -> Mesh | None:
    """Return a mesh that has the spec's axes, has devices, and whose axes all have the type that the API
    requires.

    Where the array is sharded in another way, the mesh is not the mistake. A mesh that is wrong in itself may
    have no repair either.
    """
    without = (Cause.NOT_A_SPEC, Cause.DUPLICATE_AXIS, Cause.BAD_ARGUMENT)
    if cause is Cause.NO_MESH or (mesh is None and cause in without):
        return mesh_for(spec, api)
    if mesh is not None and cause is Cause.DEVICES:
        return replace(mesh, abstract=False)
    auto = cause is Cause.AXIS_TYPE or api in _CONSTRAINING
    kind = TYPE_TAKEN.get(api, AxisType.AUTO if auto else None)
    if mesh is None or kind is None or cause is Cause.OTHER_SHARDING:
        return mesh
    return replace(mesh, types=(kind,) * len(mesh.names))


def mesh_for(spec: Spec, api: Api = Api.NAMED_SHARDING) -> Mesh:
    """Return the smallest mesh that has a spec's axes: two devices along each, at most eight in all."""
    names = tuple(dict.fromkeys(name for entry in spec.entries for name in entry_axes(entry))) or ("x",)
    size = 2 if len(names) <= 3 else 1
    kind = TYPE_TAKEN.get(api, AxisType.AUTO)
    return Mesh(names, (size,) * len(names), (kind,) * len(names))


def repaired_names(names: tuple[str, ...], rank: int) -> tuple[str, ...]:
    """Return as many different axis names as there are dimensions."""
    known = list(dict.fromkeys(names))[:rank]
    return (*known, *(_FRESH.format(i) for i in range(rank - len(known))))


def _int(size: object) -> int:
    return size if isinstance(size, int) else 0
