"""Optax: losses, the trees of optimizer states, and wrappers and schedules around optimizers."""
