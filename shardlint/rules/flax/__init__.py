"""Rules SHL5xx: Flax's metadata, logical axes and lifted transforms."""
