"""The devices there are, and numpy's reshape of arrays of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.calls import Call
from shardlint.inference.overlays import devices as device_arrays
from shardlint.inference.overlays import numpy_
from shardlint.inference.overlays.jax_meshes import record_mesh
from shardlint.inference.values import Const, Devices, Tuple, Value, as_dim, as_shape, as_str, integer
from shardlint.laws import dims
from shardlint.laws.meshes import judge_mesh
from shardlint.laws.values import Unknown
from shardlint.laws.verdicts import Rejected
from shardlint.spans import Place
from shardlint.uses import Fact


def reshape_devices(call: Call) -> Value:
    """``devices.reshape(...)``: numpy raises where the sizes do not multiply to the count."""
    devices = call.args[0]
    rest = call.args[1:]
    given = rest[0] if len(rest) == 1 else Tuple(tuple(rest))
    shape = as_shape(given)
    if isinstance(devices, Devices) and shape is not None and not call.opaque and not call.kwargs:
        total = dims.product(devices.shape)
        verdict = judge_mesh("reshape", shape, None, total)
        facts = (Fact(f"there are {total} devices", devices.origin),) if devices.origin is not None else ()
        places: dict[int | str, Place] = {0: call.place_of(1, "shape")}
        at = Call(call.interpreter, call.name, call.args, call.kwargs, call.place, False, places)
        record_mesh(at, "reshape", verdict, shape, None, total, facts)
        if isinstance(verdict, Rejected):
            return Unknown("numpy rejects this shape")
    result = device_arrays.METHODS["reshape"](call)
    return replace(result, origin=call.place) if isinstance(result, Devices) else result


def _numpy_reshape(call: Call) -> Value:
    """`np.reshape(devices, shape)` is checked as the method is; other arrays are numpy's."""
    if not isinstance(call.argument(0, "a"), Devices) or len(call.args) != 2 or call.kwargs:
        return numpy_.TABLE["numpy.reshape"](call)
    devices = call.args[0]
    assert isinstance(devices, Devices)
    call.args = [replace(devices, numpy=True), call.args[1]]
    return reshape_devices(call)


def _devices(call: Call) -> Value:
    count = call.interpreter.device_count
    known = isinstance(count, int) and not call.args and not call.kwargs
    return Devices((count,), origin=call.place, ids=tuple(range(int(str(count)))) if known else None)


def _device_count(call: Call) -> Value:
    return integer(call.interpreter.device_count, call.place)


def _one_process(value: Value) -> Callable[[Call], Value]:
    """What holds with one process; with an unknown number of devices there may be several."""

    def answer(call: Call) -> Value:
        known = isinstance(call.interpreter.device_count, int)
        return value if known else Unknown("there may be several processes")

    return answer


def _local_count(call: Call) -> Value:
    count = call.interpreter.device_count
    return integer(count) if isinstance(count, int) else integer(dims.symbol("local_device_count", 1))


def _local_devices(call: Call) -> Value:
    count = call.interpreter.device_count
    return Devices(
        (count if isinstance(count, int) else dims.symbol("local_device_count", 1),), origin=call.place
    )


def _config_update(call: Call) -> Value:
    name, value = call.bind("name", "val")
    count = as_dim(value)
    if as_str(name) == "jax_num_cpu_devices" and count is not None:
        call.interpreter.device_count = count
        call.interpreter.switches.add("cpu devices")
    return Const(None)


TABLE: dict[str, Callable[[Call], Value]] = {
    "numpy.reshape": _numpy_reshape,
    "jax.devices": _devices,
    "jax.device_count": _device_count,
    "jax.local_device_count": _local_count,
    "jax.local_devices": _local_devices,
    "jax.process_count": _one_process(Const(1)),
    "jax.process_index": _one_process(Const(0)),
    "jax.config.update": _config_update,
}
