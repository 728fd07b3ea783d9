"""The parts of an array on the devices of this process: `addressable_data`, `addressable_shards`."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.iteration import MAX_UNROLLED
from shardlint.inference.domain.values import (
    Array,
    LibraryObject,
    ListValue,
    MeshValue,
    Native,
    ShardingValue,
    SpecValue,
    Value,
)
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.laws.core.values import Unknown
from shardlint.laws.placement.shard_shapes import global_shape, shard_shape

_UNKNOWN = Unknown("what lies on one device is not known")


def _part(array: Array) -> tuple[Array, ShardingValue] | None:
    """Return what lies on each device, and how the array is placed; None where that is not certain."""
    home = array.committed
    if not isinstance(home, ShardingValue) or home != array.sharding or array.shape is None:
        return None
    if not isinstance(home.mesh, MeshValue) or not isinstance(home.spec, SpecValue):
        return None
    mesh, spec = home.mesh.mesh, home.spec.spec
    if not all(isinstance(size, int) for size in (*mesh.sizes, *array.shape)):
        return None
    try:
        shape = shard_shape(mesh, spec, array.shape)
        whole = global_shape(mesh, spec, shape)
    except ValueError:
        return None
    # An uneven array has parts of several shapes.
    return (Array(shape, array.dtype, array.weak), home) if whole == array.shape else None


def addressable_data(interpreter: Evaluator, array: Array) -> Value:
    """Return ``x.addressable_data``: a method that gives the part on one device."""
    found = _part(array)
    return Native("addressable_data", lambda call: _UNKNOWN if found is None else found[0])


def addressable_shards(interpreter: Evaluator, array: Array) -> Value:
    """Return ``x.addressable_shards``: a shard for each device, in one process."""
    found = _part(array)
    count = interpreter.device_count
    if found is None or not isinstance(count, int):
        return _UNKNOWN
    part, home = found
    number = home.mesh.mesh.device_count if isinstance(home.mesh, MeshValue) else None
    if not isinstance(number, int) or number > MAX_UNROLLED:
        return _UNKNOWN
    shards: list[Value] = [LibraryObject("jax.Shard", {"data": part}) for _ in range(number)]
    return ListValue(shards, path=interpreter.path)


ATTRIBUTES: dict[str, Callable[[Evaluator, Array], Value]] = {
    "addressable_data": addressable_data,
    "addressable_shards": addressable_shards,
}
