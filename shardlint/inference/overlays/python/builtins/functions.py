"""Python's own functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from shardlint.inference.domain.builtin_bases import held_value, mixed_in_value, seen_as
from shardlint.inference.domain.classes import class_attribute, operator_method
from shardlint.inference.domain.havoc import forget
from shardlint.inference.domain.iteration import VIEWS, constant, hashable, iterate, viewed
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.values import (
    NONE,
    Array,
    ClassValue,
    Const,
    Devices,
    DictValue,
    Instance,
    Integer,
    LibraryObject,
    ListValue,
    SetValue,
    Slice,
    SpecValue,
    Tuple,
    Value,
    as_dim,
    as_int,
    integer,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.iterators import is_iterator, items_of
from shardlint.inference.overlays.python.builtins.strings import text_of
from shardlint.laws.core import dims
from shardlint.laws.core.values import Unknown
from shardlint.model.origins import origins_of, remembering
from shardlint.model.spans import Place

#: The longest text of which a list has the characters.
_MAX_TEXT = 1_000


def _len(call: Call) -> Value:
    (value,) = call.bind("obj")
    value = seen_as(value or NONE, "__len__")
    if isinstance(value, Array | Devices) and value.shape:
        return integer(value.shape[0])
    if isinstance(value, Tuple):
        return Const(len(value.items))
    if isinstance(value, ListValue | DictValue | SetValue) and value.items is not None:
        return Const(len(value.items))
    if isinstance(value, SpecValue):
        return Const(len(value.spec))
    if isinstance(value, Const) and isinstance(value.value, str | bytes):
        return Const(len(value.value))
    if isinstance(value, ClassValue) and (members := iterate(value)) is not None:
        return Const(len(members))
    if isinstance(value, LibraryObject) and value.kind in VIEWS and (items := viewed(value)) is not None:
        return Const(len(items))
    if isinstance(value, Instance) and class_attribute(value.cls, "__len__") is not None:
        found = operator_method(call.interpreter, value, "__len__", call.place)
        length = call.interpreter.call(found, [], {}, call.place)
        return length if as_dim(length) is not None else Integer(dims.fresh())
    return Integer(dims.fresh())


def _only_items(call: Call) -> Sequence[Value] | None:
    """Return the items of the only argument; no items without an argument."""
    if call.opaque:
        return None
    text = call.args[0].value if call.args and isinstance(call.args[0], Const) else None
    if isinstance(text, str | bytes) and len(text) <= _MAX_TEXT:
        # No loop is unrolled for them.
        return [Const(character) for character in text]
    return items_of(call.interpreter, call.args[0], call.place) if call.args else ()


def _tuple(call: Call) -> Value:
    items = _only_items(call)
    return Unknown("a tuple of unknown length") if items is None else Tuple(tuple(items), _written(call))


def _list(call: Call) -> Value:
    items = _only_items(call)
    return ListValue(None if items is None else list(items), _written(call), call.interpreter.path)


def _written(call: Call) -> Place:
    """Return the place where the items of the only argument are written; a conversion writes none itself."""
    given = call.args[0] if call.args else None
    written = isinstance(given, Tuple | ListValue) or (given is not None and is_iterator(given))
    return (written and getattr(given, "origin", None)) or call.place


def _set(call: Call) -> Value:
    given = call.args[0] if call.args else None
    # CPython copies sets without their own iterator.
    held = None if given is None else held_value(given)
    given = held if isinstance(held, SetValue) else given
    if isinstance(given, SetValue):
        items: Sequence[Value] | None = None if given.items is None else [constant(i) for i in given.items]
    else:
        items = _only_items(call)
    pairs = [hashable(item) for item in items or ()]
    if items is None or not all(found for found, _ in pairs):
        forget(Tuple(tuple(items or ())))
        return Unknown("a set that is not known")
    members, frozen = frozenset(key for _, key in pairs), call.name.endswith("frozenset")
    return SetValue(members, call.place, frozen, call.interpreter.path)


def _int(call: Call) -> Value:
    if call.opaque:
        return Unknown("int()")
    if len(call.args) == 2 or call.kwargs:
        text, base = call.bind("x", base=None)
        number = None if base is None else as_int(base)
        if number is None or not isinstance(text, Const) or not isinstance(text.value, str):
            return Unknown("int()")
        return _convert(lambda written: int(written, number), text)
    if not call.args:
        return Const(0)
    value = mixed_in_value(call.args[0]) or call.args[0]
    if isinstance(value, Integer):
        return value
    return _convert(int, value)


def _convert(kind: Callable[[Any], Any], value: Value) -> Value:
    if isinstance(value, Array) and isinstance(value.numbers, int | float):
        return Const(remembering(kind(value.numbers), origins_of(value.numbers)))
    if not isinstance(value, Const) or not isinstance(value.value, str | int | float | bool):
        return Unknown("converted from something unknown")
    try:
        return Const(remembering(kind(value.value), origins_of(value.value)))
    except (ValueError, OverflowError):
        return Unknown("raises in Python")


def _converter(kind: Callable[..., Any]) -> Callable[[Call], Value]:
    def convert(call: Call) -> Value:
        if not call.args and not call.kwargs:
            return Const(kind())
        return _convert(kind, call.args[0]) if len(call.args) == 1 else Unknown("converted")

    return convert


def _bool(call: Call) -> Value:
    outcome = truth(call.args[0]) if call.args else False
    return Unknown("truth is not known") if outcome is None else Const(outcome)


def _abs(call: Call) -> Value:
    (value,) = call.bind("x")
    if isinstance(value, Const) and isinstance(value.value, int | float | complex):
        return Const(abs(value.value))
    if isinstance(value, Array):
        return Array(value.shape, value.dtype, value.weak, value.numpy)
    dim = as_dim(value)
    low = dims.lower_bound(dim) if dim is not None else None
    return value if value is not None and low is not None and low >= 0 else Unknown("abs()")


def _divmod(call: Call) -> Value:
    a, b = call.bind("a", "b")
    if a is None or b is None:
        return Unknown("divmod()")
    quotient = call.interpreter.operation("FloorDivide", a, b, call.place)
    return Tuple((quotient, call.interpreter.operation("Modulo", a, b, call.place)))


def _round(call: Call) -> Value:
    number, digits = call.bind("number", ndigits=NONE)
    if not (isinstance(number, Const) and isinstance(number.value, int | float)):
        return Unknown("round()")
    places = digits.value if isinstance(digits, Const) else ...
    if not (places is None or (isinstance(places, int) and abs(places) < 100)):
        return Unknown("round()")
    return Const(round(number.value, places)) if math.isfinite(number.value) else Unknown("round()")


def _of_character(function: Callable[[Any], int | str]) -> Callable[[Call], Value]:
    """Return ``ord``, of a character, or ``chr``, of a number."""

    def apply(call: Call) -> Value:
        (value,) = call.bind("x")
        try:
            return Const(function(value.value)) if isinstance(value, Const) else Unknown("a character")
        except (TypeError, ValueError, OverflowError):
            return Unknown("raises in Python")

    return apply


def _slice(call: Call) -> Value:
    if call.opaque:
        return Unknown("a slice of unknown bounds")
    parts = list(call.args)
    if len(parts) == 1:
        parts = [NONE, parts[0]]
    start, stop, step = [*parts, NONE, NONE, NONE][:3]
    return Slice(start, stop, step)


def _print(call: Call) -> Value:
    call.ignore("sep", "end", "file", "flush")
    return NONE


def _open(call: Call) -> Value:
    call.ignore("mode", "buffering", "encoding", "errors", "newline")
    return LibraryObject("harmless", {})


def _str(call: Call) -> Value:
    if not call.args and not call.kwargs:
        return Const("")
    (value,) = call.bind("object")
    text = None if value is None else text_of(value)
    known = origins_of(getattr(value, "value", None))
    return Unknown("str()") if text is None else Const(remembering(text, known))


TABLE: dict[str, Callable[[Call], Value]] = {
    "builtins.len": _len,
    "builtins.tuple": _tuple,
    "builtins.list": _list,
    "builtins.set": _set,
    "builtins.frozenset": _set,
    "builtins.int": _int,
    "builtins.float": _converter(float),
    "builtins.str": _str,
    "builtins.bool": _bool,
    "builtins.abs": _abs,
    "builtins.divmod": _divmod,
    "builtins.round": _round,
    "builtins.ord": _of_character(ord),
    "builtins.chr": _of_character(chr),
    "builtins.slice": _slice,
    "builtins.print": _print,
    "builtins.open": _open,
}
