"""The available devices, and numpy's reshape of arrays of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import (
    Bound,
    Const,
    Devices,
    Native,
    Tuple,
    Value,
    as_int,
    as_shape,
    integer,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.sharding import device_arrays
from shardlint.inference.overlays.jax.sharding.meshes import record_mesh
from shardlint.inference.overlays.numpy import functions
from shardlint.laws.core import dims
from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import Failed, Unknown
from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.meshes.construction import judge_mesh
from shardlint.model.spans import Place
from shardlint.model.uses import Fact


def reshape_devices(call: Call) -> Value:
    """``devices.reshape(...)``: numpy raises if the product of the sizes is not the number of devices."""
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
            return Failed("numpy rejects this shape")
    result = device_arrays.METHODS["reshape"](call)
    return replace(result, origin=call.place) if isinstance(result, Devices) else result


def _numpy_reshape(call: Call) -> Value:
    """`np.reshape(devices, shape)`, checked like the method; other arrays are numpy's."""
    if not isinstance(call.argument(0, "a"), Devices) or len(call.args) != 2 or call.kwargs:
        return functions.TABLE["numpy.reshape"](call)
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


#: Set by a program that starts the distributed runtime, or reads the devices of another process.
_SEVERAL_PROCESSES = "several processes"


def one_process(interpreter: Evaluator) -> bool:
    """Return whether all devices certainly belong to this process: their number is known, and the program
    mentions no other process."""
    return isinstance(interpreter.device_count, int) and _SEVERAL_PROCESSES not in interpreter.switches


def _in_one_process(value: Value) -> Callable[[Call], Value]:
    """Return a function with this value in a single process."""

    def answer(call: Call) -> Value:
        return value if one_process(call.interpreter) else Unknown("there may be several processes")

    return answer


def _distributed(call: Call) -> Value:
    call.interpreter.switches.add(_SEVERAL_PROCESSES)
    return Const(None)


def _local(call: Call) -> Dim:
    count = call.interpreter.device_count
    return count if one_process(call.interpreter) else dims.symbol("local_device_count", 1)


def _local_count(call: Call) -> Value:
    return integer(_local(call))


def _local_devices(call: Call) -> Value:
    process, *_ = call.bind(process_index=None, backend=None, host_id=None)
    if process is not None and not is_none(process) and as_int(process) != 0:
        call.interpreter.switches.add(_SEVERAL_PROCESSES)
    return Devices((_local(call),), origin=call.place)


TABLE: dict[str, Callable[[Call], Value]] = {
    "numpy.reshape": _numpy_reshape,
    "jax.devices": _devices,
    "jax.device_count": _device_count,
    "jax.local_device_count": _local_count,
    "jax.local_devices": _local_devices,
    "jax.process_count": _in_one_process(Const(1)),
    "jax.process_index": _in_one_process(Const(0)),
    "jax.distributed.initialize": _distributed,
}


def _attribute(interpreter: Evaluator, value: Devices, name: str, _: Place) -> Value:
    """Evaluate ``value.name``."""
    if value.shape == () and one_process(interpreter):
        if name == "process_index":
            return Const(0)
        if name == "id" and value.ids is not None:
            return Const(value.ids[0])
    if name == "reshape":
        return Bound(Native("reshape", reshape_devices), value)
    if name in device_arrays.ATTRIBUTES:
        found = device_arrays.ATTRIBUTES[name](value)
        return replace(found, origin=value.origin) if isinstance(found, Devices) else found
    if name in device_arrays.METHODS:
        return Bound(Native(name, device_arrays.METHODS[name]), value)
    return Unknown(f"attribute `{name}` of devices")


READERS = {Devices: _attribute}
