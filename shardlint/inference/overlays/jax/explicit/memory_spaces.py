"""Arrays in the memory of the host: JAX computes with arrays of one memory alone.

What is known is the space in an array's type, and only in programs that name the memory of the host.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    Const,
    External,
    Integer,
    ListValue,
    ShardingValue,
    Tuple,
    Value,
    as_items,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.pytrees.prefixes import arrays_in, map_arrays
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.overlays.registry import names_memory
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.verdicts import Api, Rejected
from shardlint.laws.transforms.memory_spaces import DEVICE, HOST, judge_spaces, space_of
from shardlint.laws.versions.era import since

#: Functions that make one primitive of all their operands.
_TOGETHER = frozenset(f"2 {symbol}" for symbol in "+ - * / ** @ < <= > >= == !=".split()) | {
    f"jax.numpy.{name}"
    for name in (
        "add subtract multiply divide true_divide matmul dot maximum minimum less greater less_equal "
        "greater_equal equal not_equal arctan2 hypot where"
    ).split()
}
#: Functions of which the result lies where the operands do.
_STAYING = _TOGETHER | {
    *("1 -", "1 +"),
    *(f"jax.numpy.{name}" for name in "abs cos exp log negative sin sqrt square tanh".split()),
}
_SPACES = {"jax.memory.Space.Host": HOST, "jax.memory.Space.Device": DEVICE}
#: Functions after which an array lies where their sharding says.
_PUTTING = frozenset({Api.DEVICE_PUT, Api.DEVICE_PUT_IN_JIT})


def is_active() -> bool:
    """Return whether spaces are followed at all."""
    return names_memory()


def known_on_device(array: Array) -> str | None:
    """Return the space of an array that is computed from one, if that lies on the device."""
    return DEVICE if array.memory == DEVICE else None


def moved(array: Array, outside: bool) -> str | None:
    """Return the space of an array that is put on one device; inside jit it stays where it is."""
    return DEVICE if outside and is_active() else known_on_device(array)


def memory_put(api: Api, sharding: ShardingValue | None, array: Array) -> str | None:
    """Return the space of an array that is placed on a sharding, None if that is refused."""
    if not is_active() or sharding is None:
        return None
    if api in _PUTTING:
        return space_of(sharding.memory)
    # The results of a jit are moved where it returns to code outside of any other.
    if api in (Api.JIT_IN, Api.JIT_OUT):
        return array.memory
    return known_on_device(array) if sharding.memory is None else None


def returned_to(array: Array) -> str | None:
    """Return the space of a result of a jit outside of any other."""
    known = is_active() and array.sharding is not None
    return space_of(array.sharding.memory) if known and array.sharding is not None else array.memory


def put_in_space(call: Call, tree: Value, target: Value) -> Value | None:
    """Return what ``device_put(tree, jax.memory.Space.Host)`` returns; None for another target."""
    space = _SPACES.get(target.name) if isinstance(target, External) else None
    if space is None:
        return None
    known = space if _stays(call) or space == DEVICE else None
    return map_arrays(tree, lambda array, _: replace(array, memory=known))


def refuse_spaces(call: Call, name: str, function: str) -> bool:
    """Record an operation on arrays in different spaces; return whether JAX rejects it."""
    if not is_active() or name not in _TOGETHER or call.place is None or not _is_plain(call):
        return False
    return _refuse(call, function, [_space(array) for array in _operands(call) if array.shape != ()])


def refuse_trees(call: Call, function: str, one: Value, other: Value) -> bool:
    """Record a combination of two trees of parameters, gradients or states where arrays of a shape all lie in
    one space in the one, and in another in the other; return whether JAX rejects it.

    A transformation of gradients adds what it holds of a parameter's shape to its gradient, or multiplies
    both.
    """
    if not is_active() or not _is_plain(call):
        return False
    first, second = _spaces_by_shape(one), _spaces_by_shape(other)
    return any(
        len(first[shape]) == len(second[shape]) == 1
        and _refuse(call, function, [*first[shape], *second[shape]])
        for shape in first.keys() & second.keys()
    )


def _spaces_by_shape(tree: Value) -> dict[Shape, set[str | None]]:
    found: dict[Shape, set[str | None]] = {}
    for array in arrays_in(tree):
        if array.shape:
            found.setdefault(array.shape, set()).add(_space(array))
    return found


def _refuse(call: Call, function: str, spaces: Sequence[str | None]) -> bool:
    verdict = judge_spaces(spaces)
    if isinstance(verdict, Rejected):
        record_of_value(call.interpreter, f"memory of {function}", verdict, call.place)
    return isinstance(verdict, Rejected)


def in_space(call: Call, name: str, result: Value) -> Value:
    """Return the result of an operation with the space in which it certainly lies."""
    if not is_active() or not isinstance(result, Array | Tuple | ListValue):
        return result
    operands = list(_operands(call))
    spaces = {_space(array) for array in operands if array.shape != ()}
    known = None
    if spaces <= {DEVICE} and not _has_unknown(call) and all(_space(one) == DEVICE for one in operands):
        known = DEVICE
    elif spaces == {HOST} and name in _STAYING and _is_plain(call) and _stays(call):
        known = HOST
    return result if known is None else _with_space(result, known)


def _stays(call: Call) -> bool:
    """Return whether what is computed on the host lies there: its type says so, but outside of jit older
    releases give it back on the device."""
    return call.interpreter.context.in_jit is True or since("0.10.2")


def _with_space(result: Value, space: str) -> Value:
    if isinstance(result, Array):
        return result if result.numpy or result.memory == space else replace(result, memory=space)
    if isinstance(result, Tuple):
        return replace(result, items=tuple(_with_space(item, space) for item in result.items))
    return result


def _is_plain(call: Call) -> bool:
    """Return whether neither a shard_map nor a vmap is around."""
    context = call.interpreter.context
    return context.bound_axes == () and not context.mapped


def _operands(call: Call) -> Iterator[Array]:
    for value in (*call.args, *call.kwargs.values()):
        items = as_items(value)
        for one in (value,) if items is None else items:
            if isinstance(one, Array):
                yield one


def _has_unknown(call: Call) -> bool:
    """Return whether something is passed that may be, or hold, an array of which nothing is known."""
    known = Array | Const | Integer | External | ShardingValue
    for value in (*call.args, *call.kwargs.values()):
        items = as_items(value)
        if not all(isinstance(one, known) for one in ((value,) if items is None else items)):
            return True
    return call.opaque


def _space(array: Array) -> str | None:
    """Return the space of an operand: numpy's arrays go to the device."""
    if array.shape is None:
        return None
    return DEVICE if array.numpy else array.memory
