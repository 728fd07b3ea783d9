"""Function transforms: `vmap`, `grad`, `checkpoint`, `pmap`, `eval_shape` and their kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shardlint.inference.calls import Call
from shardlint.inference.overlays.jax_jit import function_name
from shardlint.inference.overlays.prefixes import map_arrays, traced
from shardlint.inference.values import (
    Array,
    Const,
    DictValue,
    ListValue,
    Native,
    Tuple,
    Value,
    as_bool,
    as_int,
    as_items,
    as_str,
    is_none,
)
from shardlint.laws.dims import Dim, fresh
from shardlint.laws.values import Unknown

Transfer = Callable[[Call], Value]


def transform(name: str, run: Callable[[Call, Value, dict[str, Value]], Value]) -> Transfer:
    """An overlay entry for ``name(f, **options)`` that evaluates calls of the result with ``run``."""

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
        )
        return call.interpreter.wrapped(native)

    return wrap


def _with(inner: Call, name: str, options: dict[str, Value]) -> Call:
    return Call(inner.interpreter, name, inner.args[:1], options, inner.place)


def _forward(call: Call, function: Value, args: Sequence[Value]) -> Value:
    return call.interpreter.call(
        function, args, {k: traced(v) for k, v in call.kwargs.items()}, call.place, call.opaque
    )


def _transparent(call: Call, function: Value, options: dict[str, Value]) -> Value:
    """Transforms that compute what the function computes: `checkpoint`, `custom_vjp`, `named_call`."""
    static = options.get("static_argnums") or options.get("nondiff_argnums")
    args = list(call.args) if static is not None else [traced(arg) for arg in call.args]
    return _forward(call, function, args)


def _gradient(with_value: bool) -> Callable[[Call, Value, dict[str, Value]], Value]:
    def run(call: Call, function: Value, options: dict[str, Value]) -> Value:
        """`grad` and `value_and_grad`: gradients look like the arguments they are taken by."""
        args = [traced(arg) for arg in call.args]
        value = _forward(call, function, args)
        has_aux = as_bool(options.get("has_aux", Const(False)))
        wanted = options.get("argnums", options.get("#1", Const(0)))
        gradients = _by_argument(wanted, args)
        if has_aux is None:
            return Unknown("a gradient that is not known")
        if with_value:
            return Tuple((value, gradients))
        if not has_aux:
            return gradients
        parts = as_items(value)
        return Tuple((gradients, parts[1] if parts is not None and len(parts) == 2 else Unknown("aux")))

    return run


def _by_argument(wanted: Value, args: Sequence[Value]) -> Value:
    number = as_int(wanted)
    if number is not None:
        return _plain(args[number]) if -len(args) <= number < len(args) else Unknown("no such argument")
    numbers = [as_int(item) for item in as_items(wanted) or ()]
    if not numbers or any(n is None or not -len(args) <= n < len(args) for n in numbers):
        return Unknown("gradients that are not known")
    return Tuple(tuple(_plain(args[n]) for n in numbers if n is not None))


def _plain(tree: Value) -> Value:
    return map_arrays(tree, lambda array, _: Array(array.shape, array.dtype, origin=array.origin))


def _vmap(call: Call, function: Value, options: dict[str, Value]) -> Value:
    """`vmap`: the body sees one example; a named axis is bound for collectives."""
    in_axes = options.get("in_axes", options.get("#1", Const(0)))
    out_axes = options.get("out_axes", options.get("#2", Const(0)))
    name = as_str(options.get("axis_name", options.get("#3")))
    sizes: list[Dim] = []
    columns = as_items(in_axes)
    axes = columns if columns is not None else (in_axes,) * len(call.args)
    if len(axes) != len(call.args):
        axes = (Unknown("in_axes"),) * len(call.args)
    args = [_strip(traced(arg), axis, sizes) for arg, axis in zip(call.args, axes, strict=True)]
    # Keyword arguments are always mapped over their leading axis.
    kwargs = {k: _strip(traced(v), Const(0), sizes) for k, v in call.kwargs.items()}
    known = sizes[0] if sizes else fresh(1)
    size = next((s for s in sizes if isinstance(s, int)), known)
    result = _named(call, function, args, kwargs, name, size, "axis_name" in options or "#3" in options)
    return _put_axis(result, out_axes, size)


def _named(
    call: Call,
    function: Value,
    args: Sequence[Value],
    kwargs: dict[str, Value],
    name: str | None,
    size: Dim,
    has_name: bool,
) -> Value:
    """Call a mapped function with its axis name bound."""
    interpreter = call.interpreter
    bound = interpreter.context.bound_axes
    if has_name and not isinstance(bound, Unknown):
        bound = (*bound, (name, size)) if name is not None else Unknown("an axis name that is not known")
    with interpreter.within(bound_axes=bound, in_jit=True):
        return interpreter.call(function, args, kwargs, call.place, call.opaque)


def _strip(tree: Value, axis: Value, sizes: list[Dim]) -> Value:
    """Take the mapped axis out of every leaf, noting its size."""
    if is_none(axis):
        return tree
    number = as_int(axis)
    nested = as_items(axis)
    if nested is not None and (items := as_items(tree)) is not None and len(items) == len(nested):
        parts = [_strip(item, one, sizes) for item, one in zip(items, nested, strict=True)]
        return Tuple(tuple(parts)) if isinstance(tree, Tuple) else ListValue(parts)
    if isinstance(axis, DictValue) and isinstance(tree, DictValue) and axis.items and tree.items:
        return DictValue(
            {k: _strip(v, axis.items.get(k, Unknown("in_axes")), sizes) for k, v in tree.items.items()}
        )

    def strip(array: Array, _: str) -> Value:
        if number is None or array.shape is None or not -len(array.shape) <= number < len(array.shape):
            return Array(None, array.dtype, origin=array.origin, name=array.name)
        position = number % len(array.shape)
        sizes.append(array.shape[position])
        shape = array.shape[:position] + array.shape[position + 1 :]
        return Array(shape, array.dtype, array.weak, origin=array.origin, name=array.name)

    return map_arrays(tree, strip)


def _put_axis(tree: Value, axis: Value, size: Dim) -> Value:
    """Put the mapped axis into every leaf of a result."""
    nested, items = as_items(axis), as_items(tree)
    if nested is not None and items is not None and len(items) == len(nested):
        return Tuple(tuple(_put_axis(item, one, size) for item, one in zip(items, nested, strict=True)))
    if is_none(axis):
        return tree
    number = as_int(axis)

    def put(array: Array, _: str) -> Value:
        if number is None or array.shape is None or not -len(array.shape) - 1 <= number <= len(array.shape):
            return Array(None, array.dtype)
        position = number % (len(array.shape) + 1)
        return Array((*array.shape[:position], size, *array.shape[position:]), array.dtype, array.weak)

    return map_arrays(tree, put)


def _pmap(call: Call, function: Value, options: dict[str, Value]) -> Value:
    """`pmap`: as `vmap`, one example a device."""
    if "in_axes" in options or "static_broadcasted_argnums" in options or "out_axes" in options:
        interpreter = call.interpreter
        with interpreter.within(bound_axes=Unknown("pmap"), in_jit=True):
            unknown = [Unknown("an argument of pmap") for _ in call.args]
            return interpreter.call(function, unknown, {}, call.place, call.opaque)
    name = as_str(options.get("axis_name", options.get("#1")))
    sizes: list[Dim] = []
    args = [_strip(traced(arg), Const(0), sizes) for arg in call.args]
    kwargs = {k: _strip(traced(v), Const(0), sizes) for k, v in call.kwargs.items()}
    size = next((s for s in sizes if isinstance(s, int)), sizes[0] if sizes else fresh(1))
    result = _named(call, function, args, kwargs, name, size, "axis_name" in options or "#1" in options)
    return _put_axis(result, Const(0), size)


def _eval_shape(call: Call) -> Value:
    """`eval_shape(f, *args, **kwargs)`: the function is traced, nothing runs."""
    if not call.args:
        return Unknown("eval_shape of nothing")
    function, *rest = call.args
    args = [traced(arg) for arg in rest]
    with call.interpreter.within(in_jit=True):
        result = call.interpreter.call(
            function, args, {k: traced(v) for k, v in call.kwargs.items()}, call.place, call.opaque
        )
    return map_arrays(
        result, lambda array, _: Array(array.shape, array.dtype, struct=True, origin=array.origin)
    )


def _make_jaxpr(call: Call, function: Value, options: dict[str, Value]) -> Value:
    with call.interpreter.within(in_jit=True):
        _forward(call, function, [traced(arg) for arg in call.args])
    return Unknown("a jaxpr")


def _vjp(call: Call) -> Value:
    """`vjp(f, *primals)`: the value, and a function from cotangents to gradients."""
    if not call.args or call.kwargs.get("has_aux") is not None:
        return Unknown("vjp")
    function, *rest = call.args
    args = [traced(arg) for arg in rest]
    value = call.interpreter.call(function, args, {}, call.place, call.opaque)
    return Tuple((value, Native("a vjp function", lambda inner: Tuple(tuple(map(_plain, args))))))


def _identity(call: Call) -> Value:
    return call.args[0] if call.args else Unknown(call.name)


TABLE: dict[str, Transfer] = {
    "jax.vmap": transform("jax.vmap", _vmap),
    "jax.pmap": transform("jax.pmap", _pmap),
    "jax.grad": transform("jax.grad", _gradient(with_value=False)),
    "jax.value_and_grad": transform("jax.value_and_grad", _gradient(with_value=True)),
    "jax.make_jaxpr": transform("jax.make_jaxpr", _make_jaxpr),
    **{
        f"jax.{name}": transform(f"jax.{name}", _transparent)
        for name in ("checkpoint", "remat", "custom_vjp", "custom_jvp", "named_call")
    },
    "jax.ad_checkpoint.checkpoint": transform("jax.checkpoint", _transparent),
    "jax.custom_batching.custom_vmap": transform("custom_vmap", _transparent),
    "jax.eval_shape": _eval_shape,
    "jax.vjp": _vjp,
    "jax.block_until_ready": _identity,
    "jax.device_get": _identity,
    "jax.lax.stop_gradient": _identity,
    "jax.typeof": _identity,
}
