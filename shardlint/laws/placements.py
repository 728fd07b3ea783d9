"""What each API checks when a spec meets an array: one short law an API, in JAX's own order."""

from __future__ import annotations

from dataclasses import replace

from shardlint.laws.checks import (
    SHARDING,
    a_sharding,
    a_spec,
    context_mesh,
    even,
    even_unless_unconstrained,
    found_or_none,
    meshless_passes,
    nameless_passes,
    none_in_tuple,
    none_passes,
    none_replicates,
    not_none,
    rank,
    surplus_axes,
    unconstrained,
    unique,
    unique_on_many,
)
from shardlint.laws.dims import Shape
from shardlint.laws.judging import Case, Check, judge, raising, staged
from shardlint.laws.results import result
from shardlint.laws.specs import judge_spec, normalize, unhashable
from shardlint.laws.values import AxisType, Junk, Mesh, Spec, Unknown
from shardlint.laws.verdicts import Accepted, Api, Cause, Rejected, Undecided, Verdict

Law = tuple[Check, ...]


def _constraint(stage: str, *, eager: bool) -> Law:
    """`pjit.with_sharding_constraint` allows uneven sharding; outside jit its result must exist."""
    uneven = raising("IndivisibleError", stage, even_unless_unconstrained) if eager else ()
    return raising("ValueError", stage, rank) + uneven


def _put(stage: str) -> Law:
    """`core.modify_spec_for_auto_manual` looks every entry up; `api._check_sharding`, with `shard_shape`."""
    return (
        *raising("KeyError", stage, unconstrained),
        *raising("ValueError", stage, rank),
        *raising("IndivisibleError", stage, even),
    )


def _jit(stage: str) -> Law:
    """`pjit.pjit_check_aval_sharding` with `allow_uneven_sharding=False`, when the function is traced."""
    return raising("ValueError", stage, rank) + raising("IndivisibleError", stage, even)


def _whole(stage: str) -> Law:
    """`Sharding.shard_shape` alone: trailing Nones and axes of one device may exceed the rank."""
    return raising("IndexError", stage, surplus_axes) + raising("IndivisibleError", stage, even)


def _shard_map_in(repeated: Check) -> Law:
    """`shard_map._shmap_checks`, then `_check_specs_vs_args`; a repeated axis is met when lowering."""
    return (
        *raising("ValueError", "trace", context_mesh),
        *raising("TypeError", "trace", a_spec),
        none_passes,
        *raising("ValueError", "trace", found_or_none, rank),
        *raising("KeyError", "trace", none_in_tuple),
        *raising("ValueError", "trace", even),
        *raising("DuplicateSpecError", "lower", repeated),
    )


#: What is checked of a well-formed `NamedSharding` (for shard_map: of a bare spec on its mesh).
LAWS: dict[Api, Law] = {
    # sharding.Sharding.shard_shape -> _common_shard_shape
    Api.SHARD_SHAPE: _whole("shard_shape"),
    # core._check_sharding: the rank only
    Api.SHAPE_DTYPE_STRUCT: raising("ValueError", "ShapeDtypeStruct()", rank),
    Api.DEVICE_PUT: _put("device_put"),
    Api.DEVICE_PUT_IN_JIT: _put("trace"),
    # sharding_impls.prepare_axis_resources as jit is called, the rest as the function is traced
    Api.JIT_IN: raising("ValueError", "jit()", unconstrained) + _jit("trace"),
    Api.JIT_OUT: raising("ValueError", "jit()", unconstrained) + _jit("trace"),
    # the struct checks the rank; divisibility is met when the argument's sharding is lowered
    Api.JIT_ARGUMENT: (
        *raising("ValueError", "ShapeDtypeStruct()", rank),
        *raising("IndivisibleError", "lower", even),
    ),
    Api.CONSTRAINT: _constraint("trace", eager=False),
    Api.CONSTRAINT_EAGER: _constraint("wsc eager", eager=True),
    Api.SHARD_MAP_IN: _shard_map_in(unique),
    # shard_map._shmap_checks, _check_specs for the results; sizes are multiplied, never divided
    Api.SHARD_MAP_OUT: (
        *raising("ValueError", "trace", context_mesh),
        *raising("TypeError", "trace", a_spec),
        *raising("ValueError", "trace", not_none),
        *raising("ValueError", "trace", found_or_none),
        *raising("Exception", "trace", none_in_tuple),  # AssertionError, or KeyError without check_vma
        *raising("ValueError", "trace", rank),
        *raising("DuplicateSpecError", "trace", unique),
    ),
    # lax.full and array.make_array_from_callback call shard_shape and nothing before it
    Api.CREATE: _whole("jnp.zeros(device=)"),
    Api.CALLBACK: _whole("make_array_from_callback"),
    # inside jit lax.full makes a tracer, and ignores a sharding that has devices
    Api.CREATE_IN_JIT: (),
    # flax.core.meta.Partitioned: the metadata's names become a NamedSharding only here
    Api.LINEN_SHARDING: staged("get_sharding", *SHARDING),
    Api.LINEN_UNBOX: staged("unbox", *SHARDING) + _constraint("unbox", eager=False),
    Api.LINEN_UNBOX_EAGER: staged("unbox eager", *SHARDING) + _constraint("unbox eager", eager=True),
    # flax.core.spmd.shard_value: with_sharding_constraint on Auto axes, as soon as the Param is made
    Api.NNX_PARAM: staged("nnx.Param()", *SHARDING) + _constraint("nnx.Param()", eager=True),
    Api.NNX_PARAM_IN_JIT: (
        *staged("nnx.jit(Param())", *SHARDING),
        *_constraint("nnx.jit(Param())", eager=False),
    ),
}


def _bare_in_jit(law: Law) -> Law:
    """`prepare_axis_resources` as jit is called; the mesh is asked for as the function is traced."""
    return (
        *raising("TypeError", "jit()", a_spec),
        none_passes,
        *raising("ValueError", "jit()", unconstrained),
        *raising("DuplicateSpecError", "jit()", unique),
        *raising("RuntimeError", "trace", context_mesh),
        *staged("trace", *SHARDING),
        *law,
    )


def _bare_constraint(stage: str, law: Law) -> Law:
    """`prepare_axis_resources`, then `pjit._create_sharding_for_array` on the context mesh."""
    return (
        *raising("TypeError", stage, a_spec),
        *raising("ValueError", stage, none_replicates),
        *raising("DuplicateSpecError", stage, unique),
        *raising("RuntimeError", stage, context_mesh),
        *staged(stage, *SHARDING),
        *law,
    )


def _bare_put(stage: str, law: Law) -> Law:
    """`api.pspec_to_sharding`; what is neither a spec nor a sharding is refused with ValueError."""
    return (
        *raising("ValueError", stage, a_spec),
        none_passes,
        *raising("ValueError", stage, context_mesh),
        *staged(stage, *SHARDING),
        *law,
    )


def _bare_struct(law: Law) -> Law:
    """`core.ShapeDtypeStruct.__init__`: the context mesh is not asked before the sharding is read."""
    return (*raising("ValueError", "ShapeDtypeStruct()", a_spec), none_passes, *law)


def _bare_param(stage: str, law: Law) -> Law:
    """`flax.core.spmd.shard_value`: no names ask for nothing, others for a mesh."""
    return (nameless_passes, *raising("ValueError", stage, context_mesh), *law)


#: What is checked of a bare spec that takes its mesh from the context, down to the array.
BARE_LAWS: dict[Api, Law] = {
    Api.DEVICE_PUT: _bare_put("device_put", LAWS[Api.DEVICE_PUT]),
    Api.DEVICE_PUT_IN_JIT: _bare_put("trace", LAWS[Api.DEVICE_PUT_IN_JIT]),
    Api.JIT_IN: _bare_in_jit(LAWS[Api.JIT_IN]),
    Api.JIT_OUT: _bare_in_jit(LAWS[Api.JIT_OUT]),
    Api.CONSTRAINT: _bare_constraint("trace", LAWS[Api.CONSTRAINT]),
    Api.CONSTRAINT_EAGER: _bare_constraint("wsc eager", LAWS[Api.CONSTRAINT_EAGER]),
    Api.SHAPE_DTYPE_STRUCT: _bare_struct(LAWS[Api.SHAPE_DTYPE_STRUCT]),
    # core.ShapeDtypeStruct.sharding is read as the argument's type is made
    Api.JIT_ARGUMENT: _bare_struct(
        (
            *raising("ValueError", "ShapeDtypeStruct()", rank),
            *raising("TypeError", "trace", context_mesh),
            *staged("trace", *SHARDING),
            *raising("IndivisibleError", "lower", even),
        )
    ),
    Api.SHARD_MAP_IN: _shard_map_in(unique_on_many),
    Api.SHARD_MAP_OUT: LAWS[Api.SHARD_MAP_OUT],
    # a bare spec has none of the attributes that lax.full reads of a sharding
    Api.CREATE: (none_passes, *raising("AttributeError", "jnp.zeros(device=)", a_sharding)),
    Api.CREATE_IN_JIT: (none_passes, *raising("AttributeError", "trace", a_sharding)),
    Api.CALLBACK: raising("TypeError", "make_array_from_callback", a_sharding),
    # flax.core.meta.Partitioned.unbox does nothing without a mesh
    Api.LINEN_UNBOX: (meshless_passes, *LAWS[Api.LINEN_UNBOX]),
    Api.LINEN_UNBOX_EAGER: (meshless_passes, *LAWS[Api.LINEN_UNBOX_EAGER]),
    Api.NNX_PARAM: _bare_param("nnx.Param()", LAWS[Api.NNX_PARAM]),
    Api.NNX_PARAM_IN_JIT: _bare_param("nnx.jit(Param())", LAWS[Api.NNX_PARAM_IN_JIT]),
}

#: APIs that make a spec of partitioning names themselves, and where that fails.
TAKE_NAMES = {
    Api.LINEN_SHARDING: "get_sharding",
    Api.LINEN_UNBOX: "unbox",
    Api.LINEN_UNBOX_EAGER: "unbox eager",
    Api.NNX_PARAM: "nnx.Param()",
    Api.NNX_PARAM_IN_JIT: "nnx.jit(Param())",
}

#: APIs whose checks do not look at axis types.
TYPE_BLIND = frozenset(
    {
        Api.SHARD_SHAPE, Api.SHAPE_DTYPE_STRUCT, Api.JIT_IN, Api.JIT_OUT, Api.SHARD_MAP_OUT, Api.CREATE,
        Api.CALLBACK, Api.LINEN_SHARDING, Api.CREATE_IN_JIT,
    }
)  # fmt: skip

#: APIs that refuse a spec longer than the rank whatever the axis types are, and with what class
#: (an AssertionError in device_put where surplus entries name Explicit axes).
RANK_ON_ANY_MESH = {
    Api.JIT_ARGUMENT: "ValueError",
    Api.CONSTRAINT: "ValueError",
    Api.CONSTRAINT_EAGER: "ValueError",
    Api.SHARD_MAP_IN: "ValueError",
    Api.DEVICE_PUT: "Exception",
    Api.DEVICE_PUT_IN_JIT: "Exception",
}

#: Mistakes in the spec alone, met before axis types are looked at.
TYPE_BLIND_CAUSES = frozenset(
    {Cause.NOT_A_SPEC, Cause.BAD_ARGUMENT, Cause.NO_MESH, Cause.BAD_ENTRY, Cause.UNKNOWN_AXIS}
)

#: APIs that need the mesh's devices: on an AbstractMesh they fail in ways of their own.
NEED_DEVICES = frozenset(
    {
        Api.DEVICE_PUT, Api.CONSTRAINT_EAGER, Api.CREATE, Api.CALLBACK, Api.LINEN_UNBOX_EAGER, Api.NNX_PARAM,
        Api.CREATE_IN_JIT,
    }
)  # fmt: skip


def judge_placement(
    api: Api,
    mesh: Mesh | Unknown | None,
    spec: Spec | Junk | Unknown | None,
    shape: Shape | Unknown,
    *,
    raw: bool = False,
) -> Verdict:
    """Judge one meeting of a spec with an array of this shape.

    ``raw=False``: the spec is a NamedSharding's on ``mesh``, which `judge_sharding` accepted.
    ``raw=True``: the spec is bare and ``mesh`` is the context's (`jax.set_mesh`), None when there is
    none. For shard_map ``mesh`` is its own or the context's; for linen and nnx metadata it is the
    metadata's own or (raw) the context's. For SHARD_MAP_OUT ``shape`` is that of one shard's result.
    A Junk stands for one leaf or for a container that holds no specs.
    """
    law = (BARE_LAWS if raw else LAWS).get(api)
    if law is None:
        return Undecided(f"{api.value} takes no bare spec")
    if isinstance(spec, Unknown):
        return Undecided(f"the spec is not known: {spec.reason}")
    if mesh is None and not raw:
        mesh = Unknown("the sharding's mesh")
    if isinstance(mesh, Mesh):
        if not _ordinary(mesh):
            return Undecided("the mesh is empty or repeats an axis name")
        if mesh.abstract and api in NEED_DEVICES:
            return Undecided("an AbstractMesh has no devices")
    if api in TAKE_NAMES and isinstance(spec, Spec):
        looks_up = api in (Api.NNX_PARAM, Api.NNX_PARAM_IN_JIT)
        made = (unhashable(spec) if looks_up else None) or judge_spec(spec)
        if isinstance(made, Rejected):
            return replace(made, stage=TAKE_NAMES[api])
        if isinstance(made, Undecided):
            law = (lambda _: made, *law)
        spec = normalize(spec)
    verdict = judge(law, Case(mesh, spec, shape))
    if (
        isinstance(mesh, Mesh)
        and mesh.abstract
        and isinstance(verdict, Rejected)
        and verdict.stage == "lower"
    ):
        return Undecided("what has an AbstractMesh is traced, not lowered")
    if api not in TYPE_BLIND and not _all_auto(mesh):
        return _on_any_mesh(api, verdict)
    if isinstance(verdict, Accepted) and verdict.spec is None:
        return result(api, mesh, spec, shape)
    return verdict


def _ordinary(mesh: Mesh) -> bool:
    """Whether the mesh has axes, each with a name of its own and at least one device."""
    sizes = [size for size in mesh.sizes if isinstance(size, int)]
    return bool(mesh.names) and len(set(mesh.names)) == len(mesh.names) and all(size > 0 for size in sizes)


def _all_auto(mesh: Mesh | Unknown | None) -> bool:
    return mesh is None or (isinstance(mesh, Mesh) and all(kind is AxisType.AUTO for kind in mesh.types))


def _on_any_mesh(api: Api, verdict: Verdict) -> Verdict:
    """What remains of a verdict by the Auto law where axis types are unknown or not all Auto."""
    if isinstance(verdict, Rejected):
        if verdict.cause in TYPE_BLIND_CAUSES:
            return verdict
        if verdict.cause is Cause.TOO_LONG and api in RANK_ON_ANY_MESH:
            certain = verdict.exception != "Exception"
            return replace(verdict, exception=RANK_ON_ANY_MESH[api]) if certain else verdict
    return Undecided("the law is established for Auto axes only")
