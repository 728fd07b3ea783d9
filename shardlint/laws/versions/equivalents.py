"""Names of JAX that are another name for the same thing, or nearly."""

from __future__ import annotations

from shardlint.laws.versions.api_changes import ARGUMENTS, QUANTILES
from shardlint.laws.versions.other_changes import EXTENDED, SYNONYMS

_SHARDING, _SHARD = "jax.sharding.", "jax.experimental.shard."

#: Drop-in replacements for names. `jax.shard_map` has other names for its arguments, and `jax.lax.pcast`
#: takes the target as an argument.
EQUIVALENT: dict[str, str] = {
    "jax.experimental.shard_map.shard_map": "jax.shard_map",
    "jax.experimental.pjit.pjit": "jax.jit",
    "jax.experimental.pjit.PartitionSpec": f"{_SHARDING}PartitionSpec",
    "jax.experimental.pjit.NamedSharding": f"{_SHARDING}NamedSharding",
    "jax.experimental.pjit.with_sharding_constraint": "jax.lax.with_sharding_constraint",
    "jax.experimental.PartitionSpec": f"{_SHARDING}PartitionSpec",
    "jax.experimental.maps.Mesh": f"{_SHARDING}Mesh",
    "jax.interpreters.pxla.Mesh": f"{_SHARDING}Mesh",
    "jax.interpreters.pxla.PartitionSpec": f"{_SHARDING}PartitionSpec",
    f"{_SHARDING}use_mesh": "jax.set_mesh",
    f"{_SHARD}reshard": f"{_SHARDING}reshard",
    "jax.lax.pvary": "jax.lax.pcast",
    "jax.ad_checkpoint.checkpoint": "jax.checkpoint",
    **{
        f"jax.tree_{name}": f"jax.tree.{name}"
        for name in ("map", "leaves", "flatten", "unflatten", "structure", "transpose", "all", "reduce")
    },
    **{f"jax.core.{name}": f"jax.extend.core.{name}" for name in EXTENDED},
    **{f"jax.numpy.{old}": f"jax.numpy.{new}" for old, new in SYNONYMS.items()},
    "jax.numpy.round_": "jax.numpy.round",
    "jax.numpy.fix": "jax.numpy.trunc",
    "jax.nn.normalize": "jax.nn.standardize",
    "jax.config.config": "jax.config",
    "jax.linear_util": "jax.extend.linear_util",
    "jax.experimental.stax": "jax.example_libraries.stax",
    "jax.experimental.optimizers": "jax.example_libraries.optimizers",
    "jax.tree_multimap": "jax.tree.map",
    "jax.tree_util.tree_multimap": "jax.tree.map",
    "jax.treedef_is_leaf": "jax.tree_util.treedef_is_leaf",
    "jax.ad_checkpoint.remat": "jax.checkpoint",
    "jax.core.ConcretizationTypeError": "jax.errors.ConcretizationTypeError",
    "jax.random.KeyArray": "jax.Array",
    "jax.lib.xla_bridge.get_backend": "jax.extend.backend.get_backend",
    "jax.lax.zeros_like_array": "jax.numpy.zeros_like",
}
#: Two arguments, each of which names the axes that the other leaves out.
_COMPLEMENTS = ("auto=", "axis_names=")
#: Arguments with another name for the same meaning: most of them the function never took.
RENAMED_ARGUMENTS: dict[str, str] = {
    **{
        row.subject: row.instead.removesuffix("=")
        for row in ARGUMENTS
        if row.since is None and row.instead[:-1].isidentifier() and row.instead not in _COMPLEMENTS
    },
    "jax.make_mesh(axis_shapes=)": "axis_sizes",
    "jax.numpy.clip(a_min=)": "min",
    "jax.numpy.clip(a_max=)": "max",
    "jax.numpy.reshape(newshape=)": "shape",
    **{f"jax.numpy.{name}(interpolation=)": "method" for name in QUANTILES},
    "jax.shard_map(check_rep=)": "check_vma",
    "jax.experimental.shard_map.shard_map(check_vma=)": "check_rep",
}
