"""Classes of `collections`, and `dict`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from shardlint.inference.domain.builtin_bases import MAPPING, seen_as
from shardlint.inference.domain.havoc import forget, forget_contents
from shardlint.inference.domain.iteration import constant, hashable
from shardlint.inference.domain.values import (
    NONE,
    Const,
    DictValue,
    LibraryObject,
    ListValue,
    Tuple,
    Value,
    as_int,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.iterators import items_of
from shardlint.laws.core.values import Unknown


def pairs(call: Call, rows: Iterable[Value] | None) -> dict[Hashable, Value] | None:
    """Return the dict made of rows of two items, or None if they are unknown."""
    if rows is None:
        return None
    items: dict[Hashable, Value] = {}
    rows = tuple(rows)
    for row in rows:
        parts = items_of(call.interpreter, row, call.place)
        found, key = hashable(parts[0]) if parts is not None and len(parts) == 2 else (False, None)
        if not found or parts is None:
            forget(Tuple(rows))
            return None
        items[key] = parts[1]
    return items


def entries(call: Call, given: Value | None) -> dict[Hashable, Value] | None:
    """Return the entries of a dict made of a mapping or rows, and of keywords; None if they are unknown."""
    given = None if given is None else seen_as(given, *MAPPING)
    if isinstance(given, DictValue):
        items = None if given.items is None else dict(given.items)
    else:
        items = {} if given is None else pairs(call, items_of(call.interpreter, given, call.place))
    if call.opaque or items is None:
        forget_contents(given or NONE)
        forget(Tuple((*(items or {}).values(), *call.kwargs.values())))
        return None
    items.update(call.kwargs)
    return items


def _dict_of(kind: str) -> Callable[[Call], Value]:
    def make(call: Call) -> Value:
        items = entries(call, call.args[0] if call.args else None)
        return DictValue(items, call.place, call.interpreter.path, kind)

    return make


def _defaultdict(call: Call) -> Value:
    """``defaultdict(factory, ...)``."""
    factory, *rest = call.args or (NONE,)
    items = entries(call, rest[0] if rest else None)
    default = None if is_none(factory) else factory
    return DictValue(items, call.place, call.interpreter.path, "defaultdict", default)


def _counter(call: Call) -> Value:
    """``Counter(iterable)``: counts each item; other keys have 0."""
    given = call.args[0] if call.args else None
    if isinstance(given, DictValue) or given is None:
        items = entries(call, given)
        return DictValue(items, call.place, call.interpreter.path, "Counter", Const(0))
    known = items_of(call.interpreter, given, call.place)
    counts: dict[Hashable, int] | None = None if known is None or call.kwargs else {}
    for item in known or ():
        found, key = hashable(item)
        counts = None if counts is None or not found else counts | {key: counts.get(key, 0) + 1}
    held: dict[Hashable, Value] | None = None if counts is None else {k: Const(n) for k, n in counts.items()}
    return DictValue(held, call.place, call.interpreter.path, "Counter", Const(0))


def most_common(call: Call) -> Value:
    """``counter.most_common(n)``: items with equal counts stay in the order of insertion."""
    receiver, limit = call.bind("_self", n=NONE)
    count = None if limit is None or is_none(limit) else as_int(limit)
    unknown = count is None and limit is not None and not is_none(limit)
    if not isinstance(receiver, DictValue) or receiver.items is None or unknown:
        return ListValue(None)
    numbers = {key: as_int(value) for key, value in receiver.items.items()}
    if any(number is None for number in numbers.values()):
        return ListValue(None)
    rows = sorted(numbers.items(), key=lambda row: row[1] or 0, reverse=True)[:count]
    items: list[Value] = [Tuple((constant(key), receiver.items[key])) for key, _ in rows]
    return ListValue(items, path=call.interpreter.path)


def equal_dicts(x: DictValue, y: DictValue, alike: Callable[[Value, Value], bool | None]) -> bool | None:
    """Return whether two dicts are provably equal or unequal, None if neither; ``alike`` compares values."""
    if x.items is None or y.items is None or "Counter" in (x.kind, y.kind):
        return None
    if x.items.keys() != y.items.keys():
        return False
    if x.kind == y.kind == "OrderedDict" and list(x.items) != list(y.items):
        return False
    outcomes = [alike(item, y.items[key]) for key, item in x.items.items()]
    return False if False in outcomes else None if None in outcomes else True


def _fromkeys(call: Call) -> Value:
    keys, value = call.bind("iterable", value=NONE)
    known = None if keys is None else items_of(call.interpreter, keys, call.place)
    pairs_ = [hashable(key) for key in known or ()]
    if known is None or value is None or not all(found for found, _ in pairs_):
        forget(Tuple((*(known or ()), value or NONE)))
        return DictValue(None)
    return DictValue(dict.fromkeys((key for _, key in pairs_), value), call.place, call.interpreter.path)


def _chain_map(call: Call) -> Value:
    """``ChainMap(*maps)``: looks up each map in turn, in its current state."""
    maps = list(call.args) or [DictValue({})]
    if call.opaque:
        forget(Tuple(tuple(maps)))
    held = ListValue(None if call.opaque else maps)
    return LibraryObject("collections.ChainMap", {"maps": held})


def chain_map_item(call: Call) -> Value:
    """``chain[key]``, and ``chain.get(key, default)``."""
    receiver, key, default = call.bind("self", "key", default=NONE)
    found, wanted = hashable(key) if key is not None else (False, None)
    held = receiver.fields["maps"] if isinstance(receiver, LibraryObject) else None
    for one in (held.items or ()) if isinstance(held, ListValue) else (NONE,):
        if not found or not isinstance(one, DictValue) or one.items is None or one.default is not None:
            forget(Tuple((held or NONE, default or NONE)))
            return Unknown("looked up in maps that are not known")
        if wanted in one.items:
            return one.items[wanted]
    return (default or NONE) if call.name.endswith("get") else Unknown(f"no key {wanted!r}")


def _deque(call: Call) -> Value:
    """``deque(iterable)``: its items are known unless their number is bounded."""
    given, bound = call.bind("iterable", maxlen=NONE) if call.args or call.kwargs else (ListValue([]), NONE)
    known = None if given is None else items_of(call.interpreter, given, call.place)
    if known is not None and not is_none(bound):
        forget(Tuple(tuple(known)))
        known = None
    return ListValue(None if known is None else list(known), call.place, call.interpreter.path, "deque")


TABLE: dict[str, Callable[[Call], Value]] = {
    "builtins.dict": _dict_of("dict"),
    "builtins.dict.fromkeys": _fromkeys,
    "collections.OrderedDict": _dict_of("OrderedDict"),
    "collections.OrderedDict.fromkeys": _fromkeys,
    "collections.defaultdict": _defaultdict,
    "collections.Counter": _counter,
    "collections.ChainMap": _chain_map,
    "collections.deque": _deque,
}

METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {
    ("collections.ChainMap", name): chain_map_item for name in ("get", "__getitem__")
}
