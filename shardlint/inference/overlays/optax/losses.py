"""Losses of `optax`, by the shapes of predictions and targets."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    broadcast,
    given,
    known_rank,
    mixed,
    operands,
    result,
    same_shape,
    table,
)


def _squared(call: Call) -> Value:
    """`l2_loss(predictions, targets)`: a loss for each element; both have the same shape."""
    predictions, targets = call.bind("predictions", targets=None)
    arrays = operands([predictions] if not given(targets) else [predictions, targets])
    dtype, weak = mixed(call, arrays)
    return result(call, same_shape([array.shape for array in arrays]), dtype, weak)


def _sigmoid(call: Call) -> Value:
    """`sigmoid_binary_cross_entropy(logits, labels)`, `sigmoid_focal_loss`: labels are converted to the dtype
    of the logits."""
    logits, classes, *_ = call.bind("logits", "labels", alpha=None, gamma=None)
    scores, labels = operands([logits, classes])
    return result(call, broadcast([scores.shape, labels.shape]), scores.dtype)


def _each(first: str) -> Callable[[Call], Value]:
    """`huber_loss(predictions, targets)` and others: a loss for each pair of elements, of their common
    dtype; ``first`` is the name of the first parameter."""

    def loss(call: Call) -> Value:
        one, other, _ = call.bind(first, targets=None, delta=None)
        arrays = operands([one] if not given(other) else [one, other])
        dtype, weak = mixed(call, arrays)
        return result(call, broadcast([array.shape for array in arrays]), dtype, weak)

    return loss


def _smoothed(call: Call) -> Value:
    """`smooth_labels(labels, alpha)`: labels, as far as they are not smoothed."""
    arrays = operands(call.bind("labels", "alpha"))
    dtype, weak = mixed(call, arrays)
    return result(call, broadcast([array.shape for array in arrays]), dtype, weak)


def _over_last(first: str) -> Callable[[Call], Value]:
    """`kl_divergence(log_predictions, targets)` and others: a number for each row along the last axis."""

    def loss(call: Call) -> Value:
        second = "labels" if first == "logits" else "targets"
        moved = len(call.args) > 2 or not call.kwargs.keys() <= {first, second}
        one, other, *_ = call.bind(first, second, axis=None, where=None)
        arrays = operands([one, other])
        dtype, weak = mixed(call, arrays)
        both = broadcast([array.shape for array in arrays])
        return result(call, None if not both or moved else both[:-1], dtype, weak)

    return loss


def _over_classes(call: Call) -> Value:
    """`softmax_cross_entropy(logits, labels)`: a loss for each row of classes, which lie along the last
    axis."""
    logits, labels, *_ = call.bind("logits", "labels", axis=None, where=None)
    arrays = operands([logits, labels])
    dtype, _ = mixed(call, arrays)
    both = broadcast([array.shape for array in arrays])
    moved = "axis" in call.kwargs or len(call.args) > 2
    return result(call, None if both is None or moved else both[:-1], dtype)


def _with_integer_labels(call: Call) -> Value:
    """`softmax_cross_entropy_with_integer_labels(logits, labels)`: labels are indices of classes."""
    logits, labels, *_ = call.bind("logits", "labels", axis=None, where=None)
    scores, classes = operands([logits, labels])
    moved = "axis" in call.kwargs or len(call.args) > 2
    shape = None if moved else broadcast([known_rank(scores)[:-1], classes.shape])
    return result(call, shape, scores.dtype)


TABLE: dict[str, Transfer] = table("optax.", {
    "l2_loss": _squared,
    "squared_error": _squared,
    "huber_loss": _each("predictions"),
    "log_cosh": _each("predictions"),
    "hinge_loss": _each("predictor_outputs"),
    "sigmoid_binary_cross_entropy": _sigmoid,
    "sigmoid_focal_loss": _sigmoid,
    "smooth_labels": _smoothed,
    "kl_divergence": _over_last("log_predictions"),
    "convex_kl_divergence": _over_last("log_predictions"),
    "generalized_kl_divergence": _over_last("log_predictions"),
    "safe_softmax_cross_entropy": _over_last("logits"),
    "softmax_cross_entropy": _over_classes,
    "softmax_cross_entropy_with_integer_labels": _with_integer_labels,
})  # fmt: skip

ALIASES: dict[str, str] = {name.replace("optax.", "optax.losses."): name for name in TABLE}
