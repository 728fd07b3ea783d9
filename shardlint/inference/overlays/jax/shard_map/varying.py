"""Values that vary over mesh axes: inside `jax.shard_map`, devices may hold different values.

The result of a library function varies as its operands do; collectives, loops and transforms determine it
themselves (JAX's rules are in `laws.transforms.varying`). Outside shard_map nothing varies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    Const,
    Devices,
    DictValue,
    External,
    Integer,
    LibraryObject,
    ListValue,
    MeshValue,
    SetValue,
    ShardingValue,
    Slice,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.context import Context
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.arrays.dtypes import is_inexact
from shardlint.inference.overlays.jax.operations import OPERATIONS, operation_of, reads_values
from shardlint.inference.overlays.jax.relevance import relevant
from shardlint.inference.overlays.jax.transforms.taint import is_following, unmarked, with_captured_marked
from shardlint.inference.overlays.operations import Dependence
from shardlint.inference.overlays.optax import losses
from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import AxisType
from shardlint.laws.transforms.traits import NO_TRAITS, Trait
from shardlint.laws.transforms.varying import CONSTANT, NO_AXES, UNKNOWN, Variation, combined

#: Functions that compute from the values of their operands, without calling functions of the program.
COMPUTE = frozenset((*OPERATIONS, *losses.TABLE))


def computes(name: str) -> bool:
    """Return whether a library's function computes from its arguments' values, without functions of the
    program."""
    return name in COMPUTE


def finish_call(call: Call, result: Value) -> Value:
    """Return the result of a call of a library's function or a transformed function, with its variation."""
    if not call.interpreter.context.bound_axes:
        return _settled(result)
    return spread(call, result) if computes(call.name) else result


def spread(call: Call, result: Value) -> Value:
    """Return the result of a call with the variation of its operands."""
    operands = relevant(call.interpreter, call.name, (*call.args, *call.kwargs.values()))
    operation = operation_of(call.name)
    depends_on = Dependence.ALL if operation is None else operation.depends_on
    sure = depends_on is Dependence.ALL or (depends_on is Dependence.ONE and len(operands) == 1)
    if is_following(call.interpreter.context):
        reads = reads_values(call.name) or call.name in losses.TABLE
        sure = sure and reads and not _is_empty(result)
    return computed(call.interpreter, result, operands, sure)


def _is_empty(result: Value) -> bool:
    """Return whether a result has no elements, so that JAX reads no value for it."""
    return isinstance(result, Array) and result.shape is not None and 0 in result.shape


def computed(
    interpreter: Evaluator,
    result: Value,
    operands: Iterable[Value],
    sure: bool = True,
    operator: bool = False,
) -> Value:
    """Return the result with arrays that vary as their operands do.

    One of several results may depend on one of the arrays only; or on none, unless ``sure``. Functions that
    look up or choose elements leave out empty arrays, an ``operator`` does not (JAX 0.10.2).
    """
    context = interpreter.context
    if not context.bound_axes:
        return _settled(result)
    values = with_captured_marked(context, operands)
    parts = [variation for value in values for variation in variations(value)]
    # A result depends on an operand also where its value is the same for each.
    follows = is_following(context)
    made = combined(parts, checked=follows or context.check_vma is True)
    if not sure or (follows and not operator and any(map(_may_be_empty, values))):
        made = Variation(NO_AXES, made.perhaps, made.equal)
    elif not isinstance(result, Array):
        arrays = [variation_of(value).surely for value in values if _holds_array(value)]
        surely = frozenset.intersection(*arrays) if arrays else NO_AXES
        made = Variation(surely, made.perhaps, made.equal, made.traits if len(arrays) == 1 else NO_TRAITS)
    result = vary(result, made)
    if context.deriving:
        result = _change(result, _differentiable)
    if isinstance(result, Array) and result.traits and result.drawn_at is None:
        at = next((v.drawn_at for v in values if isinstance(v, Array) and v.drawn_at is not None), None)
        return result if at is None else replace(result, drawn_at=at)
    return result


def _differentiable(array: Array) -> Array:
    """Return an array without the mark, if it holds no numbers of which JAX takes derivatives."""
    return array if is_inexact(array.dtype) else array.vary(unmarked(array.variation))


def _may_be_empty(value: Value) -> bool:
    """Return whether an array may have no elements."""
    return isinstance(value, Array) and (
        value.shape is None or any(equal(n, 0) is not False for n in value.shape)
    )


def vary(tree: Value, variation: Variation) -> Value:
    """Return the tree with this variation of all its arrays."""
    return _change(tree, lambda array: array.vary(variation))


def variation_of(value: Value) -> Variation:
    """Return the variation of a leaf, or that of all leaves of a tree together."""
    if isinstance(value, Array):
        return value.variation if not value.numpy else _counted(value) if value.traits else CONSTANT
    return combined(variations(value), checked=True)


def _counted(array: Array) -> Variation:
    """Return the variation of a numpy array: perhaps of numbers from 0, or of the first elements of one."""
    kinds = (Trait.NUMBERED, Trait.LEADING)
    return replace(CONSTANT, traits=frozenset(one for one in array.traits if one[0] in kinds))


def variations(value: Value) -> Iterator[Variation]:
    """Yield the variations of the leaves of a value."""
    match value:
        case Array():
            yield variation_of(value)
        case Const() | Integer() | External() | SpecValue() | MeshValue() | ShardingValue() | SetValue():
            yield CONSTANT
        case Devices() | LibraryObject(kind="numpy.dtype" | "numpy.finfo" | "numpy.iinfo"):
            yield CONSTANT
        case Slice():
            for part in (value.start, value.stop, value.step):
                yield from variations(part)
        case Tuple() | ListValue() if value.items is not None:
            for item in value.items:
                yield from variations(item)
        case DictValue() if value.items is not None:
            for item in value.items.values():
                yield from variations(item)
        case LibraryObject(kind="jax.Array.at"):
            yield from variations(value.fields["array"])
        case _:
            yield UNKNOWN


def _holds_array(value: Value) -> bool:
    """Return whether an operand is, or contains, an array other than sizes or dimensions."""
    if isinstance(value, Tuple | ListValue):
        return any(map(_holds_array, value.items or ()))
    return isinstance(value, Array)


def manual_axes(context: Context) -> frozenset[str] | None:
    """Return the axes that values may vary over here; None if that is unknown."""
    if not context.bound_axes:
        return frozenset()
    mesh = context.mesh.mesh if isinstance(context.mesh, MeshValue) else None
    if mesh is None:
        return context.device_axes or None
    return context.device_axes | frozenset(
        n for n, kind in zip(mesh.names, mesh.types, strict=True) if kind is AxisType.MANUAL
    )


def _settled(result: Value) -> Value:
    """Return the value outside shard_map. Lists and dicts stay the same objects."""
    if isinstance(result, Array):
        stacked = frozenset(trait for trait in result.traits if trait[0] is Trait.STACKED)
        return result if result.may_vary is not None else result.vary(replace(CONSTANT, traits=stacked))
    if isinstance(result, Tuple):
        return replace(result, items=tuple(map(_settled, result.items)))
    return result


def _change(tree: Value, change: Callable[[Array], Array]) -> Value:
    """Change the arrays in tuples, lists and dicts; other leaves are unchanged."""
    match tree:
        case Array():
            return change(tree)
        case Tuple():
            return replace(tree, items=tuple(_change(item, change) for item in tree.items))
        case ListValue() if tree.items is not None:
            return ListValue([_change(item, change) for item in tree.items], tree.origin, tree.path)
        case DictValue() if tree.items is not None:
            changed = {key: _change(item, change) for key, item in tree.items.items()}
            return DictValue(changed, tree.origin, tree.path)
    return tree
