"""JAX: a folder for each part of its API.

`sharding` places arrays and makes meshes; `transforms` has jit and vmap, `differentiation` derivatives;
`shard_map` has bodies and collectives; `lax` has functions and control flow; `explicit` has the shardings in
types. Small namespaces (`numpy`, `nn`, `random`, `tree`, `initializers`) are modules. A function that places
an array asks a law and records a use.
"""
