"""`jnp.fft`, `jax.scipy`, `jax.ops` and `jax.image`: shapes and dtypes of results."""
