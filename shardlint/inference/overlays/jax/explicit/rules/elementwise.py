"""Elementwise functions, and functions that choose elements from several arrays."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.inference.domain.values import Array, Const, Value, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.explicit.primitives import Open, Trace, first, shape_of
from shardlint.inference.overlays.jax.explicit.type_conversion import meshless
from shardlint.laws.core.array_types import ArrayType

#: A Python number.
SCALAR = ArrayType((), None, meshless(()))

#: The primitives that unreduced arrays may meet, by the functions and operators that bind nothing else.
_LINEAR = {
    **dict.fromkeys(("+", "add"), "add"),
    **dict.fromkeys(("-", "subtract", "sub"), "sub"),
    **dict.fromkeys(("*", "multiply", "mul"), "mul"),
    **dict.fromkeys(("/", "divide", "true_divide", "div"), "div"),
    **dict.fromkeys(("negative", "neg"), "neg"),
}
#: Functions that bind one other primitive.
_OTHERS = frozenset(
    "abs absolute acos acosh arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 "
    "atanh cbrt ceil cos cosh exp exp2 expm1 fabs floor is_finite log log1p logistic log2 pow rint round "
    "rsqrt sign sin sinh sqrt square tan tanh max min maximum minimum eq ne lt le gt ge equal not_equal "
    "less less_equal greater greater_equal < <= > >= == !=".split()
)


def operation_of(call: Call, operands: Sequence[ArrayType]) -> str | None:
    """Return the primitive that a function of floats binds, None if it is not known or not the only one."""
    if not any("float" in (x.dtype or "") for x in operands) or any(
        "complex" in (x.dtype or "") for x in operands
    ):
        return None
    name = call.name.rpartition(".")[2]
    if name == "-" and len(operands) == 1:
        return "neg"
    return _LINEAR.get(name, "other" if name in _OTHERS else None)


def nary(t: Trace, call: Call) -> ArrayType:
    """Promote operands to one rank, then combine their shardings (`jnp.util.promote_args`, `lax.naryop`)."""
    operands = _operands(t, call)
    return t.nary(*t.promoted(*operands), operation=operation_of(call, operands))


def composed(t: Trace, call: Call) -> ArrayType:
    """Functions of each element that JAX composes of several primitives, with those of the operands."""
    return nary(t, call)


def several(t: Trace, call: Call) -> Sequence[ArrayType]:
    """`jnp.divmod(x, y)` and its relatives: results that are alike."""
    return [nary(t, call)] * len(t.results)


def nary_as_given(t: Trace, call: Call) -> ArrayType:
    """`lax.add` and its relatives: operands have one rank, or are scalars."""
    operands = _operands(t, call)
    return t.nary(*operands, operation=operation_of(call, operands))


def _operands(t: Trace, call: Call) -> list[ArrayType]:
    """Return every argument that is an array or a number; numeric options are harmless as scalars."""
    values = [v for v in (*call.args, *call.kwargs.values()) if not is_none(v)]
    return [kind for value in values if (kind := t.operand_or_option(value)) is not None]


def where(t: Trace, call: Call) -> ArrayType:
    """`jnp.where` (`jnp.util._where`): all operands are broadcast, then selected from."""
    condition, x, y = call.bound("condition", "x", "y")
    return chosen(t, condition, x, y)


def chosen(t: Trace, condition: Value | None, x: Value | None, y: Value | None) -> ArrayType:
    """Return the type of the elements of x where a condition holds, of y elsewhere."""
    if x is None or y is None:
        raise Open
    which, one, other = (t.operand(value) for value in (condition, x, y))
    if which.shape == ():
        one, other = t.broadcast_arrays(one, other)
    else:
        which, one, other = t.broadcast_arrays(which, one, other)
    return t.select(which, one, other)


def select(t: Trace, call: Call) -> ArrayType:
    """`lax.select(pred, on_true, on_false)`."""
    return t.select(*(t.operand(value) for value in call.bound("pred", "on_true", "on_false")))


def select_n(t: Trace, call: Call) -> ArrayType:
    """`lax.select_n(which, *cases)`."""
    return t.select(*(t.operand(value) for value in call.args))


def select_first(t: Trace, call: Call) -> ArrayType:
    """`jnp.select(condlist, choicelist, default)`: by the number of the first condition that holds."""
    conditions, choices, default = call.bound("condlist", "choicelist", "default")
    tests = t.broadcast_arrays(SCALAR, *t.items(conditions))
    number = t.arg_extreme(t.stack(tests, 0), 0)
    which, *cases = t.broadcast_arrays(number, t.operand(default), *t.items(choices))
    return t.select(which, *cases)


def clamp(t: Trace, call: Call) -> ArrayType:
    """`lax.clamp(min, x, max)`."""
    return t.clamp(*(t.operand(value) for value in call.bound("min", "x", "max")))


def first_operand(t: Trace, call: Call) -> ArrayType:
    """Return the type of the only array, which any options leave unchanged."""
    return t.nary(t.operand(first(call)))


def activated(t: Trace, call: Call) -> ArrayType:
    """`jax.nn.relu` and its relatives: one array combined with constants."""
    x = t.operand(first(call))
    return t.nary(x, SCALAR)


def without_nan(t: Trace, call: Call) -> ArrayType:
    """`jnp.nan_to_num(x)`: integers are returned unchanged."""
    x = t.operand(first(call))
    return t.nary(x, SCALAR) if x.dtype is None or "float" in x.dtype else x


def raised(t: Trace, call: Call) -> ArrayType:
    """``x ** y``, `jnp.power(x, y)`: an operation on x alone if the exponent is a known integer."""
    base, exponent = (*call.args, *call.kwargs.values())
    if isinstance(exponent, Const) and isinstance(exponent.value, int):
        return t.nary(t.operand(base))
    return nary(t, call)


def cast(t: Trace, call: Call) -> ArrayType:
    """`jnp.float32(x)`, `jnp.array(x)`: conversions preserve the sharding of JAX's arrays and convert other
    values."""
    value = first(call)
    x = t.operand(value)
    if not isinstance(value, Array) or value.numpy:
        return t.iota(shape_of(x))
    return t.nary(x)
