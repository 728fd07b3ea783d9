"""`optax`: losses, by the shapes of predictions and targets."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.calls import Call
from shardlint.inference.overlays.arrays import broadcast, known_rank, mixed, operands, result, table
from shardlint.inference.values import Value


def _elementwise(first: str, second: str, *options: str) -> Callable[[Call], Value]:
    """A loss for each element of predictions and targets, which broadcast."""

    def loss(call: Call) -> Value:
        a, b, *_ = call.bind(first, second, **dict.fromkeys(options))
        arrays = operands([a, b])
        dtype, weak = mixed(call, arrays)
        return result(call, broadcast([array.shape for array in arrays]), dtype, weak)

    return loss


def _over_classes(call: Call) -> Value:
    """`softmax_cross_entropy(logits, labels)`: a loss for each row of classes, the last axis."""
    logits, labels, *_ = call.bind("logits", "labels", axis=None, where=None)
    arrays = operands([logits, labels])
    dtype, _ = mixed(call, arrays)
    both = broadcast([array.shape for array in arrays])
    moved = "axis" in call.kwargs or len(call.args) > 2
    return result(call, None if both is None or moved else both[:-1], dtype)


def _with_integer_labels(call: Call) -> Value:
    """`softmax_cross_entropy_with_integer_labels(logits, labels)`: labels are classes."""
    logits, labels, *_ = call.bind("logits", "labels", axis=None, where=None)
    scores, classes = operands([logits, labels])
    moved = "axis" in call.kwargs or len(call.args) > 2
    shape = None if moved else broadcast([known_rank(scores)[:-1], classes.shape])
    return result(call, shape, scores.dtype)


TABLE = table("optax.", {
    "l2_loss": _elementwise("predictions", "targets"),
    "squared_error": _elementwise("predictions", "targets"),
    "sigmoid_binary_cross_entropy": _elementwise("logits", "labels"),
    "softmax_cross_entropy": _over_classes,
    "softmax_cross_entropy_with_integer_labels": _with_integer_labels,
})  # fmt: skip
