"""Methods of tuples, lists, dicts, sets and strings."""

from __future__ import annotations

import re
from collections.abc import Callable

from shardlint.inference.domain import name_links
from shardlint.inference.domain.havoc import forget, forget_contents
from shardlint.inference.domain.iteration import hashable, iterate
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.values import (
    NONE,
    Bound,
    Const,
    DictValue,
    LibraryObject,
    ListValue,
    Native,
    SetValue,
    Tuple,
    Value,
    as_int,
    looked_up,
)
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.inference.evaluation.iterators import Items, spend
from shardlint.inference.evaluation.mutation import extend
from shardlint.inference.overlays.python.builtins.iterators import sort
from shardlint.inference.overlays.python.builtins.sets import FROZENSET_METHODS, SET_METHODS
from shardlint.inference.overlays.python.builtins.spec_tables import note_lookup
from shardlint.inference.overlays.python.builtins.strings import METHODS as STRING_METHODS
from shardlint.inference.overlays.python.stdlib.collections import entries, most_common
from shardlint.inference.overlays.python.stdlib.records import named_tuple_method
from shardlint.inference.overlays.python.stdlib.regex import regex_attribute
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.values import Unknown

_Method = Callable[[Call], Value]


def python_method(value: Tuple | ListValue | DictValue | SetValue | Const, name: str) -> Value:
    """Return a bound method of a Python value."""
    table: dict[str, _Method] = {}
    if isinstance(value, ListValue):
        table = _LIST
    elif isinstance(value, DictValue):
        table = _COUNTER if value.kind == "Counter" else _DICT
    elif isinstance(value, SetValue):
        table = FROZENSET_METHODS if value.frozen else SET_METHODS
    elif isinstance(value, Tuple):
        table = _SEQUENCE
        if value.fields is not None and (found := named_tuple_method(value, name)) is not None:
            return found
    elif isinstance(value.value, str):
        table = STRING_METHODS
    elif isinstance(value.value, re.Pattern | re.Match):
        return regex_attribute(value, name)
    if name not in table:
        return Unknown(f"method `{name}` is not modelled")
    return Bound(Native(name, table[name]), value)


def _mutable(call: Call) -> ListValue | DictValue | None:
    """Return the receiver if its mutation can be followed now; otherwise havoc it and all that is given to
    it, and return None."""
    receiver = call.args[0]
    if (
        not isinstance(receiver, ListValue | DictValue)
        or receiver.items is None
        or call.opaque
        or not call.interpreter.certain(receiver.path)
    ):
        forget(Tuple((*call.args, *call.kwargs.values())))
        return None
    changing(receiver)
    return receiver


def _append(call: Call) -> Value:
    receiver = _mutable(call)
    if isinstance(receiver, ListValue) and receiver.items is not None and len(call.args) == 2:
        receiver.items.append(call.args[1])
    return NONE


def _extend(call: Call) -> Value:
    receiver, added = _mutable(call), call.args[1] if len(call.args) == 2 else NONE
    if isinstance(receiver, ListValue):
        extend(call.interpreter, receiver, added, call.place)
    else:
        spend(call.interpreter, added, call.place)
    return NONE


def _insert(call: Call) -> Value:
    if len(call.args) != 3:
        raise CannotBind(call.name)
    receiver, index = _mutable(call), as_int(call.args[1])
    if isinstance(receiver, ListValue) and receiver.items is not None:
        if index is None:
            forget(Tuple((receiver, call.args[2])))
        else:
            receiver.items.insert(index, call.args[2])
    return NONE


def _pop(call: Call) -> Value:
    receiver = _mutable(call)
    index = as_int(call.args[1]) if len(call.args) == 2 else -1
    if isinstance(receiver, ListValue) and receiver.items:
        if index is not None and -len(receiver.items) <= index < len(receiver.items):
            return receiver.items.pop(index)
        forget(receiver)
    return Unknown("popped")


def _pop_left(call: Call) -> Value:
    """``deque.popleft()``."""
    receiver = _mutable(call)
    if isinstance(receiver, ListValue) and receiver.items:
        return receiver.items.pop(0)
    return Unknown("popped")


def _append_left(call: Call) -> Value:
    """``deque.appendleft(x)``."""
    if len(call.args) != 2:
        raise CannotBind(call.name)
    receiver = _mutable(call)
    if isinstance(receiver, ListValue) and receiver.items is not None:
        receiver.items.insert(0, call.args[1])
    return NONE


def _sort(call: Call) -> Value:
    receiver = _mutable(call)
    items = sort(call, Items(receiver.items if isinstance(receiver, ListValue) else None))
    if isinstance(receiver, ListValue):
        if items is None:
            forget(receiver)
        receiver.items = items
    return NONE


def _reverse(call: Call) -> Value:
    receiver = _mutable(call)
    if isinstance(receiver, ListValue) and receiver.items is not None:
        receiver.items.reverse()
    return NONE


def _clear(call: Call) -> Value:
    receiver = _mutable(call)
    if receiver is not None and receiver.items is not None:
        receiver.items.clear()
    return NONE


def _remove(call: Call) -> Value:
    receiver = _mutable(call)
    if isinstance(receiver, ListValue):
        place = _index(call)
        if isinstance(place, Const) and receiver.items is not None:
            del receiver.items[place.value]
        else:
            forget(receiver)
    return NONE


def _index(call: Call) -> Value:
    receiver, wanted = call.bind("self", "value")
    items = iterate(receiver) if receiver is not None else None
    for i, item in enumerate(items or ()):
        outcome = truth(call.interpreter.comparison("Equal", item, wanted or NONE))
        if outcome is True:
            return Const(i)
        if outcome is None:
            break
    return Unknown("index()")


def _count(call: Call) -> Value:
    receiver, wanted = call.bind("self", "value")
    items = iterate(receiver) if receiver is not None else None
    outcomes = [truth(call.interpreter.comparison("Equal", item, wanted or NONE)) for item in items or ()]
    return (
        Unknown("count()") if items is None or None in outcomes else Const(sum(o is True for o in outcomes))
    )


def _copy(call: Call) -> Value:
    receiver = call.args[0]
    if isinstance(receiver, ListValue):
        held = None if receiver.items is None else list(receiver.items)
        return ListValue(held, path=call.interpreter.path, kind=receiver.kind)
    if isinstance(receiver, DictValue):
        items = None if receiver.items is None else dict(receiver.items)
        return DictValue(items, None, call.interpreter.path, receiver.kind, receiver.default)
    return receiver


def _get(call: Call) -> Value:
    receiver, key, default = call.bind("self", "key", default=NONE)
    if not isinstance(receiver, DictValue) or receiver.items is None or key is None or default is None:
        forget(default or NONE)
        return Unknown("get()")
    found, wanted = hashable(key)
    if not found:
        note_lookup(call.interpreter, receiver.items, None, call.place)
        forget_contents(receiver)
        forget(default)
        return Unknown("looked up by something unknown")
    name_links.look_up(wanted, receiver.items)
    note_lookup(call.interpreter, receiver.items, wanted, call.place)
    return looked_up(receiver.items.get(wanted, default), key)


def _setdefault(call: Call) -> Value:
    known = _mutable(call)
    receiver, key, default = call.bind("self", "key", default=NONE)
    found, wanted = hashable(key) if key is not None else (False, None)
    if not isinstance(known, DictValue) or known.items is None or not found or default is None:
        forget(Tuple((receiver or NONE, key or NONE, default or NONE)))
        return Unknown("setdefault()")
    return known.items.setdefault(wanted, default)


def _dict_pop(call: Call) -> Value:
    known = _mutable(call)
    found, wanted = hashable(call.args[1]) if len(call.args) > 1 else (False, None)
    if not isinstance(known, DictValue) or known.items is None or not found:
        if known is not None:
            forget(Tuple(tuple(call.args)))
        return Unknown("pop()")
    default = call.args[2] if len(call.args) > 2 else Unknown("no such key")
    return known.items.pop(wanted, default)


def _update(call: Call) -> Value:
    receiver = _mutable(call)
    added = entries(call, call.args[1] if len(call.args) == 2 else None)
    if isinstance(receiver, DictValue) and receiver.items is not None:
        if added is None:
            forget(receiver)
        else:
            receiver.items.update(added)
    return NONE


def _view(kind: str) -> _Method:
    """Return ``keys()``, ``values()`` or ``items()``: a view of a dict, in its current state."""
    return lambda call: LibraryObject(kind, {"of": call.args[0]}, call.place)


def _item(call: Call) -> Value:
    """``x.__getitem__(key)``, often as the key of `max` or `sorted`."""
    receiver, key = call.bind("self", "key")
    return call.interpreter.item(receiver or NONE, key or NONE, call.place)


_SEQUENCE: dict[str, _Method] = {"index": _index, "count": _count, "__getitem__": _item}
_LIST: dict[str, _Method] = {
    **_SEQUENCE,
    "append": _append,
    "extend": _extend,
    "insert": _insert,
    "pop": _pop,
    "copy": _copy,
    "remove": _remove,
    "sort": _sort,
    "reverse": _reverse,
    "clear": _clear,
    # Methods of `collections.deque`, which is a list here.
    "popleft": _pop_left,
    "appendleft": _append_left,
}
_DICT: dict[str, _Method] = {
    "__getitem__": _item,
    "get": _get,
    "items": _view("view.items"),
    "keys": _view("view.keys"),
    "values": _view("view.values"),
    "update": _update,
    "setdefault": _setdefault,
    "pop": _dict_pop,
    "copy": _copy,
    "clear": _clear,
}
#: `Counter.update` and some others add up counts.
_COUNTER: dict[str, _Method] = {
    **{name: _DICT[name] for name in ("get", "items", "keys", "values", "copy")},
    "most_common": most_common,
}
