"""Lists of devices: the arrays of one computation, in jit or outside, lie on one list."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    Devices,
    ListValue,
    MeshValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_items,
)
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.overlays.witness_values import data_of
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.dims import equal, product
from shardlint.laws.core.values import AxisType
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.core.witness_data import (
    NO_SPEC,
    Known,
    apply_data,
    array_data,
    call_data,
    devices_data,
    function_data,
    mesh_data,
    sharding_data,
    tuple_data,
)
from shardlint.laws.placement.jit_arguments import DeviceOrder, judge_devices
from shardlint.laws.propagation.operands import all_of
from shardlint.model.spans import Place

#: The event that an array lies on other devices than the mesh in its type has.
TYPED_ELSEWHERE = "jax.jit(typed elsewhere)"


def order_of(home: ShardingValue | Devices | MeshValue) -> DeviceOrder | None:
    """Return the list of devices on which something lies, None if it is not known."""
    if isinstance(home, Devices):
        return DeviceOrder(product(home.shape), home.ids)
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


def is_put(value: Value) -> bool:
    """Return whether an operand, or an item of it, is an array that the program put somewhere."""
    if isinstance(value, Array):
        return value.committed is not None
    return isinstance(value, Tuple | ListValue) and any(
        isinstance(item, Array) and item.committed is not None for item in value.items or ()
    )


def lying_on(result: Value, home: Devices) -> Value:
    """Return the result of an operation on arrays that lie on these devices: so does it, if nothing else is
    known."""
    if isinstance(result, Array):
        known = result.numpy or result.committed is not None or result.sharding is not None
        return result if known else replace(result, committed=home)
    if isinstance(result, Tuple):
        return replace(result, items=tuple(lying_on(item, home) for item in result.items))
    if isinstance(result, ListValue) and result.items is not None:
        changing(result)
        result.items[:] = [lying_on(item, home) for item in result.items]
    return result


def runs_eagerly(interpreter: Evaluator) -> bool:
    """Return whether an operation is certainly computed where it is written, one by one."""
    context = interpreter.context
    return not (
        context.in_jit is not False
        or context.staged is not False
        or context.mapped
        or context.bound_axes != ()
    )


def met_on(
    interpreter: Evaluator, symbol: str, operands: Sequence[Value], place: Place, reads: bool
) -> Devices | bool:
    """Return the devices on which an operation outside of jit is computed, True where they are not known.

    False if JAX refuses it, since the program put its operands on different lists of devices, or on others
    than the context's mesh; that is recorded. ``reads`` tells that it reads the values of all operands.
    """
    known = [(f"`{array.name}`" if array.name else name, order) for name, array, order in _lying(operands)]
    if not known:
        return True
    mesh = interpreter.context.mesh
    around = order_of(mesh) if isinstance(mesh, MeshValue) and mesh.mesh.names else None
    orders = [order for _, order in known]
    places = orders if around is None else [*orders, around]
    verdict = judge_devices(places)
    if not isinstance(verdict, Rejected):
        ids = next((order.ids for order in orders if order.ids is not None), None)
        return True if ids is None else Devices(() if len(ids) == 1 else (len(ids),), ids=ids)
    if not reads:
        return True
    names = [*(name for name, _ in known), "the mesh that is set"]
    first, second = next(
        (i, j)
        for i, j in itertools.combinations(range(len(places)), 2)
        if isinstance(judge_devices([places[i], places[j]]), Rejected)
    )
    one, other = _side(names, first, symbol), _side(names, second, symbol)
    where = [devices_text(places[first]), devices_text(places[second])]
    verdict = replace(verdict, detail=f"{one} lies on {where[0]}, {other} on {where[1]}")
    calls = combination([places[first], places[second]][: 2 if second < len(orders) else 1])
    record_of_value(interpreter, "jax.jit", verdict, place, *calls)
    return False


def is_apart_from_type(interpreter: Evaluator, array: Value, place: Place) -> bool:
    """Record an operator outside of jit on an array that was put on one device, and whose type is on an
    Explicit mesh of several, where no mesh is set; return whether it is so
    (`pxla.lower_sharding_computation`).

    A function may return its operand as it is, or drop its type: nothing is said of those.
    """
    home = array.committed if isinstance(array, Array) else None
    mesh = home.typed if isinstance(home, Devices) else None
    if mesh is None or not isinstance(mesh.device_count, int) or mesh.device_count == 1:
        return False
    if interpreter.context.mesh is not None or not isinstance(array, Array):
        return False
    subject = f"`{array.name}`" if array.name else "the array"
    detail = f"{subject} lies on 1 device, and the Explicit mesh in its type has {mesh.device_count}"
    verdict = Rejected(Cause.DEVICES, "ValueError", "lower", size=1, ways=mesh.device_count, detail=detail)
    table, on_mesh = array_data((1,), numpy=False), mesh_data(replace(mesh, abstract=False))
    typed = call_data("jax.device_put", (table, sharding_data(on_mesh, NO_SPEC)))
    put = (call_data("jax.device_put", (one, ("device", 0))) for one in (typed, table))
    calls = (call_data("2 +", (one, 0)) for one in put)
    record_of_value(interpreter, TYPED_ELSEWHERE, verdict, place, *calls)
    return True


def _side(names: Sequence[str], index: int, symbol: str) -> str:
    return names[index].format(symbol=symbol)


def _lying(operands: Sequence[Value]) -> Iterator[tuple[str, Array, DeviceOrder]]:
    """Yield the arrays among operands and in lists of them that the program put somewhere, and a name."""
    for index, operand in enumerate(operands):
        items = as_items(operand)
        side = ("the left operand", "the right operand")[index] if index < 2 else "an operand"
        for one in (operand,) if items is None else items:
            if isinstance(one, Array) and not one.numpy and not one.struct and one.committed is not None:
                order = _committed(one)
                if order is not None:
                    yield f"{side} of `{{symbol}}`", one, order


def is_held_elsewhere(interpreter: Evaluator, array: Value | None, home: Value, place: Place) -> bool:
    """Record an array, outside of jit, that lies on other devices than a conversion or constraint wants, or
    that is asked for on others than those of the mesh in force; return whether it does. Only `jax.device_put`
    moves arrays between devices.
    """
    if not isinstance(array, Array) or not isinstance(home, ShardingValue | Devices):
        return False
    if not runs_eagerly(interpreter) or array.struct:
        return False
    mesh, due = interpreter.context.mesh, order_of(home)
    name = f"`{array.name}`" if array.name else "the array"
    held = [(f"{name} lies", None if array.numpy else _committed(array))]
    if isinstance(mesh, MeshValue) and mesh.mesh.names and all_of(mesh.mesh, AxisType.AUTO):
        held.append(("the mesh that is set lies", order_of(mesh)))
    for subject, order in held:
        verdict = judge_devices([one for one in (order, due) if one is not None])
        if isinstance(verdict, Rejected):
            detail = f"{subject} on {devices_text(order)}, and {name} is asked for on {devices_text(due)}"
            record_of_value(interpreter, "jax.jit", replace(verdict, detail=detail), place)
            return True
    return False


def is_on_one_device(array: Array) -> bool:
    """Return whether the program put an array on a single device."""
    return isinstance(array.committed, Devices) and array.committed.shape == ()


def has_no_devices(interpreter: Evaluator, mesh: Value, array: Array, place: Place) -> bool:
    """Record a constraint outside of jit, on an AbstractMesh, of an array that does not say on which devices:
    it lies on no mesh, or on one of another shape. Return whether it is so.
    """
    if not isinstance(mesh, MeshValue) or not mesh.mesh.abstract or not runs_eagerly(interpreter):
        return False
    if interpreter.context.mesh is not None or interpreter.context.legacy_mesh is not None or array.struct:
        return False
    detail = _on_another(array, mesh)
    if detail is None and (array.numpy or is_on_one_device(array)):
        detail = "the sharding is on an AbstractMesh, and the array lies on no mesh of devices"
    if detail is None:
        return False
    exception = "TypeError" if is_on_one_device(array) else "ValueError"
    verdict = Rejected(Cause.DEVICES, exception, "call", detail=detail)
    record_of_value(interpreter, "jax.lax.with_sharding_constraint", verdict, place)
    return True


def is_outside_mesh(interpreter: Evaluator, target: Value, array: Array, place: Place) -> bool:
    """Record a constraint by a bare spec, outside of jit, of an array that was made before the mesh was set;
    return whether it is so. JAX takes the devices from the array (`pjit.with_sharding_constraint`).
    """
    mesh = interpreter.context.mesh
    if not isinstance(target, SpecValue) or not isinstance(mesh, MeshValue) or not runs_eagerly(interpreter):
        return False
    if array.numpy or array.struct or array.shape is None or not all_of(mesh.mesh, AxisType.AUTO):
        return False
    if array.typed is None or array.typed.mesh is not None:
        return False
    name = f"`{array.name}`" if array.name else "the array"
    detail = f"the spec is on the mesh of jax.set_mesh, and {name} was made on one device before"
    verdict = Rejected(Cause.DEVICES, "TypeError", "call", detail=detail)
    function, spec = "jax.lax.with_sharding_constraint", data_of(target)
    table = array_data(array.shape, array.dtype or "float32")
    calls = [call_data(function, (x, spec)) for x in (call_data("jax.device_put", (table,)), table)]
    record_of_value(interpreter, function, verdict, place, *calls)
    return True


def _on_another(array: Array, mesh: MeshValue) -> str | None:
    """Return in words that an array lies on a mesh of other axes or sizes, or None."""
    if not isinstance(array.committed, ShardingValue):
        return None
    holder = array.committed.mesh
    if not isinstance(holder, MeshValue) or holder.mesh.abstract:
        return None
    given, due = holder.mesh, mesh.mesh
    sizes = [equal(one, other) for one, other in zip(given.sizes, due.sizes, strict=False)]
    if given.names == due.names and False not in sizes:
        return None
    return f"the array lies on a mesh of {given}, and the AbstractMesh is {due}"


def _committed(array: Array) -> DeviceOrder | None:
    home = array.committed
    return (
        order_of(home) if isinstance(home, Devices) or (home is not None and home == array.sharding) else None
    )
