"""Rules SHL8xx: APIs that other releases of JAX do not have, or name otherwise."""
