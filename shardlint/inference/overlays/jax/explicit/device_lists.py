"""Lists of devices: the arrays of one computation, in jit or outside, lie on one list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shardlint.inference.domain.values import Array, Devices, MeshValue, ShardingValue, Value
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.verdicts import Rejected
from shardlint.laws.core.witness_data import (
    NO_SPEC,
    Known,
    apply_data,
    array_data,
    call_data,
    devices_data,
    function_data,
    sharding_data,
    tuple_data,
)
from shardlint.laws.placement.jit_arguments import DeviceOrder, judge_devices
from shardlint.model.spans import Place


def order_of(home: ShardingValue | Devices | MeshValue) -> DeviceOrder | None:
    """Return the list of devices on which something lies, None if it is not known."""
    if isinstance(home, Devices):
        return DeviceOrder(1, home.ids)
    mesh = home.mesh if isinstance(home, ShardingValue) else home
    if not isinstance(mesh, MeshValue) or mesh.mesh.abstract:
        return None
    return DeviceOrder(mesh.mesh.device_count, mesh.ids)


def devices_text(order: DeviceOrder | None) -> str:
    """Return the devices in words: their number, and their ids if there are few and all are known."""
    if order is None:
        return "devices"
    which = (
        "" if order.ids is None else f" ({', '.join(map(str, order.ids[:8]))}{', …' * (len(order.ids) > 8)})"
    )
    return f"{order.count} {'device' if order.count == 1 else 'devices'}{which}"


def combination(orders: Sequence[DeviceOrder | None]) -> tuple[Known, Known]:
    """Return a computation with an array on the devices of each order, and the same with uncommitted
    arrays."""
    sums = (call_data("2 +", (("operand", i), 0)) for i in range(len(orders)))
    jitted = call_data("jax.jit", (function_data(tuple_data(sums)),))
    placed = (None if order is None else _placed(order) for order in orders)
    return apply_data(jitted, placed), apply_data(jitted, (array_data(()) for _ in orders))


def _placed(order: DeviceOrder) -> Known:
    """Return an array on devices in this order; on the first devices if only their number is known."""
    if not isinstance(order.count, int):
        return None
    ids = range(order.count) if order.ids is None else order.ids
    mesh = call_data("jax.sharding.Mesh", (devices_data(ids, (order.count,)), ("tuple", "x")))
    return call_data("jax.device_put", (1.0, sharding_data(mesh, NO_SPEC)))


def lie_apart(interpreter: Evaluator, symbol: str, operands: Sequence[Value], place: Place) -> bool:
    """Record an operator outside of jit whose operands the program put on different lists of devices; return
    whether they are."""
    context = interpreter.context
    if (
        context.in_jit is not False
        or context.staged is not False
        or context.mapped
        or context.bound_axes != ()
    ):
        return False
    arrays = [one for one in operands if isinstance(one, Array) and not one.numpy and not one.struct]
    homes = [_committed(array) for array in arrays]
    known = [(array, order) for array, order in zip(arrays, homes, strict=True) if order is not None]
    verdict = judge_devices([order for _, order in known])
    if len(known) != 2 or not isinstance(verdict, Rejected):
        return False
    names = [
        f"`{array.name}`" if array.name else f"the {side} operand of `{symbol}`"
        for array, side in zip((array for array, _ in known), ("left", "right"), strict=True)
    ]
    (first, second), (one, other) = names, [devices_text(order) for _, order in known]
    verdict = replace(verdict, detail=f"{first} lies on {one}, {second} on {other}")
    calls = combination([order for _, order in known])
    record_of_value(interpreter, "jax.jit", verdict, place, *calls)
    return True


def _committed(array: Array) -> DeviceOrder | None:
    home = array.committed
    return (
        order_of(home) if isinstance(home, Devices) or (home is not None and home == array.sharding) else None
    )
