"""The repaired twin of a mistake: the same call with a legal mesh, spec and shape."""

from __future__ import annotations

from dataclasses import replace

from shardlint.laws.core.values import AxisType, Entry, Marker, Mesh, Spec, entry_axes
from shardlint.laws.core.verdicts import Api, Cause

#: These make arrays of a type, for which a jit must run on the mesh.
MAKE_TYPED = (Api.CREATE_OUT, Api.CREATE_OUT_IN_JIT, Api.RANDOM_OUT, Api.RANDOM_OUT_IN_JIT)
#: What type all axes must have for an API to place an array as its spec says, however it is sharded.
TYPE_TAKEN: dict[Api, AxisType] = {
    Api.CONSTRAINT: AxisType.AUTO,
    Api.CONSTRAINT_EAGER: AxisType.AUTO,
    Api.SHARD_MAP_IN: AxisType.AUTO,
    Api.RESHARD: AxisType.EXPLICIT,
    Api.RESHARD_IN_JIT: AxisType.EXPLICIT,
    **dict.fromkeys(MAKE_TYPED, AxisType.EXPLICIT),
}
_FRESH = "shardlint_axis_{}"


def repaired_spec(spec: Spec, mesh: Mesh | None, rank: int | None, cause: Cause | None) -> Spec:
    """Truncate the spec to the rank, and drop what no mesh axis, or an earlier entry's, stands for.

    Without a mesh every name passes. UNCONSTRAINED stays where it is not the mistake.
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
    """What replicated data would better have: the largest axis on the first dimension."""
    largest = max(mesh.names, key=lambda name: _int(mesh.size_of(name)), default=None)
    return Spec((largest,)) if rank else Spec()


def repaired_mesh(mesh: Mesh | None, spec: Spec, api: Api, cause: Cause | None) -> Mesh | None:
    """Give a spec without a mesh one that has its axes, and a mesh without devices some; make all axes of
    the type that the API takes.

    Where the array is sharded otherwise, the mesh is not the mistake. What is wrong in itself may have none
    either.
    """
    if cause is Cause.NO_MESH or (mesh is None and cause in (Cause.NOT_A_SPEC, Cause.DUPLICATE_AXIS)):
        return mesh_for(spec, api)
    if mesh is not None and cause is Cause.DEVICES:
        return replace(mesh, abstract=False)
    kind = TYPE_TAKEN.get(api, AxisType.AUTO if cause is Cause.AXIS_TYPE else None)
    if mesh is None or kind is None or cause is Cause.OTHER_SHARDING:
        return mesh
    return replace(mesh, types=(kind,) * len(mesh.names))


def mesh_for(spec: Spec, api: Api = Api.NAMED_SHARDING) -> Mesh:
    """The smallest mesh that has a spec's axes: two devices along each, at most eight in all."""
    names = tuple(dict.fromkeys(name for entry in spec.entries for name in entry_axes(entry))) or ("x",)
    size = 2 if len(names) <= 3 else 1
    kind = TYPE_TAKEN.get(api, AxisType.AUTO)
    return Mesh(names, (size,) * len(names), (kind,) * len(names))


def repaired_names(names: tuple[str, ...], rank: int) -> tuple[str, ...]:
    """As many different axis names as there are dimensions."""
    known = list(dict.fromkeys(names))[:rank]
    return (*known, *(_FRESH.format(i) for i in range(rank - len(known))))


def _int(size: object) -> int:
    return size if isinstance(size, int) else 0
