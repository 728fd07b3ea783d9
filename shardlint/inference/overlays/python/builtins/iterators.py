"""Python's functions on the items of an iterable, and the functions of `operator`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import ExitStack
from functools import cmp_to_key

from shardlint.inference.domain.havoc import forget
from shardlint.inference.domain.iteration import MAX_UNROLLED
from shardlint.inference.domain.lattice import join
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.values import (
    NONE,
    Bound,
    Const,
    Instance,
    ListValue,
    Native,
    SetValue,
    Tuple,
    Value,
    as_bool,
    as_int,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.iterators import Items, drain, draw, each_left, is_iterator, items_of
from shardlint.laws.core.values import Unknown

#: Functions that show the progress of a loop.
SHOWING = ("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "rich.progress.track")


def _shown(call: Call) -> Value:
    """Return the iterable itself, since it yields the same items."""
    return call.args[0] if call.args else Unknown(call.name)


def _range(call: Call) -> Value:
    flags = [as_bool(arg) for arg in call.args]
    numbers = [as_int(arg) if flag is None else int(flag) for arg, flag in zip(call.args, flags, strict=True)]
    if (
        call.opaque
        or not numbers
        or any(n is None for n in numbers)
        or len(numbers) > 3
        or numbers[2:] == [0]
    ):
        return ListValue(None, kind="range")
    known = range(*(n for n in numbers if n is not None))
    # `len` refuses ranges that do not fit a C integer.
    items: list[Value] = [Const(i) for i in itertools.islice(known, MAX_UNROLLED + 1)]
    return ListValue(items if len(items) <= MAX_UNROLLED else None, path=call.interpreter.path, kind="range")


def _sum(call: Call) -> Value:
    items = items_of(call.interpreter, call.args[0], call.place) if call.args else None
    if items is None:
        return Unknown("a sum of something unknown")
    total: Value = call.argument(1, "start") or Const(0)
    for item in items:
        total = call.interpreter.operation("Add", total, item, call.place)
    return total


def _keys(call: Call, items: Items) -> list[Value] | None:
    """Return the sort keys of items: the items themselves, or the results of ``key=``."""
    key = call.kwargs.get("key", NONE)
    if items.known is None:
        _some_calls(call, key, items.one)
        return None
    if is_none(key):
        return list(items.known)
    return [call.interpreter.call(key, [item], {}, call.place) for item in items.known]


def _some_calls(call: Call, function: Value | None, *args: Value) -> None:
    """Call a function any number of times, unless it is missing or None."""
    if function is not None and not is_none(function):
        with call.interpreter.forked(repeats=True):
            call.interpreter.call(function, args, {}, call.place)


class _Undecided(Exception):
    """Raised when the order of two values is unknown."""


def sort(call: Call, items: Items) -> list[Value] | None:
    """Return the items in order, or None if the order is unknown. The sort is stable, as in Python."""
    keys, backwards = _keys(call, items), as_bool(call.kwargs.get("reverse", Const(False)))

    def less(a: Value, b: Value) -> bool:
        outcome = truth(call.interpreter.comparison("LessThan", a, b))
        if outcome is None:
            raise _Undecided
        return outcome

    def compare(i: int, j: int) -> int:
        return -1 if less(keys[i], keys[j]) else int(less(keys[j], keys[i]))  # type: ignore[index]

    if keys is None or items.known is None or backwards is None or call.kwargs.keys() - {"key", "reverse"}:
        return None
    try:
        order = sorted(range(len(keys)), key=cmp_to_key(compare), reverse=backwards)
    except _Undecided:
        return None
    return [items.known[i] for i in order]


def _extreme(name: str) -> Callable[[Call], Value]:
    def pick(call: Call) -> Value:
        if call.kwargs.keys() - {"key", "default"} or call.opaque or not call.args:
            return Unknown(f"{name}()")
        one = len(call.args) == 1
        items = drain(call.interpreter, call.args[0], call.place) if one else Items(call.args)
        if items.known is not None and not items.known and "default" in call.kwargs:
            return call.kwargs["default"]
        keys = _keys(call, items)
        if not items.known or keys is None:
            forget(Tuple((items.one, *(items.known or ()), call.kwargs.get("default", NONE))))
            return Unknown(f"{name}() of something unknown")
        best = 0
        for i in range(1, len(keys)):
            operator = "LessThan" if name == "min" else "GreaterThan"
            beats = truth(call.interpreter.comparison(operator, keys[i], keys[best]))
            if beats is None:
                forget(Tuple(tuple(items.known)))
                return Unknown(f"{name}() of sizes that cannot be compared")
            best = i if beats else best
        return items.known[best]

    return pick


def _sorted(call: Call) -> Value:
    given = call.args[0] if len(call.args) == 1 else Unknown("no argument")
    items = drain(call.interpreter, given, call.place)
    # The order of a set is not defined, so neither is that of items with equal keys.
    if isinstance(given, SetValue) and given.items is not None and "key" not in call.kwargs:
        items = Items([Const(key) for key in given.items] if len(given.items) <= MAX_UNROLLED else None)
    ordered = sort(call, items)
    if ordered is None:
        forget(Tuple((items.one, *(items.known or ()))))
    return ListValue(ordered, path=call.interpreter.path)


def _any_all(stop: bool) -> Callable[[Call], Value]:
    def decide(call: Call) -> Value:
        (iterable,) = call.bind("iterable")
        result: Value = Const(not stop)
        with ExitStack() as forks:
            for drawn in each_left(call.interpreter, iterable or NONE, call.place):
                outcome = truth(drawn.item) if drawn.sure else None
                if outcome is stop:
                    return Const(stop)
                if outcome is None:
                    # The loop may have stopped here.
                    result = Unknown("undecided")
                    forks.enter_context(call.interpreter.forked())
        return result

    return decide


def _next(call: Call) -> Value:
    """``next(iterator, default)``."""
    given, default = call.bind("iterator", default=None)
    if isinstance(given, Instance):
        method = call.interpreter.attribute(given, "__next__", call.place)
        return call.interpreter.call(method, [], {}, call.place)
    if given is None or not is_iterator(given):
        forget(default or NONE)
        return Unknown("next()")
    drawn = draw(call.interpreter, given, call.place)
    if drawn is None:
        return default or Unknown("nothing comes next")
    return drawn.item if drawn.sure or drawn.endless or default is None else join([drawn.item, default])


def iterator_method(iterator: Value, name: str) -> Value:
    """Return a bound method of an iterator. A method without a model (generators' ``send``…) may draw
    items."""
    method = {"__next__": _next, "__iter__": _shown}.get(name)
    if method is None:
        forget(iterator)
        return Unknown(f"method `{name}` of an iterator")
    return Bound(Native(name, method), iterator)


def _reduce(call: Call) -> Value:
    function, iterable, initial = call.bind("function", "iterable", initial=None)
    items = items_of(call.interpreter, iterable, call.place) if iterable is not None else None
    if items is None:
        _some_calls(call, function, Unknown("a total"), Unknown("an item"))
    if items is None or function is None or (not items and initial is None):
        return Unknown("functools.reduce")
    total = items[0] if initial is None else initial
    for item in items[1:] if initial is None else items:
        total = call.interpreter.call(function, [total, item], {}, call.place)
    return total


def _prod(call: Call) -> Value:
    items = items_of(call.interpreter, call.args[0], call.place) if call.args else None
    if items is None or call.kwargs.keys() - {"start"}:
        return Unknown("a product of something unknown")
    total: Value = call.kwargs.get("start", Const(1))
    for item in items:
        total = call.interpreter.operation("Multiply", total, item, call.place)
    return total


def _operator(name: str) -> Callable[[Call], Value]:
    def apply(call: Call) -> Value:
        a, b = call.bind("a", "b")
        if a is None or b is None:
            return Unknown(name)
        return call.interpreter.operation(name, a, b, call.place)

    return apply


def _comparison(name: str) -> Callable[[Call], Value]:
    def compare(call: Call) -> Value:
        a, b = call.bind("a", "b")
        return Unknown(name) if a is None or b is None else call.interpreter.comparison(name, a, b)

    return compare


def _getter(pick: Callable[[Call, Value, Value], Value]) -> Callable[[Call], Value]:
    """Return ``itemgetter(*keys)`` or ``attrgetter(*names)``: functions that get one part, or a tuple of
    parts."""

    def make(call: Call) -> Value:
        keys = list(call.args)
        if call.opaque or not keys:
            return Unknown(call.name)

        def get(inner: Call) -> Value:
            (receiver,) = inner.bind("obj")
            parts = tuple(pick(inner, receiver or NONE, key) for key in keys)
            return parts[0] if len(parts) == 1 else Tuple(parts)

        return Native(call.name, get)

    return make


def _get_item(call: Call, receiver: Value, key: Value) -> Value:
    return call.interpreter.item(receiver, key, call.place)


def _get_attribute(call: Call, receiver: Value, key: Value) -> Value:
    name = as_str(key)
    if name is None:
        return Unknown("an attribute that is not known")
    for part in name.split("."):
        receiver = call.interpreter.attribute(receiver, part, call.place)
    return receiver


def _method_caller(call: Call) -> Value:
    """``methodcaller(name, *args, **kwargs)``: a function that calls a method of its argument."""
    name = as_str(call.args[0]) if call.args else None
    forget(Tuple((*call.args, *call.kwargs.values())))
    if call.opaque or name is None:
        return Unknown(call.name)

    def apply(inner: Call) -> Value:
        (receiver,) = inner.bind("obj")
        method = call.interpreter.attribute(receiver or NONE, name, inner.place)
        return call.interpreter.call(method, call.args[1:], call.kwargs, inner.place)

    return Native(call.name, apply)


def _item_of(call: Call) -> Value:
    receiver, key = call.bind("a", "b")
    return _get_item(call, receiver or NONE, key or NONE)


TABLE: dict[str, Callable[[Call], Value]] = {
    "builtins.range": _range,
    "builtins.sum": _sum,
    "builtins.min": _extreme("min"),
    "builtins.max": _extreme("max"),
    "builtins.sorted": _sorted,
    "builtins.any": _any_all(True),
    "builtins.all": _any_all(False),
    "builtins.next": _next,
    "functools.reduce": _reduce,
    "math.prod": _prod,
    **dict.fromkeys(SHOWING, _shown),
    "operator.itemgetter": _getter(_get_item),
    "operator.attrgetter": _getter(_get_attribute),
    "operator.methodcaller": _method_caller,
    "operator.getitem": _item_of,
    **{
        f"operator.{python}": _operator(name)
        for python, name in {
            "add": "Add", "sub": "Subtract", "mul": "Multiply", "floordiv": "FloorDivide", "mod": "Modulo",
        }.items()
    },
    **{
        f"operator.{python}": _comparison(name)
        for python, name in {
            "eq": "Equal", "ne": "NotEqual", "lt": "LessThan", "le": "LessThanEqual", "gt": "GreaterThan",
            "ge": "GreaterThanEqual", "is_": "Is", "is_not": "IsNot",
        }.items()
    },
}  # fmt: skip
