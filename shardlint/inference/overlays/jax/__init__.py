"""JAX: a folder for each part of its API.

`sharding` places arrays and makes meshes; `transforms` has jit, vmap and derivatives; `shard_map` its
bodies and collectives; `lax` its functions and control flow; `explicit` the shardings in types. Small
namespaces (`numpy`, `nn`, `random`, `tree`, `initializers`) are modules. A function that places something
asks a law and records a use.
"""
