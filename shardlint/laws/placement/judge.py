"""The law of placements: the verdict of each API on a spec and an array, and the result's sharding."""

from __future__ import annotations

from dataclasses import replace

from shardlint.laws.core.check_chain import Case, judge
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import AxisType, Junk, Mesh, Spec, Unknown
from shardlint.laws.core.verdicts import Accepted, Api, Cause, Rejected, Undecided, Verdict
from shardlint.laws.meshes.construction import duplicate_names
from shardlint.laws.placement.api_laws import BARE_LAWS, LAWS
from shardlint.laws.placement.axis_types import agree
from shardlint.laws.placement.partition_spec import judge_spec, normalize, unhashable
from shardlint.laws.placement.repeated_axes import judge_repeated
from shardlint.laws.placement.result_shardings import result
from shardlint.laws.versions.era import since

#: APIs that make a spec of partitioning names themselves, and the stage where that fails.
TAKE_NAMES = {
    Api.LINEN_SHARDING: "get_sharding",
    Api.LINEN_UNBOX: "unbox",
    Api.LINEN_UNBOX_EAGER: "unbox eager",
    Api.NNX_PARAM: "nnx.Param()",
    Api.NNX_PARAM_IN_JIT: "nnx.jit(Param())",
    Api.NNX_SHARDING: "get_partition_spec",
}

#: APIs whose checks ignore axis types.
TYPE_BLIND = frozenset(
    {
        Api.SHARD_SHAPE, Api.SHAPE_DTYPE_STRUCT, Api.JIT_IN, Api.JIT_OUT, Api.SHARD_MAP_OUT,
        Api.LINEN_SHARDING, Api.CREATE_IN_JIT, Api.NNX_SHARDING,
    }
)  # fmt: skip

#: Constraints, to which None means replication over the context mesh (`pjit._create_sharding_for_array`).
CONSTRAINTS = frozenset({Api.CONSTRAINT, Api.CONSTRAINT_EAGER})

#: Mistakes in the spec alone, which are independent of shard_map's Manual axes.
MANUAL_BLIND_CAUSES = frozenset(
    {Cause.NOT_A_SPEC, Cause.BAD_ARGUMENT, Cause.NO_MESH, Cause.BAD_ENTRY, Cause.UNKNOWN_AXIS}
)

#: APIs that do nothing without a mesh.
NEED_NO_MESH = frozenset({Api.LINEN_UNBOX, Api.LINEN_UNBOX_EAGER})

#: APIs that need the mesh's devices: on an AbstractMesh they fail in ways of their own.
NEED_DEVICES = frozenset(
    {
        Api.CONSTRAINT_EAGER, Api.CREATE, Api.LINEN_UNBOX_EAGER, Api.NNX_PARAM, Api.CREATE_IN_JIT,
        Api.RESHARD, Api.CREATE_OUT, Api.RANDOM_OUT, Api.ARANGE, Api.ARANGE_IN_JIT, Api.CONVERT,
        Api.CONVERT_IN_JIT, Api.LINSPACE, Api.EMPTY_OUT,
    }
)  # fmt: skip


#: The stages after tracing.
LATE = ("lower", "compile")


def judge_placement(
    api: Api,
    mesh: Mesh | Unknown | None,
    spec: Spec | Junk | Unknown | None,
    shape: Shape | Unknown,
    *,
    raw: bool = False,
    context: Mesh | Unknown | None = Unknown("not told"),
    held: Spec | None = None,
) -> Verdict:
    """Judge the placement of an array of this shape by a spec.

    ``raw=False``: the spec is a NamedSharding's on ``mesh``, which `judge_sharding` accepted. ``raw=True``:
    the spec is bare and ``mesh`` is the context's (`jax.set_mesh`), None when there is none. For shard_map
    ``mesh`` is its own or the context's; for linen and nnx metadata it is the metadata's own or (raw) the
    context's. For SHARD_MAP_OUT ``shape`` is that of one shard's result. A Junk stands for one leaf or for a
    container without specs.

    ``context`` is the mesh of `jax.set_mesh` around a call that is not raw: None when there is none; an
    unknown one is assumed to be ``mesh`` or none. ``held`` is the present sharding of the array on that mesh,
    None when it is not known; it matters to constraints and to shard_map's in_specs on Explicit axes. An
    array created without a sharding is replicated: ``Spec()``.
    """
    law = (BARE_LAWS if raw else LAWS).get(api)
    if law is None:
        return Undecided(f"{api.value} takes no bare spec")
    if isinstance(spec, Unknown):
        return Undecided(f"the spec is not known: {spec.reason}")
    if mesh is None and not raw:
        mesh = Unknown("the sharding's mesh")
    if isinstance(mesh, Unknown) and api in NEED_NO_MESH:
        return Undecided("whether there is a mesh is not known")
    if raw and api in NEED_NO_MESH and not since("0.6.0"):
        return Undecided("Flax does not look for the mesh of jax.set_mesh")
    if isinstance(mesh, Mesh):
        if not all(size > 0 for size in mesh.sizes if isinstance(size, int)) or not mesh.names:
            return Undecided("the mesh is empty")
        if duplicate_names(mesh.names):
            return judge_repeated(api, Case(mesh, spec, shape))
        if mesh.abstract and (api in NEED_DEVICES or (raw and api is Api.DEVICE_PUT)):
            return Undecided("an AbstractMesh has no devices")
    if api in TAKE_NAMES and isinstance(spec, Spec):
        looks_up = api in (Api.NNX_PARAM, Api.NNX_PARAM_IN_JIT)
        made = (unhashable(spec) if looks_up else None) or judge_spec(spec)
        if isinstance(made, Rejected):
            return replace(made, stage=TAKE_NAMES[api])
        if isinstance(made, Undecided):
            law = (lambda _: made, *law)
        spec = normalize(spec)
    context = mesh if raw else context
    if spec is None and raw and api in CONSTRAINTS and isinstance(mesh, Mesh):
        spec = Spec()
    verdict = judge(law, Case(mesh, spec, shape, context, held))
    if isinstance(mesh, Mesh):
        other = isinstance(verdict, Rejected) and verdict.cause is Cause.OTHER_MESH
        if isinstance(context, Mesh) and not agree(mesh, context) and not other:
            return Undecided("the context mesh is another than the sharding's")
        if mesh.abstract and isinstance(verdict, Rejected) and verdict.stage in LATE:
            return Undecided("what has an AbstractMesh is traced, not lowered")
        if AxisType.MANUAL in mesh.types and api not in TYPE_BLIND and not _holds_inside(verdict, raw):
            return Undecided("the law is not established for Manual axes")
    if isinstance(mesh, Unknown) and isinstance(verdict, Rejected) and verdict.stage in LATE:
        return Undecided("an AbstractMesh is traced, not lowered")
    if isinstance(verdict, Accepted) and verdict.spec is None and not verdict.dropped:
        return result(api, mesh, spec, shape, held)
    return verdict


def _holds_inside(verdict: Verdict, raw: bool) -> bool:
    """Return whether a verdict holds inside shard_map, where bare specs may not name Manual axes."""
    if not isinstance(verdict, Rejected):
        return False
    return verdict.cause in MANUAL_BLIND_CAUSES or (raw and verdict.cause is Cause.AXIS_TYPE)
