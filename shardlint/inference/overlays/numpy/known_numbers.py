"""The numbers in small numpy arrays: `np.argsort(x.shape)[::-1]`, `np.cumsum(sizes)[:-1]`.

They are computed as numpy does it, for vectors and scalars of 64-bit integers, booleans and floats. Those of
a vector are known where the function that runs only reads it (see `machine.reading_positions`).
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from shardlint.inference.domain.values import (
    Array,
    Const,
    ListValue,
    Numbers,
    Slice,
    Tuple,
    Value,
    as_int,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.model.origins import origins_of, plain, plain_kind, remembering

Number = int | float
Vector = tuple[Number, ...]
_DTYPES: dict[str | None, type] = {"int64": int, "bool": bool, "float64": float}
_KINDS = {*_DTYPES.values()}
#: The longest vector that is followed.
_MOST = 64
#: Integers below it are floats, too, without rounding.
_LIMIT = 2**53


class _NotFollowed(Exception):
    """Raised for what numpy does otherwise than Python, or refuses."""


def _numbers(value: Value) -> Numbers | None:
    """Return the numbers of an array, or of what numpy makes one of."""
    if isinstance(value, Array):
        return value.numbers
    if isinstance(value, Const):
        return value.value if plain_kind(value.value) in _KINDS else None
    if isinstance(value, Tuple | ListValue):
        items = [_numbers(item) for item in value.items or ()]
        kinds = {plain_kind(item) for item in items}
        return tuple(items) if len(kinds) == 1 and kinds < _KINDS else None  # type: ignore[arg-type]
    return None


def _flat(numbers: Numbers) -> Vector:
    return numbers if isinstance(numbers, tuple) else (numbers,)


def _computed(
    call: Call, found: Value, function: Callable[..., Numbers], operands: Sequence[Value], name: str = ""
) -> Value:
    """Return the result of an operation with the numbers in it, which remember the operands' origins.

    ``name`` is that of a function or method.
    """
    known = [numbers for one in operands if (numbers := _numbers(one)) is not None]
    if not isinstance(found, Array) or len(known) < len(operands):
        return found
    if any(math.isnan(one) for x in known for one in _flat(x)):
        # It is neither less nor more than others, which Python and numpy order otherwise.
        return found
    try:
        made = function(*(plain(x) if not isinstance(x, tuple) else tuple(map(plain, x)) for x in known))
    except (ArithmeticError, IndexError, TypeError, ValueError, _NotFollowed):
        return found
    kind, shape = _DTYPES.get(found.dtype), (len(made),) if isinstance(made, tuple) else ()
    fits = all(type(one) is kind and (kind is not int or abs(one) < _LIMIT) for one in _flat(made))
    if found.shape != shape or not fits or len(_flat(made)) > _MOST:
        return found
    if shape and not call.interpreter.only_reads(call.place, name):
        return found
    origins = origins_of(*(one for x in known for one in _flat(x)))
    numbers = tuple(remembering(one, origins) for one in _flat(made))
    return replace(found, numbers=numbers if shape else numbers[0])


# -- operators and indices ----------------------------------------------------------------------------------

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def of_operator(call: Call, found: Value) -> Value:
    """Return the result of an operator with the numbers in it; its symbol is the call's name."""
    function = operator.neg if (len(call.args), call.name) == (1, "-") else _BINARY.get(call.name)
    if function is None or not isinstance(found, Array) or not found.numpy:
        return found
    return _computed(call, found, _each(function), call.args)


def _each(function: Callable[..., Number]) -> Callable[..., Numbers]:
    """Return a function of numbers as one of scalars and vectors."""

    def combined(*operands: Numbers) -> Numbers:
        widths = {len(x) for x in operands if isinstance(x, tuple)}
        if len(widths) > 1 or any(type(one) is bool for x in operands for one in _flat(x)):
            raise _NotFollowed  # The sum of booleans is a boolean.
        if not widths:
            return function(*operands)
        rows = [x if isinstance(x, tuple) else (x,) * max(widths) for x in operands]
        return tuple(itertools.starmap(function, zip(*rows, strict=True)))

    return combined


def of_item(call: Call, found: Value) -> Value:
    """Return an item or part of an array with the numbers in it: ``array, index`` are the arguments."""
    receiver, key = call.args
    if not isinstance(key, Slice):
        return _computed(call, found, _picked, (receiver, key))
    ends = (key.start, key.stop, key.step)
    bounds = [as_int(end) for end in ends]
    if not all(is_none(end) or bound is not None for end, bound in zip(ends, bounds, strict=True)):
        return found
    return _computed(call, found, lambda x: _vector(x)[slice(*bounds)], (receiver,))


def _picked(numbers: Numbers, at: Numbers) -> Numbers:
    x = _vector(numbers)
    if not all(type(one) is int for one in _flat(at)):
        raise _NotFollowed
    return tuple(x[int(one)] for one in at) if isinstance(at, tuple) else x[int(at)]


# -- functions and methods ----------------------------------------------------------------------------------


def _argsorted(x: Vector, kind: str) -> Vector:
    """`np.argsort(x)`: equal ones stay in order by a stable kind, or if there are up to three (numpy 2.4)."""
    if len(x) > 3 and len({*x}) < len(x) and kind not in ("stable", "mergesort"):
        raise _NotFollowed
    return tuple(sorted(range(len(x)), key=x.__getitem__))


def _of_integers(function: Callable[[Vector], Number]) -> Callable[[Vector], Number]:
    """Return a sum or product, which numpy makes of floats in another order."""

    def total(x: Vector) -> Number:
        if type(x[0]) is not int:
            raise _NotFollowed
        return function(x)

    return total


def _log2(x: Number) -> float:
    """Return the logarithm of a power of two; the last bit of others may differ from numpy's."""
    mantissa, exponent = math.frexp(x)
    if mantissa != 0.5:
        raise _NotFollowed
    return float(exponent - 1)


#: Functions of a vector that are methods, too.
_METHODS: dict[str, Callable[[Vector], Numbers]] = {
    "cumsum": lambda x: tuple(itertools.accumulate(x)),
    "cumprod": lambda x: tuple(itertools.accumulate(x, operator.mul)),
    "copy": lambda x: x,
    "argmax": lambda x: x.index(max(x)),
    "argmin": lambda x: x.index(min(x)),
    "max": max,
    "min": min,
    "sum": _of_integers(sum),
    "prod": _of_integers(math.prod),
}
_OF_VECTORS: dict[str, Callable[[Vector], Numbers]] = {
    **_METHODS,
    "array": lambda x: x,
    "asarray": lambda x: x,
    "sort": lambda x: tuple(sorted(x)),
    "flip": lambda x: x[::-1],
    "diff": lambda x: tuple(b - a for a, b in itertools.pairwise(x)),
}
#: Functions of numbers, for each of several, with how many they take.
_OF_NUMBERS: dict[str, tuple[int, Callable[..., Number]]] = {
    "abs": (1, abs),
    "ceil": (1, lambda x: float(math.ceil(x))),
    "floor": (1, lambda x: float(math.floor(x))),
    "sqrt": (1, math.sqrt),
    "log2": (1, _log2),
    "maximum": (2, max),
    "minimum": (2, min),
    "gcd": (2, math.gcd),
    "lcm": (2, math.lcm),
    "add": (2, operator.add),
    "subtract": (2, operator.sub),
    "multiply": (2, operator.mul),
    "mod": (2, operator.mod),
    "floor_divide": (2, operator.floordiv),
}


def of_function(call: Call, found: Value) -> Value:
    """Return the result of a function of numpy with the numbers in it."""
    name = call.name.removeprefix("numpy.")
    if call.opaque or not call.args or not isinstance(found, Array):
        return found
    if name == "arange":
        known = len(call.args) < 4 and not call.kwargs
        return _computed(call, found, lambda *x: tuple(range(*x)), call.args, name) if known else found
    if name in _OF_NUMBERS:
        count, function = _OF_NUMBERS[name]
        known = len(call.args) == count and not call.kwargs
        return _computed(call, found, _each(function), call.args, name) if known else found
    return _of_vector(call, found, name, _OF_VECTORS)


def of_method(call: Call, found: Value) -> Value:
    """Return the result of an array's method with the numbers in it; the array is the first argument."""
    receiver = call.args[0]
    if call.opaque or not isinstance(receiver, Array) or receiver.numbers is None:
        return found
    return _of_vector(call, found, call.name, _METHODS)


def _of_vector(
    call: Call, found: Value, name: str, functions: dict[str, Callable[[Vector], Numbers]]
) -> Value:
    options = dict(call.kwargs)
    if len(call.args) > 1 or ("axis" in options and as_int(options.pop("axis")) not in (0, -1)):
        return found
    if name == "argsort":
        kind = as_str(options.pop("kind", Const("quicksort")))
        if options or kind is None:
            return found
        return _computed(call, found, lambda x: _argsorted(_vector(x), kind), call.args, name)
    if options or name not in functions:
        return found
    return _computed(call, found, lambda x: functions[name](_vector(x)), call.args, name)


def _vector(numbers: Numbers) -> Vector:
    if not isinstance(numbers, tuple) or not numbers:
        raise _NotFollowed
    return numbers
