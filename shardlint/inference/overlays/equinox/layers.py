"""Equinox's layers: the parameters each makes, and the result of calling it on one example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from itertools import pairwise

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Const,
    External,
    LibraryObject,
    Tuple,
    Value,
    as_bool,
    as_items,
    as_str,
    integer,
    is_none,
    shape_value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import as_dtype, promote
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    given,
    operand,
    reject,
    same_shape,
    table,
    unresolved,
)
from shardlint.inference.overlays.flax.common.layer_shapes import dim_of, dims_of, spatial_ints
from shardlint.inference.overlays.jax.explicit.type_conversion import replicated_here
from shardlint.inference.overlays.jax.shard_map.equal_draws import note_layer
from shardlint.inference.overlays.jax.shard_map.varying import computed
from shardlint.laws.core.dims import Dim, Shape, floordiv
from shardlint.laws.core.values import Unknown
from shardlint.support.lazy_dataclass import dataclass

_PREFIX = "equinox.nn."
#: The final activation of an `MLP` that is given none.
_SAME = External("jax.nn.identity")


@dataclass(slots=True)
class Build:
    """The construction of one layer: its arguments by name."""

    call: Call
    args: dict[str, Value]

    def flag(self, name: str, default: bool) -> bool:
        """Return a boolean argument. Stops if it is unknown."""
        value = self.args.get(name)
        if value is None:
            return default
        if (flag := as_bool(value)) is None:
            unresolved(f"`{name}` is not known")
        return flag

    def dim(self, name: str, otherwise: Dim | None = None) -> Dim:
        """Return a size, or ``otherwise`` if it is None or missing."""
        value = self.args.get(name)
        return otherwise if otherwise is not None and not given(value) else dim_of(value)

    def param(self, shape: Shape) -> Array:
        """Return a new parameter of the layer."""
        dtype = self.args.get("dtype")
        name = as_dtype(dtype) if given(dtype) and dtype is not None else "float32"
        return Array(shape, name, origin=self.call.place, typed=replicated_here(self.call.interpreter, shape))

    def layer(self, name: str, **args: Value) -> LibraryObject:
        """Return another layer, with the dtype of this one."""
        options = {key: self.args[key] for key in ("dtype",) if key in self.args}
        return _made(self.call, name, {**options, **args})


@dataclass(slots=True)
class Forward:
    """One call of a layer."""

    call: Call
    layer: LibraryObject

    def input(self, position: int, name: str) -> Array:
        """Return an argument of the call. Stops if its rank is unknown."""
        x = operand(self.call.argument(position + 1, name) or Unknown("no input"))
        return unresolved("the input's rank is not known") if x.shape is None else x

    def run(self, function: str, *args: Value, **kwargs: Value) -> Value:
        """Call a function of JAX."""
        return self.call.interpreter.call(External(function), list(args), kwargs, self.call.place)

    def op(self, name: str, a: Value, b: Value) -> Value:
        """Apply an operator of Python."""
        return self.call.interpreter.operation(name, a, b, self.call.place)

    def biased(self, value: Value, name: str = "bias") -> Value:
        """Return a value plus a parameter, if the layer has it."""
        bias = self.layer.fields[name]
        return value if is_none(bias) else self.op("Add", value, bias)


@dataclass(frozen=True, slots=True)
class Layer:
    """A class of `equinox.nn`: its constructor's parameters, the fields that are children, and its call."""

    parameters: tuple[str, ...]
    children: tuple[str, ...]
    build: Callable[[Build], dict[str, Value]]
    forward: Callable[[Forward], Value]
    fixed: dict[str, Value] = field(default_factory=dict)


def _made(call: Call, name: str, args: dict[str, Value]) -> LibraryObject:
    layer = LAYERS[name]
    fields = {key: args[key] for key in layer.parameters if key in args and key not in ("key", "dtype")}
    built = layer.build(Build(call, {**args, **layer.fixed}))
    return LibraryObject(_PREFIX + name, {**fields, **built}, call.place)


def _construct(name: str) -> Transfer:
    def construct(call: Call) -> Value:
        order = LAYERS[name].parameters
        if call.opaque or len(call.args) > len(order):
            unresolved("the arguments are not known")
        return _made(call, name, dict(zip(order, call.args, strict=False)) | call.kwargs)

    return construct


def _call(name: str) -> Transfer:
    def call_it(call: Call) -> Value:
        layer = call.args[0]
        if not isinstance(layer, LibraryObject) or call.opaque:
            unresolved("the arguments are not known")
        return LAYERS[name].forward(Forward(call, layer))

    return call_it


# -- linear -----------------------------------------------------------------------------------------


def _features(value: Value | None) -> Dim:
    """Return a number of features; ``"scalar"`` is one."""
    return 1 if as_str(value) == "scalar" else dim_of(value)


def _linear(b: Build) -> dict[str, Value]:
    inner, outer = _features(b.args.get("in_features")), _features(b.args.get("out_features"))
    bias = b.param((outer,)) if b.flag("use_bias", True) else NONE
    return {"weight": b.param((outer, inner)), "bias": bias}


def _linear_call(f: Forward) -> Value:
    x: Value = f.input(0, "x")
    if as_str(f.layer.fields.get("in_features")) == "scalar":
        x = f.run("jax.numpy.broadcast_to", x, shape_value((1,)))
    y = f.biased(f.op("MatrixMultiply", f.layer.fields["weight"], x))
    return f.run("jax.numpy.squeeze", y) if as_str(f.layer.fields.get("out_features")) == "scalar" else y


def _mlp(b: Build) -> dict[str, Value]:
    depth = dim_of(b.args.get("depth"))
    if not isinstance(depth, int) or depth > 64 or b.flag("scan", False):
        unresolved("how many layers there are is not known")
    width = integer(b.dim("width_size"))
    sizes = [b.args.get("in_size", NONE), *(width for _ in range(depth)), b.args.get("out_size", NONE)]
    biases = [b.flag("use_bias", True)] * depth + [b.flag("use_final_bias", True)]
    layers = [
        b.layer("Linear", in_features=inner, out_features=outer, use_bias=Const(bias))
        for (inner, outer), bias in zip(pairwise(sizes), biases, strict=True)
    ]
    activation, final = b.args.get("activation", External("jax.nn.relu")), b.args.get("final_activation")
    return {"layers": Tuple(tuple(layers)), "activation": activation, "final_activation": final or _SAME}


def _mlp_call(f: Forward) -> Value:
    """`MLP`: activations apply to each neuron separately, and preserve the shape."""
    x: Value = f.input(0, "x")
    final = f.layer.fields.get("final_activation")
    layers = as_items(f.layer.fields["layers"]) or ()
    for number, layer in enumerate(layers):
        x = f.call.interpreter.call(layer, [x], {}, f.call.place)
        activated = final is not _SAME if number == len(layers) - 1 else True
        if activated and isinstance(x, Array):
            x = Array(x.shape, x.dtype)
    return x


def _attention(b: Build) -> dict[str, Value]:
    heads, query = b.dim("num_heads"), b.dim("query_size")
    key, value, output = (b.dim(name, query) for name in ("key_size", "value_size", "output_size"))
    inside, outside = (b.dim(name, floordiv(query, heads)) for name in ("qk_size", "vo_size"))
    shapes = {
        "query": (query, heads * inside),
        "key": (key, heads * inside),
        "value": (value, heads * outside),
        "output": (heads * outside, output),
    }
    projections: dict[str, Value] = {
        f"{name}_proj": b.layer(
            "Linear",
            in_features=integer(inner),
            out_features=integer(outer),
            use_bias=Const(b.flag(f"use_{name}_bias", False)),
        )
        for name, (inner, outer) in shapes.items()
    }
    return {**projections, "num_heads": integer(heads)}


def _attention_call(f: Forward) -> Value:
    query = f.input(0, "query")
    if len(query.shape or ()) != 2:
        reject("a query of other than two dimensions")
    proj = f.layer.fields["output_proj"]
    assert isinstance(proj, LibraryObject)
    weight = operand(proj.fields["weight"])
    return Array(None if query.shape is None or weight.shape is None else (query.shape[0], weight.shape[0]))


# -- convolutions -----------------------------------------------------------------------------------


def _spatial(b: Build) -> int:
    rank = dim_of(b.args.get("num_spatial_dims"))
    return rank if isinstance(rank, int) else unresolved("the number of dimensions is not known")


def _conv(b: Build) -> dict[str, Value]:
    rank, outer = _spatial(b), b.dim("out_channels")
    sizes = dims_of(b.args.get("kernel_size"))
    kernel = sizes * rank if len(sizes) == 1 else sizes
    if len(kernel) != rank:
        reject("one size a spatial dimension")
    weight = b.param((outer, floordiv(b.dim("in_channels"), b.dim("groups", 1)), *kernel))
    bias = b.param((outer, *(1,) * rank)) if b.flag("use_bias", True) else NONE
    return {"weight": weight, "bias": bias, "num_spatial_dims": Const(rank)}


def _conv_call(f: Forward) -> Value:
    x, fields = f.input(0, "x"), f.layer.fields
    rank = dim_of(fields["num_spatial_dims"])
    if not isinstance(rank, int) or len(x.shape or ()) != rank + 1:
        reject("an input of another rank")
    mode = fields.get("padding_mode")
    if mode is not None and (as_str(mode) or "").upper() != "ZEROS":
        unresolved("a border that is no zeros")
    options = {
        "window_strides": shape_value(spatial_ints(fields.get("stride"), rank)),
        "padding": _padding(fields.get("padding"), rank),
        "rhs_dilation": shape_value(spatial_ints(fields.get("dilation"), rank)),
        "feature_group_count": fields.get("groups", Const(1)),
    }
    batched = f.run("jax.numpy.expand_dims", x, axis=Const(0))
    y = f.run("jax.lax.conv_general_dilated", batched, fields["weight"], **options)
    return f.biased(f.run("jax.numpy.squeeze", y, axis=Const(0)))


def _padding(value: Value | None, rank: int) -> Value:
    """Return padding as `lax.conv_general_dilated` takes it: a string, or a pair for each spatial
    dimension."""
    if (mode := as_str(value)) is not None:
        return Const(mode.upper())
    sizes: tuple[Value, ...] = (Const(0),) if value is None else as_items(value) or (value,)
    if len(sizes) == 1:
        sizes *= rank
    return Tuple(tuple(size if as_items(size) is not None else Tuple((size, size)) for size in sizes))


# -- the others -------------------------------------------------------------------------------------


def _embedding(b: Build) -> dict[str, Value]:
    weight = b.args.get("weight")
    if given(weight) and weight is not None:
        return {"weight": operand(weight)}
    return {"weight": b.param((b.dim("num_embeddings"), b.dim("embedding_size")))}


def _embedding_call(f: Forward) -> Value:
    x = f.input(0, "x")
    if x.shape != ():
        reject("an index that is no scalar")
    return f.call.interpreter.item(f.layer.fields["weight"], x, f.call.place)


def _norm(b: Build) -> dict[str, Value]:
    if given(b.args.get("elementwise_affine")):
        unresolved("a deprecated argument")
    shape = dims_of(b.args.get("shape"))
    fields: dict[str, Value] = {"shape": shape_value(shape)}
    for name in ("weight", "bias"):
        fields[name] = b.param(shape) if b.flag(f"use_{name}", True) else NONE
    return fields


def _group_norm(b: Build) -> dict[str, Value]:
    affine = b.flag("channelwise_affine", True)
    shape = (b.dim("channels"),) if affine else ()
    return {name: b.param(shape) if affine else NONE for name in ("weight", "bias")}


def _norm_call(f: Forward) -> Value:
    x, shape = f.input(0, "x"), f.layer.fields.get("shape")
    if f.call.argument(2, "state") is not None:
        unresolved("a state")
    if shape is not None:
        same_shape([x.shape, tuple(dim_of(item) for item in as_items(shape) or ())])
    return _same(f)


def _gates(count: int) -> Callable[[Build], dict[str, Value]]:
    def build(b: Build) -> dict[str, Value]:
        inner, hidden, biased = b.dim("input_size"), b.dim("hidden_size"), b.flag("use_bias", True)
        fields: dict[str, Value] = {
            "weight_ih": b.param((count * hidden, inner)),
            "weight_hh": b.param((count * hidden, hidden)),
            "bias": b.param((count * hidden,)) if biased else NONE,
        }
        # The new gate of a GRU has its own bias.
        return fields | {"bias_n": b.param((hidden,)) if biased else NONE} if count == 3 else fields

    return build


def _gru_call(f: Forward) -> Value:
    hidden = f.input(1, "hidden")
    return Array(hidden.shape, _promoted(f, hidden))


def _lstm_call(f: Forward) -> Value:
    state = as_items(f.call.argument(2, "hidden"))
    if state is None or len(state) != 2:
        unresolved("the state is not known")
    hidden, cell = (operand(part) for part in state)
    dtype = _promoted(f, hidden, cell)
    return Tuple((Array(hidden.shape, dtype), Array(cell.shape, dtype)))


def _promoted(f: Forward, *state: Array) -> str | None:
    held = (f.input(0, "input"), *state, operand(f.layer.fields["weight_ih"]))
    return promote(((array.dtype, array.weak) for array in held), numpy=False)[0]


def _sequential(b: Build) -> dict[str, Value]:
    layers = as_items(b.args.get("layers"))
    return {"layers": unresolved("the layers are not known") if layers is None else Tuple(layers)}


def _sequential_call(f: Forward) -> Value:
    if f.call.argument(2, "state") is not None:
        unresolved("a state")
    x: Value = f.input(0, "x")
    for layer in as_items(f.layer.fields["layers"]) or ():
        x = f.call.interpreter.call(layer, [x], {}, f.call.place)
    return x


def _lambda_call(f: Forward) -> Value:
    x, function = f.input(0, "x"), f.layer.fields.get("fn")
    return x if function is None else f.call.interpreter.call(function, [x], {}, f.call.place)


def _same(f: Forward) -> Value:
    x = f.input(0, "x")
    operands = (x, *(value for value in f.layer.fields.values() if isinstance(value, Array)))
    return computed(f.call.interpreter, Array(x.shape, x.dtype), operands)


def _dropout(f: Forward) -> Value:
    """``dropout(x, key=, inference=)``."""
    off = f.call.kwargs.get("inference") or f.layer.fields.get("inference")
    if off is None or is_none(off) or as_bool(off) is False:
        key = f.call.kwargs.get("key")
        note_layer(f.call.interpreter, key, f.input(0, "x"), f.call.place, f.call.place)
    return _same(f)


def _nothing(b: Build) -> dict[str, Value]:
    return {}


_CONV = tuple(
    "in_channels out_channels kernel_size stride padding dilation groups use_bias padding_mode dtype".split()
)


def _parameters(text: str) -> tuple[str, ...]:
    return tuple(text.split())


LAYERS: dict[str, Layer] = {
    "Linear": Layer(
        _parameters("in_features out_features use_bias dtype"), ("weight", "bias"), _linear, _linear_call
    ),
    "Identity": Layer((), (), _nothing, _same),
    "MLP": Layer(
        _parameters(
            "in_size out_size width_size depth activation final_activation use_bias use_final_bias dtype"
        ),
        ("layers", "activation", "final_activation"),
        _mlp,
        _mlp_call,
    ),
    "MultiheadAttention": Layer(
        _parameters(
            "num_heads query_size key_size value_size output_size qk_size vo_size use_query_bias "
            "use_key_bias use_value_bias use_output_bias dropout_p inference dtype"
        ),
        ("query_proj", "key_proj", "value_proj", "output_proj"),
        _attention,
        _attention_call,
    ),
    "Conv": Layer(("num_spatial_dims", *_CONV), ("weight", "bias"), _conv, _conv_call),
    **{
        f"Conv{n}d": Layer(_CONV, ("weight", "bias"), _conv, _conv_call, {"num_spatial_dims": Const(n)})
        for n in (1, 2, 3)
    },
    "Embedding": Layer(
        _parameters("num_embeddings embedding_size weight dtype"), ("weight",), _embedding, _embedding_call
    ),
    "LayerNorm": Layer(
        _parameters("shape eps use_weight use_bias dtype"), ("weight", "bias"), _norm, _norm_call
    ),
    "RMSNorm": Layer(
        _parameters("shape eps use_weight use_bias dtype"), ("weight", "bias"), _norm, _norm_call
    ),
    "GroupNorm": Layer(
        _parameters("groups channels eps channelwise_affine dtype"),
        ("weight", "bias"),
        _group_norm,
        _norm_call,
    ),
    "GRUCell": Layer(
        _parameters("input_size hidden_size use_bias dtype"),
        ("weight_ih", "weight_hh", "bias", "bias_n"),
        _gates(3),
        _gru_call,
    ),
    "LSTMCell": Layer(
        _parameters("input_size hidden_size use_bias dtype"),
        ("weight_ih", "weight_hh", "bias"),
        _gates(4),
        _lstm_call,
    ),
    "Dropout": Layer(("p", "inference"), (), _nothing, _dropout),
    "Sequential": Layer(("layers",), ("layers",), _sequential, _sequential_call),
    "Lambda": Layer(("fn",), ("fn",), _nothing, _lambda_call),
}  # fmt: skip

TABLE: dict[str, Transfer] = table(_PREFIX, {name: _construct(name) for name in LAYERS})
CALLS: dict[str, Transfer] = table(_PREFIX, {name: _call(name) for name in LAYERS})
CHILDREN: dict[str, tuple[str, ...]] = {_PREFIX + name: layer.children for name, layer in LAYERS.items()}
