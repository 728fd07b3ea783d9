"""Operands that an operation perhaps reads for nothing: its result is the same on all devices, and they are
not (`where(mask, x, x)`, ``0 * x``, ``axis_index // 8``)."""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq, floordiv, ge, gt, le, lt, mod, ne

from shardlint.inference.domain.values import Array, Const, Value, as_int
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.transforms.taint import is_following, unmarked
from shardlint.inference.overlays.pytrees.prefixes import map_arrays
from shardlint.laws.core.values import Unknown
from shardlint.laws.transforms.traits import Trait
from shardlint.laws.transforms.varying import NO_AXES, Variation

_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
#: The operators that functions are.
_SYMBOLS = {
    f"jax.{name}": symbol
    for symbol, names in {
        "*": "numpy.multiply lax.mul",
        "-": "numpy.subtract lax.sub",
        "/": "numpy.divide numpy.true_divide lax.div",
        "//": "numpy.floor_divide",
        "%": "numpy.mod numpy.remainder lax.rem",
        "==": "numpy.equal numpy.not_equal lax.eq lax.ne",
        "<": "numpy.less numpy.less_equal numpy.greater numpy.greater_equal lax.lt lax.le lax.gt lax.ge",
    }.items()
    for name in names.split()
}
#: Functions of floating-point numbers whose derivative JAX knows to be 0, so that it computes none.
_STEPS = frozenset({"//", "jax.lax.stop_gradient", "jax.nn.one_hot", "round", "jax.Array.round"}) | {
    f"jax.{module}.{name}"
    for module, names in {
        "numpy": "around floor ceil round rint trunc fix sign floor_divide heaviside nextafter spacing",
        "lax": "floor ceil round sign nextafter",
    }.items()
    for name in names.split()
}
_POWER = "jax.numpy.power"
#: Functions that choose between values.
_CHOICES = frozenset({"jax.numpy.where", "jax.lax.select", "jax.lax.select_n"})


def relevant(interpreter: Evaluator, name: str, operands: Sequence[Value]) -> Sequence[Value]:
    """Return the operands of an operation on values; those that it perhaps does not depend on perhaps do not
    vary. In types they do."""
    context = interpreter.context
    if context.deriving and (name in _STEPS or (name in ("**", _POWER) and as_int(operands[-1]) == 0)):
        return tuple(map_arrays(one, _without_mark) for one in operands)
    if not context.bound_axes or context.check_vma is True or is_following(context):
        return operands
    symbol = _SYMBOLS.get(name, name)
    if name in _CHOICES and len(operands) > 2:
        chosen, *values = operands
        return (_perhaps(chosen), *values) if _are_same(values) else operands
    if len(operands) != 2:
        return operands
    x, y = operands
    if symbol == "*" and 0 in (as_int(x), as_int(y)):
        return _perhaps(x), _perhaps(y)
    if symbol == "**" and as_int(y) == 0:
        return _perhaps(x), y
    whole = symbol in ("//", "%") or symbol in _COMPARISONS
    if (symbol in ("-", "/", "^") or whole) and _is_same(x, y):
        return _perhaps(x), _perhaps(y)
    if not whole or _tells_devices_apart(interpreter, symbol, x, y):
        return operands
    return _unless_data(x), _unless_data(y)


def _without_mark(array: Array, _: str) -> Array:
    return array.vary(unmarked(array.variation))


_OPERATORS = {"//": floordiv, "%": mod, "==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def _tells_devices_apart(interpreter: Evaluator, symbol: str, x: Value, y: Value) -> bool:
    """Return whether an operation on a number of devices, times something, and a constant surely has
    several results."""
    index, constant, function = x, as_int(y), _OPERATORS[symbol]
    if constant is None:
        index, constant = y, as_int(x)
    bound = interpreter.context.bound_axes
    if (
        constant is None
        or not isinstance(index, Array)
        or index.indexed is None
        or isinstance(bound, Unknown)
    ):
        return False
    axes, _, stride = index.indexed
    ways = dict(bound).get(axes[0])
    if len(axes) != 1 or not stride or not isinstance(ways, int):
        return False
    numbers = [stride * number for number in range(min(ways, _FEW))]
    try:
        found = [function(n, constant) if index is x else function(constant, n) for n in numbers]
    except ZeroDivisionError:
        return False
    return len(set(found)) > 1


#: As many devices are tried.
_FEW = 4096


def _is_same(one: Value, other: Value) -> bool:
    """Return whether two values are certainly the same."""
    return one is other or (isinstance(one, Const) and one == other)


def _are_same(values: Sequence[Value]) -> bool:
    return all(_is_same(values[0], one) for one in values[1:])


def _perhaps(value: Value) -> Value:
    return map_arrays(value, lambda array, _: array.vary(Variation(NO_AXES, array.may_vary)))


def _unless_data(value: Value) -> Value:
    """Return a number of devices, of which a part or a comparison may be the same for all."""
    if not isinstance(value, Array):
        return value
    parts = value.variation.axes_of(Trait.SPLIT)
    return value if parts >= value.varying else _perhaps(value)
