"""`jax.nn`: activations, softmaxes, one_hot, attention."""

from __future__ import annotations

from shardlint.inference.domain.values import Const, Value, as_int
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays import reductions
from shardlint.inference.overlays.arrays.dtypes import floating, kind
from shardlint.inference.overlays.arrays.elementwise import (
    Rule,
    apply,
    inexact,
    same,
    strong_inexact,
    unless_weak,
)
from shardlint.inference.overlays.arrays.operands import (
    Transfer,
    axis_of,
    dtype_argument,
    given,
    known_int,
    known_rank,
    like,
    normal_axis,
    operand,
    operands,
    reject,
    result,
    same_dim,
    size_of,
    truth,
    unresolved,
)  # fmt: skip
from shardlint.inference.overlays.jax.explicit.primitives import unclaimed
from shardlint.inference.overlays.jax.explicit.rules import elementwise as elementwise_rules
from shardlint.inference.overlays.jax.explicit.rules import joining as joining_rules
from shardlint.inference.overlays.jax.explicit.rules import layout as layout_rules
from shardlint.inference.overlays.jax.explicit.rules import reductions as reduction_rules
from shardlint.inference.overlays.operations import MISSING, Operation, library_table
from shardlint.laws.core.dims import divisible, floordiv


def activation(rule: Rule, *names: str) -> Transfer:
    """Return an elementwise function with these further parameters."""

    def transfer(call: Call) -> Value:
        x, *_ = call.bind("x", **dict.fromkeys(names))
        return apply(call, [x], rule)

    return transfer


def along_axis(*names: str) -> Transfer:
    """Return a function along an axis that preserves the shape."""

    def transfer(call: Call) -> Value:
        x, axis, *_ = call.bind("x", axis=Const(-1), **dict.fromkeys(names))
        source = operand(x)
        if source.shape is not None and as_int(axis) is not None:
            normal_axis(known_int(axis), len(source.shape))
        return result(call, source.shape, floating(source.dtype, False))

    return transfer


def weak_float(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Return a floating dtype; integers become a weak float (measured: functions that combine x with Python
    numbers)."""
    return (dtype, weak) if kind(dtype) in "fcV" else ("float32", True)


def weak_float_of_bool(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Return a floating dtype; bool becomes a weak float."""
    return ("float32", True) if dtype == "bool" else inexact(dtype, weak, numpy)


def weak_integer(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Return the operand's dtype; bool becomes a weak integer."""
    return ("int32", True) if dtype == "bool" else (dtype, weak)


def glu(call: Call) -> Value:
    """`glu(x, axis)`: halves the axis."""
    x, axis = call.bind("x", axis=Const(-1))
    source = operand(x)
    shape = known_rank(source)
    at = axis_of(axis, len(shape))
    if divisible(shape[at], 2) is False:
        reject("an odd size along the axis")
    halved = (*shape[:at], floordiv(shape[at], 2), *shape[at + 1 :])
    dtype, weak = inexact(source.dtype, source.weak, False) if source.dtype else (None, False)
    return result(call, halved, dtype, weak)


def one_hot(call: Call) -> Value:
    """`one_hot(x, num_classes, dtype, axis)`: adds an axis of classes."""
    x, classes, dtype, axis, _ = call.bind("x", "num_classes", dtype=None, axis=Const(-1), out_sharding=None)
    shape = known_rank(operand(x))
    at = axis_of(axis, len(shape) + 1)
    size = size_of(classes)
    return result(call, (*shape[:at], size, *shape[at:]), dtype_argument(dtype, "float32"))


def dot_product_attention(call: Call) -> Value:
    """`dot_product_attention(query, key, value)`: like the query, ``(batch,) time, heads, head_dim``."""
    query, key, value, *_ = call.bind(
        "query", "key", "value", bias=None, mask=None, scale=None, is_causal=None, query_seq_lengths=None,
        key_value_seq_lengths=None, local_window_size=None, implementation=None, return_residual=None,
    )  # fmt: skip
    if truth(call.kwargs.get("return_residual"), False):
        unresolved("the residual")
    q, k, v = operands([query, key, value])
    if any(x.shape is None for x in (q, k, v)):
        return like(call, q, q.shape)
    shapes = [known_rank(x) for x in (q, k, v)]
    if any(len(shape) not in (3, 4) for shape in shapes):
        reject("ranks other than 3 and 4")
    same_dim((shapes[0][-1], shapes[1][-1]))
    return like(call, q, shapes[0])


def logmeanexp(call: Call) -> Value:
    """`logmeanexp(x, axis, where, keepdims)`."""
    x, axis, where, keepdims = call.bind("x", axis=None, where=None, keepdims=None)
    if given(where):
        unresolved("a mask")
    source = operand(x)
    shape = reductions.reduced(source.shape, axis, truth(keepdims, False))
    return result(call, shape, floating(source.dtype, False))


_LOGSUMEXP = Operation(
    "logsumexp", reductions.logsumexp, sharding=reduction_rules.logsumexp, reads_values=True
)

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "sigmoid silu swish log_sigmoid tanh",
        activation(inexact),
        sharding=elementwise_rules.activated,
        reads_values=True,
    ),
    Operation(
        "hard_sigmoid hard_silu hard_swish sparse_plus sparse_sigmoid relu6 selu",
        activation(weak_float),
        sharding=elementwise_rules.activated,
        reads_values=True,
    ),
    Operation(
        "softplus mish soft_sign",
        activation(weak_float_of_bool),
        sharding=elementwise_rules.activated,
        reads_values=True,
    ),
    Operation(
        "relu hard_tanh", activation(weak_integer), sharding=elementwise_rules.activated, reads_values=True
    ),
    Operation("identity", activation(same), sharding=elementwise_rules.activated, reads_values=True),
    Operation(
        "gelu",
        activation(strong_inexact, "approximate"),
        sharding=elementwise_rules.activated,
        reads_values=True,
    ),
    Operation(
        "elu celu", activation(weak_float, "alpha"), sharding=elementwise_rules.activated, reads_values=True
    ),
    Operation(
        "leaky_relu",
        activation(weak_float, "negative_slope"),
        sharding=elementwise_rules.activated,
        reads_values=True,
    ),
    Operation(
        "squareplus", activation(inexact, "b"), sharding=elementwise_rules.activated, reads_values=True
    ),
    Operation(
        "softmax log_softmax", along_axis("where"), sharding=reduction_rules.softmax, reads_values=True
    ),
    Operation(
        "standardize",
        along_axis("mean", "variance", "epsilon", "where", "algorithm"),
        sharding=reduction_rules.softmax,
        reads_values=True,
    ),
    Operation("glu", glu, sharding=joining_rules.glu, reads_values=True),
    Operation("one_hot", one_hot, sharding=layout_rules.one_hot, reads_values=True),
    _LOGSUMEXP,
    Operation("log1mexp", activation(unless_weak), sharding=elementwise_rules.activated, reads_values=True),
    Operation("logmeanexp", logmeanexp, sharding=unclaimed, reads_values=True),
    Operation("dot_product_attention", dot_product_attention, sharding=MISSING, reads_values=False),
)

#: Those of `jax.scipy.special`.
SCIPY: tuple[Operation, ...] = (_LOGSUMEXP,)

TABLE: dict[str, Transfer] = {
    **library_table("jax.nn.", OPERATIONS),
    **library_table("jax.scipy.special.", SCIPY),
}
