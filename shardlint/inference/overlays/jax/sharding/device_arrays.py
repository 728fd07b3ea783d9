"""Lists and numpy arrays of devices: ``np.array(jax.devices()).reshape(2, 4)``, ``devices[:4]``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import (
    Const,
    Devices,
    Slice,
    Tuple,
    Value,
    as_dim,
    as_int,
    as_str,
    integer,
    is_none,
    shape_value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.indexing import indexed
from shardlint.inference.overlays.arrays.layout import (
    expanded,
    permuted,
    reshaped,
    squeezed,
    swapped,
    target_items,
)  # fmt: skip
from shardlint.inference.overlays.arrays.operands import Stop, Transfer, is_numpy, known_int, table
from shardlint.laws.core.dims import Shape, product
from shardlint.laws.core.values import Unknown


def index_devices(devices: Devices, key: Value) -> Value:
    """Return ``devices[key]``; a list accepts only an integer or a slice."""
    if not devices.numpy and not (isinstance(key, Slice) or as_dim(key) is not None):
        return Unknown("a list of devices indexed by something else")
    try:
        shape = indexed(devices.shape, key, devices.numpy)
    except Stop as stop:
        return stop.answer("indexing")
    return Unknown("indexing") if shape is None else replace(devices, shape=shape, ids=_picked(devices, key))


def _picked(devices: Devices, key: Value) -> tuple[int, ...] | None:
    """Return the ids that an integer or a slice of integers selects along the first dimension."""
    rows = devices.shape[0] if devices.shape else None
    if devices.ids is None or not isinstance(rows, int) or not rows:
        return None
    width = len(devices.ids) // rows
    if isinstance(key, Slice):
        bounds = [None if is_none(part) else as_int(part) for part in (key.start, key.stop, key.step)]
        parts = (key.start, key.stop, key.step)
        if any(b is None and not is_none(part) for b, part in zip(bounds, parts, strict=True)):
            return None
        picked = range(rows)[slice(*bounds)]
    else:
        at = as_int(key)
        if at is None or not -rows <= at < rows:
            return None
        picked = range(rows)[at : at + 1] if at >= 0 else range(rows)[at : at + 1 or None]
    return tuple(i for row in picked for i in devices.ids[row * width : (row + 1) * width])


def length(devices: Devices) -> Value:
    """Return ``len(devices)``."""
    return integer(devices.shape[0]) if devices.shape else Unknown("len() of one device")


def _receiver(call: Call) -> Devices:
    receiver = call.args[0]
    if not isinstance(receiver, Devices):
        raise Stop("not devices")
    return receiver


def _method(rearrange: Callable[[Call, Shape], Shape | None], in_order: bool = True) -> Transfer:
    """Return a method of a numpy array of devices that returns one of another shape, in the same order or
    not."""

    def transfer(call: Call) -> Value:
        devices = _receiver(call)
        if not devices.numpy:
            raise Stop("a list has no such method")
        shape = rearrange(call, devices.shape)
        if shape is None:
            raise Stop("the rank is not known")
        plain = in_order and not call.kwargs and not any(as_str(value) for value in call.args[1:])
        return replace(devices, shape=shape, ids=devices.ids if plain else None)

    return transfer


def _star(call: Call) -> Value | None:
    """Return the one tuple, or the integers, after the receiver."""
    if call.opaque or call.kwargs.keys() - {"order", "copy"}:
        raise Stop("the arguments are not known")
    rest = call.args[1:]
    if not rest:
        return None
    return rest[0] if len(rest) == 1 else Tuple(tuple(rest))


def _squeeze(call: Call, shape: Shape) -> Shape | None:
    _, axis = call.bind("self_", axis=None)
    return squeezed(shape, axis)


def _swapaxes(call: Call, shape: Shape) -> Shape | None:
    _, first, second = call.bind("self_", "axis1", "axis2")
    return swapped(shape, known_int(first), known_int(second))


def _tolist(call: Call) -> Value:
    devices = _receiver(call)
    if len(devices.shape) != 1:
        raise Stop("nested lists of devices")
    return replace(devices, numpy=False)


#: Methods of numpy arrays of devices; the receiver is the first argument.
METHODS: dict[str, Transfer] = table("", {
    "reshape": _method(lambda call, shape: reshaped(shape, target_items(_star(call)), numpy=True)),
    "transpose": _method(lambda call, shape: permuted(shape, _star(call)), in_order=False),
    "flatten": _method(lambda call, shape: (product(shape),)),
    "ravel": _method(lambda call, shape: (product(shape),)),
    "squeeze": _method(_squeeze),
    "swapaxes": _method(_swapaxes, in_order=False),
    "copy": _method(lambda call, shape: shape),
    "tolist": _tolist,
})  # fmt: skip

ATTRIBUTES: dict[str, Callable[[Devices], Value]] = {
    "shape": lambda devices: shape_value(devices.shape),
    "size": lambda devices: integer(product(devices.shape)),
    "ndim": lambda devices: Const(len(devices.shape)),
    "T": lambda devices: replace(devices, shape=devices.shape[::-1], ids=None),
    "flat": lambda devices: replace(devices, shape=(product(devices.shape),)),
}


def keeps_devices(rearrange: Callable[[Call, Devices], Shape | None], otherwise: Transfer) -> Transfer:
    """Return a numpy function that rearranges devices as it does arrays (``np.reshape(devices, ...)``)."""

    def transfer(call: Call) -> Value:
        devices = call.args[0] if call.args else None
        if not isinstance(devices, Devices) or not is_numpy(call):
            return otherwise(call)
        shape = rearrange(call, devices)
        if shape is None:
            raise Stop("the rank is not known")
        return Devices(shape, numpy=True, origin=devices.origin)

    return transfer


def reshape_of(call: Call, devices: Devices) -> Shape:
    """`np.reshape(devices, shape)`."""
    _, shape, _ = call.bind("a", "shape", order=None)
    return reshaped(devices.shape, target_items(shape), numpy=True)


def transpose_of(call: Call, devices: Devices) -> Shape | None:
    """`np.transpose(devices, axes)`."""
    _, axes = call.bind("a", axes=None)
    return permuted(devices.shape, axes)


def expand_of(call: Call, devices: Devices) -> Shape:
    """`np.expand_dims(devices, axis)`."""
    _, axis = call.bind("a", "axis")
    return expanded(devices.shape, axis)
