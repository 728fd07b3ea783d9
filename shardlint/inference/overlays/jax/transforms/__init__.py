"""JAX's transformations: `jit` with its arguments and results, `vmap`, checkpoint, `eval_shape`.

`taint` determines whether a result depends on a value; `lowering` records doubts that JAX resolves only when
it lowers.
"""
