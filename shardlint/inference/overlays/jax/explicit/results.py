"""The end of a library call: the shardings in the types of its results.

Without Explicit axes, JAX applies no law (`lax.utils.call_sharding_rule`): results are replicated, as far as
types record it. Otherwise the results of a function without a rule have unknown types.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from shardlint.inference.domain.values import (
    Array,
    Const,
    Devices,
    DictValue,
    LibraryObject,
    ListValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_items,
)
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.arrays.operands import Stop, given
from shardlint.inference.overlays.jax.explicit.captured_arrays import reading
from shardlint.inference.overlays.jax.explicit.device_lists import (
    is_apart_from_type,
    is_put,
    lying_on,
    met_on,
    runs_eagerly,
)
from shardlint.inference.overlays.jax.explicit.memory_spaces import in_space, refuse_spaces
from shardlint.inference.overlays.jax.explicit.primitives import Open, Refused, Trace
from shardlint.inference.overlays.jax.explicit.recording import (
    Written,
    as_function,
    as_index,
    as_method,
    as_operator,
    as_update,
    record_operation,
    record_result,
    refuse_no_sharding,
    short_name,
)
from shardlint.inference.overlays.jax.explicit.type_conversion import (
    context_of,
    has_explicit,
    replicated,
    type_of,
)
from shardlint.inference.overlays.jax.layouts.operands_apart import note_updated
from shardlint.inference.overlays.jax.operations import SYNTAX, operation_of, rule_of
from shardlint.inference.overlays.jax.shard_map.operations import note_impossible
from shardlint.inference.overlays.jax.shard_map.varying import computes
from shardlint.inference.overlays.jax.sharding.creation_apis import PLACED
from shardlint.inference.overlays.jax.sharding.movement import (
    computed_in_force,
    lying_alike,
    lying_whole,
    updated,
)
from shardlint.inference.overlays.jax.transforms.given_away import uses_gone
from shardlint.inference.overlays.operations import Dependence
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.array_types import ArrayType, TypeSharding
from shardlint.laws.core.values import Mesh, Spec, Unknown
from shardlint.laws.propagation.forbidden_collectives import forbidding
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import replace

#: Methods that take a shape or axes as one argument or as several.
_STARRED = frozenset({"reshape", "transpose"})
#: Arguments that determine the result's sharding.
_SHARDINGS = ("out_sharding", "device", "sharding")
#: The sharding in the type of a result's array, by its number among the result's arrays.
ShardingOf = Callable[[int, Array], "TypeSharding | None"]


def finish_call(call: Call, result: Value) -> Value:
    """Finish a call of a library's function, by its canonical name, that computes from its arguments."""
    if not computes(call.name):
        return result
    return _finish(call, call.name, result, short_name(call.name), as_function(call.name))


def finish_method(call: Call, result: Value) -> Value:
    """Finish a call of an array's method; the array is its first argument."""
    receiver = call.args[0]
    if isinstance(receiver, Array) and receiver.numpy:
        return result
    name = call.name.rpartition(".")[2]
    if name in _STARRED and len(call.args) > 2:
        call = replace(call, args=(receiver, Tuple(tuple(call.args[1:]))))
    return _finish(call, f"jax.Array.{name}", result, name, as_method(name))


def finish_attribute(interpreter: Evaluator, array: Array, name: str, result: Value) -> Value:
    """Finish ``x.T`` and its relatives, which are never refused."""
    if array.numpy or not isinstance(result, Array):
        return result
    call = Call(interpreter, name, [array], {}, None)  # type: ignore[arg-type]
    return _finish(call, f"jax.Array.{name}", result, name, as_index)


def finish_update(call: Call, array: Array, key: Value, result: Value) -> Value:
    """Finish ``x.at[key].set(y)`` and its relatives."""
    name = call.name.rpartition(".")[2]
    whole = replace(call, args=[array, key, *call.args])
    found = _finish(whole, f"at[].{name}", result, f"`.at[...].{name}`", as_update(name))
    if not call.args:
        return found
    note_updated(call, array, key, call.args[0])
    return updated(call.interpreter, array, found, call.args[0], call.place)


def finish_operator(
    interpreter: Evaluator, symbol: str, operands: Sequence[Value], result: Value, place: Place | None
) -> Value:
    """Finish an operator where at least one operand is an array."""
    if all(not isinstance(x, Array) or x.numpy for x in operands):
        return result
    # Compared with None, or a text, an array answers without computing.
    numbers = all(
        isinstance(one, Array) or (isinstance(one, Const) and isinstance(one.value, int | float))
        for one in operands
    )
    eager = numbers and runs_eagerly(interpreter) and place is not None
    if eager and any(is_apart_from_type(interpreter, one, place) for one in operands):  # type: ignore[arg-type]
        return Unknown("JAX rejects these operands")
    call = Call(interpreter, symbol, operands, {}, place)  # type: ignore[arg-type]
    found = _finish(call, f"{len(operands)} {symbol}", result, f"`{symbol}`", as_operator(symbol))
    if not runs_eagerly(interpreter):
        return found
    found = lying_alike(found, operands) if symbol != "@" else found
    return computed_in_force(interpreter, found, operands) if len(operands) > 1 else found


def finish_index(interpreter: Evaluator, array: Array, key: Value, result: Value, place: Place) -> Value:
    """Finish ``array[key]``."""
    if array.numpy:
        return result
    return _finish(Call(interpreter, "[]", [array, key], {}, place), "[]", result, "`x[...]`", as_index)


def _finish(call: Call, name: str, result: Value, function: str, written: Written) -> Value:
    if name in SYNTAX and uses_gone(call, name):
        return Unknown("JAX has deleted an operand")
    if refuse_no_sharding(call, name):
        return Unknown("JAX rejects this out_sharding")
    is_requested = given(call.kwargs.get("out_sharding")) and call.place is not None
    placed = _is_given_sharding(call)
    if isinstance(result, Unknown):
        if is_requested:
            record_result(call, function, None, result)
        return note_impossible(call, function, result, written)
    if given(call.kwargs.get("device")) or (name in PLACED and given(call.kwargs.get("out_sharding"))):
        return result
    home: Devices | bool = True
    meets = call.interpreter.context.in_jit is False and any(map(is_put, call.args))
    if meets:
        home = _home(call, name, function)
    if home is False:
        return Unknown("JAX rejects these operands")
    if refuse_spaces(call, name, function):
        return Unknown("JAX rejects these operands")
    result = in_space(call, name, _typed(call, name, result, function, written, placed, is_requested))
    if meets and runs_eagerly(call.interpreter):
        result = lying_whole(result, (*call.args, *call.kwargs.values()))
    if home is not True:
        return lying_on(result, home)
    return reading(call.interpreter, name, (*call.args, *call.kwargs.values()), result, call.place)


def _home(call: Call, name: str, function: str) -> Devices | bool:
    """Return the devices on which an operation outside of jit is computed (see `met_on`)."""
    operation = operation_of(name)
    follows = name in SYNTAX or (operation is not None and operation.depends_on is Dependence.ALL)
    if not follows or not runs_eagerly(call.interpreter):
        return True
    operands: Sequence[Value] = (*call.args, *call.kwargs.values())
    if name == "[]" or name.startswith("at[]"):
        array, key, *rest = operands
        operands = (array, *filter(_is_read_on_device, as_items(key) or (key,)), *rest)
    # Of `zeros_like(x)` only the shape is read.
    reads = (operation is None or operation.reads_values is True) and call.place is not None
    return met_on(call.interpreter, function.strip("`"), operands, call.place, reads)


def _is_read_on_device(index: Value) -> bool:
    """Return whether JAX certainly indexes with an array where it lies; masks it reads first."""
    return isinstance(index, Array) and index.dtype not in (None, "bool")


def _typed(
    call: Call,
    name: str,
    result: Value,
    function: str,
    written: Written,
    placed: bool,
    is_requested: bool,
) -> Value:
    """Return the result with the shardings in the types of its arrays."""
    context = context_of(call.interpreter)
    kinds = list(_types((*call.args, *call.kwargs.values())))
    if not _concerned(context, kinds) and not placed:
        return _over_arrays(result, _plain(context, kinds))
    rule = rule_of(name)
    results = list(_arrays(result))
    trace = Trace(
        context,
        results,
        eager=call.interpreter.context.in_jit is not True,
    )
    found: Sequence[ArrayType | None]
    try:
        with forbidding(call.interpreter.context.forbidden):
            types = rule(trace, call) if rule is not None else ()
        found = [types] if isinstance(types, ArrayType) else list(types)
    except Refused as refused:
        if call.place is not None:
            args, kwargs = call.args, call.kwargs
            verdict, concrete = refused.verdict, refused.concrete
            record_operation(
                call.interpreter, call.place, verdict, function, args, kwargs, written, concrete=concrete
            )
        return Unknown(f"rejected by {function}: {refused.verdict.cause}")
    except (Open, Stop, CannotBind):
        found = ()
    if is_requested:
        unknown = Unknown("the sharding of an operand is not known")
        reason = unknown if isinstance(context, Mesh) else context
        shaped = next((ArrayType(array.shape) for array in results), None)
        record_result(call, function, next(iter(found), None) or shaped, reason)
    if placed and (len(found) != len(results) or not trace.read_sharding):
        # Without a rule the sharding is unknown: the operands do not determine it.
        found = [None] * len(results)
    elif len(found) != len(results):
        found = [_as_replicated(context, kinds, array) for array in results]
    elif isinstance(context, Mesh) and any(isinstance(x, Array) and x.numpy for x in call.args):
        # Some functions put a numpy array on the context's mesh, others do not.
        found = [None if _is_meshless(kind) else kind for kind in found]
    return _over_arrays(result, lambda i, array: _grafted(found[i], array))


def finish_told(call: Call, result: Value) -> Value:
    """Finish a call about which JAX was asked: on Explicit axes its arrays have the types that were told."""
    context = context_of(call.interpreter)
    kinds = list(_types((*call.args, *call.kwargs.values())))
    return result if _concerned(context, kinds) else _over_arrays(result, _plain(context, kinds))


def _is_given_sharding(call: Call) -> bool:
    """Return whether a call has an argument for its result's sharding."""
    by_position = any(isinstance(value, SpecValue | ShardingValue) for value in call.args)
    return by_position or any(given(call.kwargs.get(name)) for name in _SHARDINGS)


def _as_replicated(
    context: Mesh | Unknown | None, kinds: Sequence[ArrayType], array: Array
) -> ArrayType | None:
    """Return the type of a result whose operands are all replicated: it is replicated, too.

    Of operands without a mesh it is unknown whether the result has one.
    """
    meshes = {kind.sharding.mesh for kind in kinds if kind.sharding is not None} - {None}
    mesh = next(iter(meshes), context)
    plain = (kind.sharding is not None and _is_plain(kind.sharding.spec) for kind in kinds)
    if isinstance(mesh, Unknown) or len(meshes) > 1 or not all(plain) or array.shape is None:
        return None
    if not meshes and kinds and mesh is not None:
        return None
    return ArrayType(array.shape, None, replicated(mesh, array.shape))


def _is_meshless(kind: ArrayType | None) -> bool:
    return kind is not None and kind.sharding is not None and kind.sharding.mesh is None


def _is_plain(spec: Spec) -> bool:
    return not (any(spec.entries) or spec.unreduced or spec.reduced)


def _arrays(value: Value) -> Iterator[Array]:
    """Yield JAX's arrays in a result, in order."""
    if isinstance(value, Array) and not value.numpy:
        yield value
    for item in as_items(value) or ():
        yield from _arrays(item)


def _concerned(context: Mesh | Unknown | None, kinds: Sequence[ArrayType]) -> bool:
    """Return whether some axis of the context's mesh or of an operand's is known to be Explicit."""
    meshes = [context, *(kind.sharding.mesh for kind in kinds if kind.sharding is not None)]
    return any(isinstance(mesh, Mesh) and has_explicit(mesh) for mesh in meshes)


def _types(values: Sequence[Value]) -> Iterator[ArrayType]:
    """Yield the types of the arrays among values and in their containers."""
    for value in values:
        if isinstance(value, (Tuple, ListValue)):
            yield from _types(tuple(value.items or ()))
        elif isinstance(value, DictValue):
            yield from _types(tuple((value.items or {}).values()))
        elif isinstance(value, LibraryObject):
            yield from _types([v for v in value.fields.values() if isinstance(v, Array)])
        elif isinstance(value, Unknown):
            yield ArrayType(None)
        elif isinstance(value, Array) and (kind := type_of(value)) is not None:
            yield kind


def _plain(context: Mesh | Unknown | None, kinds: Sequence[ArrayType]) -> ShardingOf:
    """Return the shardings of results without Explicit axes: replicated over the operands' mesh, or else the
    context's."""
    meshes = {kind.sharding.mesh for kind in kinds if kind.sharding is not None} - {None}
    mesh = next(iter(meshes), context)
    if isinstance(mesh, Unknown) or len(meshes) > 1 or any(kind.sharding is None for kind in kinds):
        return lambda i, array: None
    if not meshes and kinds and mesh is not None:
        return lambda i, array: None
    return lambda i, array: None if array.shape is None else replicated(mesh, array.shape)


def _grafted(kind: ArrayType | None, array: Array) -> TypeSharding | None:
    """Return the sharding of an array in the type from a rule, if both have the same rank."""
    if kind is None or kind.shape is None or array.shape is None or len(kind.shape) != len(array.shape):
        return None
    return kind.sharding


def _over_arrays(result: Value, sharding_of: ShardingOf) -> Value:
    """Return the result with a sharding in the type of each of JAX's arrays, numbered in order."""
    numbers = itertools.count()

    def change(value: Value) -> Value:
        if isinstance(value, Array):
            typed = value.typed if value.numpy else sharding_of(next(numbers), value)
            return value if typed == value.typed else replace(value, typed=typed)
        if isinstance(value, Tuple):
            return replace(value, items=tuple(map(change, value.items)))
        if isinstance(value, ListValue) and value.items is not None:
            changing(value)
            value.items[:] = map(change, value.items)
        return value

    return change(result)
