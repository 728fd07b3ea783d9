"""Laws of setting a mesh, temporarily or for good, and of querying the current one.

`jax.set_mesh` sets a mesh at once and restores the previous one at the end of its block; `use_abstract_mesh`
sets one when its block begins; ``with mesh:`` is older than both, and neither sees it.
"""

from __future__ import annotations

from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import AxisType, Junk, Mesh, Unknown
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected, Undecided, Verdict

#: The mesh of `get_abstract_mesh` where none is set.
NO_MESH = Mesh((), (), (), abstract=True)

#: Attributes that an AbstractMesh has only in name: reading them raises ValueError (`mesh.AbstractMesh`).
CONCRETE_ONLY = frozenset({"devices", "device_ids", "is_multi_process", "local_devices", "local_mesh"})

#: Attributes that a NamedSharding on an AbstractMesh lacks (`named_sharding.NamedSharding`).
PLACED_ONLY = frozenset({"addressable_devices", "device_set", "is_fully_addressable"})


def judge_set_mesh(given: Mesh | Junk | Unknown | None, traced: bool | None) -> Verdict:
    """Judge ``jax.set_mesh(given)``; ``traced``: inside jit, grad, vmap, shard_map, …; None: not known.

    `sharding_impls.set_mesh`: a Mesh with devices or None, outside of any trace, without Manual axes. All
    three raise ValueError, so one that surely fails is enough.
    """
    stage = "set_mesh()"
    if isinstance(given, Junk) or (isinstance(given, Mesh) and given.abstract):
        what = given.text if isinstance(given, Junk) else "an AbstractMesh"
        return _wrong(stage, f"it takes a Mesh of devices, not {what}")
    if traced:
        return _wrong(
            stage, "it is for outside of jit and other transformations; set the mesh around the call"
        )
    if isinstance(given, Mesh) and AxisType.MANUAL in given.types:
        return _wrong(stage, "the mesh has Manual axes, which only shard_map makes")
    if isinstance(given, Unknown):
        return Undecided(f"the mesh is not known: {given.reason}")
    return Accepted() if traced is False else Undecided("whether this runs in a trace is not known")


def judge_use_abstract_mesh(given: Mesh | Junk | Unknown | None) -> Verdict:
    """Judge ``use_abstract_mesh(given)``, which sets nothing yet (`mesh.use_abstract_mesh.__init__`)."""
    if isinstance(given, Unknown):
        return Undecided(f"the mesh is not known: {given.reason}")
    if isinstance(given, Mesh) and given.abstract:
        return Accepted()
    what = (
        given.text
        if isinstance(given, Junk)
        else "None"
        if given is None
        else "a Mesh; use mesh.abstract_mesh"
    )
    return _wrong("use_abstract_mesh()", f"it takes an AbstractMesh, not {what}")


def judge_enter_abstract(given: Mesh, current: Mesh | Unknown | None) -> Verdict:
    """Judge entering ``use_abstract_mesh(given)``: it must have as many devices as the mesh already set.

    `mesh.use_abstract_mesh.__enter__` raises ValueError otherwise. The empty mesh is always accepted.
    """
    if isinstance(current, Unknown):
        return Undecided(f"the mesh that is set is not known: {current.reason}")
    if current is None or not current.names or not given.names:
        return Accepted()
    same = equal(given.device_count, current.device_count)
    if 0 in (given.device_count, current.device_count) or same is None:
        return Undecided("how many devices the meshes have is not known")
    if same:
        return Accepted()
    stage, sizes = "use_abstract_mesh.__enter__", (given.device_count, current.device_count)
    detail = f"a mesh of {current.device_count} devices is set, and {given} has {given.device_count}"
    return Rejected(Cause.MESH_CONTEXT, "ValueError", stage, size=sizes[1], ways=sizes[0], detail=detail)


def judge_get_mesh(traced: bool | None) -> Verdict:
    """Judge ``jax.sharding.get_mesh()``: outside of any trace only (`sharding_impls.get_mesh`)."""
    if traced:
        return _wrong("get_mesh()", "it is for outside of jit; inside, use jax.sharding.get_abstract_mesh()")
    return Accepted() if traced is False else Undecided("whether this runs in a trace is not known")


def judge_with(mesh: Mesh) -> Verdict:
    """Judge ``with mesh:`` (`mesh.Mesh.__enter__`, `mesh.AbstractMesh.__enter__`)."""
    if not mesh.abstract:
        return Accepted()
    detail = "an AbstractMesh is no context manager; use jax.sharding.use_abstract_mesh(mesh)"
    return _wrong("__enter__", detail)


def judge_concrete(name: str, mesh: Mesh) -> Verdict:
    """Judge ``mesh.name`` or, for a sharding on the mesh, ``sharding.name``: both need devices."""
    if not mesh.abstract or name not in CONCRETE_ONLY | PLACED_ONLY:
        return Accepted()
    detail = f"an AbstractMesh has no devices, and `{name}` asks for them"
    return Rejected(Cause.DEVICES, "ValueError", name, detail=detail)


def _wrong(stage: str, detail: str) -> Rejected:
    return Rejected(Cause.MESH_CONTEXT, "ValueError", stage, detail=detail)
