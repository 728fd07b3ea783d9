"""More rows of the table: names and options that programs of some age use besides those about sharding.

Their replacements are what JAX's own messages and its changelog say. All rows were measured on all releases
from 0.4.35 to 0.12.0; a row without a release is about a name that 0.4.35 lacks already.
"""

from __future__ import annotations

from shardlint.laws.versions.api_changes import Row, added, deprecated, removed, under

_CORE, _XLA, _NP = "jax.core.", "jax.interpreters.xla.", "jax.numpy."
#: Names of `jax.core` that `jax.extend.core` has.
EXTENDED = "ClosedJaxpr Jaxpr JaxprEqn Literal Primitive Token Var jaxpr_as_fun".split()
_CORE_0_4_36 = (
    "ConcreteArray MainTrace NameGatheringSubst Sublevel ThreadLocalState TraceStack TraceState apply_todos "
    "call_bind_with_continuation cur_sublevel do_subst_axis_names_jaxpr extend_axis_env jaxpr_uses_outfeed "
    "map_bind map_bind_with_continuation new_base_main new_main new_sublevel outfeed_primitives "
    "primitive_uses_outfeed raise_as_much_as_possible stash_axis_env subst_axis_names subst_axis_names_eqn "
    "subst_axis_names_jaxpr subst_axis_names_var used_axis_names"
)
_CORE_0_6_0 = (
    "EvalTrace InDBIdx InputType MapPrimitive OpaqueTraceState OutDBIdx TRACER_LEAK_DEBUGGER_WARNING "
    "concrete_aval dedup_referents escaped_tracer_error extend_axis_env_nd full_lower get_referent "
    "join_effects lattice_join leaked_tracer_error maybe_find_leaked_tracers raise_to_shaped "
    "raise_to_shaped_mappings reset_trace_state str_eqn_compact substitute_vars_in_output_ty typecompat "
    "used_axis_names_jaxpr"
)
_CORE_0_7_0 = "call_p closed_call_p get_type trace_state_clean typecheck typematch"
_CORE_0_10_0 = (
    "AbstractToken TraceTag call_impl get_aval mapped_aval set_current_trace subjaxprs take_current_trace "
    "traverse_jaxpr_params unmapped_aval"
)
_CORE_0_11_0 = (
    "CallPrimitive DebugInfo DropVar Effect InconclusiveDimensionOperation JaxprPpContext JaxprPpSettings "
    "JaxprTypeError OutputType abstract_token aval_mapping_handlers call check_jaxpr concrete_or_error "
    "concretization_function_error custom_typechecks find_top_trace gensym get_opaque_trace_state "
    "is_concrete is_constant_dim is_constant_shape jaxprs_in_params literalable_types new_jaxpr_eqn "
    "no_axis_name no_effects primal_dtype_to_tangent_dtype trace_ctx unsafe_am_i_under_a_jit_DO_NOT_USE "
    "unsafe_am_i_under_a_vmap_DO_NOT_USE valid_jaxtype"
)
#: Functions of numpy under names that it gave up, and their names today.
SYNONYMS = {
    "product": "prod", "cumproduct": "cumprod", "alltrue": "all", "sometrue": "any", "row_stack": "vstack",
    "trapz": "trapezoid",
}  # fmt: skip


def _options(names: str) -> tuple[str, ...]:
    return under("jax.config.", names)


OTHERS: tuple[Row, ...] = (
    # -- jax.core -------------------------------------------------------------------------------
    *(
        row
        for name in EXTENDED
        for row in (
            *deprecated("0.4.38", f"jax.extend.core.{name}", "", f"{_CORE}{name}"),
            *removed("0.6.0", f"jax.extend.core.{name}", "", f"{_CORE}{name}"),
        )
    ),
    *removed("0.4.36", "", "stackless tracing", *under(_CORE, _CORE_0_4_36)),
    *deprecated("0.4.38", "", "many names of jax.core deprecated", *under(_CORE, _CORE_0_6_0)),
    *removed("0.6.0", "", "", *under(_CORE, _CORE_0_6_0)),
    *deprecated("0.4.38", "", "", *under(_CORE, _CORE_0_7_0)),
    *removed("0.7.0", "", "", *under(_CORE, _CORE_0_7_0)),
    *added("0.4.36", "", *under(_CORE, "TraceTag set_current_trace take_current_trace")),
    *added("0.4.36", "", *under(_CORE, "is_concrete trace_ctx")),
    *added("0.5.1", "", f"{_CORE}DebugInfo"),
    *deprecated("0.4.38", "jax.errors.ConcretizationTypeError", "", f"{_CORE}ConcretizationTypeError"),
    *removed("0.7.0", "jax.errors.ConcretizationTypeError", "", f"{_CORE}ConcretizationTypeError"),
    *removed("0.8.2", "", "", *under(_CORE, "DShapedArray UnshapedArray")),
    *deprecated("0.8.2", "", "", *under(_CORE, _CORE_0_10_0)),
    *removed("0.10.0", "", "", *under(_CORE, _CORE_0_10_0)),
    *deprecated("0.10.0", "", "", *under(_CORE, _CORE_0_11_0)),
    *removed("0.11.0", "", "", *under(_CORE, _CORE_0_11_0)),
    *removed(None, "", "", *under(_CORE, "NamedShape Shape as_named_shape")),
    # -- modules --------------------------------------------------------------------------------
    *removed(None, "jax.config", "", "jax.config.config"),
    *removed(None, "jax.extend.linear_util", "", "jax.linear_util"),
    *removed(None, "jax.example_libraries.stax", "", "jax.experimental.stax"),
    *removed(None, "jax.example_libraries.optimizers", "", "jax.experimental.optimizers"),
    *removed(None, "jax.core", "", "jax.abstract_arrays"),
    *removed(None, "", "", "jax.prng", "jax.api"),
    *removed("0.8.0", "jax.pure_callback, or io_callback", "", "jax.experimental.host_callback"),
    *removed(
        None, "jax.Array", "", "jax.experimental.global_device_array", "jax.experimental.gda_serialization"
    ),
    *deprecated("0.6.0", "", "", *under("jax.util.", "safe_map safe_zip unzip2")),
    *removed("0.7.0", "", "", *under("jax.util.", "safe_map safe_zip unzip2")),
    *removed("0.8.0", "", "", "jax.util"),
    *deprecated(None, "jax.extend.backend.get_backend", "", "jax.lib.xla_bridge.get_backend"),
    *removed("0.8.0", "jax.extend.backend.get_backend", "", "jax.lib.xla_bridge.get_backend"),
    *deprecated("0.8.0", "jax.extend.backend", "", *under("jax.lib.", "xla_bridge xla_client xla_extension")),
    *removed("0.9.0", "jax.extend.backend", "", *under("jax.lib.", "xla_bridge xla_client xla_extension")),
    # -- functions and classes ------------------------------------------------------------------
    *deprecated(None, "jax.clear_caches", "", "jax.clear_backends"),
    *removed("0.4.36", "jax.clear_caches", "", "jax.clear_backends"),
    *deprecated(None, "jax.tree_util.treedef_is_leaf", "", "jax.treedef_is_leaf"),
    *removed("0.6.0", "jax.tree_util.treedef_is_leaf", "", "jax.treedef_is_leaf"),
    *removed(None, "jax.tree.map", "", "jax.tree_multimap", "jax.tree_util.tree_multimap"),
    *removed(None, "jax.tree.all", "", "jax.tree_all"),
    *removed(None, "jax.tree.reduce", "", "jax.tree_reduce"),
    *removed(None, "jax.jit(f).lower(...)", "", "jax.xla_computation"),
    *removed(None, "", "", "jax.mask", "jax.soft_pmap"),
    *removed(None, "x.at[...].set(...)", "", *under("jax.ops.", "index index_update")),
    *removed(None, "x.at[...].add(...)", "", "jax.ops.index_add"),
    *removed("0.6.1", "", "", "jax.spmd_mode"),
    *deprecated("0.8.1", "", "", "jax.cloud_tpu_init"),
    *removed("0.11.0", "", "", "jax.cloud_tpu_init"),
    *removed("0.10.0", "", "", *under("jax.", "custom_transpose enable_custom_vjp_by_custom_transpose")),
    *deprecated("0.8.2", "jax.checkpoint", "", "jax.ad_checkpoint.remat"),
    *removed("0.10.0", "jax.checkpoint", "", "jax.ad_checkpoint.remat"),
    *deprecated("0.8.0", "jax.enable_x64", "", *under("jax.experimental.", "enable_x64 disable_x64")),
    *removed("0.9.0", "jax.enable_x64", "", *under("jax.experimental.", "enable_x64 disable_x64")),
    *removed("0.11.2", "", "", "jax.experimental.shard_alike.shard_alike"),
    *added("0.10.1", "", "jax.experimental.compute_on.compute_on2"),
    *removed("0.11.1", "", "", "jax.experimental.compute_on.compute_on2"),
    *removed(None, "jax.Array", "", "jax.random.KeyArray", f"{_XLA}DeviceArray", f"{_NP}DeviceArray"),
    *removed(None, "jax.random.permutation(..., independent=True)", "", "jax.random.shuffle"),
    *deprecated("0.5.0", "jax.core.ShapedArray", "", f"{_XLA}abstractify"),
    *removed("0.7.0", "jax.core.ShapedArray", "", f"{_XLA}abstractify"),
    *deprecated("0.7.0", "jax.dtypes.canonicalize_dtype", "", f"{_XLA}canonicalize_dtype"),
    *removed("0.8.0", "jax.dtypes.canonicalize_dtype", "", f"{_XLA}canonicalize_dtype"),
    *removed(None, "jax.nn.standardize", "", "jax.nn.normalize"),
    *removed(None, "the second argument", "", "jax.lax.tie_in"),
    *removed("0.7.0", "", "", *under("jax.lax.", "infeed infeed_p outfeed outfeed_p")),
    *deprecated("0.7.1", "jax.numpy.zeros_like", "", "jax.lax.zeros_like_array"),
    *removed("0.9.0", "jax.numpy.zeros_like", "", "jax.lax.zeros_like_array"),
    *(row for old, new in SYNONYMS.items() for row in removed(None, f"{_NP}{new}", "", f"{_NP}{old}")),
    *removed(None, "jax.numpy.isin", "", f"{_NP}in1d"),
    *removed(None, "jax.numpy.sort(..., axis=0)", "", f"{_NP}msort"),
    *deprecated(None, "jax.numpy.round", "", f"{_NP}round_"),
    *removed("0.4.38", "jax.numpy.round", "", f"{_NP}round_"),
    *deprecated("0.9.0", "jax.numpy.trunc", "", f"{_NP}fix"),
    *removed("0.10.0", "jax.numpy.trunc", "", f"{_NP}fix"),
    *deprecated("0.7.0", "", "", "jax.errors.SimplifiedTraceback"),
    *removed("0.8.0", "", "", "jax.errors.SimplifiedTraceback"),
    # -- members of arrays ----------------------------------------------------------------------
    *removed(None, "addressable_data(0)", "", "jax.Array.device_buffer"),
    *removed(None, "addressable_shards", "", "jax.Array.device_buffers"),
    *removed(None, "device without a call, or devices()", "", "jax.Array.device()"),
    # -- options of jax.config ------------------------------------------------------------------
    *removed(
        None, "", "",
        *_options(
            "jax_array jax_coordination_service jax_disable_most_fastpaths jax_enable_mlir "
            "jax_experimental_name_stack jax_jit_pjit_api_merge jax_new_checkpoint jax_omnistaging "
            "jax_parallel_functions_output_gda jax_unique_mhlo_module_names"
        ),
    ),
    *removed("0.4.38", "", "", *_options("jax_share_autotune_config_between_hosts")),
    *removed("0.5.0", "", "", *_options("jax_enable_memories")),
    *removed("0.5.1", "", "", *_options("jax_sharding_in_types")),
    *removed("0.6.0", "", "", *_options("jax_eager_pmap jax_remat_opt_barrier")),
    *removed("0.6.1", "", "", *_options("jax_spmd_mode")),
    *removed("0.8.0", "jax_cpu_collectives_implementation", "", *_options("jax_cpu_enable_gloo_collectives")),
    *removed("0.8.2", "", "", *_options("jax_custom_vjp_disable_shape_check jax_dynamic_shapes")),
    *removed("0.9.0", "", "", *_options("jax_pmap_no_rank_reduction")),
    *deprecated("0.9.0", "", "", *_options("jax_pmap_shmap_merge")),
    *removed(
        "0.10.0", "", "",
        *_options("jax_default_dtype_bits jax_enable_custom_vjp_by_custom_transpose jax_pmap_shmap_merge"),
    ),
    *added("0.5.0", "", *_options("jax_num_cpu_devices")),
    *added("0.7.2", "", *_options("jax_remove_size_one_mesh_axis_from_type jax_no_execution")),
    *added("0.8.0", "", *_options("jax_explicit_x64_dtypes jax_refs_to_pins")),
    *added("0.8.2", "", *_options("jax_check_static_indices")),
    *removed("0.11.1", "", "", *_options("jax_refs_to_pins")),
)  # fmt: skip
