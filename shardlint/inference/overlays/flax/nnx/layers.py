"""nnx layers: the variables that a constructor makes, and the shape that a call returns.

From `flax.nnx.nn.{linear,normalization,attention,stochastic}` 0.12.8. A `Layer` lists the constructor's
parameters in order, builds the layer's fields, and evaluates calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Const,
    DictValue,
    LibraryObject,
    Tuple,
    Value,
    as_bool,
    as_str,
    integer,
    is_none,
    shape_value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import as_dtype
from shardlint.inference.overlays.arrays.operands import (
    Stop,
    axes_of,
    given,
    operand,
    reject,
    shape_of,
    unresolved,
)
from shardlint.inference.overlays.flax.common.layer_shapes import (
    chain,
    contracted,
    convolved,
    dense,
    dim_of,
    dims_of,
    einsum,
    initialized,
    layer_dtype,
    parameter_sharding,
    refuse_array,
    replace_last,
    spatial_ints,
    transposed,
)
from shardlint.inference.overlays.flax.common.metadata import carries_names
from shardlint.inference.overlays.flax.common.parameter_uses import Owner
from shardlint.inference.overlays.flax.common.statistics import share_statistics
from shardlint.inference.overlays.flax.common.unknown_layers import record_named
from shardlint.inference.overlays.flax.nnx.assignment import MADE, shapes_of
from shardlint.inference.overlays.flax.nnx.rngs import key_for_parameter, key_from, stored_stream
from shardlint.inference.overlays.flax.nnx.variables import METADATA, PARAM, make_variable
from shardlint.inference.overlays.jax.explicit.type_conversion import replicated_here
from shardlint.inference.overlays.jax.shard_map.equal_draws import note_layer
from shardlint.inference.overlays.jax.sharding.made_arrays import made_by_library
from shardlint.laws.core.dims import Shape, floordiv, product
from shardlint.laws.core.values import Unknown
from shardlint.support.lazy_dataclass import dataclass, replace


@dataclass(slots=True)
class Build:
    """The construction of one layer: its arguments by name, and its new fields."""

    call: Call
    kind: str
    args: dict[str, Value]
    owner: Owner
    #: The parameters that were made.
    made: set[str] = field(default_factory=set)

    def optional(self, name: str, make: Callable[[], Value]) -> Value:
        """Return a parameter that the argument ``use_<name>`` switches (on by default), or None.

        If the switch is unknown, only names are recorded.
        """
        flag = f"use_{name}"
        value = self.args.get(flag)
        wanted = True if value is None else as_bool(value)
        if wanted is None:
            if carries_names(self.args.get(f"{name}_init")):
                with self.call.interpreter.forked():
                    make()
            return Unknown(f"`{flag}` is not known")
        return make() if wanted else NONE

    def flag(self, name: str, default: bool) -> bool:
        """Return a boolean argument. Stops if it is unknown."""
        value = self.args.get(name)
        if value is None:
            return default
        if (flag := as_bool(value)) is None:
            unresolved(f"`{name}` is not known")
        return flag

    @property
    def param_dtype(self) -> str | None:
        """Return the dtype of the parameters."""
        value = self.args.get("param_dtype")
        return "float32" if value is None else as_dtype(value)

    def param(self, name: str, shape: Shape, init: str | None = None, flat: Shape | None = None) -> Value:
        """Create a parameter; its initializer is the argument ``<name>_init``, or the argument ``init``."""
        call = self.call
        self.made.add(name)
        value = made_by_library(call, self.initialized(self.args.get(init or f"{name}_init"), shape, flat))
        extra = self.args.get(f"{name}_metadata")
        metadata = _table(extra)
        if isinstance(value, Unknown):
            value, metadata = Array(shape, self.param_dtype), None
        return make_variable(call, PARAM, value, metadata, self.owner, name)

    def initialized(self, init: Value | None, shape: Shape, flat: Shape | None) -> Value:
        """Return the initializer's result, in the shape that the layer requires."""
        array = Array(shape, self.param_dtype, origin=self.call.place)
        key = key_for_parameter(self.call)
        if init is None:
            return replace(array, typed=replicated_here(self.call.interpreter, shape))
        wanted_shape = shape_value(shape if flat is None else flat)
        dtype: Value = Const(self.param_dtype) if self.param_dtype else Unknown("the dtype")
        if refuse_array(self.call, "the layer", init):
            return Unknown("rejected")
        value = initialized(self.call, init, [key, wanted_shape, dtype], {})
        if isinstance(value, LibraryObject) and value.kind == METADATA:
            array = replace(array, typed=parameter_sharding(value.fields["value"], shape))
            return LibraryObject(METADATA, {**value.fields, "value": array}, value.origin)
        typed = parameter_sharding(value, shape)
        return replace(array, typed=typed) if isinstance(value, Array) else Unknown("the initializer")


def _table(value: Value | None) -> dict[str, Value] | None:
    """Return metadata passed as a dict; None if it is unknown."""
    if value is None or is_none(value):
        return {}
    if isinstance(value, DictValue) and value.items is not None:
        return {str(key): item for key, item in value.items.items()}
    return None


@dataclass(slots=True)
class Forward:
    """One call of a layer."""

    call: Call
    layer: LibraryObject

    def field(self, name: str) -> Value | None:
        """Return a field of the layer, or an argument of its constructor."""
        return self.layer.fields.get(name)

    def input(self, name: str = "inputs") -> Array:
        """Return the first argument of the call."""
        return operand(self.call.argument(1, name) or Unknown("no input"))

    def result(self, shape: Shape | None, x: Array, *parameters: str, inexact: bool = True) -> Array:
        """Return the layer's output, of its dtype or the dtype that its input and parameters promote to."""
        if given(self.field("preferred_element_type")):
            return Array(shape)
        values = [self.field(name) for name in parameters]
        dtypes = [operand(value).dtype for value in values if value is not None and not is_none(value)]
        return Array(shape, layer_dtype(self.field("dtype"), [x.dtype, *dtypes], inexact))


@dataclass(frozen=True, slots=True)
class Layer:
    """A class of nnx."""

    parameters: tuple[str, ...]
    build: Callable[[Build], dict[str, Value]]
    forward: Callable[[Forward], Value]


def _bias(b: Build, shape: Shape, flat: Shape | None = None) -> Value:
    return b.optional("bias", lambda: b.param("bias", shape, flat=flat))


def _linear(b: Build) -> dict[str, Value]:
    inside, outside = dim_of(b.args.get("in_features")), dim_of(b.args.get("out_features"))
    return {"kernel": b.param("kernel", (inside, outside)), "bias": _bias(b, (outside,))}


def operand_of(variable: Value | None) -> Value:
    """Return the array in a layer's variable, or None if there is no variable."""
    if isinstance(variable, LibraryObject):
        return variable.fields.get("value", Unknown("no value"))
    return variable or NONE


def _linear_call(f: Forward) -> Value:
    x = f.input()
    result = f.result(replace_last(x, (dim_of(f.field("out_features")),)), x, "kernel", "bias")
    if given(f.field("dot_general")):
        return result
    kernel, bias = operand_of(f.field("kernel")), operand_of(f.field("bias"))
    return dense(f.call, result, x, kernel, bias, f.call.argument(2, "out_sharding"))


def _batch(args: dict[str, Value]) -> tuple[tuple[int, ...], Shape]:
    """Return the batch axes of a `LinearGeneral` and their sizes. Stops if they are unknown."""
    table = args.get("batch_axis")
    if table is None:
        return (), ()
    if not isinstance(table, DictValue) or table.items is None:
        unresolved("the batch axes are not known")
    axes = tuple(axis for axis in table.items if isinstance(axis, int))
    return axes, tuple(dim_of(size) for size in table.items.values())


def _linear_general(b: Build) -> dict[str, Value]:
    _, batch = _batch(b.args)
    inside, outside = dims_of(b.args.get("in_features")), dims_of(b.args.get("out_features"))
    flat = (product(batch) * product(inside), product(outside))
    kernel = b.param("kernel", (*batch, *inside, *outside), flat=flat)
    bias = (*batch, *outside)
    return {"kernel": kernel, "bias": _bias(b, bias, (product(bias),))}


def _linear_general_call(f: Forward) -> Value:
    x, features = f.input(), dims_of(f.field("out_features"))
    if x.shape is None:
        return f.result(None, x, "kernel", "bias")
    rank = len(x.shape)
    axes = axes_of(f.field("axis") or Const(-1), rank)
    names, _ = _batch(f.layer.fields)
    batch = tuple(axis % rank for axis in names)
    return f.result(contracted(x.shape, axes, batch, features), x, "kernel", "bias")


def _einsum(b: Build) -> dict[str, Value]:
    bias = b.args.get("bias_shape")
    return {
        "kernel": b.param("kernel", shape_of(b.args.get("kernel_shape"))),
        "bias": b.param("bias", shape_of(bias)) if given(bias) else NONE,
    }


def _einsum_call(f: Forward) -> Value:
    equation = f.call.argument(2, "einsum_str")
    text = as_str(equation if given(equation) else f.field("einsum_str"))
    if text is None:
        unresolved("the equation is not known")
    x = f.input()
    kernel = Array(shape_of(f.field("kernel_shape")))
    return f.result(einsum(f.call, text, x, kernel), x, "kernel", "bias")


def _conv(b: Build) -> dict[str, Value]:
    kernel, features = dims_of(b.args.get("kernel_size")), dim_of(b.args.get("out_features"))
    groups = b.args.get("feature_group_count")
    inside = dim_of(b.args.get("in_features"))
    inside = inside if groups is None else floordiv(inside, dim_of(groups))
    return {"kernel": b.param("kernel", (*kernel, inside, features)), "bias": _bias(b, (features,))}


def _conv_call(f: Forward) -> Value:
    kernel, features, x = dims_of(f.field("kernel_size")), dim_of(f.field("out_features")), f.input()
    if x.shape is None:
        return f.result(None, x, "kernel", "bias")
    split = len(x.shape) - len(kernel) - 1
    if split < 0:
        reject("fewer dimensions than the kernel has")
    names = ("strides", "input_dilation", "kernel_dilation")
    steps = (spatial_ints(f.field(name), len(kernel)) for name in names)
    sizes = convolved(x.shape[split:-1], kernel, f.field("padding"), *steps)
    return f.result((*x.shape[:split], *sizes, features), x, "kernel", "bias")


def _conv_transpose(b: Build) -> dict[str, Value]:
    kernel, features = dims_of(b.args.get("kernel_size")), dim_of(b.args.get("out_features"))
    inside = dim_of(b.args.get("in_features"))
    ends = (features, inside) if b.flag("transpose_kernel", False) else (inside, features)
    return {"kernel": b.param("kernel", (*kernel, *ends)), "bias": _bias(b, (features,))}


def _conv_transpose_call(f: Forward) -> Value:
    kernel, features, x = dims_of(f.field("kernel_size")), dim_of(f.field("out_features")), f.input()
    if x.shape is None:
        return f.result(None, x, "kernel", "bias")
    split = len(x.shape) - len(kernel) - 1
    if split < 0:
        reject("fewer dimensions than the kernel has")
    steps = (spatial_ints(f.field(name), len(kernel)) for name in ("strides", "kernel_dilation"))
    sizes = transposed(x.shape[split:-1], kernel, f.field("padding"), *steps)
    return f.result((*x.shape[:split], *sizes, features), x, "kernel", "bias")


def _prelu(b: Build) -> dict[str, Value]:
    # The argument `negative_slope_init` is the number itself.
    rest = {name: value for name, value in b.args.items() if name != "negative_slope_init"}
    return {"negative_slope": replace(b, args=rest).param("negative_slope", ())}


def _prelu_call(f: Forward) -> Value:
    x = f.input()
    if given(f.field("dtype")):
        return f.result(x.shape, x, "negative_slope")
    return Array(x.shape, x.dtype, typed=x.typed)


def _embed(b: Build) -> dict[str, Value]:
    shape = (dim_of(b.args.get("num_embeddings")), dim_of(b.args.get("features")))
    return {"embedding": b.param("embedding", shape)}


def _embed_call(f: Forward) -> Value:
    x, table = f.input(), operand(f.field("embedding"))
    shape = None if x.shape is None else (*x.shape, dim_of(f.field("features")))
    return Array(shape, layer_dtype(f.field("dtype"), (table.dtype,), inexact=False))


def attend(f: Forward) -> Value:
    """`Embed.attend`: the product of the query with every embedding."""
    x = f.input("query")
    found = f.result(replace_last(x, (dim_of(f.field("num_embeddings")),)), x, "embedding")
    # `Embed` takes its parameter's dtype as its own.
    return found if given(f.field("dtype")) else replace(found, dtype=operand(f.field("embedding")).dtype)


def _norm(b: Build) -> dict[str, Value]:
    shape = (dim_of(b.args.get("num_features")),)
    return {
        "scale": b.optional("scale", lambda: b.param("scale", shape)),
        "bias": _bias(b, shape),
    }


def _rms_norm(b: Build) -> dict[str, Value]:
    shape = (dim_of(b.args.get("num_features")),)
    return {"scale": b.optional("scale", lambda: b.param("scale", shape))}


def _batch_norm(b: Build) -> dict[str, Value]:
    array = Array((dim_of(b.args.get("num_features")),), "float32")
    stats: dict[str, Value] = {
        name: LibraryObject("flax.nnx.BatchStat", {"value": array}, b.call.place) for name in ("mean", "var")
    }
    return {**stats, **_norm(b)}


def _norm_call(f: Forward) -> Value:
    x = f.input("x")
    share_statistics(f.call, x, f.field("axis_name"), f.field("axis_index_groups"))
    return f.result(x.shape, x, "scale", "bias")


def _attention(b: Build) -> dict[str, Value]:
    inside = dim_of(b.args.get("in_features"))
    sizes = {
        name: dim_of(b.args.get(name)) if given(b.args.get(name)) else inside
        for name in ("qkv_features", "out_features", "in_kv_features")
    }
    heads = dim_of(b.args.get("num_heads"))
    kv_heads = dim_of(b.args.get("num_kv_heads")) if given(b.args.get("num_kv_heads")) else heads
    depth = floordiv(sizes["qkv_features"], heads)
    shared: dict[str, Value] = {n: b.args[n] for n in ("dtype", "param_dtype", "use_bias") if n in b.args}
    inputs = _renamed(b, "kernel_init bias_init kernel_metadata bias_metadata")
    outputs = inputs | _renamed(b, "kernel_init bias_init kernel_metadata bias_metadata", prefix="out_")

    def general(name: str, features: Shape, result: Shape, extra: dict[str, Value]) -> Value:
        fields = {
            "in_features": shape_value(features),
            "out_features": shape_value(result),
            **shared,
            **extra,
        }
        return construct(b.call, "LinearGeneral", fields, replace(b.owner, name=f"{b.owner.name}.{name}"))

    parts = {
        "query": general("query", (inside,), (heads, depth), inputs),
        "key": general("key", (sizes["in_kv_features"],), (kv_heads, depth), inputs),
        "value": general("value", (sizes["in_kv_features"],), (kv_heads, depth), inputs),
    }
    if b.flag("normalize_qk", False):
        for name in ("query_ln", "key_ln"):
            fields: dict[str, Value] = {**shared, "num_features": integer(depth), "use_bias": Const(False)}
            if f"{name}_scale_metadata" in b.args:
                fields["scale_metadata"] = b.args[f"{name}_scale_metadata"]
            owner = replace(b.owner, name=f"{b.owner.name}.{name}")
            parts[name] = construct(b.call, "LayerNorm", fields, owner)
    axis = {"axis": shape_value((-2, -1)), **outputs}
    parts["out"] = general("out", (heads, depth), (sizes["out_features"],), axis)
    return parts


def _renamed(b: Build, names: str, prefix: str = "") -> dict[str, Value]:
    """Return arguments to pass on, without those that are None or empty."""
    found = {name: b.args.get(prefix + name) for name in names.split()}
    return {name: value for name, value in found.items() if value is not None and not _is_empty(value)}


def _is_empty(value: Value) -> bool:
    return is_none(value) or (isinstance(value, DictValue) and value.items == {})


def _attention_call(f: Forward) -> Value:
    if given(f.field("attention_fn")):
        unresolved("another attention function")
    x, out = f.input("inputs_q"), f.field("out")
    if not isinstance(out, LibraryObject):
        unresolved("the projections are not known")
    features = dims_of(out.fields.get("out_features"))
    return Forward(f.call, out).result(replace_last(x, features), x, "kernel", "bias")


def _nothing(b: Build) -> dict[str, Value]:
    return {}


def _dropout_call(f: Forward) -> Value:
    x = f.call.argument(1, "inputs") or Unknown("no input")
    off = f.call.kwargs.get("deterministic") or f.field("deterministic")
    # Who gives the call a key wants it to be used, unless told otherwise.
    rngs, interpreter = f.call.kwargs.get("rngs"), f.call.interpreter
    if interpreter.context.bound_axes and rngs is not None and (off is None or as_bool(off) is False):
        key = key_from(f.call, rngs, "dropout")
        note_layer(interpreter, key, x, f.call.place_of(None, "rngs"), f.call.place)
    return x


def _sequential(b: Build) -> dict[str, Value]:
    return {"layers": Unknown("starred layers") if b.call.opaque else Tuple(tuple(b.call.args))}


def _sequential_call(f: Forward) -> Value:
    return chain(f.call, f.field("layers"))


def _batch_norm_call(f: Forward) -> Value:
    x = f.input("x")
    # Unless the call decides, `model.eval()` may have switched their computation off.
    if as_bool(f.call.argument(2, "use_running_average")) is False:
        share_statistics(f.call, x, f.field("axis_name"), f.field("axis_index_groups"))
    return f.result(x.shape, x, "mean", "var", "scale", "bias")


_CLASSES: dict[str, tuple[str, Callable[[Build], dict[str, Value]], Callable[[Forward], Value]]] = {
    "Linear": ("in_features out_features", _linear, _linear_call),
    "LinearGeneral": ("in_features out_features", _linear_general, _linear_general_call),
    "Einsum": ("einsum_str kernel_shape bias_shape", _einsum, _einsum_call),
    "Conv": ("in_features out_features kernel_size strides", _conv, _conv_call),
    "ConvTranspose": ("in_features out_features kernel_size strides", _conv_transpose, _conv_transpose_call),
    "PReLU": ("negative_slope_init", _prelu, _prelu_call),
    "Embed": ("num_embeddings features", _embed, _embed_call),
    "LayerNorm": ("num_features", _norm, _norm_call),
    "RMSNorm": ("num_features", _rms_norm, _norm_call),
    "GroupNorm": ("num_features num_groups group_size", _norm, _norm_call),
    "InstanceNorm": ("num_features", _norm, _norm_call),
    "BatchNorm": ("num_features", _batch_norm, _batch_norm_call),
    "MultiHeadAttention": (
        "num_heads in_features qkv_features out_features num_kv_heads in_kv_features",
        _attention,
        _attention_call,
    ),
    "Dropout": ("rate", _nothing, _dropout_call),
    "Sequential": ("", _sequential, _sequential_call),
}

#: nnx's classes by name; the constructor's other parameters are keywords.
LAYERS = {name: Layer(tuple(p.split()), build, forward) for name, (p, build, forward) in _CLASSES.items()}


def construct(
    call: Call,
    class_name: str,
    args: dict[str, Value],
    owner: Owner,
    layers: Mapping[str, Layer] | None = None,
) -> Value:
    """Create a layer of one of the classes from its arguments by name."""
    kind = f"flax.nnx.{class_name}"
    build = Build(call, kind, args, owner)
    try:
        fields = (layers or LAYERS)[class_name].build(build)
    except Stop:
        record_named(call, owner, args, build.made)
        raise
    stream = stored_stream(call, class_name, args)
    return LibraryObject(kind, {**args, **fields, **stream, MADE: shapes_of(fields)}, owner.place)
