"""Attributes of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardlint.inference.domain.values import Array, Bound, Const, Devices, LibraryObject, Native, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays import methods, shards
from shardlint.inference.overlays.jax.explicit import auto_layouts
from shardlint.inference.overlays.jax.explicit.results import finish_attribute, finish_method
from shardlint.inference.overlays.jax.explicit.type_conversion import sharding_in_type
from shardlint.inference.overlays.jax.host_views import note_views
from shardlint.inference.overlays.jax.shard_map.indices.global_indices import indexed
from shardlint.inference.overlays.jax.shard_map.indices.local_numbers import numbered
from shardlint.inference.overlays.jax.shard_map.part_operations import note_operation
from shardlint.inference.overlays.jax.shard_map.split_dimensions import followed
from shardlint.inference.overlays.jax.shard_map.varying import spread
from shardlint.inference.overlays.numpy import known_numbers
from shardlint.inference.overlays.registry import Transfer
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator


#: The reason of the value of ``x.device``, which was a method before.
DEVICE = "the device of an array"


def _attribute(interpreter: Evaluator, value: Array, name: str, place: Place) -> Value:
    """Evaluate ``value.name``."""
    if name == "sharding":
        home = value.committed
        if isinstance(home, Devices) and home.shape == () and is_of_jax(value):
            return LibraryObject("jax.sharding.SingleDeviceSharding", {"device": home})
        return value.sharding or sharding_in_type(value) or Unknown("a sharding that JAX chose")
    if name in methods.ATTRIBUTES:
        found = finish_attribute(interpreter, value, name, methods.ATTRIBUTES[name](value))
        if not isinstance(found, Array):
            return found
        found = found.vary(value.variation)
        call = Call(interpreter, name, [value], {}, place)
        if interpreter.context.bound_axes:
            return followed(call, f"jax.Array.{name}", found)
        in_jit = interpreter.context.in_jit is True
        return auto_layouts.followed(call, f"jax.Array.{name}", found) if in_jit else found
    if name in methods.METHODS:
        return Bound(Native(name, _spreading(methods.METHODS[name])), value)
    if name == "__array__":
        note_views(interpreter, [value])
    if name in ("block_until_ready", "copy", "__array__"):
        return Native(name, lambda call: value)
    if name == "is_deleted":
        deleted = value.gone is not None and value.gone.certain and value.gone.is_used()
        return Native(name, lambda call: Const(True) if deleted else Unknown("whether an array is deleted"))
    if name in shards.ATTRIBUTES and is_of_jax(value) and interpreter.context.in_jit is False:
        return shards.ATTRIBUTES[name](interpreter, value)
    if name == "device" and is_of_jax(value):
        return Unknown(DEVICE)
    return Unknown(f"attribute `{name}` of an array")


def is_of_jax(value: Array) -> bool:
    """Return whether an array is certainly a `jax.Array`."""
    return not value.numpy and not value.struct and value.shape is not None


def _spreading(method: Transfer) -> Transfer:
    """Wrap a method of arrays: its result varies over the mesh axes of its operands, and has an Explicit
    type."""

    def call_it(call: Call) -> Value:
        found = known_numbers.of_method(call, spread(call, finish_method(call, method(call))))
        if not call.interpreter.context.bound_axes:
            return found
        name = f"jax.Array.{call.name}"
        found = numbered(call, followed(call, name, found), name)
        note_operation(call, name, found)
        return indexed(call, name, found)

    return call_it


READERS = {Array: _attribute}
