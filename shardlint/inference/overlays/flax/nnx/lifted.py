"""nnx's transforms over objects: `nnx.vmap` and `nnx.scan`.

From `flax.nnx.transforms.iteration` and `flax.nnx.spmd` 0.12.8. A stacked variable has a new axis; its names
get an entry only if ``transform_metadata`` has a name for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from shardlint.inference.domain.iteration import constant
from shardlint.inference.domain.values import (
    NONE,
    Array,
    Const,
    DictValue,
    External,
    Instance,
    LibraryObject,
    ListValue,
    Native,
    Tuple,
    Value,
    as_dim,
    as_int,
    as_items,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.flax.common.metadata import Names, entry_of, names_of
from shardlint.inference.overlays.flax.common.variable_axes import Sizes, names_with, slice_of, stacked_array
from shardlint.inference.overlays.flax.linen.lifted import PARTITION_NAME
from shardlint.inference.overlays.flax.logical.uses import Setting, record_mistake
from shardlint.inference.overlays.flax.nnx.filters import depends_on_path, filter_of
from shardlint.inference.overlays.flax.nnx.rngs import RNGS, split_of, split_streams
from shardlint.inference.overlays.flax.nnx.variables import is_variable
from shardlint.inference.overlays.pytrees.prefixes import traced
from shardlint.laws.core.values import Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.flax.logical_axes import Mistake
from shardlint.model.spans import Place
from shardlint.support.lazy_dataclass import dataclass

_STATE_AXES = "flax.nnx.StateAxes"

# -- trees of objects -----------------------------------------------------------------------------------


def map_variables(
    tree: Value, change: Callable[[Value], Value], seen: dict[int, Value] | None = None
) -> Value:
    """Copy a tree of containers and nnx objects, with every variable, array and stream of keys changed."""
    seen = {} if seen is None else seen
    if id(tree) in seen:
        return seen[id(tree)]

    def below(value: Value) -> Value:
        return map_variables(value, change, seen)

    match tree:
        case Array():
            return change(tree)
        case Tuple():
            return replace(tree, items=tuple(map(below, tree.items)))
        case ListValue(items=items) if items is not None:
            return ListValue(list(map(below, items)), tree.origin)
        case DictValue(items=known) if known is not None:
            return DictValue({key: below(item) for key, item in known.items()}, tree.origin)
        case LibraryObject() if is_variable(tree) or tree.kind == RNGS:
            seen[id(tree)] = change(tree)
            return seen[id(tree)]
        case LibraryObject() if tree.kind.startswith("flax.nnx."):
            copied = LibraryObject(tree.kind, {}, tree.origin)
            seen[id(tree)] = copied
            copied.fields.update({name: below(value) for name, value in tree.fields.items()})
            return copied
        case Instance():
            copy = Instance(tree.cls, {}, tree.opaque, tree.origin, tree.path, tree.forgotten)
            seen[id(tree)] = copy
            copy.attributes.update({name: below(value) for name, value in tree.attributes.items()})
            return copy
    return tree


# -- vmap and scan ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lift:
    """One transform. ``metadata`` is None if ``transform_metadata`` is unknown."""

    function: str
    scan: bool
    place: Place
    in_axes: Value
    out_axes: Value
    metadata: dict[object, Value] | None
    sizes: Sizes


def _lift_of(call: Call) -> Lift:
    scan = call.name.endswith("scan")
    carry = Tuple((External("flax.nnx.Carry"), Const(0)))
    metadata = call.kwargs.get("transform_metadata", DictValue({}))
    known = metadata.items if isinstance(metadata, DictValue) else None
    return Lift(
        function=f"nnx.{call.name.rpartition('.')[2]}",
        scan=scan,
        place=call.place,
        in_axes=call.kwargs.get("in_axes", carry if scan else Const(0)),
        out_axes=call.kwargs.get("out_axes", carry if scan else Const(0)),
        metadata=None if known is None else dict(known),
        sizes=Sizes(as_dim(call.kwargs.get("length" if scan else "axis_size"))),
    )


def lifted(call: Call) -> Value:
    """``nnx.vmap(f, ...)``, ``nnx.scan(f, ...)``; a decorator if only options are passed."""
    function = call.argument(0, "f")
    if call.opaque or len(call.args) > 1:
        return call.unknown("arguments that are not followed")
    if function is None:
        return Native(f"{call.name}(...)", lambda inner: _lift(call, inner.args[0]))
    return _lift(call, function)


def _lift(call: Call, function: Value) -> Value:
    native = Native(
        f"{call.name}(...)", lambda inner: _run(inner, function, _lift_of(call)), function, call.place
    )
    return call.interpreter.wrapped(native)


def _run(call: Call, function: Value, lift: Lift) -> Value:
    if call.kwargs or call.opaque:
        return call.unknown("keyword arguments of a mapped function")
    args = _each(list(call.args), lift.in_axes, lambda tree, axis: _slice(call, tree, axis, lift))
    if args is None:
        return call.unknown("in_axes that do not fit")
    in_jit = True if lift.scan else call.interpreter.context.in_jit or None
    with call.interpreter.within(in_jit=in_jit, mapped=True):
        result = call.interpreter.call(function, args, {}, call.place)
    items = as_items(result)
    columns = as_items(lift.out_axes)
    if columns is None:
        return _stack(call, result, lift.out_axes, lift)
    results = (
        None if items is None else _each(list(items), lift.out_axes, lambda t, a: _stack(call, t, a, lift))
    )
    return call.unknown("results that are not known") if results is None else Tuple(tuple(results))


def _each(trees: Sequence[Value], axes: Value, change: Callable[[Value, Value], Value]) -> list[Value] | None:
    columns = as_items(axes)
    if columns is None:
        columns = (axes,) * len(trees)
    if len(columns) != len(trees):
        return None
    return [change(tree, axis) for tree, axis in zip(trees, columns, strict=True)]


def _state_axes(call: Call) -> Value:
    """``nnx.StateAxes({filter: axis, ...})``."""
    (mapping,) = call.bind("_mapping")
    if not isinstance(mapping, DictValue) or mapping.items is None:
        return call.unknown("the axes are not known")
    pairs = [Tuple((constant(key), axis)) for key, axis in mapping.items.items()]
    return LibraryObject(_STATE_AXES, {"pairs": Tuple(tuple(pairs))}, call.place)


def _axis_of(call: Call, axes: Value, value: Value) -> Value:
    """Return the axis of one variable: that of the first filter that accepts it."""
    if not isinstance(axes, LibraryObject) or axes.kind != _STATE_AXES:
        return axes
    if not isinstance(value, LibraryObject) or not is_variable(value):
        return NONE if isinstance(value, Array) else Unknown("the axis of streams")
    for pair in as_items(axes.fields["pairs"]) or ():
        accepts_by, axis = as_items(pair) or (pair, NONE)
        accepts = None if depends_on_path(accepts_by) else filter_of(call, accepts_by)
        answer = None if accepts is None else accepts((), value)
        if answer is not False:
            return axis if answer else Unknown("whether a filter takes it is not known")
    return NONE


def _is_whole(axis: Value) -> bool:
    """Return whether an argument or result is not sliced: it is the carry, or is shared."""
    return is_none(axis) or (isinstance(axis, External) and axis.name.endswith(".Carry"))


def _slice(call: Call, tree: Value, axes: Value, lift: Lift) -> Value:
    """Return an argument as the body receives it."""
    name = (lift.metadata or {}).get(PARTITION_NAME)

    def part(array: Value, axis: Value) -> Value:
        number = as_int(axis)
        if not isinstance(array, Array) or number is None:
            return Array(None, array.dtype if isinstance(array, Array) else None)
        return slice_of(array, number, lift.sizes)

    def change(value: Value) -> Value:
        axis = _axis_of(call, axes, value)
        if _is_whole(axis):
            return value
        if isinstance(value, Array):
            return part(value, axis)
        assert isinstance(value, LibraryObject)
        if value.kind == RNGS:
            if (split := split_of(value)) is not None:
                lift.sizes.seen.append(split)
            return split_streams(call, value, None, plain=True)
        fields = {**value.fields, "value": part(value.fields["value"], axis)}
        if name is not None or lift.metadata is None:
            fields["out_sharding"] = Unknown("names of a slice")
        return LibraryObject(value.kind, fields, value.origin)

    # An argument that is not sliced stays the same object: the body may change it.
    return tree if _is_whole(axes) else map_variables(traced(tree), change)


def _stack(call: Call, tree: Value, axes: Value, lift: Lift) -> Value:
    """Return a result of the body, stacked."""
    length, unnamed = lift.sizes.known, []

    def stacked_one(array: Value, number: int | None) -> Value:
        if not isinstance(array, Array) or number is None:
            return Array(None, array.dtype if isinstance(array, Array) else None)
        return stacked_array(array, number, length)

    def change(value: Value) -> Value:
        axis = _axis_of(call, axes, value)
        if _is_whole(axis):
            return value
        number = as_int(axis)
        if isinstance(value, Array):
            return stacked_one(value, number)
        if not isinstance(value, LibraryObject) or value.kind == RNGS:
            return value
        fields = {**value.fields, "value": stacked_one(value.fields["value"], number)}
        names = names_of(fields.get("out_sharding"))
        if number is None or lift.metadata is None:
            fields["out_sharding"] = Unknown("names of a stack")
        elif PARTITION_NAME in lift.metadata and names.spec not in (None, "", Spec()):
            name = lift.metadata[PARTITION_NAME]
            place = getattr(name, "origin", None)
            fields["out_sharding"] = names_with(fields["out_sharding"], number, entry_of(name), place)
        elif isinstance(names.spec, Spec) and any(entry_axes(entry) for entry in names.spec.entries[number:]):
            unnamed.append(value)
        return LibraryObject(value.kind, fields, value.origin)

    if _is_whole(axes):
        return tree
    stacked = map_variables(tree, change)
    if unnamed:
        setting = Setting("nnx", Names(None), (), lift.place, function=lift.function)
        text = f"a variable with the names {names_of(unnamed[0].fields['out_sharding']).spec}"
        record_mistake(call.interpreter, setting, Mistake.UNNAMED_AXIS, text, Accepted())
    return stacked


# -- streams of keys --------------------------------------------------------------------------------------


def split_rngs(call: Call) -> Value:
    """``@nnx.split_rngs(splits=n)``: the function receives streams of n keys each."""
    splits = call.kwargs.get("splits")
    if call.args or splits is None:
        return call.unknown("streams that are split in place")

    def with_split(value: Value) -> Value:
        is_rngs = isinstance(value, LibraryObject) and value.kind == RNGS
        return split_streams(call, value, splits) if is_rngs else value

    def decorate(inner: Call) -> Value:
        function = inner.args[0]
        return Native(
            "nnx.split_rngs(...)",
            lambda last: last.interpreter.call(
                function, [map_variables(arg, with_split) for arg in last.args], dict(last.kwargs), last.place
            ),
            wraps=function,
            origin=call.place,
        )

    return Native("nnx.split_rngs(...)", decorate)


TABLE: dict[str, Callable[[Call], Value]] = {
    **{f"flax.nnx.{name}": lifted for name in ("vmap", "scan")},
    "flax.nnx.split_rngs": split_rngs,
    _STATE_AXES: _state_axes,
}
