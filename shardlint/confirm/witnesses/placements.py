"""Witnesses of placements, and of Flax parameters."""

from __future__ import annotations

import math
from dataclasses import replace

from shardlint.confirm.witnesses import repair
from shardlint.confirm.witnesses.requests import (
    IN_BODY,
    NO_SHAPE,
    NO_SIZES,
    NotRunnable,
    Request,
    Witness,
    cause_of,
    expected_of,
    known_int,
    mesh_json,
    spec_json,
)
from shardlint.confirm.witnesses.sizes import Sizes, even, integers, parts_of, shrunk, ways
from shardlint.laws.core.values import AxisType, Junk, Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Api, Cause, Rejected, Undecided, Verdict
from shardlint.model.uses import ParameterUse, Placement

#: APIs with another behaviour without a mesh.
_MESHLESS = (Api.PARTITION_SPEC, Api.LINEN_UNBOX_EAGER)
#: APIs that take the mesh of ``with mesh:`` too, and there never only assert.
_TAKE_LEGACY_MESHES = (Api.CONSTRAINT, Api.CONSTRAINT_EAGER)
#: APIs that place an array inside jit.
_IN_JIT = frozenset(
    {
        *(Api.CONSTRAINT, Api.DEVICE_PUT_IN_JIT, Api.RESHARD_IN_JIT, Api.CREATE_IN_JIT, Api.ARANGE_IN_JIT),
        *(Api.CONVERT_IN_JIT, Api.CREATE_OUT_IN_JIT, Api.EMPTY_OUT_IN_JIT, Api.RANDOM_OUT_IN_JIT),
    }
)
#: APIs that run on the devices of the context's mesh, whatever else names a mesh.
_IN_CONTEXT = (Api.NNX_PARAM, Api.NNX_PARAM_IN_JIT, Api.RESHARD_IN_JIT, *repair.MAKE_TYPED)


def placement(
    api: Api,
    mesh: Mesh | Unknown | None,
    spec: Spec | Junk | str | Unknown | None,
    shape: object,
    verdict: Verdict,
    raw: bool = False,
    context: Mesh | Unknown | None = None,
    held: Spec | None = None,
) -> Witness:
    """Return a witness of a spec, an array and an API.

    Unknown meshes and shapes are chosen to fit where the verdict allows it. ``context`` is the mesh of
    `jax.set_mesh`, and ``held`` the array's present sharding.
    """
    cause = cause_of(verdict)
    if isinstance(spec, Unknown) or cause is Cause.OTHER_MESH:
        # A request has one mesh, which is also that of its context.
        raise NotRunnable("it needs two meshes" if cause is Cause.OTHER_MESH else "the spec is not known")
    known = spec if isinstance(spec, Spec) else Spec()
    held = held if api in repair.TYPE_TAKEN else None
    dropped = isinstance(verdict, Accepted) and verdict.dropped
    within = None if cause is Cause.MESH_CONTEXT or dropped else _within(api, mesh, raw, context)
    meshless = raw or api in _MESHLESS or cause is Cause.NO_MESH
    if isinstance(mesh, Unknown) or (mesh is None and not meshless):
        if cause in (Cause.UNKNOWN_AXIS, Cause.INDIVISIBLE):
            raise NotRunnable("the mesh is not known")
        mesh = repair.mesh_for(known, api)
    mesh, sizes = _sizes(mesh, known, shape, verdict, held or Spec())
    rank = len(sizes)
    mesh, sizes = shrunk(mesh, sizes, parts_of(known, mesh, rank), known)
    held_parts = parts_of(held or Spec(), mesh, rank)
    sizes = even(sizes, held_parts)
    bare = isinstance(spec, Spec | None) and not any(map(entry_axes, known.entries))
    unsharded: tuple[int, ...] = ()
    if isinstance(verdict, Accepted):
        unsharded = tuple(range(rank)) if bare or dropped else verdict.replicated

    # What takes a sharding only takes the spec with a mesh.
    bound = raw and cause is Cause.BAD_ARGUMENT
    twin_mesh = repair.repaired_mesh(mesh, known, api, cause)
    if cause is Cause.OTHER_SHARDING:
        twin_spec = held or Spec()
    elif unsharded and bare and twin_mesh is not None:
        twin_spec = repair.spread_spec(twin_mesh, rank)
    else:
        twin_spec = repair.repaired_spec(
            known, twin_mesh, None if isinstance(shape, Unknown) else rank, cause
        )
    filled = tuple(size or 1 for size in sizes) if cause is Cause.EMPTY else sizes
    twin_sizes = even(filled, tuple(map(math.lcm, parts_of(twin_spec, twin_mesh, rank), held_parts)))

    request: Request = {
        "kind": "placement",
        "api": api.value,
        "mesh": mesh_json(mesh),
        "spec": spec_json(spec),
        "shape": list(sizes),
        "raw": raw,
        "context": within,
        "held": spec_json(held),
        # A replication check of JAX changes the class: it asserts where the plain call raises.
        "check": expected_of(verdict) == "AssertionError",
    }
    twin = {
        **request,
        "mesh": mesh_json(twin_mesh),
        "spec": spec_json(twin_spec),
        "shape": list(twin_sizes),
        "raw": raw and not bound,
        "context": "set_mesh" if dropped else _within(api, mesh, raw and not bound, context),
    }
    # It is not known whether jit returns the array or computes with it; JAX may treat them differently.
    elsewhere = {**request, "returned": False} if api in _IN_JIT else None
    returned = verdict.returned if isinstance(verdict, Accepted) else None
    return Witness(request, twin, expected_of(verdict), unsharded, elsewhere, returned)


def varying(use: Placement) -> Witness:
    """Return a result that varies over an axis which its spec omits; the twin's spec names it.

    The body returns its argument, which is split over that axis.
    """
    assert isinstance(use.verdict, Rejected)
    split = Spec((use.verdict.axis,))
    mesh = repair.mesh_for(split)
    request: Request = {
        "kind": "placement",
        "api": Api.SHARD_MAP_OUT.value,
        "mesh": mesh_json(mesh),
        "spec": spec_json(Spec()),
        "shape": [known_int(mesh.device_count)],
        "raw": True,
        "context": None,
        "held": spec_json(split),
        "check": True,
    }
    return Witness(request, {**request, "spec": spec_json(split)}, expected_of(use.verdict))


def _within(api: Api, mesh: Mesh | Unknown | None, raw: bool, context: Mesh | Unknown | None) -> str | None:
    """Return the context of the call: that of `jax.set_mesh`, of ``with mesh:``, or none."""
    if isinstance(mesh, Mesh) and context is None and raw and api in _TAKE_LEGACY_MESHES:
        return "with"
    theirs = isinstance(mesh, Mesh) and mesh == context
    return "set_mesh" if raw or theirs or api in _IN_CONTEXT else None


def _sizes(
    mesh: Mesh | None, spec: Spec, shape: object, verdict: Verdict, held: Spec
) -> tuple[Mesh | None, Sizes]:
    """Return integers for the mesh and the array, such that only the mistake in the verdict is wrong.

    An unknown shape is chosen to fit the spec; that cannot show a mistake about sizes.
    """
    cause = cause_of(verdict)
    if isinstance(shape, Unknown) and cause in (Cause.TOO_LONG, Cause.INDIVISIBLE):
        raise NotRunnable(NO_SHAPE)
    dims = shape if isinstance(shape, tuple) else None
    if mesh is not None and AxisType.MANUAL in mesh.types:
        raise NotRunnable(IN_BODY)
    uneven: tuple[int, ...] = ()
    if isinstance(verdict, Rejected) and cause is Cause.INDIVISIBLE and verdict.dimension is not None:
        uneven = (verdict.dimension,)
    elif isinstance(verdict, Accepted):
        uneven = verdict.replicated
    count = 0 if mesh is None else len(mesh.sizes)

    def suits(sizes: Sizes) -> bool:
        if min(sizes[:count], default=1) < 1 or min(sizes[count:], default=0) < 0:
            return False
        axes = dict(zip(mesh.names, sizes[:count], strict=True)) if mesh is not None else {}
        for i, (entry, size) in enumerate(zip(spec.entries, sizes[count:], strict=False)):
            given = dims is not None and isinstance(dims[i], int)
            if i in uneven and size % ways(entry, axes) == 0:
                return False
            if i not in uneven and not given and size % ways(entry, axes):
                return False
        return all(
            size % ways(entry, axes) == 0 for entry, size in zip(held.entries, sizes[count:], strict=False)
        )

    sizes = integers((*(mesh.sizes if mesh else ()), *(dims or ())), suits)
    if sizes is None:
        raise NotRunnable(NO_SIZES)
    if mesh is not None:
        mesh = replace(mesh, sizes=sizes[:count])
    if dims is None:
        return mesh, parts_of(spec, mesh, max(len(spec), len(held), 2))
    return mesh, sizes[count:]


def parameter(use: ParameterUse) -> Witness:
    """Return a Flax parameter, where its names are used."""
    verdict = _consumed(use) if isinstance(use.verdict, Undecided) else use.verdict
    stage = verdict.stage if isinstance(verdict, Rejected) else ""
    if "nnx" in use.library:
        in_jit = stage.startswith("nnx.jit") or (not stage and use.environment.in_jit)
        api = Api.NNX_PARAM_IN_JIT if in_jit else Api.NNX_PARAM
    elif stage == "unbox eager" or (not stage and use.mesh is None and use.names is not None):
        api = Api.LINEN_UNBOX_EAGER  # Without a mesh it only carries the names.
    elif stage in ("", "get_sharding"):
        api = Api.LINEN_SHARDING
    else:
        api = Api.LINEN_UNBOX
    return placement(api, use.mesh, use.names, use.shape, verdict, context=use.environment.context_mesh)


def _consumed(use: ParameterUse) -> Rejected | Accepted:
    """Return the outcome of names on a mesh that has them, where the law does not know whether there is one.

    linen takes a string for one axis a letter and nnx ignores it (Flax 0.12.8).
    """
    names, linen = use.names, "nnx" not in use.library
    if isinstance(names, Unknown) or isinstance(use.shape, Unknown):
        raise NotRunnable("the parameter's names and shape are not both known")
    if isinstance(names, str) and linen and len(names) > 1:
        return Rejected(Cause.NOT_A_SPEC, "ValueError", "get_sharding")
    if isinstance(names, Spec) and len(names) > len(use.shape):
        return Rejected(Cause.TOO_LONG, "ValueError", "unbox" if linen else "nnx.Param()")
    return Accepted()
