"""The devices of a jitted call: all its arguments and results must be on the same, and so must what its body
constrains to a mesh of its own (`pxla._get_and_check_device_assignment`, JAX 0.10.2). An ordered callback
wants a single one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import Array, Devices, MeshValue, ShardingValue, Value, as_bool
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.explicit.device_lists import (
    combination,
    devices_text,
    order_of,
    runs_eagerly,
)
from shardlint.inference.overlays.jax.layouts.collected_arrays import note_collected
from shardlint.inference.overlays.jax.transforms.jit_arguments import Argument, is_used, lowers, runs
from shardlint.inference.overlays.jax.transforms.taint import following, holds_marked
from shardlint.inference.overlays.pytrees.prefixes import NO_PATH, arrays_at, arrays_in, map_arrays
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.values import Mesh
from shardlint.laws.core.verdicts import Accepted, Api, Cause, Rejected
from shardlint.laws.placement.jit_arguments import judge_devices
from shardlint.model.uses import CallUse, Fact, Placement, Use
from shardlint.support.lazy_dataclass import dataclass

#: Devices that take part in a call: their name for users, what lies there, and the argument that does.
End = tuple[str, "ShardingValue | Devices | MeshValue", "Argument | None"]

_HOMES = (ShardingValue, Devices, MeshValue)
#: The event that an ordered callback is traced.
_ORDERED = "jax.debug(ordered)"
#: The event that JAX refuses one.
_REFUSED = "jax.jit(ordered)"


@dataclass(frozen=True, slots=True)
class JittedCall:
    """A call of a jitted function: ``args`` and ``kwargs`` are as the body gets them, ``held`` are placed."""

    call: Call
    function: Value
    args: Sequence[Value]
    kwargs: dict[str, Value]
    held: Sequence[Argument]
    result: Value

    def uses(self, argument: Argument) -> bool:
        """Return whether a result certainly depends on an argument."""
        return is_used(self.call, self.function, self.args, self.kwargs, argument.key, argument.path)


def check_devices(
    jitted: JittedCall,
    recorded: Sequence[Use] = (),
    evaluate: Callable[[], Value] | None = None,
) -> bool:
    """Record arguments on different devices, or on others than those of the context mesh, of a placed
    result, or of a mesh in the body that ``recorded`` these uses; return whether there are any."""
    call, held = jitted.call, jitted.held
    ends = _result_placements(jitted.result, held, (*jitted.args, *jitted.kwargs.values()))
    if evaluate is not None:
        ends += _inside(call, held, recorded, evaluate)
    for index, one in enumerate(held):
        for subject, home, other in (*_others(call, held[index + 1 :]), *ends):
            orders = [order_of(one.home), order_of(home)]
            verdict = judge_devices([order for order in orders if order is not None])
            if not isinstance(verdict, Rejected):
                continue
            pair = [one] if other is None else [one, other]
            if not all(map(jitted.uses, pair)):
                continue
            detail = (
                f"{one.subject} lies on {devices_text(orders[0])}, {subject} on {devices_text(orders[1])}"
            )
            place = call.place_of(one.key, "") if isinstance(one.key, int) else call.place_of(None, one.key)
            calls = combination(orders if other is not None else orders[:1])
            facts = () if home.origin is None else (Fact(f"{subject} is here", home.origin),)
            verdict = replace(verdict, detail=detail)
            record_of_value(call.interpreter, "jax.jit", verdict, place, *calls, facts=facts)
            return True
    return _results_apart(call, [*ends, *_others(call, ())])


def lying_with(jitted: JittedCall, name: str) -> Value:
    """Return the results of a call without out_shardings, on the devices of the mesh that is set, or those
    that hold the arguments, where these are known and not all that there are.

    Arguments of the function ``name`` that were collected on one device are recorded.
    """
    call, held, result = jitted.call, jitted.held, jitted.result
    interpreter = call.interpreter
    mesh, count = interpreter.context.mesh, interpreter.device_count
    around = isinstance(mesh, MeshValue) and mesh.mesh.names != ()
    known = mesh if isinstance(mesh, MeshValue) and around else held[0].home if held else None
    _note_collected(jitted, name)
    order = None if known is None or (mesh is not None and not around) else order_of(known)
    if order is None or order.ids is None or not runs_eagerly(interpreter) or not lowers(call):
        return result
    if any(order_of(one.home) != order for one in held):
        return result
    # A mesh that is set decides; of the arguments, only those that are used.
    if not around and (
        not isinstance(count, int) or len(order.ids) >= count or not any(map(jitted.uses, held))
    ):
        return result
    home = Devices((len(order.ids),) if len(order.ids) > 1 else (), ids=order.ids)

    def lie(array: Array, _: str) -> Array:
        free = array.committed is None and array.sharding is None and not array.numpy
        return replace(array, committed=home) if free else array

    return map_arrays(result, lie, NO_PATH, keeps=True)


def _note_collected(jitted: JittedCall, name: str) -> None:
    """Record arguments that were collected on one device, on which the call runs alone."""
    if not runs(jitted.call):
        return
    for one in jitted.held:
        if isinstance(one.home, Devices) and one.home.collected is not None and jitted.uses(one):
            note_collected(jitted.call, name, one.home)


def _results_apart(call: Call, ends: Sequence[End]) -> bool:
    """Record two results that are placed on different devices; return whether there are any."""
    for (one, first, _), (other, second, _) in itertools.combinations(ends, 2):
        orders = [order_of(first), order_of(second)]
        verdict = judge_devices([order for order in orders if order is not None])
        if isinstance(verdict, Rejected):
            detail = f"{one} lies on {devices_text(orders[0])}, {other} on {devices_text(orders[1])}"
            record_of_value(call.interpreter, "jax.jit", replace(verdict, detail=detail), call.place)
            return True
    return False


def _others(call: Call, rest: Sequence[Argument]) -> Iterator[End]:
    """Yield the placements with which an argument's devices must agree."""
    for other in rest:
        yield other.subject, other.home, other
    mesh = call.interpreter.context.mesh
    if isinstance(mesh, MeshValue) and not mesh.mesh.abstract and mesh.mesh.names:
        yield "the mesh that is set", mesh, None


def _result_placements(result: Value, held: Sequence[Argument], args: Sequence[Value]) -> list[End]:
    """Return the placements of results on devices that hold no argument: such results may be returned to the
    caller.

    Devices of ``args`` are excluded as well, since in_shardings place them.
    """
    found: list[End] = []
    homes_of_results = [
        (path, home)
        for array, path in arrays_at(result)
        if (home := array.sharding or (array.committed if isinstance(array.committed, Devices) else None))
        is not None
    ]
    orders = [order_of(one.home) for one in held]
    if homes_of_results:
        given = (array.sharding for arg in args for array in arrays_in(arg))
        orders += [order_of(home) for home in given if home is not None]
    for path, home in homes_of_results:
        order = order_of(home)
        if order is not None and order not in orders:
            orders.append(order)
            found.append((f"result{path}" if path else "the result", home, None))
    return found


def _inside(
    call: Call, held: Sequence[Argument], recorded: Iterable[Use], evaluate: Callable[[], Value]
) -> list[End]:
    """Return the placements in a body on another number of devices than those of the arguments, or of the
    mesh that is set, on which a result depends.

    ``recorded`` are the uses of the body, which ``evaluate`` evaluates. Of their meshes only the number of
    devices is known.
    """
    interpreter = call.interpreter
    mesh = interpreter.context.mesh
    homes = [order_of(home) for home in (*(one.home for one in held), mesh) if isinstance(home, _HOMES)]
    around = {order.count for order in homes if order is not None}
    named = [
        (count, use)
        for use in recorded
        # In the body of a shard_map, a mesh may be without the axes that are Manual.
        if isinstance(use, Placement) and use.api is Api.CONSTRAINT and use.environment.bound_axes == ()
        if isinstance(use.mesh, Mesh) and not use.mesh.abstract
        if isinstance(count := use.mesh.device_count, int) and count not in around
    ]
    if len(around | {count for count, _ in named}) < 2:
        return []
    found: dict[int, End] = {}
    for count, use in named:
        if count not in found:
            with following(interpreter, marking=use.place):
                if holds_marked(evaluate()):
                    found[count] = ("a constraint inside", Devices((count,), origin=use.place), None)
    return list(found.values())


# -- ordered callbacks -----------------------------------------------------------------------------------
#
# `jax.debug.print(ordered=True)` and `jax.debug.callback(ordered=True)` have an effect that several devices
# cannot keep in order (`interpreters.mlir.lower_jaxpr_to_module`, JAX 0.10.2 and 0.12.0.1); that of
# `io_callback` they can. An effect is kept where its result is dropped; traced branches and loops have it.


def note_ordered(call: Call) -> None:
    """Record a callback of `jax.debug` that is certainly ordered."""
    context = call.interpreter.context
    if as_bool(call.kwargs.get("ordered")) is True and context.compiles and context.in_jit is True:
        record_of_value(call.interpreter, _ORDERED, Accepted(), call.place)


def refuse_ordered(
    jitted: JittedCall,
    body: Sequence[Use],
) -> bool:
    """Record an ordered callback in the body of a jitted function that is compiled for several devices;
    return whether there is one."""
    call = jitted.call
    effect = next((use for use in body if isinstance(use, CallUse) and use.function == _ORDERED), None)
    if effect is None or effect.doubted or effect.supposed or effect.variants > 1 or not lowers(call):
        return False
    for subject, home, given in _homes(jitted):
        order = order_of(home)
        if order is None or not isinstance(order.count, int) or order.count < 2:
            continue
        if given is not None and not jitted.uses(given):
            continue
        verdict = Rejected(
            Cause.MISUSE, "ValueError", "lower", detail=f"{subject} lies on {devices_text(order)}"
        )
        facts = [Fact("the jitted function is called here", call.place, kind="call")]
        record_of_value(call.interpreter, _REFUSED, verdict, effect.place, facts=facts)
        return True
    return False


def _homes(jitted: JittedCall) -> Iterator[End]:
    """Yield what says on which devices a call runs: the mesh that is set, placed results, arguments."""
    mesh = jitted.call.interpreter.context.mesh
    if isinstance(mesh, MeshValue) and mesh.mesh.names:
        yield "the mesh that is set", mesh, None
    for one in jitted.held:
        yield one.subject, one.home, one
    for array, path in arrays_at(jitted.result):
        if isinstance(array, Array) and array.sharding is not None:
            yield f"result{path}" if path else "the result", array.sharding, None
