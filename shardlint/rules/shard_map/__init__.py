"""Rules SHL3xx: `shard_map`, its specs, and the collectives in its body."""
