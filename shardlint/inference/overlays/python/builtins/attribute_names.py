"""The attributes that arrays, shardings and meshes certainly have or lack, as `hasattr` finds them.

A `jax.Array` that is traced lacks some attributes that others have, such as ``sharding``, and raises where it
is asked for others; so that nothing is said of these (measured on JAX 0.10.2 and 0.12.0.1).
"""

from __future__ import annotations

from shardlint.inference.domain.values import Array, LibraryObject, MeshValue, ShardingValue, Value

#: Attributes of all arrays: of JAX, of numpy, and of `jax.ShapeDtypeStruct`.
OF_ARRAYS = frozenset({"shape", "dtype", "ndim", "size"})
#: Attributes of arrays on devices that numpy's arrays lack.
ON_DEVICES = frozenset(
    "sharding addressable_shards global_shards addressable_data is_fully_addressable is_fully_replicated "
    "at aval devices weak_type block_until_ready is_deleted copy_to_host_async".split()
)
#: Those of them that `jax.ShapeDtypeStruct` has.
OF_STRUCTS = frozenset({"sharding", "weak_type"})
OF_MESHES = frozenset({"shape", "axis_names", "empty", "size"})
OF_SHARDINGS = frozenset({"device_set", "is_fully_replicated", "memory_kind"})
#: Those that only `NamedSharding` has.
OF_NAMED_SHARDINGS = frozenset({"mesh", "spec"})


def has_attribute(value: Value, name: str) -> bool | None:
    """Return whether an array, a sharding or a mesh has an attribute; None if that is not certain."""
    if isinstance(value, Array):
        if name in OF_ARRAYS:
            return True
        known = name in ON_DEVICES and (value.numpy or value.struct)
        return value.struct and name in OF_STRUCTS if known else None
    if isinstance(value, MeshValue):
        return True if name in OF_MESHES else None
    if isinstance(value, ShardingValue):
        return True if name in OF_SHARDINGS | OF_NAMED_SHARDINGS else None
    if isinstance(value, LibraryObject) and value.kind == "jax.sharding.SingleDeviceSharding":
        return True if name in OF_SHARDINGS else False if name in OF_NAMED_SHARDINGS else None
    return None
