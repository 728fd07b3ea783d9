"""Operands on Auto axes that XLA gathers on each device, for functions that do not work on their parts."""

from __future__ import annotations

from shardlint.inference.domain.values import Array, ShardingValue
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.inference.overlays.arrays.operands import Stop
from shardlint.inference.overlays.jax.explicit.recording import short_name
from shardlint.inference.overlays.jax.operations import operation_of
from shardlint.inference.overlays.jax.sharding.movement import layout, note_gathered, split_by


def note_operand(call: Call, name: str) -> None:
    """Record the first operand of a call if it is certainly split along a dimension for which XLA gathers it.

    Inside jit an array lies as it is laid out there, outside where it is committed to.
    """
    operation = operation_of(name)
    array = next(iter(call.arguments.values()), None)
    if operation is None or operation.gathered is None or not isinstance(array, Array) or not array.shape:
        return
    context = call.interpreter.context
    home = array.laid if context.in_jit is True else array.committed
    known = layout(home) if isinstance(home, ShardingValue) else None
    split = frozenset() if known is None or context.mapped else split_by(*known)
    if known is None or not split:
        return
    try:
        found = operation.gathered(call, array, split)
    except (Stop, CannotBind):
        return
    if found:
        subject = f"`{array.name}`" if array.name else "the operand"
        note_gathered(call.interpreter, array, known, found, short_name(name), call.place, subject)
