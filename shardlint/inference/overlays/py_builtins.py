"""Python's own functions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from shardlint.inference.calls import Call
from shardlint.inference.classes import attribute_along, class_attribute, lineage, method_of
from shardlint.inference.forgetting import forget
from shardlint.inference.iteration import MAX_UNROLLED, constant, element, hashable, iterate
from shardlint.inference.joins import join, options
from shardlint.inference.mutation import set_attribute
from shardlint.inference.releases import is_there
from shardlint.inference.truth import truth
from shardlint.inference.values import (
    NONE,
    Array,
    ClassValue,
    Const,
    Devices,
    DictValue,
    External,
    Function,
    Instance,
    Integer,
    LibraryObject,
    ListValue,
    MeshValue,
    Native,
    SetValue,
    ShardingValue,
    Slice,
    SpecValue,
    Tuple,
    Value,
    as_dim,
    as_int,
    as_str,
    integer,
    looked_up,
)
from shardlint.laws import dims
from shardlint.laws.values import Unknown


def _len(call: Call) -> Value:
    (value,) = call.bind("obj")
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
    return Integer(dims.fresh())


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


def _only_items(call: Call) -> Sequence[Value] | None:
    """What lies in the only argument; nothing without one."""
    return None if call.opaque else iterate(call.args[0]) if call.args else ()


def _tuple(call: Call) -> Value:
    items = _only_items(call)
    return Unknown("a tuple of unknown length") if items is None else Tuple(tuple(items), call.place)


def _list(call: Call) -> Value:
    items = _only_items(call)
    return ListValue(None if items is None else list(items), call.place, call.interpreter.path)


def _set(call: Call) -> Value:
    given = call.args[0] if call.args else None
    if isinstance(given, SetValue) and given.items is not None:
        items: Sequence[Value] | None = [constant(i) for i in given.items]
    else:
        items = _only_items(call)
    pairs = [hashable(item) for item in items or ()]
    if items is None or not all(found for found, _ in pairs):
        return Unknown("a set that is not known")
    return SetValue(frozenset(key for _, key in pairs), call.place, frozen=call.name.endswith("frozenset"))


def _dict(call: Call) -> Value:
    items: dict[Hashable, Value] | None = {}
    if call.args:
        given = call.args[0]
        if isinstance(given, DictValue):
            items = None if given.items is None else dict(given.items)
        else:
            items = _pairs(iterate(given))
    if call.opaque or items is None:
        return DictValue(None)
    items.update(call.kwargs.items())
    return DictValue(items, call.place, call.interpreter.path)


def _pairs(rows: Sequence[Value] | None) -> dict[Hashable, Value] | None:
    if rows is None:
        return None
    items: dict[Hashable, Value] = {}
    for row in rows:
        if not isinstance(row, Tuple) or len(row.items) != 2:
            return None
        found, key = hashable(row.items[0])
        if not found:
            return None
        items[key] = row.items[1]
    return items


def _int(call: Call) -> Value:
    if len(call.args) != 1:
        return Unknown("int()")
    value = call.args[0]
    if isinstance(value, Integer):
        return value
    return _convert(int, value)


def _convert(kind: Callable[[Any], Any], value: Value) -> Value:
    if not isinstance(value, Const) or not isinstance(value.value, str | int | float | bool):
        return Unknown("converted from something unknown")
    try:
        return Const(kind(value.value))
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


def _sum(call: Call) -> Value:
    items = iterate(call.args[0]) if call.args else None
    if items is None:
        return Unknown("a sum of something unknown")
    total: Value = call.argument(1, "start") or Const(0)
    for item in items:
        total = call.interpreter.operation("Add", total, item, call.place)
    return total


def _extreme(name: str) -> Callable[[Call], Value]:
    def pick(call: Call) -> Value:
        if call.kwargs or call.opaque or not call.args:
            return Unknown(f"{name}()")
        items = call.args if len(call.args) > 1 else iterate(call.args[0])
        if not items:
            return Unknown(f"{name}() of something unknown")
        best = items[0]
        for item in items[1:]:
            beats = truth(
                call.interpreter.comparison("LessThan" if name == "min" else "GreaterThan", item, best)
            )
            if beats is None:
                return Unknown(f"{name}() of sizes that cannot be compared")
            best = item if beats else best
        return best

    return pick


def _abs(call: Call) -> Value:
    (value,) = call.bind("x")
    if isinstance(value, Const) and isinstance(value.value, int | float | complex):
        return Const(abs(value.value))
    if isinstance(value, Array):
        return Array(value.shape, value.dtype, value.weak, value.numpy)
    dim = as_dim(value)
    low = dims.lower_bound(dim) if dim is not None else None
    return value if value is not None and low is not None and low >= 0 else Unknown("abs()")


def _ordered(reverse: bool) -> Callable[[Call], Value]:
    def order(call: Call) -> Value:
        items = iterate(call.args[0]) if len(call.args) == 1 else None
        if reverse:
            return ListValue(None if items is None else list(reversed(items)), path=call.interpreter.path)
        keys = [item.value for item in items or () if isinstance(item, Const)]
        given = call.args[0] if call.args else None
        if isinstance(given, SetValue) and given.items is not None:
            keys, items = list(given.items), tuple(Const(k) for k in given.items)
        if items is None or call.kwargs or len(keys) != len(items):
            return ListValue(None)
        try:
            return ListValue([Const(key) for key in sorted(keys)], path=call.interpreter.path)
        except TypeError:
            return Unknown("raises in Python")

    return order


def _any_all(stop: bool) -> Callable[[Call], Value]:
    def decide(call: Call) -> Value:
        items = iterate(call.args[0]) if call.args else None
        outcomes = [truth(item) for item in items or ()]
        if stop in outcomes:
            return Const(stop)
        return Unknown("undecided") if items is None or None in outcomes else Const(not stop)

    return decide


_CLASSES: dict[str, Callable[[Value], bool | None]] = {
    "builtins.int": lambda v: isinstance(v, Integer) or (isinstance(v, Const) and isinstance(v.value, int)),
    "builtins.str": lambda v: isinstance(v, Const) and isinstance(v.value, str),
    "builtins.float": lambda v: isinstance(v, Const) and isinstance(v.value, float),
    "builtins.bool": lambda v: isinstance(v, Const) and isinstance(v.value, bool),
    "builtins.tuple": lambda v: None if isinstance(v, Instance) else isinstance(v, Tuple),
    "builtins.list": lambda v: isinstance(v, ListValue),
    "builtins.dict": lambda v: isinstance(v, DictValue),
    "builtins.set": lambda v: isinstance(v, SetValue),
    "jax.sharding.PartitionSpec": lambda v: isinstance(v, SpecValue),
    "jax.sharding.NamedSharding": lambda v: isinstance(v, ShardingValue),
    "jax.sharding.Mesh": lambda v: isinstance(v, MeshValue) and not v.mesh.abstract,
    "jax.Array": lambda v: (not v.numpy and not v.struct) if isinstance(v, Array) else False,
    "numpy.ndarray": lambda v: v.numpy if isinstance(v, Array) else False,
}


def _isinstance(call: Call) -> Value:
    value, classes = call.bind("obj", "cls")
    if value is None or classes is None:
        return Unknown("isinstance()")
    wanted = classes.items if isinstance(classes, Tuple) else (classes,)
    outcomes: set[bool | None] = set()
    for option in options(value):
        found = [_is_instance(option, cls) for cls in wanted]
        outcomes.add(True if True in found else None if None in found else False)
    return Const(outcomes.pop()) if len(outcomes) == 1 and None not in outcomes else Unknown("undecided")


def _is_instance(value: Value, cls: Value) -> bool | None:
    if isinstance(value, Unknown | External | Native | LibraryObject):
        return None
    if isinstance(cls, ClassValue):
        if isinstance(value, Instance):
            bases = list(lineage(value.cls))
            return True if cls in bases else None if any(isinstance(b, Unknown) for b in bases) else False
        return None
    if isinstance(cls, External) and cls.name in _CLASSES and not isinstance(value, Instance):
        return _CLASSES[cls.name](value)
    return None


def _getattr(call: Call) -> Value:
    receiver, name, default = call.bind("obj", "name", default=None)
    text = as_str(name)
    if receiver is None or text is None:
        return Unknown("getattr of something unknown")
    if default is None:
        return looked_up(call.interpreter.attribute(receiver, text, call.place), name)
    with call.interpreter.within(caught=call.interpreter.context.caught | {"AttributeError"}):
        found = call.interpreter.attribute(receiver, text, call.place)
    return Unknown("may be the default") if isinstance(found, Unknown) else looked_up(found, name)


def _hasattr(call: Call) -> Value:
    from shardlint.inference.overlays import is_known

    receiver, name = call.bind("obj", "name")
    text = as_str(name)
    if isinstance(receiver, External) and text is not None:
        full = f"{receiver.name}.{text}"
        if is_there(call.interpreter, full) is False:
            return Const(False)
        return Const(True) if is_known(call.interpreter, full) else Unknown("not known to exist")
    if isinstance(receiver, Instance) and text is not None:
        held = text in receiver.attributes or class_attribute(receiver.cls, text) is not None
        return Const(True) if held else Unknown("may be set elsewhere")
    return Unknown("hasattr of something unknown")


def _setattr(call: Call) -> Value:
    receiver, name, value = call.bind("obj", "name", "value")
    text = as_str(name)
    if receiver is not None and value is not None:
        if text is None:
            forget(receiver)
        else:
            set_attribute(call.interpreter, receiver, text, value)
    return NONE


def _divmod(call: Call) -> Value:
    a, b = call.bind("a", "b")
    if a is None or b is None:
        return Unknown("divmod()")
    quotient = call.interpreter.operation("FloorDivide", a, b, call.place)
    return Tuple((quotient, call.interpreter.operation("Modulo", a, b, call.place)))


def _round(call: Call) -> Value:
    value = call.args[0] if len(call.args) == 1 else None
    if isinstance(value, Const) and isinstance(value.value, int | float) and math.isfinite(value.value):
        return Const(round(value.value))
    return Unknown("round()")


def _super(call: Call) -> Value:
    method = call.interpreter.running_method()
    if method is None or call.args:
        return Unknown("super()")
    cls, receiver = method
    return LibraryObject("builtins.super", {"cls": cls, "self": receiver})


def super_attribute(value: LibraryObject, name: str) -> Value:
    """``super().name``: of the receiver's classes, the first after the method's own that has it."""
    cls, receiver = value.fields["cls"], value.fields["self"]
    assert isinstance(cls, ClassValue)
    owner = receiver.cls if isinstance(receiver, Instance) else receiver
    order = lineage(owner if isinstance(owner, ClassValue) else cls)
    after = order[order.index(cls) + 1 :] if cls in order else lineage(cls)[1:]
    found = attribute_along(after, name)
    if found is not None:
        return method_of(found, receiver, owner if isinstance(owner, ClassValue) else cls)
    if name in ("__init__", "__post_init__", "setup", "__init_subclass__"):
        return Native(f"super().{name}", lambda call: NONE)
    return Unknown(f"super().{name}")


def _descriptor(kind: str) -> Callable[[Call], Value]:
    def wrap(call: Call) -> Value:
        return LibraryObject(kind, {"function": call.args[0] if call.args else Unknown(kind)})

    return wrap


def _slice(call: Call) -> Value:
    if call.opaque:
        return Unknown("a slice of unknown bounds")
    parts = list(call.args)
    if len(parts) == 1:
        parts = [NONE, parts[0]]
    start, stop, step = [*parts, NONE, NONE, NONE][:3]
    return Slice(start, stop, step)


def _next(call: Call) -> Value:
    items = iterate(call.args[0]) if call.args else None
    # Which item comes next depends on what was taken before; it is one of them.
    return join(items) if items and len(items) <= 8 else Unknown("next()")


def _none(call: Call) -> Value:
    return NONE


def _callable(call: Call) -> Value:
    (value,) = call.bind("obj")
    return Const(True) if isinstance(value, Function | Native | ClassValue) else Unknown("callable()")


def _harmless(call: Call) -> Value:
    return LibraryObject("harmless", {})


def _str(call: Call) -> Value:
    value = call.args[0] if len(call.args) == 1 else Unknown("str()") if call.args else Const("")
    if isinstance(value, Const) and isinstance(value.value, str | int):
        return Const(str(value.value))
    return Unknown("str()")


TABLE: dict[str, Callable[[Call], Value]] = {
    "builtins.len": _len,
    "builtins.range": _range,
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.tuple": _tuple,
    "builtins.list": _list,
    "builtins.set": _set,
    "builtins.frozenset": _set,
    "builtins.dict": _dict,
    "builtins.int": _int,
    "builtins.float": _converter(float),
    "builtins.str": _str,
    "builtins.bool": _bool,
    "builtins.sum": _sum,
    "builtins.min": _extreme("min"),
    "builtins.max": _extreme("max"),
    "builtins.abs": _abs,
    "builtins.sorted": _ordered(reverse=False),
    "builtins.reversed": _ordered(reverse=True),
    "builtins.any": _any_all(True),
    "builtins.all": _any_all(False),
    "builtins.isinstance": _isinstance,
    "builtins.getattr": _getattr,
    "builtins.hasattr": _hasattr,
    "builtins.setattr": _setattr,
    "builtins.divmod": _divmod,
    "builtins.round": _round,
    "builtins.super": _super,
    "builtins.property": _descriptor("builtins.property"),
    "builtins.staticmethod": _descriptor("builtins.staticmethod"),
    "builtins.classmethod": _descriptor("builtins.classmethod"),
    "builtins.slice": _slice,
    "builtins.iter": _list,
    "builtins.next": _next,
    "builtins.print": _none,
    "builtins.callable": _callable,
    "builtins.open": _harmless,
}
