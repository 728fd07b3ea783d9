"""Functions that linen and nnx both export: pooling, attention and its masks.

From `flax.linen.pooling` and `flax.linen.attention` 0.12.8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from shardlint.inference.domain.values import (
    NONE,
    Array,
    Const,
    External,
    Tuple,
    Value,
    as_items,
    as_str,
    shape_value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import as_dtype, kind, promote
from shardlint.inference.overlays.arrays.operands import Stop, given, operand, reject
from shardlint.inference.overlays.flax.common.layer_shapes import dims_of
from shardlint.inference.overlays.jax.shard_map.varying import computed, vary
from shardlint.laws.core.values import Unknown
from shardlint.laws.transforms.varying import CONSTANT

Rule = Callable[[Call], Value]


def _stopping(rule: Rule) -> Rule:
    """Turn a rule's `Stop` into an unknown result."""

    def run(call: Call) -> Value:
        if call.opaque:
            return call.unknown("starred arguments")
        try:
            return rule(call)
        except Stop as stop:
            return stop.answer(call.name)

    return run


def _pool(reducer: str) -> Rule:
    """Return a pooling function: windows over the dimensions before the last, as in
    `jax.lax.reduce_window`."""

    def pool(call: Call) -> Value:
        x, window = operand(call.argument(0, "inputs")), dims_of(call.argument(1, "window_shape"))
        strides = call.argument(2, "strides")
        padding = call.argument(3, "padding") or Const("VALID")
        if x.shape is None:
            return Array(None, x.dtype)
        batch = len(x.shape) - len(window) - 1
        if batch < 0:
            reject("fewer dimensions than the window has")
        before = (1,) * batch
        steps = dims_of(strides) if given(strides) else (1,) * len(window)
        if len(steps) != len(window):
            reject("one stride a dimension of the window")
        whole = padding
        if as_str(padding) is None:
            pairs = as_items(padding)
            if pairs is None:
                return call.unknown("the padding is not known")
            nothing = Tuple((Const(0), Const(0)))
            whole = Tuple((*(nothing,) * batch, *pairs, nothing))
        start: Value = Const(0.0 if reducer == "add" else float("-inf" if reducer == "max" else "inf"))
        found = call.interpreter.call(
            External("jax.lax.reduce_window"),
            [x, start, External(f"jax.lax.{reducer}"), shape_value((*before, *window, 1)),
             shape_value((*before, *steps, 1)), whole],
            {}, call.place,
        )  # fmt: skip
        if reducer == "add" and isinstance(found, Array):
            return call.interpreter.operation("Divide", found, Const(1.0), call.place)
        return found

    return pool


def _weights(call: Call) -> Value:
    """``dot_product_attention_weights(query, key, ...)``: heads before the lengths of both."""
    query, key = operand(call.argument(0, "query")), operand(call.argument(1, "key"))
    dtype = _dtype(call, query, key)
    if query.shape is None or key.shape is None:
        return Array(None, dtype)
    if len(query.shape) < 3 or len(query.shape) != len(key.shape):
        reject("query and key have one rank")
    weights = Array((*query.shape[:-3], query.shape[-2], query.shape[-3], key.shape[-3]), dtype)
    return _computed(call, weights)


def _attention(call: Call) -> Value:
    """``dot_product_attention(query, key, value, ...)``: the query's shape, with the value's features."""
    query, value = operand(call.argument(0, "query")), operand(call.argument(2, "value"))
    dtype = _dtype(call, query, operand(call.argument(1, "key")), value)
    if query.shape is None or value.shape is None:
        return Array(None, dtype)
    if len(query.shape) < 3 or len(query.shape) != len(value.shape):
        reject("query and value have one rank")
    return _computed(call, Array((*query.shape[:-1], value.shape[-1]), dtype))


def _computed(call: Call, result: Array) -> Value:
    """Return the result of a call, which varies over mesh axes as its arguments do."""
    return computed(call.interpreter, result, [*call.args, *call.kwargs.values()])


def _dtype(call: Call, *operands: Array) -> str | None:
    dtype = call.kwargs.get("dtype")
    if given(dtype) and dtype is not None:
        return as_dtype(dtype)
    found, _ = promote(((x.dtype, False) for x in operands), numpy=False)
    return "float32" if found is not None and kind(found) not in "fc" else found


def _attention_mask(call: Call) -> Value:
    """``make_attention_mask(query_input, key_input, ...)``: a mask for one head, over both lengths."""
    query, key = operand(call.argument(0, "query_input")), operand(call.argument(1, "key_input"))
    extra, dtype = call.kwargs.get("extra_batch_dims"), call.kwargs.get("dtype")
    if query.shape is None or key.shape is None or given(extra):
        return Array(None)
    if not query.shape or len(query.shape) != len(key.shape):
        reject("both inputs have one rank")
    shape = (*query.shape[:-1], 1, query.shape[-1], key.shape[-1])
    return _computed(call, Array(shape, "float32" if dtype is None else as_dtype(dtype)))


def _causal_mask(call: Call) -> Value:
    """``make_causal_mask(x, ...)``: the mask of a sequence with itself, made of its shape alone."""
    x = call.argument(0, "x") or Unknown("no input")
    kwargs = {name: value for name, value in call.kwargs.items() if name != "x"}
    inner = Call(call.interpreter, call.name, [x, x], kwargs, call.place)
    return vary(_attention_mask(inner), CONSTANT)


def _combine_masks(call: Call) -> Value:
    """``combine_masks(*masks)``: all that are not None, broadcast together."""
    masks = [mask for mask in call.args if given(mask)]
    dtype = call.kwargs.get("dtype")
    if not masks:
        return NONE
    found: Value = operand(masks[0])
    for mask in masks[1:]:
        found = call.interpreter.operation("Multiply", found, operand(mask), call.place)
    name = "float32" if dtype is None else as_dtype(dtype)
    return replace(found, dtype=name, weak=False) if isinstance(found, Array) else found


_RULES: dict[str, Rule] = {
    "avg_pool": _pool("add"),
    "max_pool": _pool("max"),
    "min_pool": _pool("min"),
    "dot_product_attention": _attention,
    "dot_product_attention_weights": _weights,
    "make_attention_mask": _attention_mask,
    "make_causal_mask": _causal_mask,
    "combine_masks": _combine_masks,
}


#: Functions that only one of the packages has.
_ABSENT = frozenset({"flax.linen.min_pool", "flax.nnx.dot_product_attention_weights"})


def functions(package: str) -> dict[str, Rule]:
    """Return these functions under a package's names."""
    named = {f"{package}.{name}": _stopping(rule) for name, rule in _RULES.items()}
    return {name: rule for name, rule in named.items() if name not in _ABSENT}
