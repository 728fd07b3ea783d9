"""Python's functions on iterables, and those of `itertools`, `functools` and `operator`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import cmp_to_key

from shardlint.inference.calls import Call
from shardlint.inference.iteration import MAX_UNROLLED, element, iterate
from shardlint.inference.joins import join
from shardlint.inference.truth import truth
from shardlint.inference.values import (
    NONE,
    Const,
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
from shardlint.laws.values import Unknown

#: What shows how far a loop is.
SHOWING = ("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "rich.progress.track")


def _shown(call: Call) -> Value:
    """It gives the items that it is given."""
    return call.args[0] if call.args else Unknown(call.name)


def _range(call: Call) -> Value:
    numbers = [as_int(arg) for arg in call.args]
    if (
        call.opaque
        or not numbers
        or any(n is None for n in numbers)
        or len(numbers) > 3
        or numbers[2:] == [0]
    ):
        return ListValue(None)
    known = range(*(n for n in numbers if n is not None))
    # `len` refuses ranges that do not fit a C integer.
    items: list[Value] = [Const(i) for i in itertools.islice(known, MAX_UNROLLED + 1)]
    return ListValue(items if len(items) <= MAX_UNROLLED else None, path=call.interpreter.path)


def _columns(call: Call) -> list[tuple[Value, ...]] | None:
    columns = [iterate(arg) for arg in call.args]
    return None if call.opaque or any(c is None for c in columns) else [c for c in columns if c is not None]


def _zip(call: Call) -> Value:
    columns = _columns(call)
    if columns is None:
        return ListValue(None)
    return ListValue([Tuple(row) for row in zip(*columns, strict=False)], path=call.interpreter.path)


def _enumerate(call: Call) -> Value:
    iterable, start = call.bind("iterable", start=Const(0))
    first = as_int(start)
    items = iterate(iterable) if iterable is not None else None
    if items is None or first is None:
        return ListValue(None)
    return ListValue(
        [Tuple((Const(first + i), item)) for i, item in enumerate(items)], path=call.interpreter.path
    )


def _map(call: Call) -> Value:
    if call.opaque or len(call.args) < 2:
        return ListValue(None)
    function, *rest = call.args
    columns = [iterate(arg) for arg in rest]
    if any(column is None for column in columns):
        call.interpreter.call(function, [element(arg) for arg in rest], {}, call.place)
        return ListValue(None)
    rows = zip(*(column for column in columns if column is not None), strict=False)
    return ListValue(
        [call.interpreter.call(function, list(row), {}, call.place) for row in rows],
        path=call.interpreter.path,
    )


def _filter(call: Call) -> Value:
    function, iterable = call.bind("function", "iterable")
    items = iterate(iterable) if iterable is not None else None
    kept: list[Value] | None = []
    for item in items or ():
        keeps = (
            item
            if function is None or function == NONE
            else call.interpreter.call(function, [item], {}, call.place)
        )
        outcome = truth(keeps)
        if outcome is None:
            kept = None
        elif outcome and kept is not None:
            kept.append(item)
    return ListValue(None if items is None else kept, path=call.interpreter.path)


def _sum(call: Call) -> Value:
    items = iterate(call.args[0]) if call.args else None
    if items is None:
        return Unknown("a sum of something unknown")
    total: Value = call.argument(1, "start") or Const(0)
    for item in items:
        total = call.interpreter.operation("Add", total, item, call.place)
    return total


def _keys(call: Call, items: Sequence[Value]) -> list[Value] | None:
    """What items are ordered by: themselves, or what ``key=`` makes of each."""
    key = call.kwargs.get("key", NONE)
    if is_none(key):
        return list(items)
    return [call.interpreter.call(key, [item], {}, call.place) for item in items]


class _Undecided(Exception):
    """Which of two values comes first is not known."""


def _order(call: Call, items: Sequence[Value], reverse: bool) -> list[Value] | None:
    """The items in order, None where it is not known. Equal ones stay as they were, as in Python."""
    keys = _keys(call, items)

    def less(a: Value, b: Value) -> bool:
        outcome = truth(call.interpreter.comparison("LessThan", a, b))
        if outcome is None:
            raise _Undecided
        return outcome

    def compare(i: int, j: int) -> int:
        return -1 if less(keys[i], keys[j]) else int(less(keys[j], keys[i]))  # type: ignore[index]

    if keys is None:
        return None
    try:
        order = sorted(range(len(items)), key=cmp_to_key(compare), reverse=reverse)
    except _Undecided:
        return None
    return [items[i] for i in order]


def _extreme(name: str) -> Callable[[Call], Value]:
    def pick(call: Call) -> Value:
        if call.kwargs.keys() - {"key", "default"} or call.opaque or not call.args:
            return Unknown(f"{name}()")
        items = call.args if len(call.args) > 1 else iterate(call.args[0])
        if items is not None and not items and "default" in call.kwargs:
            return call.kwargs["default"]
        keys = _keys(call, items) if items else None
        if not items or keys is None:
            return Unknown(f"{name}() of something unknown")
        best = 0
        for i in range(1, len(items)):
            operator = "LessThan" if name == "min" else "GreaterThan"
            beats = truth(call.interpreter.comparison(operator, keys[i], keys[best]))
            if beats is None:
                return Unknown(f"{name}() of sizes that cannot be compared")
            best = i if beats else best
        return items[best]

    return pick


def _sorted(call: Call) -> Value:
    given = call.args[0] if len(call.args) == 1 else None
    items = None if given is None else iterate(given)
    if isinstance(given, SetValue) and given.items is not None and len(given.items) <= MAX_UNROLLED:
        items = tuple(Const(key) for key in given.items)
        if "key" in call.kwargs:
            # The order of a set is not defined, so neither is that of items with equal keys.
            items = None
    backwards = as_bool(call.kwargs.get("reverse", Const(False)))
    if items is None or backwards is None or call.kwargs.keys() - {"key", "reverse"} or call.opaque:
        return ListValue(None)
    return ListValue(_order(call, items, backwards), path=call.interpreter.path)


def sort(call: Call, items: Sequence[Value]) -> list[Value] | None:
    """What ``list.sort(key=, reverse=)`` makes of a list; None where it is not known."""
    backwards = as_bool(call.kwargs.get("reverse", Const(False)))
    if backwards is None or call.kwargs.keys() - {"key", "reverse"} or call.opaque:
        return None
    return _order(call, items, backwards)


def _reversed(call: Call) -> Value:
    items = iterate(call.args[0]) if len(call.args) == 1 else None
    return ListValue(None if items is None else list(reversed(items)), path=call.interpreter.path)


def _any_all(stop: bool) -> Callable[[Call], Value]:
    def decide(call: Call) -> Value:
        items = iterate(call.args[0]) if call.args else None
        outcomes = [truth(item) for item in items or ()]
        if stop in outcomes:
            return Const(stop)
        return Unknown("undecided") if items is None or None in outcomes else Const(not stop)

    return decide


def _next(call: Call) -> Value:
    given = call.args[0] if call.args else NONE
    items = iterate(given)
    written_here = isinstance(given, ListValue) and given.origin == call.place_of(0, "iterator")
    if written_here and items is not None:
        # A generator expression in the call itself: nothing was taken from it before.
        return items[0] if items else call.argument(1, "default") or Unknown("nothing comes next")
    # Which item comes next depends on what was taken before; it is one of them.
    return join(items) if items and len(items) <= 8 else Unknown("next()")


def _made(call: Call, rows: Iterable[Value] | None) -> Value:
    """An iterator as the list of its items, if they are known and no more than what is unrolled."""
    items = None if rows is None else list(itertools.islice(rows, MAX_UNROLLED + 1))
    known = items is not None and len(items) <= MAX_UNROLLED and not call.opaque
    return ListValue(items if known else None, path=call.interpreter.path)


def _product(call: Call) -> Value:
    columns = _columns(call)
    repeat = as_int(call.kwargs.get("repeat", Const(1)))
    if columns is None or repeat is None or not 0 <= repeat <= MAX_UNROLLED:
        return ListValue(None)
    return _made(call, map(Tuple, itertools.product(*columns, repeat=repeat)))


def _chain(call: Call) -> Value:
    columns = _columns(call)
    return _made(call, None if columns is None else itertools.chain(*columns))


def _chain_from(call: Call) -> Value:
    outer = iterate(call.args[0]) if len(call.args) == 1 else None
    columns = [iterate(inner) for inner in outer or ()]
    known = [column for column in columns if column is not None]
    return _made(call, None if outer is None or len(known) < len(columns) else itertools.chain(*known))


def _accumulate(call: Call) -> Value:
    iterable, function, initial = call.bind("iterable", func=NONE, initial=NONE)
    items = None if iterable is None else iterate(iterable)
    if items is None or function is None or initial is None:
        return ListValue(None)

    def add(total: Value, item: Value) -> Value:
        if is_none(function):
            return call.interpreter.operation("Add", total, item, call.place)
        return call.interpreter.call(function, [total, item], {}, call.place)

    return _made(call, itertools.accumulate(items, add, initial=None if is_none(initial) else initial))


def _islice(call: Call) -> Value:
    items = iterate(call.args[0]) if call.args else None
    bounds = [None if is_none(arg) else as_int(arg) for arg in call.args[1:]]
    unknown = any(b is None and not is_none(a) for a, b in zip(call.args[1:], bounds, strict=True))
    if items is None or unknown or not 1 <= len(bounds) <= 3 or any(b is not None and b < 0 for b in bounds):
        return ListValue(None)
    return ListValue(None) if bounds[2:] == [0] else _made(call, itertools.islice(items, *bounds))


def _zip_longest(call: Call) -> Value:
    fill = call.kwargs.get("fillvalue", NONE)
    columns = _columns(call)
    rows = None if columns is None else itertools.zip_longest(*columns, fillvalue=fill)
    return _made(call, None if rows is None else map(Tuple, rows))


def _repeat(call: Call) -> Value:
    value, times = call.bind("object", times=None)
    count = as_int(times)
    return _made(call, None if count is None or value is None else itertools.repeat(value, count))


def _choosing(choose: Callable[[Sequence[Value], int], Iterable[Sequence[Value]]]) -> Callable[[Call], Value]:
    def apply(call: Call) -> Value:
        iterable, size = call.bind("iterable", r=None)
        items = None if iterable is None else iterate(iterable)
        count = as_int(size) if size is not None else len(items or ())
        known = items is not None and count is not None and count >= 0
        return _made(call, (Tuple(tuple(r)) for r in choose(items, count)) if known else None)  # type: ignore[arg-type]

    return apply


def _pairwise(call: Call) -> Value:
    items = iterate(call.args[0]) if len(call.args) == 1 else None
    return _made(call, None if items is None else map(Tuple, itertools.pairwise(items)))


def _starmap(call: Call) -> Value:
    function, iterable = call.bind("function", "iterable")
    rows = [iterate(row) for row in (iterate(iterable) if iterable is not None else None) or (NONE,)]
    known = [list(row) for row in rows if row is not None]
    if function is None or len(known) < len(rows):
        return ListValue(None)
    return _made(call, [call.interpreter.call(function, row, {}, call.place) for row in known])


def _reduce(call: Call) -> Value:
    function, iterable, initial = call.bind("function", "iterable", initial=None)
    items = iterate(iterable) if iterable is not None else None
    if items is None or function is None or (not items and initial is None):
        return Unknown("functools.reduce")
    total = items[0] if initial is None else initial
    for item in items[1:] if initial is None else items:
        total = call.interpreter.call(function, [total, item], {}, call.place)
    return total


def _prod(call: Call) -> Value:
    items = iterate(call.args[0]) if call.args else None
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


def _getter(pick: Callable[[Call, Value, Value], Value]) -> Callable[[Call], Value]:
    """``itemgetter(*keys)`` and ``attrgetter(*names)``: functions that get one part, or a tuple of them."""

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


def _item_of(call: Call) -> Value:
    receiver, key = call.bind("a", "b")
    return _get_item(call, receiver or NONE, key or NONE)


TABLE: dict[str, Callable[[Call], Value]] = {
    "builtins.range": _range,
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.sum": _sum,
    "builtins.min": _extreme("min"),
    "builtins.max": _extreme("max"),
    "builtins.sorted": _sorted,
    "builtins.reversed": _reversed,
    "builtins.any": _any_all(True),
    "builtins.all": _any_all(False),
    "builtins.next": _next,
    "functools.reduce": _reduce,
    "math.prod": _prod,
    "itertools.product": _product,
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain_from,
    "itertools.accumulate": _accumulate,
    "itertools.islice": _islice,
    "itertools.zip_longest": _zip_longest,
    "itertools.repeat": _repeat,
    "itertools.combinations": _choosing(itertools.combinations),
    "itertools.permutations": _choosing(itertools.permutations),
    "itertools.pairwise": _pairwise,
    "itertools.starmap": _starmap,
    **dict.fromkeys(SHOWING, _shown),
    "operator.itemgetter": _getter(_get_item),
    "operator.attrgetter": _getter(_get_attribute),
    "operator.getitem": _item_of,
    **{
        f"operator.{python}": _operator(name)
        for python, name in {
            "add": "Add", "sub": "Subtract", "mul": "Multiply", "floordiv": "FloorDivide", "mod": "Modulo",
        }.items()
    },
}  # fmt: skip
