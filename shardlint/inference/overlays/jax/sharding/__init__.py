"""`jax.sharding` and placement: devices, meshes and their contexts, specs, shardings, `device_put` and
constraints.

A spec meets an array in `placement_check`, which asks the law and records the use; all APIs that place
arrays end there. `creation_apis` lists the functions whose results are placed as they are made.
"""
