"""Function transforms: `vmap`, `grad`, `checkpoint`, `pmap`, `eval_shape` and their relatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    Const,
    DictValue,
    LibraryObject,
    ListValue,
    Native,
    Tuple,
    Value,
    as_bool,
    as_dim,
    as_int,
    as_items,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import Stop
from shardlint.inference.overlays.jax.compiling.static_arguments import note_static
from shardlint.inference.overlays.jax.explicit.type_conversion import in_type, struct_type
from shardlint.inference.overlays.jax.explicit.vmap import UNNAMED, Mapped
from shardlint.inference.overlays.jax.shard_map.part_operations import settled
from shardlint.inference.overlays.jax.shard_map.reduced_values import note_means, note_multiplied
from shardlint.inference.overlays.jax.shard_map.split_dimensions import cut, without_dimension
from shardlint.inference.overlays.jax.sharding.made_arrays import note_broadcast
from shardlint.inference.overlays.jax.transforms.idle_axes import note_same_data
from shardlint.inference.overlays.jax.transforms.jit import function_name
from shardlint.inference.overlays.jax.transforms.jit_arguments import refuse_static
from shardlint.inference.overlays.jax.transforms.spmd_axis_name import (
    note_unnamed,
    refuse_constraints,
    refuse_reshards,
)
from shardlint.inference.overlays.jax.transforms.stacked_copies import CUT, KEYED, holds_keyed, note_dropped
from shardlint.inference.overlays.jax.transforms.vmap_arguments import mapped_axes, refuse_mapping, with_rows
from shardlint.inference.overlays.pytrees.prefixes import (
    arrays_at,
    arrays_in,
    leaves_in,
    map_arrays,
    traced,
    untyped,
)
from shardlint.inference.overlays.pytrees.trees import tree_map
from shardlint.laws.core.dims import Dim, equal, fresh
from shardlint.laws.core.values import Spec, Unknown
from shardlint.laws.transforms.traits import Trait

Transfer = Callable[[Call], Value]
#: Evaluates a call of a transformed function: (call, function, options of the transform) -> value.
Run = Callable[[Call, Value, dict[str, Value]], Value]


def transform(name: str, run: Run, once: bool = False) -> Transfer:
    """Return an overlay entry for ``name(f, **options)`` that evaluates calls of the result with ``run``.

    With ``once``, arguments that may be several values are not split, since ``run`` does not inspect them.
    """

    def wrap(call: Call) -> Value:
        function = call.argument(0, "fun") or call.argument(0, "f")
        options = {k: v for k, v in call.kwargs.items() if k not in ("fun", "f")}
        options |= {f"#{i}": v for i, v in enumerate(call.args) if i}
        if call.opaque:
            return Unknown(f"{name} with arguments that are not known")
        if function is None:
            return Native(f"{name}(...)", lambda inner: wrap(_with(inner, call.name, options)))
        native = Native(
            f"{name}({function_name(function)})",
            lambda inner: run(inner, function, options),
            wraps=function,
            origin=call.place,
            whole=(lambda _: True) if once else None,
        )
        return call.interpreter.wrapped(native)

    return wrap


def _with(inner: Call, name: str, options: dict[str, Value]) -> Call:
    return Call(inner.interpreter, name, inner.args[:1], options, inner.place)


def forward(call: Call, function: Value, args: Sequence[Value]) -> Value:
    """Call a transformed function with these arguments, and the call's keywords as tracers."""
    return call.interpreter.call(
        function, args, {k: traced(v) for k, v in call.kwargs.items()}, call.place, call.opaque
    )


def transparent(call: Call, function: Value, options: dict[str, Value]) -> Value:
    """Call the function of a transform that does not change results: `named_call`."""
    static = options.get("static_argnums") or options.get("nondiff_argnums")
    args = list(call.args) if static is not None else [traced(arg) for arg in call.args]
    return traced(forward(call, function, args))


def _checkpoint(call: Call, function: Value, options: dict[str, Value]) -> Value:
    """`checkpoint(f)`: traces the function, and then makes its calls one by one."""
    with call.interpreter.within(staged=True):
        return transparent(call, function, options)


def _vmap(call: Call, function: Value, options: dict[str, Value]) -> Value:
    """`vmap(f, in_axes, out_axes, axis_name, axis_size)`."""
    names = ("in_axes", "out_axes", "axis_name", "axis_size", "spmd_axis_name")
    given = {name: options.get(name, options.get(f"#{i}")) for i, name in enumerate(names, 1)}
    if refuse_mapping(call, "jax.vmap", given["in_axes"] or Const(0), given["axis_size"], None):
        return Unknown("vmap of arguments that in_axes do not fit")
    return _mapped(call, function, given)


def _pmap(call: Call, function: Value, options: dict[str, Value]) -> Value:
    """`pmap(f, axis_name, *, in_axes, out_axes, static_broadcasted_argnums)`: one example on each device."""
    given = {name: options.get(name) for name in ("in_axes", "out_axes", "axis_size")}
    given["axis_name"] = options.get("axis_name", options.get("#1"))
    given["static"] = static = options.get("static_broadcasted_argnums")
    if static is None or as_items(static) == ():
        devices = None if options.keys() & {"devices", "backend"} else call.interpreter.device_count
        if refuse_mapping(call, "jax.pmap", given["in_axes"] or Const(0), given["axis_size"], devices):
            return Unknown("pmap of arguments that in_axes do not fit")
        return _mapped(call, function, given, prepare=untyped, over_devices=True)
    bound = (static,) if as_items(static) is None else as_items(static) or ()
    numbers = frozenset(as_int(item) for item in bound)
    known = (number for number in numbers if number is not None)
    if refuse_static(call, "jax.pmap", function, sorted(known)):
        return Unknown("JAX refuses a static argument")
    return _mapped(call, function, given, numbers, prepare=untyped, over_devices=True)


def _mapped(
    call: Call,
    function: Value,
    options: dict[str, Value | None],
    static: frozenset[int | None] = frozenset(),
    prepare: Callable[[Value], Value] = traced,
    over_devices: bool = False,
) -> Value:
    """Call a mapped function: the body receives one example, and a named axis is bound for collectives.

    ``prepare`` converts each argument before it is mapped. ``over_devices`` tells that each device has an
    example of its own.
    """
    in_axes, out_axes = options["in_axes"] or Const(0), options["out_axes"] or Const(0)
    columns = as_items(in_axes)
    axes = columns if columns is not None else (in_axes,) * len(call.args)
    if len(axes) != len(call.args) or None in static:
        axes, static = (Unknown("in_axes"),) * len(call.args), frozenset()
    sizes: list[Dim] = []
    axis_name = options["axis_name"]
    unnamed = over_devices and (axis_name is None or is_none(axis_name))
    if unnamed and (any(map(is_none, leaves_in(out_axes))) or any(map(holds_keyed, call.args))):
        axis_name = Const(UNNAMED)
    devices = as_str(axis_name) if over_devices else None
    mapped = Mapped(devices, mapped_axes(call, axes), over_devices)
    args = [
        arg if i in static else _strip(prepare(arg), axis, sizes, mapped)
        for i, (arg, axis) in enumerate(zip(call.args, axes, strict=True))
    ]
    # Keyword arguments are always mapped over their leading axis.
    kwargs = {k: _strip(prepare(v), Const(0), sizes, mapped) for k, v in call.kwargs.items()}
    if mapped.refused(call):
        return Unknown("mapped dimensions that lie along other axes")
    stated = as_dim(options["axis_size"])
    sizes = sizes if stated is None else [stated, *sizes]
    known = sizes[0] if sizes else fresh(1)
    size = next((s for s in sizes if isinstance(s, int)), known)
    if over_devices and equal(size, 1) is not True:
        whole = [(i, arg) for i, arg in enumerate(call.args) if i not in static and is_none(axes[i])]
        note_broadcast(call, function_name(function), whole)
    over = [not is_none(axis) for axis in axes]
    if refuse_constraints(call, function, args, over, options.get("spmd_axis_name")):
        return Unknown("vmap of a constraint that names its mapped axis")
    if refuse_reshards(call, function, args, over, mapped.entry):
        return Unknown("vmap of a reshard that names its mapped axis")
    before = len(call.interpreter.uses)
    result = _named(call, function, args, kwargs, size, axis_name, mapped)
    if static:

        def evaluate(key: int | str, value: Value) -> Value:
            changed = [value if at == key else arg for at, arg in enumerate(args)]
            return _named(call, function, changed, kwargs, size, axis_name, mapped)

        fixed: dict[int | str, Value] = {at: arg for at, arg in enumerate(call.args) if at in static}
        note_static(call, function_name(function), options["static"], fixed, evaluate)
    if over_devices:
        pairs = [(arg, is_none(axes[i])) for i, arg in enumerate(call.args) if i not in static]
        stacks = [*(arg for arg, on in pairs if not on), *call.kwargs.values()]
        beside = [arg for arg, on in pairs if on]
        recorded = call.interpreter.uses[before:]
        note_same_data(call, function_name(function), devices, size, stacks, beside, recorded)
        uses = call.interpreter.uses
        uses[before:] = settled(uses[before:], known=not isinstance(result, Unknown))
    if not over_devices and options.get("spmd_axis_name") is None:
        numbers = [as_int(axis) for axis in axes]
        note_unnamed(call, function, call.args, args, numbers, call.interpreter.uses[before:])
    if mapped.axis is not None and equal(size, 1) is not True:
        for array, path in arrays_at(result):
            name = f"{'result' if path else 'the result'}{path} of `{function_name(function)}`"
            note_multiplied(call, array, (mapped.axis,), name, "inside pmap")
            note_means(call, array, (Trait.MEANS, Trait.GRADIENT), {mapped.axis: size}, name, "jax.pmap")
        note_dropped(call, result, out_axes, mapped.axis, function_name(function))
    stacked = _put_axis(result, out_axes, size, mapped)
    if over_devices or as_int(out_axes) != 0 or options.get("axis_name") or options.get("spmd_axis_name"):
        return stacked
    return with_rows(call, function, call.args, axes, args, stacked)


def _named(
    call: Call,
    function: Value,
    args: Sequence[Value],
    kwargs: dict[str, Value],
    size: Dim,
    axis: Value | None,
    mapped: Mapped,
) -> Value:
    """Call a mapped function with its axis name bound.

    As around a shard_map, an unknown caller is assumed not to bind further names around a pmap.
    """
    interpreter = call.interpreter
    bound, name = interpreter.context.bound_axes, as_str(axis)
    if mapped.axis is not None and name not in (None, UNNAMED) and isinstance(bound, Unknown):
        bound = ()
    if axis is not None and not is_none(axis) and not isinstance(bound, Unknown):
        bound = (*bound, (name, size)) if name is not None else Unknown("an axis name that is not known")
    # Calls without mapped operands are left to what is around.
    staged = interpreter.context.staged
    over = interpreter.context.device_axes | ({mapped.axis} if mapped.axis is not None else set())
    kind = {"device_axes": over, "examples": mapped.axis is None}
    with interpreter.within(bound_axes=bound, in_jit=True, staged=staged, mapped=True, **kind):
        return interpreter.call(function, args, kwargs, call.place, call.opaque)


def _strip(tree: Value, axis: Value, sizes: list[Dim], mapped: Mapped) -> Value:
    """Remove the mapped axis from every leaf, recording its size."""
    if is_none(axis):
        mapped.beside.extend(arrays_in(tree))
        return tree
    number = as_int(axis)
    nested = as_items(axis)
    if nested is not None and (items := as_items(tree)) is not None and len(items) == len(nested):
        parts = [_strip(item, one, sizes, mapped) for item, one in zip(items, nested, strict=True)]
        return Tuple(tuple(parts)) if isinstance(tree, Tuple) else ListValue(parts)
    if isinstance(axis, DictValue) and isinstance(tree, DictValue) and axis.items and tree.items:
        unknown = Unknown("in_axes")
        return DictValue(
            {k: _strip(v, axis.items.get(k, unknown), sizes, mapped) for k, v in tree.items.items()}
        )

    def strip(array: Array, _: str) -> Value:
        if number is None or array.shape is None or not -len(array.shape) <= number < len(array.shape):
            return Array(None, array.dtype, origin=array.origin, name=array.name)
        position = number % len(array.shape)
        sizes.append(array.shape[position])
        shape = array.shape[:position] + array.shape[position + 1 :]
        typed = mapped.strip(array, position)
        laid = without_dimension(array, position)
        one = replace(array, shape=shape, sharding=None, numpy=False, struct=False, typed=typed, laid=laid)
        found = mapped.example(array, one)
        if CUT in array.traits and position == 0 and mapped.axis in found.variation.axes_of(Trait.SPLIT):
            axis = str(mapped.axis)
            return replace(found, laid=cut((axis,), Spec((axis,)), len(shape)))
        return found

    return map_arrays(tree, strip)


def _put_axis(tree: Value, axis: Value, size: Dim, mapped: Mapped) -> Value:
    """Add the mapped axis to every leaf of a result."""
    nested, items = as_items(axis), as_items(tree)
    if nested is not None and items is not None and len(items) == len(nested):
        pairs = zip(items, nested, strict=True)
        return Tuple(tuple(_put_axis(item, one, size, mapped) for item, one in pairs))
    if isinstance(axis, DictValue) and isinstance(tree, DictValue) and axis.items and tree.items:
        unknown = Unknown("out_axes")
        return DictValue(
            {k: _put_axis(v, axis.items.get(k, unknown), size, mapped) for k, v in tree.items.items()}
        )
    if is_none(axis):
        if mapped.axis is None:
            return tree
        return map_arrays(tree, lambda array, _: array.vary(mapped.first(array.variation)))
    number = as_int(axis)

    def put(array: Array, _: str) -> Value:
        if number is None or array.shape is None or not -len(array.shape) - 1 <= number <= len(array.shape):
            return Array(None, array.dtype)
        position = number % (len(array.shape) + 1)
        shape = (*array.shape[:position], size, *array.shape[position:])
        typed = mapped.put(array, position)
        found = Array(shape, array.dtype, array.weak, typed=typed).vary(mapped.outside(array.variation))
        return replace(found, drawn_at=array.drawn_at) if KEYED in found.traits else found

    return map_arrays(tree, put)


def _eval_shape(call: Call) -> Value:
    """`eval_shape(f, *args, **kwargs)`: traces the function, and runs nothing."""
    if not call.args:
        return Unknown("eval_shape of nothing")
    function, *args = call.args
    return _shapes(call, function, args)


def _shapes(call: Call, function: Value, args: Sequence[Value]) -> Value:
    """Trace a function and return the structs of its results."""
    with call.interpreter.within(in_jit=True, compiles=False):
        result = forward(call, function, [traced(arg) for arg in args])
    return map_arrays(
        result,
        lambda array, _: Array(
            array.shape, array.dtype, array.weak, struct=True, origin=array.origin, typed=struct_type(array)
        ),
    )


def _make_jaxpr(call: Call, function: Value, options: dict[str, Value]) -> Value:
    """`make_jaxpr(f, static_argnums, axis_env, return_shape)`."""
    static = options.get("static_argnums", options.get("#1"))
    plain = static is None or as_items(static) == ()
    bound = (
        Unknown("axis_env") if options.keys() & {"axis_env", "#2"} else call.interpreter.context.bound_axes
    )
    with call.interpreter.within(bound_axes=bound):
        shapes = _shapes(call, function, call.args if plain else [Unknown("perhaps static")] * len(call.args))
    jaxpr = LibraryObject("jax.core.ClosedJaxpr", {})
    with_shape = as_bool(options.get("return_shape", options.get("#3", Const(False))))
    if with_shape is None:
        return Unknown("a jaxpr, perhaps with shapes")
    return Tuple((jaxpr, shapes)) if with_shape else jaxpr


def _identity(call: Call) -> Value:
    return call.args[0] if call.args else Unknown(call.name)


def _device_get(call: Call) -> Value:
    """`device_get(x)`: numpy arrays on the host, without a mesh; traced arrays raise."""
    (tree,) = call.bind("x")
    if tree is None or call.interpreter.context.in_jit is not False:
        return Unknown("what `device_get` gives of a traced array")
    try:
        return tree_map(_on_host, tree)
    except Stop as stop:
        return Unknown(str(stop))


def _on_host(leaf: Value) -> Value:
    if not isinstance(leaf, Array):
        return leaf
    return Array(leaf.shape, leaf.dtype, numpy=True, origin=leaf.origin, name=leaf.name)


def _typeof(call: Call) -> Value:
    """`typeof(x)`: shape, dtype, and the sharding in the type."""
    (x,) = call.bind("x")
    return in_type(x) if isinstance(x, Array) else _identity(call)


def _harmless(call: Call) -> Value:
    """Return a context manager, or decorator, that changes neither shapes nor meshes."""
    return LibraryObject("harmless", {})


def _unchanged(call: Call) -> Value:
    """Return the function that a harmless decorator returns."""
    return call.args[1] if len(call.args) == 2 else Unknown("a context manager that is called")


def _identity_decorator(call: Call) -> Value:
    """Return a decorator, with or without options, that returns the function's own results."""
    return call.args[0] if call.args else Native("a decorator", _identity)


_CONTEXTS = (
    "named_scope default_matmul_precision default_prng_impl ensure_compile_time_eval "
    "debug_infs log_compiles checking_leaks transfer_guard numpy_rank_promotion "
    "numpy_dtype_promotion threefry_partitionable profiler.trace profiler.TraceAnnotation "
    "profiler.StepTraceAnnotation"
).split()

TABLE: dict[str, Transfer] = {
    "jax.vmap": transform("jax.vmap", _vmap),
    "jax.pmap": transform("jax.pmap", _pmap),
    "jax.make_jaxpr": transform("jax.make_jaxpr", _make_jaxpr),
    "jax.named_call": transform("jax.named_call", transparent, once=True),
    **{
        name: transform(name, _checkpoint, once=True)
        for name in ("jax.checkpoint", "jax.remat", "jax.ad_checkpoint.checkpoint")
    },
    "jax.custom_batching.custom_vmap": transform("custom_vmap", transparent, once=True),
    "jax.eval_shape": _eval_shape,
    "jax.profiler.annotate_function": _identity_decorator,
    **{f"jax.{name}": _harmless for name in _CONTEXTS},
    "jax.block_until_ready": _identity,
    "jax.device_get": _device_get,
    "jax.typeof": _typeof,
}

CALLS: dict[str, Transfer] = {"harmless": _unchanged}
