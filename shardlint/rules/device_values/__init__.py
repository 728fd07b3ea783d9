"""Rules SHL3xx on what `shard_map` computes: the values of devices, which JAX accepts as they are."""
