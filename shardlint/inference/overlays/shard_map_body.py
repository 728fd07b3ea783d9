"""A call of a function under `jax.shard_map`: arguments become shards, and results whole arrays."""

from __future__ import annotations

from collections.abc import Hashable

from shardlint.inference.calls import Call
from shardlint.inference.overlays.lowering import lowered
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.overlays.shard_map_arguments import named, only_specs, place_arguments, split
from shardlint.inference.overlays.shard_map_regions import (
    ANY_FUNCTION,
    Mapped,
    enter,
    written,
)
from shardlint.inference.overlays.shard_map_results import place_results
from shardlint.inference.values import Bound, Function, Partial, SpecValue, Value
from shardlint.laws.shard_map import takes_no_keywords
from shardlint.laws.values import Spec, Unknown
from shardlint.laws.verdicts import Api, Rejected


def run(call: Call, mapped: Mapped) -> Value:
    """Evaluate a call of a mapped function."""
    interpreter = call.interpreter
    verdict = takes_no_keywords(mapped.title, call.kwargs)
    if isinstance(verdict, Rejected):
        record_of_value(interpreter, mapped.name, verdict, call.place, *_texts(call, mapped))
        return Unknown("JAX rejects this call")
    region = enter(call, mapped)
    if region is None:
        return Unknown("JAX rejects this call")
    # Specs of shard_map are bare and belong to its mesh.
    with interpreter.within(mesh=region.judging):
        if not all(
            [
                only_specs(call, Api.SHARD_MAP_IN, mapped.in_specs, mapped),
                only_specs(call, Api.SHARD_MAP_OUT, mapped.options.get("out_specs"), mapped),
            ]
        ):
            return Unknown("JAX rejects this call")
        shards = named(place_arguments(call, mapped, region), interpreter.parameter_names(mapped.function))

    def evaluate() -> Value:
        bound = region.bound(interpreter.context.bound_axes)
        inner = {"mesh": region.inside, "bound_axes": bound, "check_vma": region.checked, "in_jit": True}
        body = _code(mapped.function) if interpreter.settings.editing else None
        with interpreter.within(**inner, body=body, shards=tuple(split(list(call.args), shards))):
            result = interpreter.call(mapped.function, shards, {}, call.place, call.opaque)
        with interpreter.within(mesh=region.judging):
            return place_results(call, mapped, region, result)

    return lowered(interpreter, evaluate)


def _code(function: Value) -> Hashable:
    """The key of the code of the program's function that a body is, None where it is another."""
    while isinstance(function, Partial | Bound):
        function = function.function
    return function.code.key if isinstance(function, Function) else None


def _texts(call: Call, mapped: Mapped) -> tuple[str | None, str | None]:
    """A mapped function in Python that is called with a keyword, and one by position."""
    whole, given = SpecValue(Spec()), {"mesh": mapped.options.get("mesh")}
    made = written("jax.shard_map", [ANY_FUNCTION], {**given, "in_specs": whole, "out_specs": whole})
    if made is None:
        return None, None
    return f"{made}(**{{{next(iter(call.kwargs))!r}: np.float32(1)}})", f"{made}(np.float32(1))"
