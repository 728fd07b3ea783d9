"""The text of a program as fixes need it: its libcst tree with positions (`program_tree`), what its names
mean (`scopes`), and how to name or import an object of `jax.sharding` (`imports`).
"""
