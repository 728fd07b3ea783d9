"""The checks that each API runs on a spec and an array: one short law for each API, in JAX's own order."""

from __future__ import annotations

from shardlint.laws.core.check_chain import Check, raising, staged
from shardlint.laws.core.values import AxisType
from shardlint.laws.core.verdicts import Api
from shardlint.laws.placement.axis_types import (
    array_type,
    as_held_if_explicit,
    asks_context,
    closed_over,
    constrained,
    constrained_as_typed,
    context_runs,
    empty_constrained,
    if_asked,
    in_context,
    no_surplus_in_type,
    of_one_type,
    on,
    only_explicit,
    runs_on_mesh,
    same_axes,
    same_mesh,
    unconstrained_in_type,
)
from shardlint.laws.placement.checks import (
    SHARDING,
    a_hashable,
    a_leaf,
    a_sharding,
    a_spec,
    context_mesh,
    empty_output,
    even,
    even_unless_unconstrained,
    found_or_none,
    has_devices,
    meshless_passes,
    nameless_passes,
    none_in_tuple,
    none_needs_a_mesh,
    none_passes,
    not_none,
    rank,
    rank_of_names,
    sharded_already,
    starting,
    surplus_axes,
    unconstrained,
    unique,
    unique_on_many,
    until,
)

Law = tuple[Check, ...]


def _constraint(stage: str, *, eager: bool) -> Law:
    """`pjit.with_sharding_constraint` allows uneven sharding; outside jit its result must exist."""
    law = raising("ValueError", stage, rank) + staged(stage, constrained)
    if not eager:
        return law
    made = raising("IndivisibleError", stage, even_unless_unconstrained)
    return law + made + staged(stage, empty_constrained)


def _put(stage: str) -> Law:
    """`core.modify_spec_for_auto_manual` looks every entry up; `api._check_sharding`, with `shard_shape`."""
    return (
        *raising("KeyError", stage, unconstrained),
        *array_type(stage),
        *raising("ValueError", stage, rank),
        *raising("IndivisibleError", stage, even),
    )


def _jit(stage: str) -> Law:
    """`pjit.pjit_check_aval_sharding` with `allow_uneven_sharding=False`, when the function is traced."""
    return raising("ValueError", stage, rank) + raising("IndivisibleError", stage, even)


def _whole(stage: str) -> Law:
    """`Sharding.shard_shape` alone: trailing Nones and axes of one device may exceed the rank."""
    return raising("IndexError", stage, surplus_axes) + raising("IndivisibleError", stage, even)


def _created(stage: str) -> Law:
    """`Sharding.shard_shape`, then the type of the array, which is evenly sharded by now."""
    return _whole(stage) + staged(stage, no_surplus_in_type)


def _converted(stage: str, *, eager: bool) -> Law:
    """`lax._convert_element_type`: under a mesh the array has this sharding in its type when constrained.

    What is sharded so already is returned as it is (`sharded_already` before this law).
    """
    made = raising("KeyError", stage, unconstrained_in_type) + array_type(stage)
    typed = tuple(in_context(check) for check in made)
    uneven = raising("IndivisibleError", stage, even_unless_unconstrained) if eager else ()
    placed = raising("ValueError", stage, rank) + staged(stage, constrained_as_typed) + uneven
    return (*typed, *placed)


def _reshard(stage: str, *, eager: bool) -> Law:
    """`pjit.reshard`: the axes, then the type of the result, from which surplus Nones are dropped."""
    law = staged(stage, only_explicit) + array_type(stage)
    return law + _empty_typed(stage) if eager else (*law, runs_on_mesh)


def _empty_typed(stage: str) -> Law:
    """An operation that runs at once is a jit whose output has the sharding of its type."""
    return on(AxisType.EXPLICIT, *staged(stage, empty_output))


def _asked_out(stage: str) -> Law:
    """`util.choose_device_or_out_sharding`."""
    return staged(stage, same_mesh, only_explicit)


def _typed_out(stage: str, *, eager: bool) -> Law:
    """The type of what an operation makes, which runs by itself where it is not traced."""
    if not eager:
        return (*array_type(stage), runs_on_mesh)
    return array_type(stage) + raising("ValueError", stage, context_runs) + _empty_typed(stage)


def _empty_out(stage: str, *, eager: bool) -> Law:
    """`jnp.empty(out_sharding=)`."""
    return _asked_out(stage) + _typed_out(stage, eager=eager)


def _created_out(stage: str, *, eager: bool) -> Law:
    """`lax.broadcast`, which since 0.11.0 asks nothing where there is no context."""
    return (*_asked_out(stage), asks_context, *map(if_asked, _typed_out(stage, eager=eager)))


def _sampled(stage: str, *, eager: bool) -> Law:
    """`random.core.maybe_auto_axes`: the key may bring the mesh's devices along, or the context does."""
    law = staged(stage, same_mesh, only_explicit, same_axes) + _reshard(stage, eager=False)
    return law + _empty_typed(stage) if eager else law


def _param(stage: str, *, eager: bool) -> Law:
    """`flax.core.spmd.shard_value`: reshard on Explicit axes, with_sharding_constraint on Auto ones."""
    return (
        nameless_passes,
        *staged(stage, *SHARDING, of_one_type),
        *on(AxisType.EXPLICIT, *_reshard(stage, eager=eager)),
        *on(AxisType.AUTO, *_constraint(stage, eager=eager)),
    )


def _typed_argument() -> Law:
    """The type of a jit's argument; the rest is met when its sharding is lowered."""
    return (
        *array_type("trace"),
        *until("0.8.2", *raising("IndexError", "lower", surplus_axes)),
        *raising("IndivisibleError", "lower", even),
    )


def _shard_map_in(repeated: Check) -> Law:
    """`shard_map._shmap_checks`, then `_check_specs_vs_args`; a repeated axis is met when lowering."""
    return (
        *raising("ValueError", "trace", context_mesh),
        *raising("TypeError", "trace", a_spec),
        *staged("trace", closed_over),
        *raising("ValueError", "trace", found_or_none, rank),
        *raising("KeyError", "trace", none_in_tuple),
        *raising("ValueError", "trace", even, as_held_if_explicit),
        *raising("DuplicateSpecError", "lower", repeated),
    )


#: `prepare_axis_resources`, as jit is called.
_UNCONSTRAINED = raising("ValueError", "jit()", unconstrained)

#: Checks of a well-formed `NamedSharding` (for shard_map: of a bare spec on its mesh).
LAWS: dict[Api, Law] = {
    # sharding.Sharding.shard_shape -> _common_shard_shape
    Api.SHARD_SHAPE: _whole("shard_shape"),
    # core._check_sharding: the rank only
    Api.SHAPE_DTYPE_STRUCT: starting("0.8.2", *raising("ValueError", "ShapeDtypeStruct()", rank)),
    # dispatch._device_put_sharding_impl asks where the devices are
    Api.DEVICE_PUT: _put("device_put") + raising("ValueError", "device_put", has_devices),
    Api.DEVICE_PUT_IN_JIT: _put("trace"),
    # sharding_impls.prepare_axis_resources as jit is called, the rest as the function is traced
    Api.JIT_IN: starting("0.6.1", *_UNCONSTRAINED) + _jit("trace"),
    Api.JIT_OUT: (
        *starting("0.10.1", *_UNCONSTRAINED),
        *_jit("trace"),
        *staged("compile", empty_output),
    ),
    # the struct checks the rank
    Api.JIT_ARGUMENT: (
        *starting("0.8.2", *raising("ValueError", "ShapeDtypeStruct()", rank)),
        *_typed_argument(),
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
        *raising("ValueError", "trace", rank_of_names),
        *raising("DuplicateSpecError", "trace", unique),
    ),
    Api.RESHARD: _reshard("reshard", eager=True),
    Api.RESHARD_IN_JIT: _reshard("trace", eager=False),
    # lax.full and array.make_array_from_callback call shard_shape before the array gets its type
    Api.CREATE: _created("jnp.zeros(device=)"),
    Api.CALLBACK: (
        *_created("make_array_from_callback"),
        *raising("Exception", "make_array_from_callback", has_devices),  # ValueError, or XLA's own
    ),
    # inside jit lax.full makes a tracer, and ignores a sharding that has devices
    Api.CREATE_IN_JIT: (),
    # jnp.arange ends with device_put
    Api.ARANGE: _put("jnp.arange(device=)"),
    Api.ARANGE_IN_JIT: _put("trace"),
    # lax._convert_element_type gives the result its type, and constrains it; jnp.linspace is a jit
    Api.CONVERT: (sharded_already, *_converted("jnp.array(device=)", eager=True)),
    Api.CONVERT_IN_JIT: (sharded_already, *_converted("trace", eager=False)),
    Api.LINSPACE: _converted("jnp.linspace(device=)", eager=False),
    Api.CREATE_OUT: _created_out("jnp.zeros(out_sharding=)", eager=True),
    Api.CREATE_OUT_IN_JIT: _created_out("trace", eager=False),
    Api.EMPTY_OUT: _empty_out("jnp.zeros(out_sharding=)", eager=True),
    Api.EMPTY_OUT_IN_JIT: _empty_out("trace", eager=False),
    Api.RANDOM_OUT: _sampled("random.normal(out_sharding=)", eager=True),
    Api.RANDOM_OUT_IN_JIT: _sampled("trace", eager=False),
    # flax.core.meta.Partitioned: the metadata's names become a NamedSharding only here
    Api.LINEN_SHARDING: staged("get_sharding", *SHARDING),
    Api.LINEN_UNBOX: staged("unbox", *SHARDING) + _constraint("unbox", eager=False),
    Api.LINEN_UNBOX_EAGER: staged("unbox eager", *SHARDING) + _constraint("unbox eager", eager=True),
    # as soon as the Param is made
    Api.NNX_PARAM: _param("nnx.Param()", eager=True),
    Api.NNX_PARAM_IN_JIT: _param("nnx.jit(Param())", eager=False),
    # without eager sharding, when the metadata's names become a NamedSharding
    Api.NNX_SHARDING: staged("get_named_sharding", *SHARDING),
}


def _bare_in_jit(law: Law, unconstrained_fails: Law) -> Law:
    """`prepare_axis_resources` as jit is called; the mesh is asked for as the function is traced."""
    return (
        *raising("TypeError", "jit()", a_spec),
        none_passes,
        *unconstrained_fails,
        *raising("DuplicateSpecError", "jit()", unique),
        *raising("RuntimeError", "trace", context_mesh),
        *staged("trace", *SHARDING),
        *law,
    )


def _bare_constraint(stage: str, law: Law) -> Law:
    """`prepare_axis_resources`, then `pjit._create_sharding_for_array` on the context mesh."""
    return (
        *raising("TypeError", stage, a_spec),
        *raising("ValueError", stage, none_needs_a_mesh),
        *raising("DuplicateSpecError", stage, unique),
        *raising("RuntimeError", stage, context_mesh),
        *staged(stage, *SHARDING),
        *law,
    )


def _bare_put(stage: str, law: Law) -> Law:
    """`api.pspec_to_sharding`; what is neither a spec nor a sharding is refused with ValueError."""
    return (
        *raising("TypeError", stage, a_hashable),
        *raising("ValueError", stage, a_spec),
        none_passes,
        *raising("ValueError", stage, context_mesh),
        *staged(stage, *SHARDING),
        *law,
    )


def _bare_reshard(stage: str, law: Law) -> Law:
    """`sharding_impls.canonicalize_sharding`, on the context mesh."""
    return (
        *staged(stage, a_leaf),
        *raising("ValueError", stage, not_none, context_mesh),
        *staged(stage, *SHARDING),
        *law,
    )


def _bare_out(stage: str, law: Law) -> Law:
    """`sharding_impls.canonicalize_sharding`, which None leaves alone, on the context mesh."""
    return (
        none_passes,
        *raising("TypeError", stage, a_spec),
        *raising("ValueError", stage, context_mesh),
        *staged(stage, *SHARDING),
        *law,
    )


def _bare_struct(law: Law) -> Law:
    """`core.ShapeDtypeStruct.__init__`: the context mesh is not asked before the sharding is read.

    Before 0.8 it was asked at once, and before 0.6 only a sharding would do.
    """
    stage = "ShapeDtypeStruct()"
    return (
        *raising("ValueError", stage, a_spec),
        none_passes,
        *until("0.6.0", *raising("ValueError", stage, a_sharding)),
        *until("0.8.0", *raising("TypeError", stage, context_mesh), *staged(stage, *SHARDING)),
        *law,
    )


def _bare_param(stage: str, law: Law) -> Law:
    """`flax.core.spmd.shard_value`: no names ask for nothing, others for a mesh."""
    return (nameless_passes, *raising("ValueError", stage, context_mesh), *law)


#: Checks of a bare spec that takes its mesh from the context, down to the array.
BARE_LAWS: dict[Api, Law] = {
    Api.DEVICE_PUT: _bare_put("device_put", LAWS[Api.DEVICE_PUT]),
    Api.DEVICE_PUT_IN_JIT: _bare_put("trace", LAWS[Api.DEVICE_PUT_IN_JIT]),
    Api.JIT_IN: _bare_in_jit(LAWS[Api.JIT_IN], _UNCONSTRAINED),
    Api.JIT_OUT: _bare_in_jit(
        LAWS[Api.JIT_OUT], until("0.6.1", *_UNCONSTRAINED) + starting("0.10.1", *_UNCONSTRAINED)
    ),
    Api.CONSTRAINT: _bare_constraint("trace", LAWS[Api.CONSTRAINT]),
    Api.CONSTRAINT_EAGER: _bare_constraint("wsc eager", LAWS[Api.CONSTRAINT_EAGER]),
    Api.RESHARD: _bare_reshard("reshard", LAWS[Api.RESHARD]),
    Api.RESHARD_IN_JIT: _bare_reshard("trace", LAWS[Api.RESHARD_IN_JIT]),
    Api.SHAPE_DTYPE_STRUCT: _bare_struct(LAWS[Api.SHAPE_DTYPE_STRUCT]),
    # core.ShapeDtypeStruct.sharding is read as the argument's type is made
    Api.JIT_ARGUMENT: _bare_struct(
        (
            *starting("0.8.2", *raising("ValueError", "ShapeDtypeStruct()", rank)),
            *raising("TypeError", "trace", context_mesh),
            *staged("trace", *SHARDING),
            *_typed_argument(),
        )
    ),
    Api.SHARD_MAP_IN: _shard_map_in(unique_on_many),
    Api.SHARD_MAP_OUT: LAWS[Api.SHARD_MAP_OUT],
    # a bare spec has none of the attributes that lax.full reads from a sharding
    Api.CREATE: (none_passes, *raising("AttributeError", "jnp.zeros(device=)", a_sharding)),
    Api.CREATE_IN_JIT: (none_passes, *raising("AttributeError", "trace", a_sharding)),
    Api.ARANGE: (none_passes, *raising("AttributeError", "jnp.arange(device=)", a_sharding)),
    Api.ARANGE_IN_JIT: (none_passes, *raising("AttributeError", "trace", a_sharding)),
    Api.CONVERT: (none_passes, *raising("ValueError", "jnp.array(device=)", a_sharding)),
    Api.CONVERT_IN_JIT: (none_passes, *raising("ValueError", "trace", a_sharding)),
    Api.LINSPACE: (none_passes, *raising("ValueError", "jnp.linspace(device=)", a_sharding)),
    Api.CALLBACK: raising("TypeError", "make_array_from_callback", a_sharding),
    Api.CREATE_OUT: _bare_out("jnp.zeros(out_sharding=)", LAWS[Api.CREATE_OUT]),
    Api.CREATE_OUT_IN_JIT: _bare_out("trace", LAWS[Api.CREATE_OUT_IN_JIT]),
    Api.EMPTY_OUT: _bare_out("jnp.zeros(out_sharding=)", LAWS[Api.EMPTY_OUT]),
    Api.EMPTY_OUT_IN_JIT: _bare_out("trace", LAWS[Api.EMPTY_OUT_IN_JIT]),
    Api.RANDOM_OUT: _bare_out("random.normal(out_sharding=)", LAWS[Api.RANDOM_OUT]),
    Api.RANDOM_OUT_IN_JIT: _bare_out("trace", LAWS[Api.RANDOM_OUT_IN_JIT]),
    # flax.core.meta.Partitioned.unbox does nothing without a mesh
    Api.LINEN_UNBOX: (meshless_passes, *LAWS[Api.LINEN_UNBOX]),
    Api.LINEN_UNBOX_EAGER: (meshless_passes, *LAWS[Api.LINEN_UNBOX_EAGER]),
    Api.NNX_PARAM: _bare_param("nnx.Param()", LAWS[Api.NNX_PARAM]),
    Api.NNX_PARAM_IN_JIT: _bare_param("nnx.jit(Param())", LAWS[Api.NNX_PARAM_IN_JIT]),
}
