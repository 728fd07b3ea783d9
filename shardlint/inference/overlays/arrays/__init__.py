"""Rules of shapes and dtypes that JAX and numpy share: `jnp.sum` and `np.sum` are one function here.

`operands` reads arguments (arrays, axes, broadcasting), `dtypes` has the promotion lattice; the other
modules are families of functions. `methods` and `attributes` are those of array objects.
"""
