"""The mapped arguments of `vmap` and `pmap`: judged before the function is evaluated, and what their layout
tells of the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shardlint.inference.domain.values import (
    Array,
    Const,
    DictValue,
    Instance,
    Integer,
    LibraryObject,
    ListValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_dim,
    as_int,
    as_items,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.shard_map.split_dimensions import axes_along
from shardlint.inference.overlays.jax.sharding.movement import OPEN, known_part, split_by
from shardlint.inference.overlays.jax.transforms.taint import (
    LoopEnd,
    Loops,
    following,
    is_following,
    is_marked,
    marked,
)
from shardlint.inference.overlays.pytrees.prefixes import arrays_at, arrays_in, map_arrays, scalar
from shardlint.inference.overlays.recording import record_of_value
from shardlint.inference.overlays.witness_values import data_of
from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import Spec, entry_axes
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected
from shardlint.laws.core.witness_data import (
    ANY_FUNCTION,
    Known,
    apply_data,
    array_data,
    call_data,
    devices_data,
)
from shardlint.laws.transforms.varying import NO_AXES, Axes
from shardlint.laws.transforms.vmap import Leaf, judge_mapped, judge_over_devices
from shardlint.model.uses import Fact
from shardlint.support.lazy_dataclass import replace


def refuse_mapping(
    call: Call, function: str, in_axes: Value, axis_size: Value | None, devices: Dim | None
) -> bool:
    """Record arguments that in_axes do not fit; return whether there are any.

    ``function`` is `jax.vmap` or `jax.pmap`; ``devices`` is the number of devices of a `pmap`, if known.
    """
    pmap, columns = function == "jax.pmap", as_items(in_axes)
    if call.opaque or not call.args:
        return False

    def refuse(verdict: Rejected) -> bool:
        calls = _calls(call, function, in_axes, axis_size, devices if pmap else None)
        record_of_value(call.interpreter, function, verdict, call.place, *calls)
        return True

    if columns is not None and len(columns) != len(call.args):
        detail = f"in_axes holds {len(columns)} entries for {len(call.args)} positional arguments"
        return refuse(Rejected(Cause.MISUSE, "ValueError", "trace", detail=detail))
    axes = columns if columns is not None else (in_axes,) * len(call.args)
    sized = axis_size is not None and not is_none(axis_size)
    if all(map(is_none, axes)) and not sized and not call.kwargs:
        detail = "in_axes map over no argument, and axis_size is not given"
        return refuse(Rejected(Cause.MISUSE, "ValueError", "trace", detail=detail))
    pairs = [(f"argument {i}", arg, axis) for i, (arg, axis) in enumerate(zip(call.args, axes, strict=True))]
    pairs += [(f"`{name}`", arg, Const(0)) for name, arg in call.kwargs.items()]
    # An object that is one of several may have been made by another choice than the arrays beside it.
    apart = call.interpreter.variants[1] > 1
    pairs = [pair for pair in pairs if not (apart and isinstance(pair[1], Instance | LibraryObject))]
    leaves = [leaf for subject, arg, axis in pairs for leaf in _leaves(arg, axis, subject)]
    verdict = judge_mapped(leaves, as_dim(axis_size), pmap=pmap)
    if not isinstance(verdict, Rejected) and leaves and devices is not None and not sized:
        inside = call.interpreter.context.in_jit is not False
        verdict = judge_over_devices(leaves[0], devices, traced=inside)
    return isinstance(verdict, Rejected) and refuse(verdict)


def _calls(
    call: Call, function: str, in_axes: Value, axis_size: Value | None, devices: Dim | None
) -> tuple[Known, Known]:
    """Return the call, of some function, and one that maps over existing axes."""
    options = {"in_axes": data_of(in_axes)}
    if axis_size is not None:
        options["axis_size"] = data_of(axis_size)
    if isinstance(devices, int):
        options["devices"] = devices_data(range(devices))
    args = [data_of(map_arrays(arg, _uncommitted)) for arg in call.args]
    kwargs = {name: data_of(map_arrays(arg, _uncommitted)) for name, arg in call.kwargs.items()}
    called = apply_data(call_data(function, (ANY_FUNCTION,), options), args, kwargs)
    return called, apply_data(call_data(function, (ANY_FUNCTION,)), (array_data((1,)),))


def _uncommitted(array: Array, _: str) -> Array:
    """Return an uncommitted array of this shape, since only shapes matter."""
    return Array(array.shape, "float32", numpy=True)


def _leaves(tree: Value, axis: Value, subject: str) -> Iterator[Leaf]:
    """Yield the arrays of known shape in a tree that are mapped over a known axis."""
    nested = as_items(axis)
    if isinstance(axis, DictValue) and isinstance(tree, DictValue):
        for key, item in (tree.items or {}).items():
            if axis.items is not None and key in axis.items:
                yield from _leaves(item, axis.items[key], f"{subject}[{key!r}]")
    elif isinstance(tree, Tuple | ListValue | DictValue):
        values = (tree.items or {}) if isinstance(tree, DictValue) else dict(enumerate(tree.items or ()))
        if nested is not None and len(nested) != len(values):
            return
        for index, (key, item) in enumerate(values.items()):
            yield from _leaves(item, axis if nested is None else nested[index], f"{subject}[{key!r}]")
    elif isinstance(tree, Const | Integer):
        if isinstance(tree, Integer) or isinstance(tree.value, int | float | complex):
            yield from _leaves(scalar(tree), axis, subject)
    elif isinstance(tree, Instance | LibraryObject) and as_int(axis) is not None:
        for array, at in arrays_at(tree, path=subject):
            yield from _leaves(array, axis, at)
    elif isinstance(tree, Array) and tree.shape is not None and (number := as_int(axis)) is not None:
        yield Leaf(f"`{tree.name}`" if tree.name else subject, tree.shape, number)


def mapped_axes(call: Call, axes: Sequence[Value]) -> Axes:
    """Return the axes of an enclosing shard_map that split a dimension which is mapped over."""
    if not call.interpreter.context.bound_axes:
        return NO_AXES
    return NO_AXES.union(*[_axes(arg, axis) for arg, axis in zip(call.args, axes, strict=True)])


def _axes(tree: Value, axis: Value) -> Axes:
    nested, items = as_items(axis), as_items(tree)
    if nested is not None:
        pairs = zip(items, nested, strict=True) if items is not None and len(items) == len(nested) else ()
        return NO_AXES.union(*[_axes(item, one) for item, one in pairs])
    if (number := as_int(axis)) is None:
        return NO_AXES
    return NO_AXES.union(
        *[
            axes_along(array, number % len(array.shape))
            for array in arrays_in(tree)
            if array.shape is not None and -len(array.shape) <= number < len(array.shape)
        ]
    )


# -- rows of results ---------------------------------------------------------------------------------------


def with_rows(
    call: Call,
    function: Value,
    whole: Sequence[Value],
    axes: Sequence[Value],
    one: Sequence[Value],
    result: Value,
) -> Value:
    """Return the results of a `vmap` inside jit, stacked along their first dimension, with the layout of
    their rows.

    What certainly depends on arrays that are split along the dimension that is mapped over is computed where
    each example lies (JAX 0.10.2 and 0.12.0.1), if all that is mapped over lies so. ``one`` are the arguments
    for one example; the function is evaluated once more to find out what depends on them.
    """
    context = call.interpreter.context
    if context.in_jit is not True or context.mapped or call.kwargs or is_following(context):
        return result
    homes = [
        _rows_along(array, axis)
        for arg, axis in zip(whole, axes, strict=True)
        if not is_none(axis)
        for array in arrays_in(arg)
        if array.made is None
    ]
    home = homes[0] if homes else None
    if home is None or any(other is None or other.spec != home.spec for other in homes):
        return result
    if any(other is None or other.mesh != home.mesh for other in homes):
        return result
    given = [arg if is_none(axis) else marked(arg) for arg, axis in zip(one, axes, strict=True)]
    loops = Loops()
    with following(call.interpreter, mapped=True, watched=loops):
        again = call.interpreter.call(function, given, {}, call.place)
    _note_loops(call, home, loops)
    depends = {path for array, path in arrays_at(again) if is_marked(array)}

    def lay(array: Array, path: str) -> Array:
        if path not in depends or not array.shape or array.laid is not None:
            return array
        assert isinstance(home.spec, SpecValue)
        entries = (*home.spec.spec.entries, *(OPEN,) * (len(array.shape) - 1))
        return replace(array, laid=replace(home, spec=SpecValue(Spec(entries))))

    return map_arrays(result, lay)


def _note_loops(call: Call, home: ShardingValue, loops: Loops) -> None:
    """Record loops that run until all examples are done, where these are split over devices: in each round
    the devices tell one another (JAX 0.10.2 and 0.12.0.1)."""
    assert isinstance(home.spec, SpecValue)
    axes = ", ".join(f'"{axis}"' for axis in entry_axes(home.spec.spec.entries[0]))
    for place in dict.fromkeys(one.place for one in loops if isinstance(one, LoopEnd)):
        silent = (
            "`while_loop` goes on until all examples that `vmap` maps over are done, and these are split "
            f"over {axes}: the devices wait for one another in each round; jax.shard_map around jax.vmap "
            "lets each device end by itself"
        )
        facts = () if call.place is None else (Fact("it is mapped here", call.place),)
        name = "jax.lax(each round)"
        record_of_value(call.interpreter, name, Accepted(), place, facts=facts, silent=silent)


def _rows_along(array: Array, axis: Value) -> ShardingValue | None:
    """Return what certainly splits an array along a dimension, as the layout of a vector; None if nothing
    does, or it is not known."""
    known, number, home = known_part(array), as_int(axis), array.laid
    if known is None or home is None or number is None or not array.shape:
        return None
    at = number % len(array.shape)
    if at not in split_by(*known):
        return None
    return replace(home, spec=SpecValue(Spec((known[1].entries[at],))))
