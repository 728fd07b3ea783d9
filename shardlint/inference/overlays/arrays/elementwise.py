"""Elementwise functions: shapes broadcast, and a dtype rule determines the dtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import Array, Const, Value, as_dim
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.dtypes import bits, floating, kind, real_part
from shardlint.inference.overlays.arrays.operands import (
    Stop,
    Transfer,
    broadcast,
    dtype_argument,
    given,
    is_numpy,
    like,
    mixed,
    operand,
    operands,
    reject,
    result,
)  # fmt: skip
from shardlint.inference.overlays.jax.explicit.rules import elementwise as elementwise_rules
from shardlint.inference.overlays.operations import Operation
from shardlint.laws.core.values import Unknown
from shardlint.laws.versions.era import since

#: A rule maps the promoted dtype, whether it is weak, and whether numpy computes to a dtype and whether it
#: is weak.
Rule = Callable[[str, bool, bool], tuple[str | None, bool]]


def same(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Keep the operand's dtype."""
    return dtype, weak


def inexact(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Return a floating dtype: numpy chooses it by the integer's width, JAX takes the default float."""
    if kind(dtype) in "fcV":
        return dtype, weak
    if not numpy:
        return "float32", weak
    return {8: "float16", 16: "float32"}.get(bits(dtype) or 0, "float64"), False


def strong_inexact(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Return a floating dtype that is never weak."""
    return inexact(dtype, False, numpy)


def unless_weak(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Return a floating dtype; unknown for weak types, which some releases keep."""
    return (None, False) if weak else inexact(dtype, False, numpy)


def wide_inexact(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Return a floating dtype; every integer becomes the default float, in numpy too."""
    return floating(dtype, numpy), weak


def at_least_double(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Return a floating dtype, in numpy at least double (`numpy.float_power`)."""
    if not numpy:
        return floating(dtype, False), weak
    return ("complex128" if kind(dtype) == "c" else "float64"), False


def conjugate(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Keep the operand's dtype; numpy treats bool as a small integer."""
    return no_bool(dtype, weak, True) if numpy else (dtype, weak)


def real(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Return the dtype of the real part."""
    return real_part(dtype), weak


def phase(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Return a real floating dtype; unknown for weak types, where it depends on more than the dtype."""
    if not numpy and weak:
        return None, False
    found, _ = inexact(dtype, weak, numpy)
    return real_part("float64" if numpy and dtype == "bool" else found), False


def boolean(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Return bool."""
    return "bool", False


def no_bool(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Keep the operand's dtype, but treat bool as a small integer."""
    if dtype != "bool":
        return dtype, weak
    return ("int8" if numpy else "int32"), False


def bit_count(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Return uint8."""
    return "uint8", False


def weak_if_integer(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Keep the operand's dtype; floats lose their weak type (`jnp.nan_to_num`)."""
    return dtype, weak and kind(dtype) in "iu"


def rint(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Return a floating dtype; integers lose their weak type (`jnp.rint`)."""
    found, _ = inexact(dtype, weak, numpy)
    return found, weak and kind(dtype) in "fc"


def rounded(dtype: str, weak: bool, numpy: bool) -> tuple[str | None, bool]:
    """Keep the operand's dtype; numpy rounds bool to float16."""
    return ("float16", False) if numpy and dtype == "bool" else (dtype, weak)


def unary_function(rule: Rule) -> Transfer:
    """Return a function of one array."""

    def transfer(call: Call) -> Value:
        x, _, dtype, *_ = call.bind("x", out=None, dtype=None, where=None, accuracy=None)
        return apply(call, [x], rule, dtype)

    return transfer


def binary_function(rule: Rule) -> Transfer:
    """Return a function of two arrays that broadcast."""

    def transfer(call: Call) -> Value:
        x, y, _, dtype, *_ = call.bind("x", "y", out=None, dtype=None, where=None)
        return apply(call, [x, y], rule, dtype)

    return transfer


def apply(call: Call, values: Sequence[Value | None], rule: Rule, dtype: Value | None = None) -> Array:
    """Return the elementwise result: broadcast the operands, promote their dtypes, and apply the rule."""
    arrays = operands(values, is_numpy(call))
    shape = broadcast(array.shape for array in arrays)
    if given(dtype):
        return result(call, shape, dtype_argument(dtype, None))
    if is_numpy(call) and rule in (inexact, strong_inexact) and not any(x.weak for x in arrays):
        # numpy computes all operands in one loop: the dtype is the float that holds each of them.
        arrays = [replace(x, dtype=rule(x.dtype, False, True)[0]) if x.dtype else x for x in arrays]
    promoted, weak = mixed(call, arrays)
    if promoted is None:
        return result(call, shape, "bool" if rule is boolean else None)
    return result(call, shape, *rule(promoted, weak, is_numpy(call)))


def weak_scalars(arity: int) -> Transfer:
    """Return a floating function that mixes in constants: in JAX only scalars stay weakly typed."""

    def transfer(call: Call) -> Value:
        found = apply(call, call.bind(*("x", "y")[:arity]), inexact)
        if found.shape is None and found.weak:
            return replace(found, dtype=None, weak=False)
        return found if found.shape == () else replace(found, weak=False)

    return transfer


def hypot(call: Call) -> Value:
    """`hypot(x, y)`, which mixes in constants before 0.12.0."""
    return (binary_function(inexact) if since("0.12.0") else weak_scalars(2))(call)


def around(call: Call) -> Value:
    """`round(a, decimals)`."""
    a, _, _ = call.bind("a", decimals=None, out=None)
    return apply(call, [a], rounded)


def nan_to_num(call: Call) -> Value:
    """`nan_to_num(x, ...)`."""
    x, *_ = call.bind("x", copy=None, nan=None, posinf=None, neginf=None)
    return apply(call, [x], weak_if_integer)


def angle(call: Call) -> Value:
    """`angle(z, deg)`."""
    z, _ = call.bind("z", deg=None)
    found = apply(call, [z], phase)
    # JAX widens 16-bit floats of scalars only.
    widens = not is_numpy(call) and found.dtype in ("float16", "bfloat16") and found.shape in ((), None)
    return replace(found, dtype=None) if widens else found


def isclose(call: Call) -> Value:
    """`isclose(a, b, ...)`: bool, broadcast."""
    a, b, *_ = call.bind("a", "b", rtol=None, atol=None, equal_nan=None)
    return apply(call, [a, b], boolean)


def power(call: Call) -> Value:
    """`power(x, y)`, ``x ** y``."""
    x, y = call.bind("x", "y")
    return raised(call, x, y)


def raised(call: Call, x: Value | None, y: Value | None) -> Array:
    """Return ``x ** y``. With a Python integer as exponent, JAX turns bool into int32 that is not weak.

    Whether a power of a weakly typed array is weak depends on more than the dtypes, so its dtype is unknown.
    """
    found = apply(call, [x, y], no_bool)
    if is_numpy(call):
        return found
    if as_dim(y) is not None:
        return replace(found, dtype="int32", weak=False) if operand(x).dtype == "bool" else found
    return replace(found, dtype=None, weak=False) if found.weak else found


def clip(call: Call) -> Value:
    """`clip(a, min, max)`: the bounds take part in promotion and broadcasting."""
    if is_numpy(call):
        a, low, high, *_ = call.bind("a", a_min=None, a_max=None, out=None)
    else:
        a, low, high = call.bind("_arr", min=None, max=None)
    return apply(call, [a, *(bound for bound in (low, high) if given(bound))], same)


def _of_arrays_only(function: Transfer) -> Transfer:
    """Restrict a numpy function to arrays: `numpy.real(2.5)` is a Python number."""

    def transfer(call: Call) -> Value:
        if not call.args or not isinstance(call.args[0], Array):
            raise Stop("not an array")
        return function(call)

    return transfer


#: Shared by `jax.numpy` and `numpy`.
OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "negative sign floor ceil positive trunc invert bitwise_not bitwise_invert",
        unary_function(same),
        sharding=elementwise_rules.nary,
        reads_values=True,
    ),
    Operation(
        "conj conjugate", unary_function(conjugate), sharding=elementwise_rules.nary, reads_values=True
    ),
    Operation("abs absolute", unary_function(real), sharding=elementwise_rules.nary, reads_values=True),
    Operation(
        "real",
        unary_function(real),
        sharding=elementwise_rules.nary,
        reads_values=True,
        numpy_parameters=("val",),
        in_numpy=_of_arrays_only(unary_function(real)),
    ),
    Operation(
        "imag",
        unary_function(real),
        sharding=elementwise_rules.nary,
        reads_values=False,
        numpy_parameters=("val",),
        in_numpy=_of_arrays_only(unary_function(real)),
    ),
    Operation(
        "sqrt exp exp2 expm1 log log1p sin cos tan arctan sinh cosh tanh cbrt arcsin arccos asin "
        "acos atan arcsinh arccosh arctanh asinh acosh atanh fabs",
        unary_function(inexact),
        sharding=elementwise_rules.nary,
        reads_values=True,
    ),
    Operation("isnan", unary_function(boolean), sharding=elementwise_rules.activated, reads_values=True),
    Operation("isinf", unary_function(boolean), sharding=elementwise_rules.activated, reads_values=False),
    Operation(
        "isfinite isneginf isposinf signbit",
        unary_function(boolean),
        sharding=elementwise_rules.nary,
        reads_values=False,
    ),
    Operation("logical_not", unary_function(boolean), sharding=elementwise_rules.nary, reads_values=True),
    Operation(
        "iscomplex isreal",
        unary_function(boolean),
        sharding=elementwise_rules.nary,
        reads_values=False,
        numpy_parameters=("x",),
        in_numpy=_of_arrays_only(unary_function(boolean)),
    ),
    Operation("square", unary_function(no_bool), sharding=elementwise_rules.nary, reads_values=True),
    Operation("bitwise_count", unary_function(bit_count), sharding=elementwise_rules.nary, reads_values=True),
    Operation("rint", unary_function(rint), sharding=elementwise_rules.nary, reads_values=True),
    Operation("i0", unary_function(wide_inexact), sharding=elementwise_rules.activated, reads_values=True),
    Operation(
        "add subtract multiply maximum minimum bitwise_and bitwise_or bitwise_xor",
        binary_function(same),
        sharding=elementwise_rules.nary,
        reads_values=True,
    ),
    Operation(
        "fmax fmin gcd lcm",
        binary_function(same),
        sharding=elementwise_rules.nary,
        reads_values=True,
        parameters=("x1", "x2"),
    ),
    Operation(
        "floor_divide mod remainder fmod left_shift right_shift bitwise_left_shift bitwise_right_shift",
        binary_function(no_bool),
        sharding=elementwise_rules.nary,
        reads_values=True,
    ),
    Operation(
        "arctan2 logaddexp atan2 copysign nextafter",
        binary_function(inexact),
        sharding=elementwise_rules.nary,
        reads_values=True,
    ),
    Operation(
        "divide true_divide",
        binary_function(wide_inexact),
        sharding=elementwise_rules.nary,
        reads_values=True,
    ),
    Operation(
        "float_power", binary_function(at_least_double), sharding=elementwise_rules.nary, reads_values=True
    ),
    Operation(
        "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor",
        binary_function(boolean),
        sharding=elementwise_rules.nary,
        reads_values=True,
    ),
    Operation(
        "log2 log10", unary_function(strong_inexact), sharding=elementwise_rules.nary, reads_values=True
    ),
    Operation(
        "reciprocal",
        unary_function(lambda d, w, n: no_bool(d, w, n) if n else inexact(d, w, n)),
        sharding=elementwise_rules.nary,
        reads_values=True,
    ),
    Operation(
        "deg2rad rad2deg degrees radians", weak_scalars(1), sharding=elementwise_rules.nary, reads_values=True
    ),
    Operation("hypot", hypot, sharding=elementwise_rules.nary, reads_values=True),
    Operation("logaddexp2", weak_scalars(2), sharding=elementwise_rules.nary, reads_values=True),
    Operation("round around", around, sharding=elementwise_rules.nary, reads_values=True, methods="round"),
    Operation("nan_to_num", nan_to_num, sharding=elementwise_rules.without_nan, reads_values=False),
    Operation("angle", angle, sharding=elementwise_rules.nary, reads_values=True),
    Operation("isclose", isclose, sharding=elementwise_rules.nary, reads_values=True),
    Operation("power pow", power, sharding=elementwise_rules.raised, reads_values=True),
    Operation("clip", clip, sharding=elementwise_rules.nary, reads_values=True),
)

_OPERATORS: dict[str, Rule] = {
    **dict.fromkeys(("+", "-", "*", "&", "|", "^"), same),
    "/": wide_inexact,
    **dict.fromkeys(("//", "%", "**", "<<", ">>"), no_bool),
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), boolean),
}


def operator(call: Call, op: str, a: Value, b: Value) -> Value:
    """Return the result of a binary operator other than ``@``, where at least one operand is an array."""
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return Unknown(f"{op} with an unknown operand")
    if op == "**":
        found = raised(call, a, b)
        # ``**`` of numpy arrays does not call `numpy.power`: the square of bool is narrower.
        narrow = is_numpy(call) and as_dim(b) is not None and operand(a, numpy=True).dtype == "bool"
        return replace(found, dtype=None) if narrow else found
    return apply(call, [a, b], _OPERATORS[op])


def unary_operator(call: Call, op: str, a: Array) -> Value:
    """``-x``, ``+x``, ``~x``, ``abs(x)``."""
    if op == "abs":
        return apply(call, [a], real)
    if op not in "+-~":
        raise Stop(f"the operator {op}")
    if op == "~" and a.dtype and kind(a.dtype) in "fc":
        reject("~ of a floating array")
    return like(call, a, a.shape)


def scalar_constructor(dtype: str) -> Transfer:
    """``jnp.float32(x)``, ``np.int64(x)``: a cast."""

    def transfer(call: Call) -> Value:
        (x,) = call.bind(_x=Const(0))
        if is_numpy(call) and kind(dtype) in "iu" and as_dim(x) is not None and x is not None:
            return x
        return result(call, operand(x, is_numpy(call)).shape, dtype)

    return transfer
