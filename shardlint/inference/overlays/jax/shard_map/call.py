"""A call of a function under `jax.shard_map`: arguments become shards, and results whole arrays."""

from __future__ import annotations

from collections.abc import Hashable

from shardlint.inference.domain.values import Bound, Function, Partial, SpecValue, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.shard_map.arguments import named, only_specs, place_arguments, split
from shardlint.inference.overlays.jax.shard_map.part_operations import settled
from shardlint.inference.overlays.jax.shard_map.regions import (
    Mapped,
    enter,
    mapping,
    orders_in,
)
from shardlint.inference.overlays.jax.shard_map.results import place_results
from shardlint.inference.overlays.jax.transforms.lowering import lowered
from shardlint.inference.overlays.jax.transforms.spmd_axis_name import note_specs
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.store.identity_set import Once
from shardlint.laws.core.values import Spec, Unknown
from shardlint.laws.core.verdicts import Api, Rejected
from shardlint.laws.core.witness_data import Known, apply_data, array_data
from shardlint.laws.transforms.shard_map import takes_no_keywords


def run(call: Call, mapped: Mapped) -> Value:
    """Evaluate a call of a mapped function."""
    interpreter = call.interpreter
    verdict = takes_no_keywords(mapped.title, call.kwargs)
    if isinstance(verdict, Rejected):
        record_of_value(interpreter, mapped.name, verdict, call.place, *_calls(call, mapped))
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
        note_specs(call, mapped.in_specs, mapped.options.get("out_specs"))
        shards = named(place_arguments(call, mapped, region), interpreter.parameter_names(mapped.function))

    def evaluate() -> Value:
        bound = region.bound(interpreter.context.bound_axes)
        inner = {"mesh": region.inside, "bound_axes": bound, "check_vma": region.checked, "in_jit": True}
        body = _code(mapped.function) if interpreter.settings.editing else None
        held = {"shards": tuple(split(list(call.args), shards)), "orders": orders_in(mapped)}
        outer, interpreter.uses = interpreter.uses, Once()
        placed: Value = Unknown("JAX may reject this call")
        try:
            with interpreter.within(**inner, **held, body=body):
                result = interpreter.call(mapped.function, shards, {}, call.place, call.opaque)
            with interpreter.within(mesh=region.judging):
                placed = place_results(call, mapped, region, result)
        finally:
            uses, interpreter.uses = interpreter.uses, outer
            outer.extend(settled(uses, known=not isinstance(placed, Unknown)))
        return placed

    return lowered(interpreter, evaluate)


def _code(function: Value) -> Hashable:
    """Return the key of the code of a body that is a function of the program; None for others."""
    while isinstance(function, Partial | Bound):
        function = function.function
    return function.code.key if isinstance(function, Function) else None


def _calls(call: Call, mapped: Mapped) -> tuple[Known, Known]:
    """Return a call of a mapped function with a keyword, and one with a positional argument."""
    mesh = mapped.options.get("mesh")
    whole: dict[str, Value | None] = {
        "mesh": mesh,
        "in_specs": SpecValue(Spec()),
        "out_specs": SpecValue(Spec()),
    }
    made, one = mapping(whole), array_data(())
    return apply_data(made, (), {next(iter(call.kwargs)): one}), apply_data(made, (one,))
