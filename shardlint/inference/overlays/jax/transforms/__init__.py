"""JAX's transformations: `jit` with its arguments and results, `vmap`, derivatives, checkpoint,
`eval_shape`.

`taint` says whether a result depends on a value; `lowering` records doubts that JAX settles only when it
lowers.
"""
