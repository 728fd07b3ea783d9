"""linen layers that normalize the weights of another layer: `WeightNorm` and `SpectralNorm`.

From `flax.linen.normalization` 0.12.8. They have variables for the parameters of the inner layer, under names
that are paths: ``layer_instance/kernel/scale``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from shardlint.inference.domain.values import Array, Const, SetValue, Value, as_items, as_str, is_none
from shardlint.inference.overlays.arrays.operands import axes_of, given, unresolved
from shardlint.inference.overlays.flax.common.layer_shapes import last
from shardlint.inference.overlays.flax.linen.layers import Forward, Layer
from shardlint.inference.overlays.flax.linen.module_runs import Mode, Tree, is_module
from shardlint.inference.overlays.flax.linen.parameters import find_variable
from shardlint.laws.core.values import Unknown


def _inner(f: Forward) -> Value:
    """Call the inner layer. Its weights keep their shapes, and their dtype unless another is requested."""
    layer = f.field("layer_instance") or Unknown("no layer")
    kwargs = {name: value for name, value in f.call.kwargs.items() if name != "update_stats"}
    output = f.call.interpreter.call(layer, list(f.call.args[1:]), kwargs, f.call.place)
    if isinstance(output, Array) and any(given(f.field(name)) for name in ("dtype", "param_dtype")):
        return replace(output, dtype=None)
    return output


def _parameters(f: Forward) -> Iterator[tuple[str, Array]]:
    """Yield the parameters of the inner layer that have no names, by path. Stops if they are unknown."""
    run, layer = f.binding.run, f.field("layer_instance")
    if run.mode is Mode.APPLY:
        return
    if layer is None or not is_module(layer) or (inside := run.bindings.get(id(layer))) is None:
        unresolved("the layer inside is not known")
    tree = find_variable(run, "params", inside.path)
    for path, value in _leaves(tree, inside.path[-1:]):
        if not isinstance(value, Array) or value.shape is None or inside.path in run.uncertain:
            run.uncertain.add(f.binding.path)
            return
        yield "/".join(path), value


def _leaves(tree: Tree | Value | None, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Value]]:
    if isinstance(tree, dict):
        for name, below in tree.items():
            yield from _leaves(below, (*path, name))
    elif tree is not None:
        yield path, tree


def _weight_norm(f: Forward) -> Value:
    result, filters = _inner(f), _filters(f.field("variable_filter"))
    if not f.flag("use_scale", True):
        return result
    axes = f.field("feature_axes")
    for path, value in list(_parameters(f)):
        assert value.shape is not None
        if filters and not any(text in path for text in filters):
            continue
        axes_kept = () if is_none(axes) else axes_of(axes or Const(-1), len(value.shape))
        f.param(f"{path}/scale", tuple(value.shape[axis] for axis in axes_kept), f.field("scale_init"))
    return result


def _filters(value: Value | None) -> tuple[str, ...]:
    """Return texts of which a parameter's path must contain one; none for all parameters."""
    if value is None:
        return ("kernel",)
    if is_none(value):
        return ()
    items = as_items(value)
    found = (
        value.items
        if isinstance(value, SetValue)
        else None if items is None else [as_str(item) for item in items]
    )  # fmt: skip
    if found is None or not all(isinstance(item, str) for item in found):
        unresolved("`variable_filter` is not known")
    return tuple(found)


def _spectral_norm(f: Forward) -> Value:
    result, collection = _inner(f), f.field("collection_name")
    name = "batch_stats" if collection is None else as_str(collection)
    if name is None:
        unresolved("the collection is not known")
    for path, value in list(_parameters(f)):
        if len(value.shape or ()) > 1:
            f.state(name, f"{path}/u", (1, last(value)), f.param_dtype)
            f.state(name, f"{path}/sigma", (), f.param_dtype)
    return result


_CLASSES: dict[str, tuple[str, Callable[[Forward], Value]]] = {
    "WeightNorm": (
        "layer_instance epsilon dtype param_dtype use_scale scale_init feature_axes variable_filter",
        _weight_norm,
    ),
    "SpectralNorm": (
        "layer_instance n_steps epsilon dtype param_dtype error_on_non_matrix collection_name",
        _spectral_norm,
    ),
}
LAYERS = {name: Layer(tuple(fields.split()), rule) for name, (fields, rule) in _CLASSES.items()}
