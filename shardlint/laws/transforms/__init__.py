"""Laws of JAX's transformations: `shard_map`, the collectives in its body, `vmap`, and the carries of
loops.

`varying` has the rules of varying manual axes: the types that an operation accepts under ``check_vma``, and
the type of its result. Enter by the `judge_` functions.
"""
