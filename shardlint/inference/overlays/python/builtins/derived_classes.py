"""Classes of the program that derive from ``dict``, ``list``, ``tuple``, ``str`` and their kin: construction,
and the methods that they inherit."""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping, Sequence

from shardlint.inference.domain.builtin_bases import HELD, HOLDERS, held_value, holder, mixed_in_value
from shardlint.inference.domain.classes import PLAIN_BASES, class_attribute, has_unknown_base, library_bases
from shardlint.inference.domain.havoc import forget
from shardlint.inference.domain.iteration import hashable
from shardlint.inference.domain.values import (
    NONE,
    Bound,
    ClassValue,
    Const,
    DictValue,
    External,
    Instance,
    Integer,
    ListValue,
    SetValue,
    Tuple,
    Value,
    unsized,
)
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.evaluation.iterators import iterator_of
from shardlint.inference.evaluation.mutation import set_item
from shardlint.inference.overlays.python.builtins.spec_tables import note_lookup
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

#: The abstract values of each class's objects.
_KINDS: dict[type, tuple[type, ...]] = {
    dict: (DictValue,), list: (ListValue,), tuple: (Tuple,), int: (Const, Integer), set: (SetValue,),
    frozenset: (SetValue,), collections.deque: (ListValue,),
}  # fmt: skip
_COMPARISONS = {
    "__eq__": "Equal", "__ne__": "NotEqual", "__lt__": "LessThan", "__le__": "LessThanEqual",
    "__gt__": "GreaterThan", "__ge__": "GreaterThanEqual",
}  # fmt: skip
_OPERATIONS = {
    "__add__": "Add", "__mul__": "Multiply", "__or__": "BitOr", "__mod__": "Modulo", "__and__": "BitAnd",
    "__sub__": "Subtract", "__xor__": "BitXor",
}  # fmt: skip
#: Methods that make another object of the same class.
_MAKING = frozenset(
    (name, "copy") for name in ("collections.OrderedDict", "collections.defaultdict", "collections.deque")
) | {("collections.deque", name) for name in ("__add__", "__mul__")}
#: Those whose arguments `__init__` takes.
_FILLED = (dict, list, set, collections.deque)


def new_instance(
    interpreter: Evaluator,
    cls: ClassValue,
    place: Place,
    args: Sequence[Value] = (),
    kwargs: Mapping[str, Value] | None = None,
    opaque: bool = False,
) -> Value:
    """Evaluate ``object.__new__(cls)``, or that of the class of Python's from which the class derives."""
    name = holder(cls)
    plain = library_bases(cls) <= PLAIN_BASES - {"typing.NamedTuple"}
    if cls.members is not None or not (plain or name is not None):
        return Unknown(f"an instance of `{cls.name}`")
    made = Instance(cls, {}, has_unknown_base(cls), place, interpreter.path)
    if name is not None:
        made.attributes[HELD] = _held(interpreter, name, place, args, dict(kwargs or {}), opaque)
    interpreter.unseen.note_special_methods(cls, made.attributes)
    return made


def hold(interpreter: Evaluator, instance: Instance, call: Call) -> None:
    """Give a new object the value that it also is: of the arguments, or an empty dict or list."""
    name = holder(instance.cls)
    if name is not None:
        kwargs = dict(call.kwargs.items())
        instance.attributes[HELD] = _held(interpreter, name, call.place, call.args, kwargs, call.opaque)


def initialise(interpreter: Evaluator, instance: Instance, call: Call) -> bool:
    """Evaluate the inherited ``__init__`` of a new object; return whether it is of such a class."""
    name = holder(instance.cls)
    if name is None:
        return False
    given = Call(
        interpreter, f"{name}.__init__", [instance, *call.args], call.kwargs, call.place, call.opaque
    )
    _initialised(name, given)
    return True


def _held(
    interpreter: Evaluator,
    name: str,
    place: Place,
    args: Sequence[Value],
    kwargs: dict[str, Value],
    opaque: bool,
) -> Value:
    kind = HOLDERS[name]
    if issubclass(kind, _FILLED):
        # The arguments are those of `__init__`.
        return _typed(name, interpreter.call(External(name), [], {}, place))
    return _typed(name, interpreter.call(External(name), args, kwargs, place, opaque))


def _typed(name: str, value: Value) -> Value:
    """Return a value if it is of the class of Python's, else Unknown."""
    kind = HOLDERS[name]
    base = next(one for one in (*_KINDS, object) if issubclass(kind, one))
    fits = isinstance(value, _KINDS.get(base, (Const,)))
    if isinstance(value, Const):
        fits = (fits and type(value.value) in (kind, bool)) or isinstance(value.value, kind)
    return value if fits else Unknown(f"a `{kind.__name__}` that is not known")


def _initialised(name: str, call: Call) -> Value:
    """``dict.__init__(self, ...)`` and ``list.__init__(self, ...)``."""
    receiver, *args = _receiver_first(call)
    held = _of(receiver)
    if not issubclass(HOLDERS[name], _FILLED):
        return NONE
    made = call.interpreter.call(External(name), args, dict(call.kwargs.items()), call.place, call.opaque)
    if isinstance(held, DictValue | ListValue | SetValue) and held.items is not None:
        path = receiver.path if isinstance(receiver, Instance) else call.interpreter.path
        if not call.interpreter.certain(path) or getattr(made, "items", None) is None:
            forget(held)
            forget(made)
            return NONE
        changing(held)
        if isinstance(held, DictValue) and isinstance(made, DictValue):
            held.items.update(made.items or {})
            held.default = made.default
        elif isinstance(held, ListValue) and isinstance(made, ListValue):
            held.items = list(made.items or ())
        elif isinstance(held, SetValue) and isinstance(made, SetValue):
            held.items = made.items
    else:
        forget(made)
    return NONE


def _item(call: Call) -> Value:
    """``dict.__getitem__(self, key)``, which calls a ``__missing__`` of the program."""
    receiver, key = call.bind("self", "key")
    held = _of(receiver)
    if receiver is None or key is None:
        return Unknown("an item that is not known")
    if isinstance(receiver, Instance) and isinstance(held, DictValue):
        found, wanted = hashable(key)
        missing = class_attribute(receiver.cls, "__missing__")
        if missing is not None:
            if held.items is None or not found:
                note_lookup(call.interpreter, held.items or {}, None, call.place)
                forget(held)
                return Unknown("an item, or what stands for it")
            if wanted not in held.items:
                note_lookup(call.interpreter, held.items, wanted, call.place)
                return call.interpreter.call(Bound(missing, receiver), [key], {}, call.place)
    counted = isinstance(receiver, Instance) and class_attribute(receiver.cls, "__len__") is not None
    if counted and isinstance(held, ListValue) and held.kind == "deque":
        return Unknown("a deque adds its length, as the program's class has it, to an index")
    return call.interpreter.item(held, key, call.place)


def _set_item(call: Call) -> Value:
    receiver, key, value = call.bind("self", "key", "value")
    held = _of(receiver)
    if isinstance(held, DictValue | ListValue) and key is not None and value is not None:
        set_item(call.interpreter, held, key, value, call.place)
    else:
        forget(Tuple((key or NONE, value or NONE)))
    return NONE


def _del_item(call: Call) -> Value:
    forget(_of(_receiver_first(call)[0]))
    return NONE


def _contains(call: Call) -> Value:
    receiver, key = call.bind("self", "key")
    return call.interpreter.comparison("In", key or NONE, _of(receiver))


def _len(call: Call) -> Value:
    return call.interpreter.call(External("builtins.len"), [_of(_receiver_first(call)[0])], {}, call.place)


def _iter(call: Call) -> Value:
    return iterator_of(call.interpreter, _of(_receiver_first(call)[0]), call.place)


def _new(call: Call) -> Value:
    """``str.__new__(cls, ...)``."""
    cls = call.args[0] if call.args else None
    if not isinstance(cls, ClassValue):
        return Unknown("an object of a class that is not known")
    kwargs = dict(call.kwargs.items())
    return new_instance(call.interpreter, cls, call.place, call.args[1:], kwargs, call.opaque)


def _receiver_first(call: Call) -> Sequence[Value]:
    """Return the arguments of a method that is called as its class's: the object is the first. Raises
    CannotBind."""
    if not call.args:
        raise CannotBind(call.name)
    return call.args


def _of(receiver: Value | None) -> Value:
    """Return the value that a receiver also is."""
    if receiver is None:
        return Unknown("an object that is not known")
    if not isinstance(receiver, Instance):
        return receiver
    return held_value(receiver) or mixed_in_value(receiver) or Unknown("an object that is not followed")


def _compared(name: str) -> Callable[[Call], Value]:
    def compare(call: Call) -> Value:
        receiver, other = call.bind("self", "other")
        return call.interpreter.comparison(_COMPARISONS[name], _of(receiver), other or NONE)

    return compare


def _operated(name: str) -> Callable[[Call], Value]:
    def operate(call: Call) -> Value:
        receiver, other = call.bind("self", "other")
        found = call.interpreter.operation(_OPERATIONS[name], _of(receiver), other or NONE, call.place)
        return unsized(found) if isinstance(found, Unknown) else found

    return operate


def _method(base: str, name: str) -> Callable[[Call], Value]:
    """Return a method of a class of Python's, called with an object of the program's class."""

    def apply(call: Call) -> Value:
        receiver, *args = _receiver_first(call)
        held = _of(receiver)
        kwargs = dict(call.kwargs.items())
        if (base, name) in _MAKING:
            held = Unknown("another object of the same class")
        method = call.interpreter.attribute(held, name, call.place)
        return call.interpreter.call(method, args, kwargs, call.place, call.opaque)

    return apply


_SPECIAL: dict[str, Callable[[Call], Value]] = {
    "__getitem__": _item,
    "__setitem__": _set_item,
    "__delitem__": _del_item,
    "__contains__": _contains,
    "__len__": _len,
    "__iter__": _iter,
    **{name: _compared(name) for name in _COMPARISONS},
    **{name: _operated(name) for name in _OPERATIONS},
}


def _methods(base: str) -> dict[str, Callable[[Call], Value]]:
    """Return the methods that a class of Python's adds to those of every object."""
    kind = HOLDERS[base]
    own = [name for name in dir(kind) if callable(getattr(kind, name))]
    found = {name: _method(base, name) for name in own if not hasattr(object, name)}
    found |= {name: function for name, function in _SPECIAL.items() if name in own}
    return {**found, "__init__": lambda call: _initialised(base, call), "__new__": _new}


_METHODS = {(base, name): method for base in HOLDERS for name, method in _methods(base).items()}
#: Functions of classes, which are tables of their own.
_OF_CLASSES = frozenset({"fromkeys", "maketrans", "fromhex", "from_bytes", "__class_getitem__", "__new__"})
METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {
    key: method for key, method in _METHODS.items() if key[1] not in _OF_CLASSES
}
TABLE: dict[str, Callable[[Call], Value]] = {
    f"{base}.{name}": method
    for (base, name), method in _METHODS.items()
    if name == "__new__" or name not in _OF_CLASSES
}
