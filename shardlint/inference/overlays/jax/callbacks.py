"""Callbacks: functions that run on the host, and get whole arrays.

A compiled function runs on all devices, but calls the host from one of them: the compiler gathers what it is
given (`jax.pure_callback`, `io_callback`, `jax.debug`; JAX 0.6.2 to 0.12.0.1).
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.inference.domain.havoc import lose_code
from shardlint.inference.domain.values import Const, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.explicit.gathered_operands import note_gathered_by_host
from shardlint.inference.overlays.jax.transforms.jit_devices import note_ordered
from shardlint.inference.overlays.pytrees.prefixes import arrays_in, untyped
from shardlint.inference.overlays.registry import Transfer


def _note(call: Call, given: Iterable[Value], *, small: bool = True) -> None:
    lose_code(*call.args, *call.kwargs.values())
    for array in (array for value in given for array in arrays_in(value)):
        note_gathered_by_host(call, array, small=small)


def _callback(call: Call) -> Value:
    """``pure_callback(callback, result_shape_dtypes, *args, sharding=, vmap_method=, **kwargs)``."""
    result = call.argument(1, "result_shape_dtypes")
    options = call.kwargs.keys() & {"sharding", "vmap_method", "ordered", "result_shape_dtypes", "callback"}
    _note(call, [*call.args[2:], *(value for key, value in call.kwargs.items() if key not in options)])
    return call.unknown("a callback without a result") if result is None else untyped(result)


def _debug(call: Call) -> Value:
    """``jax.debug.callback(callback, *args, ordered=, partitioned=, **kwargs)`` and ``jax.debug.print``."""
    options = call.kwargs.keys() & {"ordered", "partitioned"}
    note_ordered(call)
    if "partitioned" in options:
        return Const(None)
    given = [*call.args[1:], *(value for key, value in call.kwargs.items() if key not in options)]
    _note(call, given, small=False)
    return Const(None)


TABLE: dict[str, Transfer] = {
    "jax.pure_callback": _callback,
    "jax.experimental.io_callback": _callback,
    "jax.debug.callback": _debug,
    "jax.debug.print": _debug,
}
