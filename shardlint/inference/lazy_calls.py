"""Functions of libraries that are given generators, or objects whose class has `__iter__`.

Some of Python's take items as they are asked for themselves; all others take everything at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from shardlint.inference.calls import Call
from shardlint.inference.generators import (
    Items,
    generator_of,
    is_generator,
    is_lazy,
    items_of,
    next_of,
    opened,
    some_of,
)
from shardlint.inference.iteration import MAX_UNROLLED
from shardlint.inference.joins import join
from shardlint.inference.overlays.py_iterators import SHOWING
from shardlint.inference.values import Array, Const, LibraryObject, ListValue, Tuple, Value, as_int
from shardlint.laws.values import Unknown
from shardlint.uses import Use

if TYPE_CHECKING:
    from shardlint.inference.interpreter import Interpreter

#: Functions that ask what they are given for its items, all at once.
_ASKING = frozenset(
    f"builtins.{name}"
    for name in "all any dict filter frozenset list map max min set sorted sum tuple".split()
)
#: Functions of Python's that give the rows of an array as they are.
_PAIRING = frozenset({"builtins.list", "builtins.map", "builtins.tuple", "itertools.chain"})
#: Functions that know a generator and take nothing from it.
_LOOKING = frozenset(
    f"builtins.{name}" for name in "bool callable getattr hasattr id isinstance print repr str type".split()
)


def is_given(name: str, args: Sequence[Value]) -> bool:
    """Whether code of the program gives the items of an argument, or a function asks for the rows of one."""
    return any(map(is_lazy, args)) or (_asks_rows(name) and any(map(_has_rows, args)))


def _asks_rows(name: str) -> bool:
    return name in _PAIRING or name in _PASSING_ON


def _has_rows(value: Value) -> bool:
    return isinstance(value, Array) and value.typed is not None and not value.numpy


def answered(interpreter: Interpreter, call: Call) -> Value | Call:
    """What the function gives, or the call with the items of its arguments in place of them."""
    function = _PASSING_ON.get(call.name)
    if function is not None and not call.opaque and any(map(is_lazy, call.args)):
        found = function(interpreter, call)
        if found is not None:
            return found
    elif call.name in _LOOKING:
        return call
    asks = call.name in _ASKING or call.name.startswith(("itertools.", "functools.", "collections."))

    def taken(value: Value) -> Value:
        rows = _has_rows(value) and _asks_rows(call.name)
        if not is_generator(value) and not (asks and is_lazy(value)) and not rows:
            return value
        items = items_of(interpreter, value, call.place)
        return ListValue(None if items is None else list(items), path=interpreter.path)

    args = tuple(map(taken, call.args))
    return Call(interpreter, call.name, args, call.kwargs, call.place, call.opaque, call.arg_places)


def _iter(interpreter: Interpreter, call: Call) -> Value | None:
    """`iter(x)`, and what shows how far a loop is: the items as they come."""
    (given,) = call.args[:1]
    if is_generator(given):
        return given
    return generator_of(interpreter, opened(interpreter, given, call.place), call.place)


def _next(interpreter: Interpreter, call: Call) -> Value | None:
    """`next(iterator, default)`."""
    given = call.args[0]
    if not isinstance(given, LibraryObject):
        method = interpreter.attribute(given, "__next__", call.place)
        return interpreter.call(method, [], {}, call.place)
    found, default = next_of(interpreter, given), call.args[1:2]
    if found is None:
        return default[0] if default else Unknown("nothing comes next")
    # Where it is not known how many there are, none may be left.
    left = given.fields.get("left")
    if not isinstance(left, ListValue) or left.items is not None:
        return found
    items = interpreter.generated.get(left.born)
    return found if items is not None and items.endless else join([found, *default])


def _enumerate(interpreter: Interpreter, call: Call) -> Value | None:
    """`enumerate(iterable, start)`."""
    first = as_int(call.argument(1, "start") or Const(0))
    items = opened(interpreter, call.args[0], call.place)
    one = Tuple((Unknown("a number"), items.one))
    if items.known is None or first is None:
        rows = Items(None, one, items.endless, items.held)
    else:
        rows = Items([Tuple((Const(first + i), v)) for i, v in enumerate(items.known)], held=items.held)
    return generator_of(interpreter, rows, call.place)


def _zip(interpreter: Interpreter, call: Call) -> Value | None:
    """`zip(*iterables)`."""
    return _rows(interpreter, call, [opened(interpreter, arg, call.place) for arg in call.args])


def _rows(interpreter: Interpreter, call: Call, columns: list[Items]) -> Value:
    """Items side by side, as long as there are some of each."""
    ends = [len(column.known) for column in columns if column.known is not None]
    one = Tuple(tuple(column.one for column in columns))
    endless = bool(columns) and all(column.endless for column in columns)
    if not ends or any(column.known is None and not column.endless for column in columns):
        most = max((len(column.held) for column in columns), default=0)
        together = [_held(columns, number) for number in range(most)]
        return generator_of(interpreter, Items(None, one, endless, together), call.place)
    count = min(ends)
    rows = [Tuple(tuple(c.one if c.known is None else c.known[i] for c in columns)) for i in range(count)]
    # The first column that has no more is the last that is asked.
    last = next(i for i, c in enumerate(columns) if c.known is not None and len(c.known) == count)
    held = [*(_held(columns, number) for number in range(count)), _held(columns[: last + 1], count)]
    return generator_of(interpreter, Items(rows, held=held), call.place)


def _held(columns: list[Items], number: int) -> list[Use]:
    """What is met on the way to one item of each."""
    return [use for column in columns for uses in column.held[number : number + 1] for use in uses]


def _islice(interpreter: Interpreter, call: Call) -> Value | None:
    """`islice(iterable, stop)`."""
    stop = as_int(call.args[1]) if len(call.args) == 2 else None
    if stop is None or not 0 <= stop <= MAX_UNROLLED:
        return None
    given = call.args[0]
    some = (
        some_of(interpreter, given, stop)
        if isinstance(given, LibraryObject) and is_generator(given)
        else None
    )
    if some is not None:
        return generator_of(interpreter, some, call.place)
    items = opened(interpreter, given, call.place)
    if items.known is not None or items.endless:
        known = [items.one] * stop if items.known is None else items.known[:stop]
        items = Items(known, held=items.held[:stop])
    return generator_of(interpreter, items, call.place)


_PASSING_ON: dict[str, Callable[[Interpreter, Call], Value | None]] = {
    "builtins.iter": _iter,
    "builtins.next": _next,
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
    "itertools.islice": _islice,
    **dict.fromkeys(SHOWING, _iter),
}
