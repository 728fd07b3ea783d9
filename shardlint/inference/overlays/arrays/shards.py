"""The parts of an array on the devices of this process: `addressable_data`, `addressable_shards`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.iteration import MAX_UNROLLED
from shardlint.inference.domain.values import (
    Array,
    Devices,
    LibraryObject,
    ListValue,
    MeshValue,
    Native,
    ShardingValue,
    SpecValue,
    Value,
    as_int,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.explicit.device_lists import order_of
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import fresh
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Accepted
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


class PartName(str):
    """The name of what lies on one device of an array that is split; ``number`` is which part it is."""

    __slots__ = ("number",)
    number: int


def _numbered(part: Array, array: Array, number: int | None) -> Array:
    """Return a part that is called so, if it is not all of the array."""
    if number is None or part.shape == array.shape:
        return part
    name = PartName(array.name or "the array")
    name.number = number
    return replace(part, name=name)


def addressable_data(interpreter: Evaluator, array: Array) -> Value:
    """Return ``x.addressable_data``: a method that gives the part on one device."""
    found = _part(array)

    def data(call: Call) -> Value:
        number = as_int(call.argument(0, "index"))
        if found is None:
            return _UNKNOWN
        part = _numbered(found[0], array, number)
        return part if number is None else _lying_on(part, found[1], number)

    return Native("addressable_data", data)


#: Functions that copy an array to the host, by their first argument.
_COPYING = frozenset(
    {"numpy.asarray", "numpy.array", "jax.device_get", "builtins.float", "builtins.int", "builtins.list"}
)


def note_copied_part(call: Call) -> None:
    """Record that one part of an array is copied to the host."""
    one = call.args[0] if call.args and call.name in _COPYING else None
    if not isinstance(one, Array) or not isinstance(one.name, PartName) or call.interpreter.context.test:
        return
    shape = ", ".join(map(str, one.shape or ()))
    silent = f"only the part on one device, of the shape ({shape}), of `{one.name}` is copied"
    record_of_value(
        call.interpreter, f"jax.Array(part {one.name.number})", Accepted(), call.place, silent=silent
    )


def _lying_on(part: Array, home: ShardingValue | Devices, at: int) -> Array:
    """Return a part as it lies on one of the devices of the array: alone, and committed."""
    ids = (
        home.ids if isinstance(home, Devices) else home.mesh.ids if isinstance(home.mesh, MeshValue) else None
    )
    return replace(part, committed=Devices((), ids=None if ids is None else ids[at : at + 1]))


def addressable_shards(interpreter: Evaluator, array: Array) -> Value:
    """Return ``x.addressable_shards``: a shard for each device, in one process."""
    home, count = array.committed, interpreter.device_count
    order = None if home is None else order_of(home)
    number = None if order is None else order.count
    if home is None or not isinstance(count, int) or not isinstance(number, int) or number > MAX_UNROLLED:
        return _UNKNOWN
    found = _part(array)
    if found is None:
        # How the compiler splits it is not known: each part is on one device all the same.
        shape = None if array.shape is None else tuple(fresh() for _ in array.shape)
        parts = [Array(shape, array.dtype, array.weak)] * number
    else:
        parts = [_numbered(found[0], array, i) for i in range(number)]
    shards: list[Value] = [
        LibraryObject("jax.Shard", {"data": _lying_on(one, home, i)}) for i, one in enumerate(parts)
    ]
    return ListValue(shards, path=interpreter.path)


ATTRIBUTES: dict[str, Callable[[Evaluator, Array], Value]] = {
    "addressable_data": addressable_data,
    "addressable_shards": addressable_shards,
}
