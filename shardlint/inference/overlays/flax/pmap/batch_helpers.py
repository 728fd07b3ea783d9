"""`flax.training.common_utils`: helpers of programs around `jax.pmap`.

From `flax.training.common_utils` 0.12.8, where each is a few calls of JAX's.
"""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import Array, Const, External, Native, Tuple, Value, as_items
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import table
from shardlint.inference.overlays.flax.pmap.device_copies import first_copies
from shardlint.inference.overlays.jax.transforms.stacked_copies import note_unlike
from shardlint.laws.core.values import Unknown


def _called(call: Call, name: str, *args: Value, **kwargs: Value) -> Value:
    return call.interpreter.call(External(name), list(args), kwargs, call.place)


def _shard(call: Call) -> Value:
    """``shard(xs)``: each array is taken apart into as many parts as there are local devices."""
    (tree,) = call.bind("xs")
    if tree is None:
        return Unknown("arrays that are not known")
    count = _called(call, "jax.local_device_count")

    def taken_apart(inner: Call) -> Value:
        (leaf,) = inner.args
        if not isinstance(leaf, Array) or not leaf.shape:
            return Unknown("a part for each device")
        rest = as_items(inner.interpreter.attribute(leaf, "shape", call.place)) or ()
        reshape = inner.interpreter.attribute(leaf, "reshape", call.place)
        return inner.interpreter.call(reshape, [Tuple((count, Const(-1), *rest[1:]))], {}, call.place)

    return _called(call, "jax.tree_util.tree_map", Native("shard", taken_apart), tree)


def _shard_prng_key(call: Call) -> Value:
    """``shard_prng_key(prng_key)``: a key for each local device."""
    (key,) = call.bind("prng_key")
    if key is None:
        return Unknown("a key that is not known")
    return _called(call, "jax.random.split", key, num=_called(call, "jax.local_device_count"))


def _stack_forest(call: Call) -> Value:
    """``stack_forest(forest)``: one tree, of the stacked leaves of several."""
    (forest,) = call.bind("forest")
    trees = None if forest is None else as_items(forest)
    if not trees:
        return Unknown("trees that are not known")

    def stack(inner: Call) -> Value:
        return _called(inner, "jax.numpy.stack", Tuple(tuple(inner.args)))

    return _called(call, "jax.tree_util.tree_map", Native("stack_forest", stack), *trees)


def _get_metrics(call: Call) -> Value:
    """``get_metrics(device_metrics)``: the first device's metrics of each step, stacked."""
    (metrics,) = call.bind("device_metrics")
    if metrics is None:
        return Unknown("metrics that are not known")
    note_unlike(call, metrics, "device_metrics")
    copies = _called(call, "jax.device_get", first_copies(metrics))
    return _called(call, "flax.training.common_utils.stack_forest", copies)


def _onehot(call: Call) -> Value:
    """``onehot(labels, num_classes, on_value=1.0, off_value=0.0)``: of 32-bit floats."""
    labels, classes, *_ = call.bind("labels", "num_classes", on_value=None, off_value=None)
    if labels is None or classes is None:
        return Unknown("labels that are not known")
    return _called(call, "jax.nn.one_hot", labels, classes)


TABLE: dict[str, Callable[[Call], Value]] = table(
    "flax.training.common_utils.",
    {
        "shard": _shard,
        "shard_prng_key": _shard_prng_key,
        "stack_forest": _stack_forest,
        "get_metrics": _get_metrics,
        "onehot": _onehot,
    },
)
