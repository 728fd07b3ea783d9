"""`jax.sharding` and placement: devices, meshes and their contexts, specs, shardings, `device_put` and
constraints.

`placement_check` judges a spec for an array by the law and records the use; all APIs that place
arrays end there. `creation_apis` lists the functions whose results are placed as they are made.
"""
