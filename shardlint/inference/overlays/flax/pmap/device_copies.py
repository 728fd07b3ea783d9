"""`flax.jax_utils`: stacks of one copy for each device, as `jax.pmap` takes them.

From `flax.jax_utils` 0.12.8. The stacks lie on a mesh of one axis, which no program names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Devices,
    External,
    MeshValue,
    Native,
    ShardingValue,
    SpecValue,
    Value,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import table
from shardlint.inference.overlays.jax.transforms.stacked_copies import COPIES, EQUAL, copies_of, note_unlike
from shardlint.inference.overlays.pytrees.prefixes import map_arrays
from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import AxisType, Mesh, Spec, Unknown


def _sharding(call: Call, devices: Value | None) -> tuple[Dim, ShardingValue] | None:
    """Return the number of devices, and the sharding of a stack with a copy for each."""
    interpreter = call.interpreter
    ids: tuple[int, ...] | None
    if devices is None or is_none(devices):
        count = interpreter.device_count
        ids = tuple(range(count)) if isinstance(count, int) else None
    elif isinstance(devices, Devices) and len(devices.shape) == 1:
        count, ids = devices.shape[0], devices.ids
    else:
        return None
    mesh = MeshValue(Mesh((COPIES,), (count,), (AxisType.AUTO,)), call.place, ids=ids)
    return count, ShardingValue(mesh, SpecValue(Spec((COPIES,))), call.place)


def _replicate(call: Call) -> Value:
    """``replicate(tree, devices=None)``: each array becomes a stack of copies, one for each device."""
    tree, devices, _ = call.bind("tree", devices=NONE, axis_name=None)
    known = _sharding(call, devices)
    if tree is None or known is None:
        return Unknown("copies on devices that are not known")
    count, sharding = known

    def stack(array: Array, _: str) -> Value:
        shape = None if array.shape is None else (count, *array.shape)
        stacked = Array(shape, array.dtype, name=array.name)
        return replace(stacked, sharding=sharding, committed=sharding).vary(EQUAL)

    return map_arrays(tree, stack)


def first_copies(tree: Value) -> Value:
    """Return a tree with the first copy of each stack, on its device."""

    def first(array: Array, _: str) -> Value:
        if array.shape == ():
            return array
        if copies_of(array) is None or array.shape is None or not isinstance(array.sharding, ShardingValue):
            return Array(None, array.dtype)
        mesh = array.sharding.mesh
        ids = mesh.ids if isinstance(mesh, MeshValue) else None
        home = None if ids is None else Devices((), ids=ids[:1])
        return Array(array.shape[1:], array.dtype, name=array.name, committed=home)

    return map_arrays(tree, first)


def _unreplicate(call: Call) -> Value:
    """``unreplicate(tree)``: the first copy of each stack, on its device."""
    (tree,) = call.bind("tree")
    if tree is not None:
        note_unlike(call, tree)
    return Unknown("unreplicate") if tree is None else first_copies(tree)


def _prefetch(call: Call) -> Value:
    """``prefetch_to_device(iterator, size)``: its items, each array split over the devices."""
    iterator, _, devices, _ = call.bind("iterator", "size", devices=NONE, axis_name=None)
    known = _sharding(call, devices)
    if iterator is None or known is None:
        return Unknown("batches on devices that are not known")

    def put(inner: Call) -> Value:
        return map_arrays(
            inner.args[0],
            lambda array, _: Array(array.shape, array.dtype, sharding=known[1], committed=known[1]),
        )

    function = Native("prefetch_to_device", put)
    return call.interpreter.call(External("builtins.map"), [function, iterator], {}, call.place)


TABLE: dict[str, Callable[[Call], Value]] = table(
    "flax.jax_utils.",
    {"replicate": _replicate, "unreplicate": _unreplicate, "prefetch_to_device": _prefetch},
)
