"""The kernel: what JAX does for each API, axis type and version. Pure: no I/O, no syntax trees."""
