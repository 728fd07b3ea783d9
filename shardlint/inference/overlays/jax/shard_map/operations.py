"""Operations in a body of `jax.shard_map` that JAX rejects for the shapes of shards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from shardlint.inference.domain.values import Array, DictValue, ListValue, Tuple, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.context import Shard
from shardlint.inference.overlays.arrays.operands import Impossible
from shardlint.inference.overlays.jax.sharding.placement_check import inside_shard_map, shape_text
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.witness_data import Known, array_data
from shardlint.laws.transforms.shard_map import impossible
from shardlint.model.uses import CallUse, Fact

#: Returns the call of an operation as data; None if a value in it is unknown.
Written = Callable[[Sequence[Value], dict[str, Value]], Known]


def note_impossible(call: Call, function: str, result: Unknown, written: Written) -> Unknown:
    """Record an operation that fails in a body, where arrays have the shapes of shards.

    ``function`` is its name for users. Elsewhere, shapes that do not fit are no mistake about sharding.
    """
    if not isinstance(result, Impossible) or call.place is None or not inside_shard_map(call.interpreter):
        return result
    operands = [array for array in _arrays((*call.args, *call.kwargs.values())) if array.shape is not None]
    if not operands:
        return result
    pairs = [(a, s) for a in operands for s in call.interpreter.context.shards if _is_shard(a, s)]
    pairs.sort(key=lambda pair: pair[1].shape == pair[1].whole)
    array, shard = pairs[0] if pairs else (operands[0], None)
    named = f"`{array.name}`" if array.name else "an operand"
    local = shape_text(array.shape or ())
    whole = None if shard is None else shape_text(shard.whole)
    data = written(call.args, call.kwargs)
    facts = (
        () if array.origin is None else (Fact(f"{named} has the shape {local} on each device", array.origin),)
    )
    call.interpreter.record(
        CallUse(
            place=call.place,
            environment=call.interpreter.environment(),
            verdict=impossible(function, result.problem, named, local, whole),
            facts=facts,
            function=function,
            call=data,
            repaired=None if data is None else array_data((), numpy=False),
        )
    )
    return result


def _is_shard(array: Array, shard: Shard) -> bool:
    """Return whether an operand is a shard of this argument of the body."""
    return array.name is not None and (array.name, array.shape) == (shard.name, shard.shape)


def _arrays(values: Iterable[Value]) -> Iterable[Array]:
    for value in values:
        if isinstance(value, Array):
            yield value
        elif isinstance(value, Tuple | ListValue):
            yield from _arrays(value.items or ())
        elif isinstance(value, DictValue):
            yield from _arrays((value.items or {}).values())
