"""Layouts on Auto axes inside `jax.jit`: operands that cannot stay where they lie."""
