"""Convolutions and windows."""

from __future__ import annotations

from shardlint.inference.domain.values import Const, LibraryObject, Value, as_items, as_str, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.explicit.primitives import Open, Trace
from shardlint.laws.core.array_types import ArrayType


def convolution(t: Trace, call: Call) -> ArrayType:
    """`lax.conv(lhs, rhs, ...)` and `lax.conv_with_general_padding`: features are dimension 1."""
    lhs, rhs = call.bound("lhs", "rhs")
    return t.convolve(t.operand(lhs), t.operand(rhs), t.result_shape(), 1, None)


def general_convolution(t: Trace, call: Call) -> ArrayType:
    """`lax.conv_general_dilated(lhs, rhs, ..., dimension_numbers=, out_sharding=)`."""
    lhs, rhs, numbers, out = call.bound("lhs", "rhs", "dimension_numbers", "out_sharding")
    return t.convolve(t.operand(lhs), t.operand(rhs), t.result_shape(), _feature(numbers), out)


def _feature(numbers: Value | None) -> int:
    """Return the dimension of the input's features."""
    if numbers is None or is_none(numbers):
        return 1
    items = as_items(numbers)
    first = items[0] if items else None
    if isinstance(numbers, LibraryObject):
        first = numbers.fields.get("lhs", Const(None))
    layout = as_str(first)
    if layout is None or "C" not in layout:
        raise Open
    return layout.index("C")


def window(t: Trace, call: Call) -> ArrayType:
    """`lax.reduce_window(operand, init_value, computation, ...)`."""
    (operand,) = call.bound("operand")
    return t.window(t.operand(operand), t.result_shape())
