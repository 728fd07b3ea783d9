"""Laws of JAX's transformations: `shard_map`, the collectives in its body, `vmap`, and the carries of
loops.

`varying` has the rules of varying manual axes: which types an operation takes under ``check_vma``, and
which its result has. Enter by the `judge_` functions.
"""
