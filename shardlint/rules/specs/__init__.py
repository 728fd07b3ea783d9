"""Rules SHL1xx: a `PartitionSpec` that is wrong by itself, or names axes that its mesh lacks."""
