"""Ordered callbacks in jitted functions, which JAX lowers for one device only.

`jax.debug.print(ordered=True)` and `jax.debug.callback(ordered=True)` have an effect that several devices
cannot keep in order (`interpreters.mlir.lower_jaxpr_to_module`, JAX 0.10.2 and 0.12.0.1); that of
`io_callback` they can. An effect is kept where its result is dropped, and traced branches and loops have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shardlint.inference.domain.values import Array, Devices, MeshValue, ShardingValue, Value, as_bool
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.explicit.device_lists import devices_text, order_of
from shardlint.inference.overlays.jax.transforms.jit_arguments import Argument, is_used, lowers
from shardlint.inference.overlays.pytrees.prefixes import arrays_at
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected
from shardlint.model.uses import CallUse, Fact, Use

#: The event that an ordered callback is traced.
_ORDERED = "jax.debug(ordered)"
#: The event that JAX refuses one.
_REFUSED = "jax.jit(ordered)"


def note_ordered(call: Call) -> None:
    """Record a callback of `jax.debug` that is certainly ordered."""
    context = call.interpreter.context
    if as_bool(call.kwargs.get("ordered")) is True and context.compiles and context.in_jit is True:
        record_of_value(call.interpreter, _ORDERED, Accepted(), call.place)


def refuse_ordered(
    call: Call,
    function: Value,
    args: Sequence[Value],
    kwargs: dict[str, Value],
    held: Sequence[Argument],
    result: Value,
    body: Sequence[Use],
) -> bool:
    """Record an ordered callback in the body of a jitted function that is compiled for several devices;
    return whether there is one. ``held`` are the placed arguments."""
    effect = next((use for use in body if isinstance(use, CallUse) and use.function == _ORDERED), None)
    if effect is None or effect.doubted or effect.supposed or effect.variants > 1 or not lowers(call):
        return False
    for subject, home, given in _homes(call, held, result):
        order = order_of(home)
        if order is None or not isinstance(order.count, int) or order.count < 2:
            continue
        if given is not None and not is_used(call, function, args, kwargs, given.key, given.path):
            continue
        verdict = Rejected(
            Cause.MISUSE, "ValueError", "lower", detail=f"{subject} lies on {devices_text(order)}"
        )
        facts = [Fact("the jitted function is called here", call.place, kind="call")]
        record_of_value(call.interpreter, _REFUSED, verdict, effect.place, facts=facts)
        return True
    return False


def _homes(
    call: Call, held: Sequence[Argument], result: Value
) -> Iterator[tuple[str, ShardingValue | Devices | MeshValue, Argument | None]]:
    """Yield what says on which devices a call runs: the mesh that is set, placed results, arguments."""
    mesh = call.interpreter.context.mesh
    if isinstance(mesh, MeshValue) and mesh.mesh.names:
        yield "the mesh that is set", mesh, None
    for one in held:
        yield one.subject, one.home, one
    for array, path in arrays_at(result):
        if isinstance(array, Array) and array.sharding is not None:
            yield f"result{path}" if path else "the result", array.sharding, None
