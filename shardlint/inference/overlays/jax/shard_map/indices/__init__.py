"""Places along split dimensions in a body of shard_map: within one device's part, and in the whole."""
