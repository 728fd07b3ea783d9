"""Shapes that linen and nnx layers share: convolutions, normalized axes, general contractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    Const,
    DictValue,
    External,
    Native,
    Tuple,
    Value,
    as_dim,
    as_int,
    as_items,
    as_shape,
    as_size,
    as_str,
    is_none,
    shape_value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import as_dtype, kind, promote
from shardlint.inference.overlays.arrays.operands import known_int, reject, unresolved
from shardlint.inference.overlays.jax import initializers
from shardlint.inference.overlays.jax.explicit.type_conversion import replicated_here
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.array_types import TypeSharding
from shardlint.laws.core.dims import Dim, Shape, floordiv, fresh, lower_bound
from shardlint.laws.core.values import AxisType, Spec, Unknown
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.core.witness_data import array_data, call_data

_INITIALIZERS = ("jax.nn.initializers.", "flax.linen.initializers.", "flax.nnx.initializers.")

#: Functions that `flax.linen` and `flax.nnx` re-export from JAX.
ACTIVATIONS = (
    "celu",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "logsumexp",
    "one_hot",
    "relu",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "standardize",
    "swish",
)


def aliases(package: str) -> dict[str, str]:
    """Return the names of a Flax package that are aliases of JAX's."""
    found = {f"{package}.{name}": f"jax.nn.{name}" for name in ACTIVATIONS}
    found[f"{package}.tanh"] = "jax.numpy.tanh"
    for name in initializers.TABLE:
        found[f"{package}.initializers.{name.rpartition('.')[2]}"] = name
    return found


def dense(
    call: Call, result: Array, x: Array, kernel: Value, bias: Value | None, out_sharding: Value | None
) -> Value:
    """Return ``x @ kernel + bias`` with the sharding in its type, as `jax.lax` computes it.

    Unknown if JAX refuses the shardings of the operands. Without Explicit axes the result is unchanged.
    """
    if not isinstance(kernel, Array) or x.shape is None or not _is_explicit(x, kernel):
        return result
    if isinstance(bias, Unknown):
        return replace(result, typed=None)
    axis: Value = Const(len(x.shape) - 1)
    pairs = Tuple((Tuple((Tuple((axis,)), Tuple((Const(0),)))), Tuple((Tuple(()), Tuple(())))))
    kwargs = {} if out_sharding is None else {"out_sharding": out_sharding}
    interpreter, place = call.interpreter, call.place
    made = interpreter.call(External("jax.lax.dot_general"), [x, kernel, pairs], kwargs, place)
    if isinstance(bias, Array) and isinstance(made, Array):
        wide = shape_value((*(1,) * (len(x.shape) - 1), *(bias.shape or ())))
        row = interpreter.call(External("jax.numpy.reshape"), [bias, wide], {}, place)
        made = interpreter.operation("Add", made, row, place)
    return replace(result, typed=made.typed) if isinstance(made, Array) else made


def _is_explicit(*arrays: Array) -> bool:
    """Return whether the types of all arrays are known, and one of them is on a mesh with Explicit axes."""
    types = [array.typed for array in arrays]
    meshes = [held.mesh for held in types if held is not None and held.mesh is not None]
    return None not in types and any(AxisType.EXPLICIT in mesh.types for mesh in meshes)


def initialized(call: Call, init: Value, args: Sequence[Value], kwargs: dict[str, Value]) -> Value:
    """Return the result of an initializer: JAX's own make an array that is replicated over the context's
    mesh."""
    value = call.interpreter.call(init, list(args), dict(kwargs), call.place)
    if isinstance(value, Array) and value.typed is None and _is_library_initializer(init):
        return replace(value, typed=replicated_here(call.interpreter, value.shape))
    return value


def parameter_sharding(made: Value, shape: Shape) -> TypeSharding | None:
    """Return the sharding in the type of a new parameter of this shape, which may have been made as a
    matrix."""
    typed = made.typed if isinstance(made, Array) else None
    if typed is None or any(entry is not None for entry in typed.spec.entries):
        return typed if isinstance(made, Array) and made.shape == shape else None
    return replace(typed, spec=Spec((None,) * len(shape)))


#: Snippets that call an initializer, by library.
_INITIALIZING = {
    "nn.with_partitioning": "nn.with_partitioning called",
    "nnx.with_partitioning": "nnx.with_partitioning called",
    "the layer": "nn.Dense initialized",
}


def refuse_array(call: Call, function: str, init: Value) -> bool:
    """Record an array passed as an initializer (TypeError); return whether it is one."""
    if not isinstance(init, Array):
        return False
    detail = f"{function} takes an initializer, which Flax calls with a key and a shape; this is an array"
    verdict = Rejected(Cause.MISUSE, "TypeError", "init", detail=detail)
    array = array_data((1, 1), init.dtype or "float32", init.numpy)
    calls = [
        call_data(_INITIALIZING[function], (one,))
        for one in (array, ("constant", "jax.nn.initializers.ones"))
    ]
    record_of_value(call.interpreter, function, verdict, init.origin or call.place, *calls)
    return True


def initializer_makers(package: str) -> dict[str, Callable[[Call], Value]]:
    """Return ``zeros_init()`` and ``ones_init()``, which only Flax has."""

    def maker(name: str) -> Callable[[Call], Value]:
        return lambda call: External(f"jax.nn.initializers.{name}")

    return {f"{package}.initializers.{name}_init": maker(name) for name in ("zeros", "ones")}


def chain(call: Call, layers: Value | None) -> Value:
    """Call layers one after the other, as both libraries' ``Sequential`` do."""
    functions = as_items(layers)
    if not functions:
        unresolved("the layers are not known")
    interpreter, place = call.interpreter, call.place
    value: Value = interpreter.call(functions[0], list(call.args[1:]), dict(call.kwargs), place)
    for function in functions[1:]:
        if isinstance(value, DictValue):
            unresolved("a dict between layers")
        value = interpreter.call(
            function, list(value.items) if isinstance(value, Tuple) else [value], {}, place
        )
    return value


def einsum_letters(equation: str, kernel: Shape) -> tuple[dict[str, Dim], str]:
    """Return the kernel's sizes by letter, and the output's letters. Stops if an ellipsis covers some."""
    operands, arrow, output = equation.replace(" ", "").partition("->")
    letters = operands.partition(",")[2]
    if not arrow or operands.count(",") != 1:
        reject("an equation of other than two operands")
    if "." in letters or len(letters) != len(kernel):
        unresolved("an ellipsis over the kernel")
    return dict(zip(letters, kernel, strict=True)), output.replace(".", "")


def einsum(call: Call, equation: str, x: Array, kernel: Array) -> Shape | None:
    """Return the shape of an einsum of an input with a kernel."""
    args: list[Value] = [Const(equation), x, kernel]
    found = call.interpreter.call(External("jax.numpy.einsum"), args, {}, call.place)
    return found.shape if isinstance(found, Array) else None


def dim_of(value: Value | None) -> Dim:
    """Return a size; fresh if it is unknown."""
    dim = as_size(value)
    return fresh() if dim is None else dim


def dims_of(value: Value | None) -> Shape:
    """Return one size or several (``features=8``, ``features=(4, 2)``). Stops if how many is unknown."""
    items = as_items(value)
    if items is not None:
        return tuple(dim_of(item) for item in items)
    if (dim := as_size(value)) is None:
        unresolved("how many sizes is not known")
    return (dim,)


def shape_by_convention(init: Value, args: Sequence[Value]) -> Shape | None:
    """Return the shape of an unknown initializer's result; None if it may be any.

    By convention an initializer takes a key, a shape and a dtype. An initializer of the program may differ,
    so that only an argument that is certainly a shape is used. Unknown sizes are fresh.
    """
    if len(args) < 2:
        return None
    items = as_items(args[1])
    if _is_library_initializer(init):
        return as_shape(args[1]) if items is None else tuple(map(dim_of, items))
    return tuple(map(dim_of, items)) if isinstance(init, Unknown) and items is not None else None


def _is_library_initializer(init: Value) -> bool:
    name = init.name if isinstance(init, External) else init.description if isinstance(init, Native) else ""
    return name.startswith(_INITIALIZERS)


def ints_of(value: Value | None) -> tuple[int, ...]:
    """Return one integer or several that determine a structure. Stops if they are unknown."""
    items = as_items(value)
    return (known_int(value),) if items is None else tuple(known_int(item) for item in items)


def last(array: Array) -> Dim:
    """Return the size of the last dimension; fresh when the rank is unknown."""
    if array.shape is None:
        return fresh()
    if not array.shape:
        reject("a scalar has no features")
    return array.shape[-1]


def replace_last(array: Array, features: Shape) -> Shape | None:
    """Return the shape with other sizes for the last dimension."""
    return None if array.shape is None else (*array.shape[:-1], *features)


def layer_dtype(dtype: Value | None, operands: Sequence[str | None], inexact: bool = True) -> str | None:
    """Return the dtype to which `promote_dtype` casts: the layer's ``dtype``, or that of the promoted
    operands."""
    if dtype is not None and not is_none(dtype):
        return as_dtype(dtype)
    found, _ = promote(((name, False) for name in operands), numpy=False)
    if found is not None and inexact and kind(found) not in "fc":
        return "float32"
    return found


def contracted(shape: Shape, axes: Sequence[int], batch: Sequence[int], features: Shape) -> Shape:
    """Return the shape of a general dense layer's result: batch axes, other uncontracted axes, features."""
    free = (dim for axis, dim in enumerate(shape) if axis not in axes and axis not in batch)
    return (*(shape[axis] for axis in batch), *free, *features)


def spatial_ints(value: Value | None, rank: int) -> tuple[int, ...]:
    """Return strides or dilations, one for each spatial dimension; None means 1. Stops if they are
    unknown."""
    if value is None or is_none(value):
        return (1,) * rank
    if (number := as_int(value)) is not None:
        return (number,) * rank
    found = ints_of(value)
    if len(found) != rank:
        reject("one number a spatial dimension")
    return found


def convolved(
    sizes: Sequence[Dim],
    kernel: Sequence[Dim],
    padding: Value | None,
    strides: Sequence[int],
    input_dilation: Sequence[int],
    kernel_dilation: Sequence[int],
) -> Shape:
    """Return the spatial sizes of a convolution's result, as `flax.linen.Conv` calls
    `lax.conv_general_dilated`."""
    rank = len(kernel)
    mode = "SAME" if padding is None else as_str(padding)
    explicit = None if mode is not None else _explicit_padding(padding, rank)
    found = []
    for i, size in enumerate(sizes):
        window = (kernel[i] - 1) * kernel_dilation[i] + 1
        if mode == "SAME":
            found.append(_same(size, window, strides[i], input_dilation[i]))
            continue
        if mode == "VALID":
            pad: Dim = 0
        elif mode in ("CIRCULAR", "REFLECT", "CAUSAL"):
            pad = window - 1
        elif explicit is not None:
            pad = explicit[i]
        else:
            reject("no such padding")
        # A wrapped border is part of the input, and dilated with it; zero padding is not.
        wrapped = mode in ("CIRCULAR", "REFLECT", "CAUSAL")
        inner = (
            _dilated(size + pad, input_dilation[i]) if wrapped else _dilated(size, input_dilation[i]) + pad
        )
        found.append(_windows(inner, window, strides[i]))
    return tuple(found)


def transposed(
    sizes: Sequence[Dim],
    kernel: Sequence[Dim],
    padding: Value | None,
    strides: Sequence[int],
    kernel_dilation: Sequence[int],
) -> Shape:
    """Return the spatial sizes of a transposed convolution's result, which both ``ConvTranspose`` compute
    alike."""
    mode = "SAME" if padding is None else as_str(padding)
    if mode not in (None, "SAME", "VALID", "CIRCULAR"):
        reject("no such padding")
    explicit = None if mode is not None else _explicit_padding(padding, len(kernel))
    found = []
    for i, size in enumerate(sizes):
        window, stride = (kernel[i] - 1) * kernel_dilation[i] + 1, strides[i]
        if explicit is not None:
            found.append(_windows((size - 1) * stride + 1 + explicit[i], window, 1))
        elif mode != "VALID":
            found.append(size * stride)
        else:
            found.append(size * stride + max(window - stride, 0) if isinstance(window, int) else fresh())
    return tuple(found)


def _explicit_padding(padding: Value | None, rank: int) -> tuple[Dim, ...]:
    """Return the zeros added to each spatial dimension, on both sides together."""
    if (number := as_dim(padding)) is not None:
        return (2 * number,) * rank
    items = as_items(padding)
    if items is None:
        unresolved("the padding is not known")
    if len(items) != rank:
        reject("one padding a spatial dimension")
    total: list[Dim] = []
    for item in items:
        pair = as_items(item)
        total.append(2 * dim_of(item) if pair is None else dim_of(pair[0]) + dim_of(pair[1]))
    return tuple(total)


def _dilated(size: Dim, dilation: int) -> Dim:
    return size if dilation == 1 else (size - 1) * dilation + 1


def _windows(size: Dim, window: Dim, stride: int) -> Dim:
    room = size - window
    low = lower_bound(room)
    if isinstance(room, int):
        return max(room // stride + 1, 0)
    if low is not None and low >= -1:
        return floordiv(room, stride) + 1
    return fresh()


def _same(size: Dim, window: Dim, stride: int, dilation: int) -> Dim:
    if dilation == 1:
        return size if stride == 1 else floordiv(size + stride - 1, stride)
    if not (isinstance(size, int) and isinstance(window, int)):
        return fresh()
    # `lax.padtype_to_pads` sizes the padding by the input before it is dilated.
    pad = max((-(-size // stride) - 1) * stride + window - size, 0)
    return _windows((size - 1) * dilation + 1 + pad, window, stride)
