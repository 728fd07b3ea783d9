"""Values that vary over mesh axes: inside `jax.shard_map` each device may hold another one.

JAX's types say over which Manual axes a value varies (`core.ShapedArray.vma`): a shard varies over the
axes of its spec, an operation's result over those of all its operands (`core.standard_vma_rule`), and a
reduction no longer over the axes it reduces. `Array.varying` holds axes that a value varies over for sure;
what is not followed loses them, so that nothing false is said.
"""

from __future__ import annotations

from collections.abc import Iterable

from shardlint.inference.calls import Call
from shardlint.inference.overlays import jax_control, jax_lax, jax_nn, jax_numpy, jax_random, optax_losses
from shardlint.inference.overlays.prefixes import map_arrays
from shardlint.inference.values import Array, DictValue, LibraryObject, ListValue, Tuple, Value

#: Functions that compute with the values of their operands, not through functions of the program.
_COMPUTE = frozenset(
    name for module in (jax_numpy, jax_lax, jax_nn, jax_random, optax_losses) for name in module.TABLE
) - frozenset(jax_control.TABLE)


def computes(name: str) -> bool:
    """Whether a library function's result varies over every axis that its operands vary over."""
    return name in _COMPUTE


def axes_of(values: Iterable[Value]) -> frozenset[str]:
    """The axes that some array among values, or in their containers, varies over."""
    found: frozenset[str] = frozenset()
    for value in values:
        if isinstance(value, Array):
            found |= value.varying
        elif isinstance(value, Tuple | ListValue):
            found |= axes_of(value.items or ())
        elif isinstance(value, DictValue):
            found |= axes_of((value.items or {}).values())
        elif isinstance(value, LibraryObject):
            found |= axes_of([v for v in value.fields.values() if isinstance(v, Array)])
    return found


def spread(call: Call, result: Value) -> Value:
    """What a call returns, varying over the axes of its operands."""
    return over(result, axes_of((*call.args, *call.kwargs.values())))


def over(value: Value, axes: frozenset[str], less: frozenset[str] = frozenset()) -> Value:
    """The same value, its arrays varying over ``axes`` too, and not over ``less``."""
    if not axes and not less:
        return value

    def vary(array: Array, _: str) -> Value:
        return array.vary((array.varying | axes) - less)

    return map_arrays(value, vary)
