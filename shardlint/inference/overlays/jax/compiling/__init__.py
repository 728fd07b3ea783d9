"""When JAX compiles a function again: for another function, or for another static argument."""
