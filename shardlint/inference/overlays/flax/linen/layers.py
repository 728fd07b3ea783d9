"""linen's layers: the parameters that a call makes, and the shape it returns.

From `flax.linen.{linear,normalization,attention,stochastic,combinators}` 0.12.8. A `Layer` lists the fields
of the class in order; its ``forward`` receives a `Forward`: the module, and the call's arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from shardlint.inference.domain.values import (
    Array,
    Const,
    LibraryObject,
    Value,
    as_bool,
    as_str,
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
from shardlint.inference.overlays.flax.common.layer_results import layer_result
from shardlint.inference.overlays.flax.common.layer_shapes import (
    chain,
    contracted,
    convolved,
    dense,
    dim_of,
    dims_of,
    einsum,
    einsum_letters,
    ints_of,
    last,
    layer_dtype,
    replace_last,
    spatial_ints,
    transposed,
)
from shardlint.inference.overlays.flax.common.metadata import (
    carries_names,
)
from shardlint.inference.overlays.flax.common.parameter_uses import Owner
from shardlint.inference.overlays.flax.common.statistics import share_statistics
from shardlint.inference.overlays.flax.linen.module_runs import (
    Binding,
    Mode,
    key_of,
    module_created,
    running,
)  # fmt: skip
from shardlint.inference.overlays.flax.linen.parameters import initialized, make_variable
from shardlint.inference.overlays.jax.shard_map.equal_draws import note_layer
from shardlint.laws.core.dims import Dim, Shape, floordiv, fresh, product
from shardlint.laws.core.values import Unknown
from shardlint.support.lazy_dataclass import dataclass


@dataclass(slots=True)
class Forward:
    """One call of a layer."""

    call: Call
    module: LibraryObject
    binding: Binding
    owner: Owner
    #: The parameters that the call made.
    made: set[str] = field(default_factory=set)
    #: The values that the call computes with besides its arguments.
    read: list[Value] = field(default_factory=list)

    def optional(self, name: str, make: Callable[[], Value]) -> Value | None:
        """Return a parameter that the field ``use_<name>`` switches (on by default), or None.

        If the switch is unknown, only names are recorded.
        """
        flag = f"use_{name}"
        value = self.field(flag)
        wanted = True if value is None else as_bool(value)
        if wanted is None:
            self.binding.run.uncertain.add(self.binding.path)
            if carries_names(self.field(f"{name}_init")):
                with self.call.interpreter.forked():
                    make()
            return Unknown(f"`{flag}` is not known")
        return make() if wanted else None

    def field(self, name: str) -> Value | None:
        """Return a constructor argument, or None if it is missing."""
        return self.module.fields.get(name)

    def flag(self, name: str, default: bool) -> bool:
        """Return a boolean field. Stops if it is unknown."""
        value = self.field(name)
        if value is None:
            return default
        if (flag := as_bool(value)) is None:
            unresolved(f"`{name}` is not known")
        return flag

    def input(self, name: str = "inputs") -> Array:
        """Return the first argument of the call."""
        return operand(self.call.argument(1, name) or Unknown("no input"))

    @property
    def param_dtype(self) -> str | None:
        """Return the dtype of the parameters."""
        value = self.field("param_dtype")
        return "float32" if value is None else as_dtype(value)

    def param(self, name: str, shape: Shape, init: Value | None, flat: Shape | None = None) -> Value:
        """Create a parameter of the layer."""
        self.made.add(name)
        variable = make_variable(
            self.call.interpreter,
            self.binding,
            "params",
            name,
            self.owner,
            lambda: initialized(self.call, name, init, shape, self.param_dtype, flat),
            flat,
        )
        self.read.append(replace(variable, name=name) if isinstance(variable, Array) else variable)
        return variable

    def state(self, collection: str, name: str, shape: Shape, dtype: str | None) -> Value:
        """Create a variable that is not a parameter."""
        interpreter, owner = self.call.interpreter, self.owner
        return make_variable(interpreter, self.binding, collection, name, owner, lambda: Array(shape, dtype))

    def computed(self, result: Value) -> Value:
        """Return a value computed from arguments and parameters."""
        operands = (*self.call.args[1:], *self.call.kwargs.values(), *self.read)
        return layer_result(self.call, self.module.kind.rpartition(".")[2], result, operands)

    def result(self, shape: Shape | None, x: Array, params: bool = True) -> Array:
        """Return the layer's output, of the layer's dtype or the dtype that its input and parameters promote
        to."""
        operands = (x.dtype, self.param_dtype) if params else (x.dtype,)
        return Array(shape, layer_dtype(self.field("dtype"), operands))


@dataclass(frozen=True, slots=True)
class Layer:
    """A class of linen: its fields in order, and the evaluation of a call.

    ``passes``: the result is that of other layers, or the input, and varies as they do.
    """

    fields: tuple[str, ...]
    forward: Callable[[Forward], Value]
    passes: bool = True


def _bias(f: Forward, shape: Shape, flat: Shape | None = None) -> Value | None:
    return f.optional("bias", lambda: f.param("bias", shape, f.field("bias_init"), flat))


def _dense(f: Forward) -> Value:
    x, features = f.input(), dim_of(f.field("features"))
    kernel = f.param("kernel", (last(x), features), f.field("kernel_init"))
    bias = _bias(f, (features,))
    result = f.result(replace_last(x, (features,)), x)
    if given(f.field("dot_general")) or given(f.field("dot_general_cls")):
        return result
    return dense(f.call, result, x, kernel, bias, None)


def _dense_general(f: Forward) -> Value:
    x, features = f.input(), dims_of(f.field("features"))
    axis = f.field("axis")
    count = 1 if axis is None else len(ints_of(axis))
    batch_dims = f.field("batch_dims")
    if x.shape is None:
        if batch_dims is None:
            inputs = tuple(fresh() for _ in range(count))
            _general_params(f, (), inputs, features)
        return f.result(None, x)
    axes = axes_of(Const(-1) if axis is None else axis, len(x.shape))
    batch = () if batch_dims is None else axes_of(batch_dims, len(x.shape))
    _general_params(f, tuple(x.shape[i] for i in batch), tuple(x.shape[i] for i in axes), features)
    return f.result(contracted(x.shape, axes, batch, features), x)


def _general_params(f: Forward, batch: Shape, inputs: Shape, features: Shape) -> None:
    flat_kernel = (product(batch) * product(inputs), product(features))
    f.param("kernel", (*batch, *inputs, *features), f.field("kernel_init"), flat_kernel)
    _bias(f, (*batch, *features), (product(batch) * product(features),))


def _einsum(f: Forward) -> Value:
    equation = f.call.argument(2, "einsum_str")
    text = as_str(equation if given(equation) else f.field("einsum_str"))
    shape = shape_of(f.field("shape"))
    f.param("kernel", shape, f.field("kernel_init"))
    if text is None:
        unresolved("the equation is not known")
    sizes, output = einsum_letters(text, shape)
    _bias(f, tuple(sizes[letter] for letter in output if letter in sizes))
    x = f.input()
    return f.result(einsum(f.call, text, x, Array(shape, f.param_dtype)), x)


def _conv(f: Forward) -> Value:
    kernel, features = dims_of(f.field("kernel_size")), dim_of(f.field("features"))
    x, rank = f.input(), len(kernel)
    channels = last(x)
    groups = f.field("feature_group_count")
    inside = channels if groups is None else floordiv(channels, dim_of(groups))
    f.param("kernel", (*kernel, inside, features), f.field("kernel_init"))
    _bias(f, (features,))
    if x.shape is None:
        return f.result(None, x)
    return f.result((*x.shape[: -rank - 1], *_convolved(f, x.shape, kernel), features), x)


def _convolved(f: Forward, shape: Shape, kernel: Shape) -> Shape:
    """Return the spatial sizes of a convolution's result."""
    rank = len(kernel)
    if len(shape) <= rank:
        reject("fewer dimensions than the kernel has")
    names = ("strides", "input_dilation", "kernel_dilation")
    strides, *dilations = (spatial_ints(f.field(name), rank) for name in names)
    return convolved(shape[-rank - 1 : -1], kernel, f.field("padding"), strides, *dilations)


def _conv_transpose(f: Forward) -> Value:
    kernel, features = dims_of(f.field("kernel_size")), dim_of(f.field("features"))
    x = f.input()
    ends = (features, last(x)) if f.flag("transpose_kernel", False) else (last(x), features)
    f.param("kernel", (*kernel, *ends), f.field("kernel_init"))
    _bias(f, (features,))
    if x.shape is None:
        return f.result(None, x)
    split = len(x.shape) - len(kernel) - 1
    if split < 0:
        reject("fewer dimensions than the kernel has")
    steps = (spatial_ints(f.field(name), len(kernel)) for name in ("strides", "kernel_dilation"))
    sizes = transposed(x.shape[split:-1], kernel, f.field("padding"), *steps)
    return f.result((*x.shape[:split], *sizes, features), x)


def _conv_local(f: Forward) -> Value:
    """`ConvLocal`: a kernel for every position of the result; the whole window is one dimension."""
    kernel, features, x = dims_of(f.field("kernel_size")), dim_of(f.field("features")), f.input()
    if x.shape is None:
        sizes: Shape = tuple(fresh() for _ in kernel)
    else:
        sizes = _convolved(f, x.shape, kernel)
    f.param("kernel", (*sizes, product(kernel) * last(x), features), f.field("kernel_init"))
    _bias(f, (*sizes, features))
    if x.shape is None:
        return f.result(None, x)
    return f.result((*x.shape[: -len(kernel) - 1], *sizes, features), x)


def _prelu(f: Forward) -> Value:
    f.param("negative_slope", (), None)
    x = f.input()
    return Array(x.shape, x.dtype, typed=x.typed)


def _embed(f: Forward) -> Value:
    x = f.input()
    table = _embedding(f)
    dtype = layer_dtype(f.field("dtype"), (f.param_dtype,), inexact=False)
    return Array(None if x.shape is None else (*x.shape, table[1]), dtype)


def _embedding(f: Forward) -> tuple[Dim, Dim]:
    shape = (dim_of(f.field("num_embeddings")), dim_of(f.field("features")))
    f.param("embedding", shape, f.field("embedding_init"))
    return shape


def attend(f: Forward) -> Value:
    """`Embed.attend`: the product of the query with every embedding."""
    x = f.input("query")
    return f.result(replace_last(x, (_embedding(f)[0],)), x)


def _affine(f: Forward, x: Array, shape: Shape, bias: bool = True) -> Value:
    parameters = [f.optional("scale", lambda: f.param("scale", shape, f.field("scale_init")))]
    if bias:
        parameters.append(f.optional("bias", lambda: f.param("bias", shape, f.field("bias_init"))))
    result = f.result(x.shape, x, params=any(value is not None for value in parameters))
    # Optional parameters may decide the dtype.
    return replace(result, dtype=None) if any(isinstance(value, Unknown) for value in parameters) else result


def _features(f: Forward, x: Array, name: str) -> Shape:
    """Return the sizes of the feature axes; one size if the rank is unknown."""
    axes = f.field(name)
    if x.shape is None:
        return tuple(fresh() for _ in range(1 if axes is None else len(ints_of(axes))))
    return tuple(x.shape[axis] for axis in axes_of(Const(-1) if axes is None else axes, len(x.shape)))


def _layer_norm(f: Forward) -> Value:
    return _affine(f, x := _averaged(f), _features(f, x, "feature_axes"))


def _rms_norm(f: Forward) -> Value:
    return _affine(f, x := _averaged(f), _features(f, x, "feature_axes"), bias=False)


def _group_norm(f: Forward) -> Value:
    return _affine(f, x := _averaged(f), (last(x),))


def _averaged(f: Forward) -> Array:
    """Return the input of a layer whose statistics may be averaged over devices."""
    _statistics(f, x := f.input("x"))
    return x


def _statistics(f: Forward, x: Array) -> Value:
    return share_statistics(f.call, x, f.field("axis_name"), f.field("axis_index_groups"))


def _batch_norm(f: Forward) -> Value:
    x = f.input("x")
    shape = _features(f, x, "axis")
    dtype = "float32" if f.flag("force_float32_reductions", True) else f.param_dtype
    averages = {name: f.state("batch_stats", name, shape, dtype) for name in ("mean", "var")}
    result, running = _affine(f, x, shape), f.call.argument(2, "use_running_average")
    running = running if given(running) else f.field("use_running_average")
    if as_bool(running) is not False:
        f.read.extend(averages.values())
        return result
    # `init` does not average over devices.
    if f.binding.run.mode is Mode.APPLY:
        statistics = _statistics(f, x)
        for name, average in averages.items():
            f.binding.change(f.call.interpreter, "batch_stats", name, (statistics, average))
    return result


def _dropout(f: Forward) -> Value:
    x, run = f.call.argument(1, "inputs") or Unknown("no input"), f.binding.run
    off = f.call.argument(2, "deterministic") or f.field("deterministic")
    if as_bool(off) is False:
        key = f.call.argument(3, "rng") or key_of(run, as_str(f.field("rng_collection")) or "dropout")
        note_layer(f.call.interpreter, key, x, run.place or f.call.place, f.call.place)
    return x


def _sequential(f: Forward) -> Value:
    return chain(f.call, f.field("layers"))


def _attention(f: Forward) -> Value:
    if any(f.field(name) is not None for name in ("attention_fn", "decode")):
        # The parameters are the same, but not the result, nor the cache.
        result: Value | None = Unknown("another attention function, or a cache")
    else:
        result = None
    query = f.input("inputs_q")
    both = f.call.argument(None, "inputs_kv")
    first, second = f.call.argument(2, "inputs_k"), f.call.argument(3, "inputs_v")
    key = operand(both) if given(both) else operand(first) if given(first) else query
    value = key if given(both) or not given(second) else operand(second)
    features = last(query)
    out = dim_of(f.field("out_features")) if given(f.field("out_features")) else features
    inner = dim_of(f.field("qkv_features")) if given(f.field("qkv_features")) else features
    heads = dim_of(f.field("num_heads"))
    depth = floordiv(inner, heads)
    projected = [
        _projection(f, n, x, (heads, depth)) for n, x in (("query", query), ("key", key), ("value", value))
    ]
    if f.flag("normalize_qk", False):
        for name, x in (("query_ln", projected[0]), ("key_ln", projected[1])):
            part(f, name, "LayerNorm", x, use_bias=Const(False))
    done = Array(None if query.shape is None else (*query.shape[:-1], heads, depth), projected[0].dtype)
    f.read.extend(projected)
    done = operand(f.computed(done))
    init = {
        n: f.field(f"out_{n}") if given(f.field(f"out_{n}")) else f.field(n)
        for n in ("kernel_init", "bias_init")
    }
    final = part(
        f, "out", "DenseGeneral", done, features=shape_value((out,)), axis=shape_value((-2, -1)), **init
    )
    f.read.append(final)
    return result or final


def _self_attention(f: Forward) -> Value:
    return _attention(replace(f, call=replace(f.call, args=f.call.args[:2])))


def _projection(f: Forward, name: str, x: Array, features: Shape) -> Array:
    inits = {n: f.field(n) for n in ("kernel_init", "bias_init")}
    return part(f, name, "DenseGeneral", x, features=shape_value(features), **inits)


def part(f: Forward, name: str, layer: str, x: Array, **fields: Value | None) -> Array:
    """Call a layer that a layer makes inside itself."""
    shared = {n: f.field(n) for n in ("dtype", "param_dtype", "use_bias")}
    known = {n: v for n, v in {**shared, **fields}.items() if v is not None}
    part = LibraryObject(f"flax.linen.{layer}", known, f.module.origin)
    interpreter = f.call.interpreter
    module_created(interpreter, part, layer, Const(name), None)
    with running(interpreter, part, f.call.place) as binding:
        owner = replace(f.owner, name=f"{f.owner.name}.{name}")
        inner = Forward(replace(f.call, args=[part, x], kwargs={}), part, binding, owner)
        try:
            return operand(inner.computed(LAYERS[layer].forward(inner)))
        except Stop:
            return Array(None)


_DENSE = "dtype param_dtype precision kernel_init bias_init"
_AFFINE = "dtype param_dtype use_bias use_scale bias_init scale_init"
_STATISTICS = "axis_name axis_index_groups use_fast_variance force_float32_reductions"
_ATTENTION = (
    "num_heads dtype param_dtype qkv_features out_features broadcast_dropout dropout_rate deterministic "
    "precision kernel_init out_kernel_init bias_init out_bias_init use_bias attention_fn decode normalize_qk "
    "force_fp32_for_softmax"
)
_CONV = (
    "features kernel_size strides padding input_dilation kernel_dilation feature_group_count use_bias mask "
    f"{_DENSE} promote_dtype conv_general_dilated conv_general_dilated_cls"
)

_CLASSES: dict[str, tuple[str, Callable[[Forward], Value]]] = {
    "Dense": (f"features use_bias {_DENSE} promote_dtype dot_general dot_general_cls", _dense),
    "DenseGeneral": (
        "features axis batch_dims use_bias dtype param_dtype kernel_init bias_init precision promote_dtype "
        "dot_general dot_general_cls",
        _dense_general,
    ),
    "Einsum": (f"shape einsum_str use_bias {_DENSE} promote_dtype preferred_element_type", _einsum),
    "Conv": (_CONV, _conv),
    "ConvLocal": (_CONV, _conv_local),
    "ConvTranspose": (
        f"features kernel_size strides padding kernel_dilation use_bias mask {_DENSE} transpose_kernel "
        "promote_dtype preferred_element_type",
        _conv_transpose,
    ),
    "Embed": ("num_embeddings features dtype param_dtype embedding_init promote_dtype", _embed),
    "LayerNorm": (f"epsilon {_AFFINE} reduction_axes feature_axes {_STATISTICS}", _layer_norm),
    "RMSNorm": (
        f"epsilon dtype param_dtype use_scale scale_init reduction_axes feature_axes {_STATISTICS}",
        _rms_norm,
    ),
    "GroupNorm": (f"num_groups group_size epsilon {_AFFINE} reduction_axes {_STATISTICS}", _group_norm),
    "InstanceNorm": (f"epsilon {_AFFINE} feature_axes {_STATISTICS}", _layer_norm),
    "BatchNorm": (f"use_running_average axis momentum epsilon {_AFFINE} {_STATISTICS}", _batch_norm),
    "MultiHeadDotProductAttention": (_ATTENTION, _attention),
    "MultiHeadAttention": (_ATTENTION, _attention),
    "SelfAttention": (_ATTENTION, _self_attention),
    "PReLU": ("param_dtype negative_slope_init", _prelu),
    "Dropout": ("rate broadcast_dims deterministic rng_collection", _dropout),
    "Sequential": ("layers", _sequential),
}

#: linen's classes by name.
LAYERS = {
    name: Layer(tuple(fields.split()), rule, passes=name in ("Dropout", "Sequential"))
    for name, (fields, rule) in _CLASSES.items()
}
