"""Flax's helpers around `jax.pmap`: stacks with an item for each device."""
