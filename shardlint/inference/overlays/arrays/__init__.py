"""Rules of shapes and dtypes that JAX and numpy share: one function here implements both `jnp.sum` and
`np.sum`.

`operands` reads arguments (arrays, axes, broadcasting), `dtypes` has the promotion lattice, `methods` and
`attributes` are those of array objects; each other module is a family of functions.
"""
