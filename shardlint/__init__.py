"""shardlint finds JAX sharding mistakes before the mesh does."""

__version__ = "0.1.0"
