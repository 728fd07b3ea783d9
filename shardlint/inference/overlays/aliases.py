"""Other spellings of library names. Both names of a pair are one object in JAX, or were while both
existed."""

from __future__ import annotations

#: Names with several spellings.
NAMES: dict[str, str] = {
    **dict.fromkeys(
        (
            "jax.P",
            "jax.interpreters.pxla.PartitionSpec",
            "jax.experimental.PartitionSpec",
            "jax.experimental.pjit.PartitionSpec",
            "jax._src.partition_spec.PartitionSpec",
        ),
        "jax.sharding.PartitionSpec",
    ),
    "jax.NamedSharding": "jax.sharding.NamedSharding",
    "jax.experimental.pjit.NamedSharding": "jax.sharding.NamedSharding",
    "jax.interpreters.pxla.Mesh": "jax.sharding.Mesh",
    "jax.experimental.maps.Mesh": "jax.sharding.Mesh",
    "jax._src.mesh.Mesh": "jax.sharding.Mesh",
    "jax._src.sharding.Sharding": "jax.sharding.Sharding",
    "jax.sharding.set_mesh": "jax.set_mesh",
    "jax.experimental.pjit.with_sharding_constraint": "jax.lax.with_sharding_constraint",
    "jax.reshard": "jax.sharding.reshard",
    "jax.get_mesh": "jax.sharding.get_mesh",
    "jax.get_abstract_mesh": "jax.sharding.get_abstract_mesh",
    "jax.use_abstract_mesh": "jax.sharding.use_abstract_mesh",
    "jax.tree_map": "jax.tree_util.tree_map",
    "jax.numpy.ndarray": "jax.Array",
    "jax.numpy.dtype": "numpy.dtype",
}

#: Modules with several spellings.
MODULES: dict[str, str] = {
    "flax.experimental.nnx": "flax.nnx",
}
