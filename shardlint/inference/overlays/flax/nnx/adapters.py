"""nnx layers around other layers: low-rank adapters and normalized weights.

From `flax.nnx.nn.lora` and `flax.nnx.nn.normalization` 0.12.8.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Const,
    DictValue,
    External,
    LibraryObject,
    Value,
    is_none,
)
from shardlint.inference.overlays.arrays.operands import axes_of, given, operand, unresolved
from shardlint.inference.overlays.flax.common.layer_shapes import dim_of, last
from shardlint.inference.overlays.flax.nnx.layers import LAYERS as PLAIN
from shardlint.inference.overlays.flax.nnx.layers import Build, Forward, Layer, construct, operand_of
from shardlint.inference.overlays.flax.nnx.variables import is_variable
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Unknown

# -- low-rank adapters ------------------------------------------------------------------------------------


def _lora(b: Build) -> dict[str, Value]:
    inside, rank, outside = (dim_of(b.args.get(n)) for n in ("in_features", "lora_rank", "out_features"))
    kind = b.args.get("lora_param_type") or External("flax.nnx.LoRAParam")
    return {"lora_a": _factor(b, "a", (inside, rank), kind), "lora_b": _factor(b, "b", (rank, outside), kind)}


def _factor(b: Build, name: str, shape: Shape, kind: Value) -> Value:
    """Return one factor: a variable of the requested class."""
    metadata = b.args.get(f"{name}_metadata", DictValue({}))
    known = metadata.items if isinstance(metadata, DictValue) else None
    made = b.initialized(b.args.get(f"{name}_initializer"), shape, None)
    if known is None or isinstance(made, Unknown):
        made, known = Array(shape, b.param_dtype), {"out_sharding": Unknown("the metadata is not known")}
    named = {str(key): value for key, value in known.items()}
    return b.call.interpreter.call(kind, [made], named, b.owner.place)


def _lora_call(f: Forward) -> Value:
    x = f.input("x")
    dtypes = f.result(x.shape, x, "lora_a", "lora_b").dtype
    interpreter, place = f.call.interpreter, f.call.place
    out: Value = replace(x, dtype=dtypes)
    for name in ("lora_a", "lora_b"):
        factor = operand_of(f.field(name))
        if isinstance(factor, Array):
            factor = replace(factor, dtype=dtypes)
        out = interpreter.operation("MatrixMultiply", out, factor, place)
    base = f.field("base_module")
    if given(base) and base is not None:
        whole = interpreter.call(base, [x], dict(f.call.kwargs), place)
        out = interpreter.operation("Add", out, whole, place)
    return out


_LORA = ("a_initializer", "b_initializer", "lora_param_type", "a_metadata", "b_metadata")


def _lora_linear(b: Build) -> dict[str, Value]:
    own = (*_LORA, "lora_rank", "lora_dtype", "lora_param_dtype", "lora_promote_dtype")
    plain = {name: value for name, value in b.args.items() if name not in own}
    layer = PLAIN["Linear"].build(replace(b, args=plain))
    shared = {n: b.args[n] for n in (*_LORA, "lora_rank", "in_features", "out_features") if n in b.args}
    renamed = {n: b.args[f"lora_{n}"] for n in ("dtype", "param_dtype") if f"lora_{n}" in b.args}
    owner = replace(b.owner, name=f"{b.owner.name}.lora")
    return {**layer, "lora": construct(b.call, "LoRA", {**shared, **renamed}, owner, LAYERS)}


def _lora_linear_call(f: Forward) -> Value:
    x = f.call.argument(1, "x") or Unknown("no input")
    y = PLAIN["Linear"].forward(replace(f, call=replace(f.call, args=[f.layer, x])))
    interpreter, place = f.call.interpreter, f.call.place
    adapter = interpreter.call(f.field("lora") or Unknown("no adapter"), [x], {}, place)
    return interpreter.operation("Add", y, adapter, place)


# -- normalized weights -----------------------------------------------------------------------------------


def _parameters(node: Value, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Array]]:
    """Yield the parameters of a layer by path. Stops if they are unknown."""
    if not isinstance(node, LibraryObject) or not node.kind.startswith("flax.nnx."):
        unresolved("the layer inside is not known")
    for name, value in node.fields.items():
        if isinstance(value, LibraryObject) and is_variable(value):
            array = operand(value)
            if array.shape is None:
                unresolved("the rank of a parameter is not known")
            yield (*path, name), array
        elif isinstance(value, LibraryObject) and value.kind.startswith("flax.nnx."):
            yield from _parameters(value, (*path, name))


def _weight_norm(b: Build) -> dict[str, Value]:
    inner = b.args.get("layer_instance") or Unknown("no layer")
    if not b.flag("use_scale", True):
        return {"layer_instance": inner, "scales": NONE}
    if "variable_filter" in b.args:
        return {"layer_instance": inner, "scales": Unknown("which parameters have a scale")}
    # The scales are plain arrays, not variables.
    scales: dict[Hashable, Value] = {}
    axes = b.args.get("feature_axes", Const(-1))
    for path, array in _parameters(inner):
        if "kernel" in path:
            assert array.shape is not None
            axes_kept = () if is_none(axes) else axes_of(axes, len(array.shape))
            scales[path] = Array(tuple(array.shape[axis] for axis in axes_kept), "float32")
    return {"layer_instance": inner, "scales": DictValue(scales)}


def _spectral_norm(b: Build) -> dict[str, Value]:
    inner = b.args.get("layer_instance") or Unknown("no layer")
    stats: dict[Hashable, Value] = {}
    for path, array in _parameters(inner):
        assert array.shape is not None
        if len(array.shape) > 1:
            for name, shape in (("u", (1, last(array))), ("sigma", ())):
                value = Array(shape, b.param_dtype)
                stats[(*path, name)] = LibraryObject("flax.nnx.BatchStat", {"value": value}, b.call.place)
    return {"layer_instance": inner, "batch_stats": DictValue(stats)}


def _through(f: Forward) -> Value:
    """Call the inner layer; its weights keep their shapes, and their dtype unless another is requested."""
    kwargs = {name: value for name, value in f.call.kwargs.items() if name != "update_stats"}
    inner = f.field("layer_instance") or Unknown("no layer")
    output = f.call.interpreter.call(inner, list(f.call.args[1:]), kwargs, f.call.place)
    if isinstance(output, Array) and any(given(f.field(name)) for name in ("dtype", "param_dtype")):
        return replace(output, dtype=None)
    return output


_CLASSES: dict[str, tuple[str, Callable[[Build], dict[str, Value]], Callable[[Forward], Value]]] = {
    "LoRA": ("in_features lora_rank out_features", _lora, _lora_call),
    "LoRALinear": ("in_features out_features", _lora_linear, _lora_linear_call),
    "WeightNorm": ("layer_instance", _weight_norm, _through),
    "SpectralNorm": ("layer_instance", _spectral_norm, _through),
}
LAYERS = {name: Layer(tuple(p.split()), build, forward) for name, (p, build, forward) in _CLASSES.items()}
