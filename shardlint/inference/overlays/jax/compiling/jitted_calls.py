"""Calls of jitted functions in loops, for each of which JAX compiles: the functions are others, or what is
static is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from shardlint.inference.domain.values import Bound, Function, Native, Partial, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.compiling.static_arguments import note_static
from shardlint.inference.overlays.recording import record_call
from shardlint.laws.core.verdicts import Accepted

#: The event that a function is compiled in each call.
COMPILED_ANEW = "jax.jit(compiled in each call)"
#: Transforms that return another function each time, by which JAX finds nothing that it compiled before.
_NEW_EACH_TIME = ("shard_map(", "jax.vmap(", "jax.grad(", "jax.value_and_grad(")


def note_compilations(
    made: Call,
    called: Call,
    function: Value,
    name: str,
    static: tuple[AbstractSet[int], AbstractSet[str]] | None,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
) -> None:
    """Record a call of the result of `jax.jit`, ``made`` with these ``static`` positions and names, that
    compiles in each pass of a loop. The function gets ``args`` and ``kwargs``."""
    _note_other_function(made, function, name)
    if static is None or not any(static):
        return
    given: dict[int | str, Value] = {at: arg for at, arg in enumerate(args) if at in static[0]}
    given |= {key: arg for key, arg in kwargs.items() if key in static[1]}

    def evaluate(key: int | str, value: Value) -> Value:
        positional = [value if at == key else arg for at, arg in enumerate(args)]
        named = {at: value if at == key else arg for at, arg in kwargs.items()}
        return called.interpreter.call(function, positional, named, called.place)

    option = made.kwargs.get("static_argnums") or made.kwargs.get("static_argnames")
    note_static(called, name, option, given, evaluate)


def _note_other_function(call: Call, function: Value, name: str) -> None:
    """Record a jitted function that is another one each time that the code around it runs, so that each call
    compiles (JAX finds what it compiled by the function's identity, 0.10.2 and 0.12.0.1)."""
    derived = isinstance(function, Native) and function.description.startswith(_NEW_EACH_TIME)
    if call.place is None or not (derived or isinstance(function, Function | Bound | Partial)):
        return
    if call.interpreter.jits_anew(call.place, function):
        silent = f"`{name}` is another function each time that this runs in a loop"
        record_call(call, Accepted(), function=COMPILED_ANEW, silent=silent)
