"""`jax.lax` collectives: the axes they name, and what they make of a shard."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.calls import Call
from shardlint.inference.overlays.prefixes import map_arrays, traced
from shardlint.inference.overlays.varying import axes_of, over
from shardlint.inference.values import (
    Array,
    Const,
    Value,
    as_bool,
    as_int,
    as_items,
    as_str,
    integer,
    is_none,
)
from shardlint.laws.collectives import judge_axes, local_result
from shardlint.laws.dims import Dim, fresh, product
from shardlint.laws.values import Unknown
from shardlint.laws.verdicts import Rejected
from shardlint.spans import Place
from shardlint.uses import CollectiveUse


def _axes(value: Value | None) -> tuple[str, ...] | None:
    """The axis names of an argument, None when they are not known or no names."""
    text = as_str(value)
    if text is not None:
        return (text,)
    items = as_items(value)
    names = [as_str(item) for item in items or ()]
    return None if items is None or None in names else tuple(name for name in names if name is not None)


def _checked(
    call: Call, function: str, axis: Value | None, place: Place
) -> tuple[tuple[str, ...], Dim | None] | None:
    """Record the axis names; return them with the product of their sizes, None when rejected or unknown."""
    axes = _axes(axis)
    if axes is None:
        return None
    interpreter = call.interpreter
    bound = interpreter.context.bound_axes
    verdict = judge_axes(function, axes, bound, check_vma=interpreter.context.check_vma)
    interpreter.record(
        CollectiveUse(
            place=call.place,
            environment=interpreter.environment(),
            verdict=verdict,
            function=function,
            axes=axes,
            axis_places=(place,) * len(axes),
        )
    )
    if isinstance(verdict, Rejected):
        return None
    if isinstance(bound, Unknown):
        return axes, None
    sizes = dict(bound)
    return axes, product(sizes[name] for name in axes) if all(name in sizes for name in axes) else None


def _reduction(function: str) -> Callable[[Call], Value]:
    """psum and its kin keep the shape of every leaf."""

    def reduce(call: Call) -> Value:
        tree, axis, *_ = call.bind("x", "axis_name", axis_index_groups=None)
        checked = _checked(call, function, axis, call.place_of(1, "axis_name"))
        if tree is None or (checked is None and _axes(axis) is not None):
            return Unknown("JAX rejects this collective")
        if isinstance(tree, Const) and checked is not None and checked[1] is not None:
            # ``psum(1, axis)`` is the size of the axis, known while tracing.
            number = as_int(tree)
            if function == "psum" and number is not None:
                return integer(checked[1] * number)
        checked_vma = call.interpreter.context.check_vma is True
        reduced = frozenset(_axes(axis) or ())
        return map_arrays(
            traced(tree),
            lambda array, _: Array(
                array.shape,
                _reduced(function, array.dtype),
                array.weak and checked_vma,
                origin=call.place,
                varying=array.varying - reduced,
            ),
        )

    return reduce


def _reduced(function: str, dtype: str | None) -> str | None:
    """The dtype of a reduction: psum counts booleans, and pmean divides."""
    exact = dtype == "bool" or (dtype is not None and dtype.startswith(("int", "uint")))
    if exact and function == "pmean":
        return "float32"
    return "int32" if dtype == "bool" and function == "psum" else dtype


def _reshaping(function: str, options: tuple[str, ...]) -> Callable[[Call], Value]:
    """all_gather, psum_scatter, all_to_all: shapes by `laws.collectives.local_result`."""

    def reshape(call: Call) -> Value:
        required = ("split_axis", "concat_axis") if function == "all_to_all" else ()
        # What a gathered array varies over afterwards (``to``) changes no shape.
        others = ("axis_index_groups", "to") if function == "all_gather" else ("axis_index_groups",)
        rest = dict.fromkeys((*options, *others))
        names = ("x", "axis_name", *required, *rest)
        bound = dict(zip(names, call.bind("x", "axis_name", *required, **rest), strict=True))
        checked = _checked(call, function, bound["axis_name"], call.place_of(1, "axis_name"))
        tree, size = bound["x"], checked[1] if checked is not None else None
        groups = bound["axis_index_groups"]
        if tree is None or checked is None or (groups is not None and not is_none(groups)):
            return Unknown("a collective that is not known")
        arguments: dict[str, object] = {}
        for name in (*required, *options):
            value = bound[name]
            if value is None:
                continue
            known = as_bool(value) if name == "tiled" else as_int(value)
            if known is None:
                return map_arrays(traced(tree), lambda array, _: Array(None, array.dtype))
            arguments[name] = known
        local = map_arrays(
            traced(tree), lambda array, _: _local(call, function, array, checked[0], size, arguments)
        )
        # ``to`` may make a gathered array invariant.
        return local if bound.get("to") is not None else over(local, axes_of([tree]).union(checked[0]))

    return reshape


def _local(
    call: Call,
    function: str,
    array: Array,
    axes: tuple[str, ...],
    size: Dim | None,
    arguments: dict[str, object],
) -> Value:
    if array.shape is None:
        return Array(None, array.dtype)
    result = local_result(function, array.shape, fresh(1) if size is None else size, **arguments)
    if isinstance(result, Rejected):
        call.interpreter.record(
            CollectiveUse(
                place=call.place,
                environment=call.interpreter.environment(),
                verdict=result,
                function=function,
                axes=axes,
                shape=array.shape,
                arguments=tuple(arguments.items()),
                axis_places=(call.place_of(1, "axis_name"),) * len(axes),
            )
        )
        return Unknown("JAX rejects this collective")
    shape = None if isinstance(result, Unknown) else result
    return Array(shape, array.dtype, array.weak and function != "all_to_all", origin=call.place)


def _same(function: str) -> Callable[[Call], Value]:
    """Collectives that keep shapes: ppermute, pshuffle, pbroadcast, pcast, pvary."""

    def keep(call: Call) -> Value:
        tree = call.argument(0, "x")
        checked = _checked(call, function, call.argument(1, "axis_name"), call.place_of(1, "axis_name"))
        if tree is None or checked is None:
            return Unknown("a collective that is not known")
        kept = map_arrays(
            traced(tree), lambda array, _: Array(array.shape, array.dtype, array.weak, origin=call.place)
        )
        to = as_str(call.kwargs.get("to"))
        return kept if to not in (None, "varying") else over(kept, axes_of([tree]).union(checked[0]))

    return keep


def _axis_index(call: Call) -> Value:
    (axis,) = call.bind("axis_name")
    checked = _checked(call, "axis_index", axis, call.place_of(0, "axis_name"))
    return Array((), "int32", origin=call.place, varying=frozenset(checked[0] if checked else ()))


def _axis_size(call: Call) -> Value:
    (axis,) = call.bind("axis_name")
    checked = _checked(call, "axis_size", axis, call.place_of(0, "axis_name"))
    return Unknown("an axis size") if checked is None or checked[1] is None else integer(checked[1])


TABLE: dict[str, Callable[[Call], Value]] = {
    **{f"jax.lax.{name}": _reduction(name) for name in ("psum", "pmean", "pmax", "pmin")},
    "jax.lax.all_gather": _reshaping("all_gather", ("axis", "tiled")),
    "jax.lax.psum_scatter": _reshaping("psum_scatter", ("scatter_dimension", "tiled")),
    "jax.lax.all_to_all": _reshaping("all_to_all", ("tiled",)),
    **{f"jax.lax.{name}": _same(name) for name in ("ppermute", "pshuffle", "pcast", "pvary")},
    "jax.lax.axis_index": _axis_index,
    "jax.lax.axis_size": _axis_size,
}
