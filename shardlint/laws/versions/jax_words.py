"""JAX's words on the names that it lacks or deprecates, as measured: an error or a warning.

The table is written by `tests/versions/words.py`.
"""

from __future__ import annotations

import re
from functools import cache

from shardlint.laws.versions.queries import is_removed
from shardlint.laws.versions.releases import Release

#: An entry begins at the margin: the first and the last release, the names, and what is said of them.
WORDS = """
0.4.35 0.12.0 jax.Array.device_buffer | AttributeError: arr.{last} has been deprecated. Use
    arr.addressable_data(0)
0.4.35 0.12.0 jax.Array.device_buffers | AttributeError: arr.{last} has been deprecated. Use [x.data for x
    in arr.addressable_shards]
0.8.2 0.9.2 jax.ad_checkpoint.checkpoint jax.ad_checkpoint.remat | DeprecationWarning: {name} is deprecated;
    use jax.{last} instead.
0.10.0 0.10.2 jax.ad_checkpoint.checkpoint jax.ad_checkpoint.remat | AttributeError: {name} was deprecated
    in JAX v0.8.2 and removed in JAX v0.10.0; use jax.{last} instead.
0.4.35 0.4.35 jax.clear_backends | DeprecationWarning: {name} is deprecated.
0.4.36 0.5.3 jax.clear_backends | AttributeError: {name} was removed in JAX v0.4.36
0.8.1 0.10.2 jax.cloud_tpu_init | DeprecationWarning: {name} was deprecated in JAX v0.8.1. You should remove
    imports of this module.
0.5.3 0.8.0 jax.config.jax_num_cpu_devices | RuntimeError: {last} config should be updated before backends
    are initialized i.e. before any JAX operation is executed. You should initialize this config immediately
    after `import jax`.
0.9.0 0.9.2 jax.config.jax_pmap_shmap_merge | DeprecationWarning: Setting `{last}` is deprecated in JAX
    v0.9.0 and will be removed in JAX v0.10.0.
0.8.2 0.9.2 jax.core.AbstractToken jax.core.TraceTag jax.core.call_impl jax.core.set_current_trace
    jax.core.subjaxprs jax.core.traverse_jaxpr_params | DeprecationWarning: {name} is deprecated.
0.10.0 0.10.2 jax.core.AbstractToken jax.core.TraceTag jax.core.call_impl jax.core.mapped_aval
    jax.core.set_current_trace jax.core.subjaxprs jax.core.take_current_trace jax.core.unmapped_aval |
    AttributeError: {name} was deprecated in JAX v0.8.2 and removed in JAX v0.10.0. Use
    jax.extend.core.{last}.
0.4.38 0.6.2 jax.core.AxisName jax.core.axis_frame jax.core.get_type jax.core.trace_state_clean
    jax.core.typecheck jax.core.typematch | DeprecationWarning: {name} is deprecated.
0.7.0 0.7.2 jax.core.AxisName jax.core.axis_frame jax.core.get_type jax.core.trace_state_clean
    jax.core.typecheck jax.core.typematch | AttributeError: {name} was deprecated in JAX v0.5.0 and removed
    in JAX v0.7.0.
0.10.0 0.10.2 jax.core.CallPrimitive jax.core.DebugInfo jax.core.DropVar jax.core.Effect
    jax.core.check_jaxpr jax.core.concrete_or_error jax.core.find_top_trace jax.core.gensym
    jax.core.get_opaque_trace_state jax.core.jaxprs_in_params jax.core.new_jaxpr_eqn jax.core.no_effects
    jax.core.primal_dtype_to_tangent_dtype jax.core.valid_jaxtype | DeprecationWarning: {name} is
    deprecated. Use jax.extend.core.{last}.
0.11.0 0.11.2 jax.core.CallPrimitive jax.core.jaxprs_in_params | AttributeError: {name} was deprecated in
    JAX v0.10.0 and removed in JAX v0.11.0. Use jax.extend.core.{last}.
0.4.38 0.5.3 jax.core.ClosedJaxpr jax.core.Jaxpr jax.core.JaxprEqn jax.core.Literal jax.core.Primitive
    jax.core.Token jax.core.Var jax.core.jaxpr_as_fun | DeprecationWarning: {name} is deprecated. Use
    jax.extend.core.{last} instead, and see https://jax.readthedocs.io/en/latest/jax.extend.html for
    details.
0.6.0 0.6.2 jax.core.ClosedJaxpr jax.core.Jaxpr jax.core.JaxprEqn jax.core.Literal jax.core.Primitive
    jax.core.Token jax.core.Var jax.core.jaxpr_as_fun | AttributeError: {name} was removed in JAX v0.6.0.
    Use jax.extend.core.{last} instead, and see https://docs.jax.dev/en/latest/jax.extend.html for details.
0.4.38 0.6.2 jax.core.ConcretizationTypeError | DeprecationWarning: {name} is deprecated; use
    jax.errors.{last}.
0.7.0 0.7.2 jax.core.ConcretizationTypeError | AttributeError: {name} was deprecated in JAX v0.5.0 and
    removed in JAX v0.7.0; use jax.errors.{last}.
0.11.0 0.11.2 jax.core.DebugInfo jax.core.DropVar jax.core.Effect | AttributeError: {name}  was deprecated
    in JAX v0.10.0 and removed in JAX v0.11.0. Use jax.extend.core.{last}.
0.4.38 0.5.3 jax.core.EvalTrace jax.core.InDBIdx jax.core.InputType jax.core.MapPrimitive
    jax.core.OpaqueTraceState jax.core.OutDBIdx jax.core.TRACER_LEAK_DEBUGGER_WARNING jax.core.concrete_aval
    jax.core.dedup_referents jax.core.escaped_tracer_error jax.core.extend_axis_env_nd jax.core.get_referent
    jax.core.join_effects jax.core.leaked_tracer_error jax.core.maybe_find_leaked_tracers
    jax.core.reset_trace_state jax.core.str_eqn_compact jax.core.substitute_vars_in_output_ty
    jax.core.typecompat jax.core.used_axis_names_jaxpr | DeprecationWarning: {name} is deprecated.
0.6.0 0.6.2 jax.core.EvalTrace jax.core.InDBIdx jax.core.InputType jax.core.MapPrimitive
    jax.core.OpaqueTraceState jax.core.OutDBIdx jax.core.TRACER_LEAK_DEBUGGER_WARNING jax.core.concrete_aval
    jax.core.dedup_referents jax.core.escaped_tracer_error jax.core.extend_axis_env_nd jax.core.get_referent
    jax.core.join_effects jax.core.leaked_tracer_error jax.core.maybe_find_leaked_tracers
    jax.core.reset_trace_state jax.core.str_eqn_compact jax.core.substitute_vars_in_output_ty
    jax.core.typecompat jax.core.used_axis_names_jaxpr | AttributeError: {name} was removed in JAX v0.6.0.
0.10.0 0.10.0 jax.core.InconclusiveDimensionOperation jax.core.JaxprTypeError | DeprecationWarning: {name}
    is deprecated. Use jax.extend.core.{last}.
0.10.1 0.10.2 jax.core.InconclusiveDimensionOperation jax.core.JaxprTypeError | DeprecationWarning: {name}
    is deprecated. Use jax.errors.{last}.
0.11.0 0.11.2 jax.core.InconclusiveDimensionOperation jax.core.JaxprTypeError | AttributeError: {name}  was
    deprecated in JAX v0.10.0 and removed in JAX v0.11.0.  Use jax.errors.{last}.
0.10.0 0.10.2 jax.core.JaxprPpContext jax.core.JaxprPpSettings jax.core.OutputType jax.core.abstract_token
    jax.core.aval_mapping_handlers jax.core.call jax.core.concretization_function_error
    jax.core.custom_typechecks jax.core.is_concrete jax.core.is_constant_dim jax.core.is_constant_shape
    jax.core.literalable_types jax.core.no_axis_name jax.core.nonempty_axis_env_DO_NOT_USE
    jax.core.trace_ctx jax.core.unsafe_am_i_under_a_jit_DO_NOT_USE
    jax.core.unsafe_am_i_under_a_vmap_DO_NOT_USE jax.core.unsafe_get_axis_names_DO_NOT_USE |
    DeprecationWarning: {name} is deprecated.
0.11.0 0.11.2 jax.core.JaxprPpContext jax.core.JaxprPpSettings jax.core.OutputType
    jax.core.aval_mapping_handlers jax.core.call jax.core.concretization_function_error
    jax.core.custom_typechecks jax.core.is_concrete jax.core.is_constant_dim jax.core.is_constant_shape
    jax.core.literalable_types jax.core.no_axis_name jax.core.trace_ctx
    jax.core.unsafe_am_i_under_a_jit_DO_NOT_USE jax.core.unsafe_am_i_under_a_vmap_DO_NOT_USE
    jax.core.unsafe_get_axis_names_DO_NOT_USE | AttributeError: {name} was deprecated in JAX v0.10.0 and
    removed in JAX v0.11.0.
0.4.35 0.4.35 jax.core.Shape | AttributeError: {name} is deprecated. Use {last} = Sequence[int | Any].
0.11.0 0.11.2 jax.core.abstract_token | AttributeError: {name} was deprecated in JAX v0.10.0 and removed in
    JAX v0.11.0. Use jax.ffi.{last}, available in JAX v0.11.0.
0.4.38 0.6.2 jax.core.call_p jax.core.closed_call_p | DeprecationWarning: {name} is deprecated. Use
    jax.extend.core.primitives.{last}
0.7.0 0.7.2 jax.core.call_p jax.core.closed_call_p | AttributeError: {name} was deprecated in JAX v0.5.0 and
    removed in JAX v0.7.0. Use jax.extend.core.primitives.{last}
0.11.0 0.11.2 jax.core.check_jaxpr | AttributeError: {name}  was deprecated in JAX v0.10.0 and removed in
    JAX v0.11.0.  Use jax.extend.core.{last}.
0.11.0 0.11.2 jax.core.concrete_or_error jax.core.find_top_trace jax.core.gensym
    jax.core.get_opaque_trace_state jax.core.new_jaxpr_eqn jax.core.no_effects
    jax.core.primal_dtype_to_tangent_dtype jax.core.valid_jaxtype | AttributeError: {name} was deprecated in
    JAX v0.10.0 and removed in JAX v0.11.0.  Use jax.extend.core.{last}.
0.4.38 0.5.3 jax.core.full_lower jax.core.lattice_join jax.core.raise_to_shaped | DeprecationWarning: {name}
    is deprecated. It is a no-op as of JAX v0.4.36.
0.6.0 0.6.2 jax.core.full_lower jax.core.lattice_join | AttributeError: {name} is deprecated. It is a no-op
    as of JAX v0.4.36.
0.8.2 0.9.2 jax.core.get_aval | DeprecationWarning: {name} is deprecated; use jax.typeof instead.
0.10.0 0.10.2 jax.core.get_aval | AttributeError: {name} was deprecated in JAX v0.8.2 and removed in JAX
    v0.10.0; use jax.typeof instead.
0.8.2 0.8.3 jax.core.mapped_aval jax.core.unmapped_aval | DeprecationWarning: {name} is deprecated.
0.9.0 0.9.2 jax.core.mapped_aval jax.core.unmapped_aval | DeprecationWarning: {name} is deprecated. Use
    jax.extend.core.{last}.
0.11.0 0.11.2 jax.core.nonempty_axis_env_DO_NOT_USE | AttributeError: {name}  was deprecated in JAX v0.10.0
    and removed in JAX v0.11.0.
0.6.0 0.6.2 jax.core.raise_to_shaped | AttributeError: {name} was removed in JAX v0.6.0. It is a no-op as of
    JAX v0.4.36.
0.4.38 0.5.3 jax.core.raise_to_shaped_mappings | DeprecationWarning: {name} is deprecated. It is unused as
    of jax v0.4.36.
0.6.0 0.6.2 jax.core.raise_to_shaped_mappings | AttributeError: {name} was removed in JAX v0.6.0. It is
    unused as of jax v0.4.36.
0.8.2 0.9.1 jax.core.take_current_trace | DeprecationWarning: {name} is deprecated.
0.9.2 0.9.2 jax.core.take_current_trace | DeprecationWarning: {name} is deprecated. Use
    jax.extend.core.{last}.
0.10.0 0.10.2 jax.core.traverse_jaxpr_params | AttributeError: {name} was deprecated in JAX v0.8.2 and
    removed in JAX v0.10.0.
0.8.1 0.9.2 jax.device_put_replicated jax.device_put_sharded | DeprecationWarning: {name} is deprecated; use
    jax.device_put instead.
0.10.0 0.12.0 jax.device_put_replicated jax.device_put_sharded | AttributeError: {name} is deprecated; use
    jax.device_put instead. See https://docs.jax.dev/en/latest/migrate_pmap.html#drop-in-replacements for a
    drop-in replacement.
0.7.0 0.7.2 jax.errors.SimplifiedTraceback | DeprecationWarning: {name} is deprecated and will be removed in
    JAX v0.8.
0.8.0 0.8.3 jax.errors.SimplifiedTraceback | AttributeError: {name} is deprecated and will be removed in JAX
    v0.8.
0.8.0 0.8.3 jax.experimental.disable_x64 | DeprecationWarning: {name} is deprecated in JAX v0.8.0 and will
    be removed in JAX v0.9.0; use jax.enable_x64(False) instead.
0.9.0 0.9.2 jax.experimental.disable_x64 | AttributeError: {name} was removed in JAX v0.9.0; use
    jax.enable_x64(False) instead.
0.8.0 0.8.3 jax.experimental.enable_x64 | DeprecationWarning: {name} is deprecated in JAX v0.8.0 and will be
    removed in JAX v0.9.0; use jax.{last}(True) instead.
0.9.0 0.9.2 jax.experimental.enable_x64 | AttributeError: {name} was removed in JAX v0.9.0; use
    jax.{last}(True) instead.
0.8.0 0.12.0 jax.experimental.pjit.pjit | DeprecationWarning: {name} has been deprecated. Please use
    `jax.jit` instead.
0.8.0 0.12.0 jax.experimental.shard_map.shard_map | DeprecationWarning: jax.experimental.{last} is
    deprecated in v0.8.0. Used jax.{last} instead.
0.8.2 0.10.2 jax.interpreters.pxla.ArrayMapping jax.interpreters.pxla.Index
    jax.interpreters.pxla.MeshExecutable jax.interpreters.pxla.array_mapping_to_axis_resources
    jax.interpreters.pxla.global_aval_to_result_handler jax.interpreters.pxla.global_result_handlers
    jax.interpreters.pxla.op_sharding_to_indices | DeprecationWarning: {name} is deprecated as of JAX
    v0.8.2.
0.11.0 0.11.2 jax.interpreters.pxla.ArrayMapping jax.interpreters.pxla.MeshExecutable
    jax.interpreters.pxla.array_mapping_to_axis_resources
    jax.interpreters.pxla.global_aval_to_result_handler jax.interpreters.pxla.global_result_handlers
    jax.interpreters.pxla.op_sharding_to_indices | AttributeError: {name} was deprecated in JAX v0.8.2 and
    removed in JAX v0.11.0.
0.8.2 0.9.0 jax.interpreters.pxla.Chunked jax.interpreters.pxla.NoSharding jax.interpreters.pxla.Replicated
    jax.interpreters.pxla.ShardedAxis jax.interpreters.pxla.ShardingSpec jax.interpreters.pxla.Unstacked
    jax.interpreters.pxla.spec_to_indices jax.interpreters.pxla.thread_resources | DeprecationWarning:
    {name} is deprecated as of JAX v0.8.2.
0.9.1 0.9.2 jax.interpreters.pxla.Chunked jax.interpreters.pxla.NoSharding jax.interpreters.pxla.Replicated
    jax.interpreters.pxla.ShardedAxis jax.interpreters.pxla.ShardingSpec jax.interpreters.pxla.Unstacked
    jax.interpreters.pxla.spec_to_indices | DeprecationWarning: {name} is deprecated as of JAX v0.8.2.
    Please use `jax.shard_map` instead of `jax.pmap`.
0.10.0 0.10.2 jax.interpreters.pxla.Chunked jax.interpreters.pxla.NoSharding
    jax.interpreters.pxla.Replicated jax.interpreters.pxla.ShardedAxis jax.interpreters.pxla.ShardingSpec
    jax.interpreters.pxla.Unstacked jax.interpreters.pxla.spec_to_indices | AttributeError: {name} was
    removed in JAX v0.10.0. Please use `jax.shard_map` instead of `jax.pmap`.
0.11.0 0.11.2 jax.interpreters.pxla.Index | AttributeError: {name} was deprecated as of JAX v0.8.2 and
    removed in JAX v0.11.0.
0.8.2 0.10.2 jax.interpreters.pxla.MeshAxisName | DeprecationWarning: {name} is deprecated as of JAX v0.8.2.
    Use jax.sharding.Mesh axis names directly.
0.11.0 0.11.2 jax.interpreters.pxla.MeshAxisName | AttributeError: {name} was deprecated in JAX v0.8.2 and
    removed in JAX v0.11.0. Use jax.sharding.Mesh axis names directly.
0.8.2 0.9.2 jax.interpreters.pxla.shard_args | DeprecationWarning: {name} is deprecated as of JAX v0.8.2.
0.10.0 0.10.2 jax.interpreters.pxla.shard_args | AttributeError: {name} was removed in JAX v0.10.0.
0.9.1 0.12.0 jax.interpreters.pxla.thread_resources | DeprecationWarning: {name} is deprecated as of JAX
    v0.8.2. Please switch to using `with jax.set_mesh(mesh)` instead of `with mesh:` and then use
    `jax.sharding.get_abstract_mesh()` to get the current mesh.
0.5.0 0.6.2 jax.interpreters.xla.abstractify | DeprecationWarning: {name} is deprecated.
0.7.0 0.7.2 jax.interpreters.xla.abstractify | AttributeError: {name} was deprecated in JAX v0.5.0 and
    removed in JAX v0.7.0. jax.core.get_aval can be used as a replacement in most cases.
0.7.0 0.7.2 jax.interpreters.xla.canonicalize_dtype | DeprecationWarning: {name} was deprecated in JAX
    v0.7.0 and will be removed in JAX v0.8.0. For canonicalizing dtypes, prefer jax.dtypes.{last}. For
    checking whether an object is a valid jax input, prefer jax.core.valid_jaxtype.
0.8.0 0.8.3 jax.interpreters.xla.canonicalize_dtype | AttributeError: {name} was deprecated in JAX v0.7.0
    and removed in JAX v0.8.0. For canonicalizing dtypes, prefer jax.dtypes.{last}. For checking whether an
    object is a valid jax input, prefer jax.core.valid_jaxtype.
0.12.0 0.12.0 jax.lax.precv jax.lax.psend | DeprecationWarning: {name} is deprecated.
0.8.2 0.9.2 jax.lax.pvary | DeprecationWarning: {name} is deprecated. Use `jax.lax.pcast(..., to='varying')
0.10.0 0.10.2 jax.lax.pvary | AttributeError: {name} was deprecated in JAX v0.8.2 and removed in JAX
    v0.10.0; use `jax.lax.pcast(..., to='varying')
0.4.35 0.4.35 jax.lax.tie_in | AttributeError: {name} is deprecated: it has been a no-op since JAX v0.2.0.
    Replace z = {last}(x, y) with z = y.
0.7.1 0.8.3 jax.lax.zeros_like_array | DeprecationWarning: {name} is deprecated. Use jax.numpy.zeros_like
    instead.
0.9.0 0.9.2 jax.lax.zeros_like_array | AttributeError: {name} was deprecated in JAX 0.7.1 and removed in JAX
    v0.9.0. Use jax.numpy.zeros_like instead.
0.8.0 0.8.3 jax.lib.xla_bridge jax.lib.xla_client jax.lib.xla_extension | DeprecationWarning: {name} module
    will be removed in JAX v0.9.0; all its APIs were deprecated and removed by JAX v0.8.0.
0.4.35 0.7.0 jax.lib.xla_bridge.get_backend | DeprecationWarning: {name} is deprecated; use
    jax.extend.backend.{last}.
0.7.1 0.7.2 jax.lib.xla_bridge.get_backend | DeprecationWarning: {name} is deprecated and will be removed in
    JAX v0.8.0; use jax.extend.backend.{last}.
0.8.0 0.8.0 jax.lib.xla_bridge.get_backend | AttributeError: {name} is deprecated and will be removed in JAX
    v0.8.0; use jax.extend.backend.{last}.
0.8.1 0.8.3 jax.lib.xla_bridge.get_backend | AttributeError: {name} is deprecated and will be removed in JAX
    v0.8.0; use jax.extend.backend.{last}, and please note that you must `import jax.extend` explicitly.
0.4.35 0.4.35 jax.nn.normalize | AttributeError: {name} is deprecated. Use jax.nn.standardize instead.
0.9.0 0.9.2 jax.numpy.fix | DeprecationWarning: {name} was deprecated in JAX v0.9.0, and will be removed in
    JAX v0.10.0. Use jax.numpy.trunc instead.
0.10.0 0.10.2 jax.numpy.fix | AttributeError: {name} was deprecated in JAX v0.9.0, and will be removed in
    JAX v0.10.0. Use jax.numpy.trunc instead.
0.4.35 0.4.37 jax.numpy.round_ | DeprecationWarning: jnp.{last} is deprecated; use jnp.round instead.
0.4.38 0.5.3 jax.numpy.round_ | AttributeError: jnp.{last} was deprecated in JAX 0.4.38; use jnp.round
    instead.
0.4.35 0.4.35 jax.numpy.trapz | AttributeError: jnp.{last} is deprecated; use jnp.trapezoid instead.
0.4.35 0.4.35 jax.random.shuffle | AttributeError: {name} is deprecated. Use jax.random.permutation with
    independent=True.
0.6.0 0.6.2 jax.sharding.GSPMDSharding jax.sharding.PositionalSharding | DeprecationWarning: {name} is
    deprecated. Use jax.NamedSharding instead.
0.7.0 0.7.0 jax.sharding.GSPMDSharding jax.sharding.PositionalSharding | AttributeError: {name} was
    deprecated in JAX v0.6.0 and removed in JAX v0.7.0
0.8.1 0.9.2 jax.sharding.PmapSharding | DeprecationWarning: {name} is deprecated; use
    jax.sharding.NamedSharding instead.
0.4.35 0.5.3 jax.sharding.XLACompatibleSharding | AttributeError: {name} was removed in JAX v0.4.34. Use
    jax.sharding.Sharding instead.
0.4.35 0.5.3 jax.tree_flatten | DeprecationWarning: {name} is deprecated: use jax.tree.flatten (jax v0.4.25
    or newer) or jax.tree_util.{last} (any JAX version).
0.6.0 0.8.3 jax.tree_flatten | AttributeError: {name} was removed in JAX v0.6.0: use jax.tree.flatten (jax
    v0.4.25 or newer) or jax.tree_util.{last} (any JAX version).
0.4.35 0.5.3 jax.tree_leaves | DeprecationWarning: {name} is deprecated: use jax.tree.leaves (jax v0.4.25 or
    newer) or jax.tree_util.{last} (any JAX version).
0.6.0 0.8.3 jax.tree_leaves | AttributeError: {name} was removed in JAX v0.6.0: use jax.tree.leaves (jax
    v0.4.25 or newer) or jax.tree_util.{last} (any JAX version).
0.4.35 0.5.3 jax.tree_map | DeprecationWarning: {name} is deprecated: use jax.tree.map (jax v0.4.25 or
    newer) or jax.tree_util.{last} (any JAX version).
0.6.0 0.8.3 jax.tree_map | AttributeError: {name} was removed in JAX v0.6.0: use jax.tree.map (jax v0.4.25
    or newer) or jax.tree_util.{last} (any JAX version).
0.4.35 0.5.3 jax.tree_structure | DeprecationWarning: {name} is deprecated: use jax.tree.structure (jax
    v0.4.25 or newer) or jax.tree_util.{last} (any JAX version).
0.6.0 0.8.3 jax.tree_structure | AttributeError: {name} was removed in JAX v0.6.0: use jax.tree.structure
    (jax v0.4.25 or newer) or jax.tree_util.{last} (any JAX version).
0.4.35 0.5.3 jax.tree_transpose | DeprecationWarning: {name} is deprecated: use jax.tree.transpose (jax
    v0.4.25 or newer) or jax.tree_util.{last} (any JAX version).
0.6.0 0.8.3 jax.tree_transpose | AttributeError: {name} was removed in JAX v0.6.0: use jax.tree.transpose
    (jax v0.4.25 or newer) or jax.tree_util.{last} (any JAX version).
0.4.35 0.5.3 jax.tree_unflatten | DeprecationWarning: {name} is deprecated: use jax.tree.unflatten (jax
    v0.4.25 or newer) or jax.tree_util.{last} (any JAX version).
0.6.0 0.8.3 jax.tree_unflatten | AttributeError: {name} was removed in JAX v0.6.0: use jax.tree.unflatten
    (jax v0.4.25 or newer) or jax.tree_util.{last} (any JAX version).
0.4.35 0.5.3 jax.treedef_is_leaf | DeprecationWarning: {name} is deprecated: use jax.tree_util.{last}.
0.6.0 0.8.3 jax.treedef_is_leaf | AttributeError: {name} was removed in JAX v0.6.0: use
    jax.tree_util.{last}.
0.6.0 0.6.2 jax.util.safe_map jax.util.safe_zip jax.util.unzip2 | DeprecationWarning: {last} was deprecated
    in JAX v0.6.0 and will be removed in JAX v0.7.0.
0.7.0 0.7.2 jax.util.safe_map jax.util.safe_zip jax.util.unzip2 | AttributeError: {last} was deprecated in
    JAX v0.6.0 and removed in JAX v0.7.0.
0.4.35 0.4.35 jax.xla_computation | AttributeError: {name} is deleted. Please use the AOT APIs; see
    https://jax.readthedocs.io/en/latest/aot.html. For example, replace {last}(f)(*xs) with
    jit(f).lower(*xs).compiler_ir('hlo'). See CHANGELOG.md for 0.4.30 for more examples.
"""


def words_of(name: str, release: Release) -> str:
    """Return what a release says where a program uses a name, "" where that is not known.

    Of a name that is gone for long it says no more than that there is none: then what an older release
    said when the name was gone, with that release.
    """
    known = [one for one in _by_name().get(name, ()) if one[0] <= release]
    for _, last, words in reversed(known):
        said = words.replace("{name}", name).replace("{last}", name.rpartition(".")[2])
        if release <= last:
            return said
        if is_removed(name, release):
            return "" if said.startswith("DeprecationWarning") else f"{said} (JAX {last})"
    return ""


@cache
def _by_name() -> dict[str, list[tuple[Release, Release, str]]]:
    found: dict[str, list[tuple[Release, Release, str]]] = {}
    for entry in re.split(r"\n(?! )", WORDS.strip()):
        about, _, words = re.sub(r"\s+", " ", entry).partition(" | ")
        first, last, *names = about.split()
        for name in names:
            found.setdefault(name, []).append((Release.parse(first), Release.parse(last), words))
    return found
