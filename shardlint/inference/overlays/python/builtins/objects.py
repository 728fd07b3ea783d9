"""Python's functions on objects and classes: ``isinstance``, ``getattr``, ``super``, descriptors."""

from __future__ import annotations

import numbers
from collections import abc
from collections.abc import Callable
from functools import partial
from pathlib import Path

from shardlint.inference.domain.builtin_bases import ALIKE, held_value, holder, mixed_in_value
from shardlint.inference.domain.class_names import built_in_class, class_of
from shardlint.inference.domain.classes import (
    PerhapsMissing,
    attribute_along,
    class_attribute,
    has_unknown_base,
    is_missing,
    library_bases,
    lineage,
    may_change,
    method_of,
)
from shardlint.inference.domain.havoc import blur, forget, forget_contents, forget_variables
from shardlint.inference.domain.lattice import options
from shardlint.inference.domain.values import (
    NONE,
    Array,
    Bound,
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
    ModuleValue,
    Native,
    SetValue,
    ShardingValue,
    Slice,
    SpecValue,
    Tuple,
    Value,
    as_str,
    looked_up,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.descriptors import is_computed, read
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.evaluation.iterators import is_iterator
from shardlint.inference.evaluation.monkeypatches import set_library_name
from shardlint.inference.evaluation.mutation import delete_attribute, set_attribute
from shardlint.inference.evaluation.release_queries import is_there
from shardlint.inference.overlays.class_hooks import instance_attribute
from shardlint.inference.overlays.jax.tree_paths import KEYS
from shardlint.inference.overlays.python.builtins.attribute_names import has_attribute
from shardlint.inference.overlays.python.builtins.derived_classes import new_instance
from shardlint.inference.overlays.registry import has_lineage, is_known, is_of_library_class
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place


def _is_on_one_device(value: Value) -> bool:
    return isinstance(value, LibraryObject) and value.kind == "jax.sharding.SingleDeviceSharding"


#: The text of Python's classes that are written in Python, and their names in it.
SOURCE = Path(__file__).parent.parent / "source_classes.py"
SOURCE_CLASSES = {f"collections.{name}": name for name in ("UserDict", "UserList", "ChainMap", "Counter")}
_CLASSES: dict[str, Callable[[Value], bool | None]] = {
    "builtins.int": lambda v: isinstance(v, Integer) or (isinstance(v, Const) and isinstance(v.value, int)),
    "builtins.str": lambda v: isinstance(v, Const) and isinstance(v.value, str),
    "builtins.float": lambda v: isinstance(v, Const) and isinstance(v.value, float),
    "builtins.bool": lambda v: isinstance(v, Const) and isinstance(v.value, bool),
    "builtins.tuple": lambda v: None if isinstance(v, Instance) else isinstance(v, Tuple),
    "builtins.list": lambda v: isinstance(v, ListValue) and v.kind == "list",
    "builtins.dict": lambda v: isinstance(v, DictValue),
    "builtins.set": lambda v: isinstance(v, SetValue) and not v.frozen,
    "builtins.slice": lambda v: isinstance(v, Slice),
    "jax.sharding.PartitionSpec": lambda v: isinstance(v, SpecValue),
    "jax.sharding.NamedSharding": lambda v: isinstance(v, ShardingValue),
    "jax.sharding.Sharding": lambda v: isinstance(v, ShardingValue) or _is_on_one_device(v),
    "jax.sharding.SingleDeviceSharding": lambda v: _is_on_one_device(v),
    "jax.sharding.Mesh": lambda v: isinstance(v, MeshValue) and not v.mesh.abstract,
    "jax.sharding.AbstractMesh": lambda v: isinstance(v, MeshValue) and v.mesh.abstract,
    "jax.ShapeDtypeStruct": lambda v: isinstance(v, Array) and v.struct,
    "jax.core.Tracer": lambda v: None if isinstance(v, Array) and not (v.numpy or v.struct) else False,
    "jax.Array": lambda v: (not v.numpy and not v.struct) if isinstance(v, Array) else False,
    "numpy.ndarray": lambda v: v.numpy if isinstance(v, Array) else False,
}
#: Abstract base classes that values of Python's own classes may be tested for, by either name.
_ABSTRACT = {
    f"{module}.{name}": getattr(abc, name)
    for module in ("collections.abc", "typing")
    for name in (
        "Callable",
        "Collection",
        "Container",
        "Hashable",
        "Iterable",
        "Iterator",
        "Mapping",
        "MutableMapping",
        "MutableSequence",
        "MutableSet",
        "Reversible",
        "Sequence",
        "Set",
        "Sized",
    )
    if f"{module}.{name}" != "typing.Set"
} | {f"numbers.{name}": getattr(numbers, name) for name in ("Complex", "Integral", "Number", "Real")}
#: Names in `typing` for Python's own classes.
_CLASSES |= {
    f"typing.{name}": _CLASSES[f"builtins.{name.lower()}"] for name in ("Dict", "List", "Set", "Tuple")
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
    if isinstance(value, LibraryObject) and value.kind in KEYS and isinstance(cls, External):
        return value.kind == cls.name if cls.name in KEYS or cls.name in _CLASSES else None
    if is_iterator(value) and isinstance(cls, External):
        # Only its own class is known.
        return False if cls.name in _CLASSES else None
    if isinstance(cls, External) and (known := _of_library_class(value, cls.name)) is not None:
        return known
    if isinstance(value, Unknown | External | Native | LibraryObject):
        return None
    if isinstance(cls, External) and isinstance(value, Instance) and cls.name in library_bases(value.cls):
        return True
    if isinstance(cls, External) and cls.name in _CLASSES and _derives_plainly(value):
        return False
    if isinstance(cls, External) and cls.name in SOURCE_CLASSES and isinstance(value, Instance):
        classes = [base for base in lineage(value.cls) if isinstance(base, ClassValue)]
        return True if any(map(partial(_is_source, cls.name), classes)) else None
    if isinstance(cls, ClassValue):
        if _customises_isinstance(cls):
            return None
        if isinstance(value, Instance):
            bases = list(lineage(value.cls))
            return True if cls in bases else None if any(isinstance(b, Unknown) for b in bases) else False
        if isinstance(value, Tuple) and value.cls is not None:
            return cls in lineage(value.cls)
        return False if _is_plain(value) and _checks_plainly(cls) else None
    if isinstance(value, Instance) and holder(value.cls) in ALIKE:
        return False if isinstance(cls, External) and cls.name in _CLASSES else None
    mixed = held_value(value) or mixed_in_value(value)
    if mixed is not None:
        return _is_instance(mixed, cls)
    if isinstance(cls, External) and cls.name in _CLASSES and not isinstance(value, Instance):
        return _CLASSES[cls.name](value)
    if isinstance(cls, External) and cls.name in _ABSTRACT and (own := built_in_class(value)) is not None:
        return issubclass(own, _ABSTRACT[cls.name])
    return None


def _of_library_class(value: Value, name: str) -> bool | None:
    """Return whether a value is an instance of a library's class, if its ancestors are listed."""
    if isinstance(value, LibraryObject):
        known = is_of_library_class(value.kind, name)
        return False if known is None and name in _CLASSES and has_lineage(value.kind) else known
    if isinstance(value, Instance):
        bases = library_bases(value.cls)
        found = {is_of_library_class(base, name) for base in bases if has_lineage(base)}
        if True in found:
            return True
        open_ = has_unknown_base(value.cls) or not all(base.startswith(_UNRELATED) for base in bases)
        return None if open_ or None in found else is_of_library_class(None, name)
    return is_of_library_class(None, name) if _is_plain(value) or isinstance(value, Const | Integer) else None


#: Libraries whose classes derive from none that has a lineage, but for those that have one themselves.
_UNRELATED = ("builtins.", "collections.", "typing.", "abc.", "enum.", "flax.", "equinox.", "optax.", "jax.")


def _is_source(name: str, cls: ClassValue) -> bool:
    """Return whether a class of the program stands for one of Python's that is written in Python."""
    of_source = cls.module is not None and cls.module.source.path == str(SOURCE)
    return of_source and SOURCE_CLASSES[name] == cls.name


def _customises_isinstance(cls: ClassValue) -> bool:
    """Return whether a class customises ``isinstance``: it may accept other objects, or refuse its own."""
    if "typing.Protocol" in library_bases(cls) or class_attribute(cls, "__subclasshook__") is not None:
        return True
    meta = cls.metaclass
    if not isinstance(meta, ClassValue):
        return cls.opaque
    # A library base may let other classes be registered.
    own = library_bases(meta) <= {"builtins.type", "builtins.object"} and not has_unknown_base(meta)
    return not own or class_attribute(meta, "__instancecheck__") is not None


def _is_plain(value: Value) -> bool:
    """Return whether a value is certainly of a built-in class or one of JAX's."""
    if isinstance(value, Tuple):
        return value.fields is None
    return isinstance(value, ListValue | DictValue | SetValue | Array | SpecValue | MeshValue | ShardingValue)


def _derives_plainly(value: Value) -> bool:
    """Return whether a value is an object of the program, whose class derives from no library's."""
    return (
        isinstance(value, Instance)
        and library_bases(value.cls) <= {"builtins.object"}
        and not has_unknown_base(value.cls)
        and class_attribute(value.cls, "__class__") is None
        and value.cls.members is None
    )


#: Bases that let no object of another class be an instance.
_CHECKING_PLAINLY = frozenset({"builtins.object", "abc.ABC", "typing.Generic"})


def _checks_plainly(cls: ClassValue) -> bool:
    """Return whether only instances of its subclasses are instances of a class.

    An abstract class with which another class is registered is opaque from then on.
    """
    return library_bases(cls) <= _CHECKING_PLAINLY and not has_unknown_base(cls)


def _getattr(call: Call) -> Value:
    receiver, name, default = call.bind("obj", "name", default=None)
    text = as_str(name)
    if receiver is None or text is None:
        _lose_attribute(receiver or NONE, default or NONE)
        return Unknown("getattr of something unknown")
    if default is None:
        return looked_up(call.interpreter.attribute(receiver, text, call.place), name)
    if _lacks(receiver, text):
        return default
    with call.interpreter.within(caught=call.interpreter.context.caught | {"AttributeError"}):
        found = call.interpreter.attribute(receiver, text, call.place)
    if is_missing(found, receiver):
        return default
    if isinstance(found, Unknown):
        forget(default)
        return Unknown("may be the default")
    return looked_up(found, name)


def _lose_attribute(receiver: Value, default: Value) -> None:
    """Havoc what may be changed through an attribute of unknown name, such as a container's method."""
    forget(default)
    for option in options(receiver):
        if isinstance(option, Instance):
            forget_contents(option)
        else:
            forget(option)


def _lacks(receiver: Value, name: str) -> bool:
    """Return whether an object certainly has no such attribute: plain values, and keys of paths."""
    if isinstance(receiver, LibraryObject) and receiver.kind in KEYS:
        return name not in receiver.fields and not hasattr(object, name)
    if isinstance(receiver, Const) and isinstance(receiver.value, str | int | float | None):
        return not hasattr(receiver.value, name)
    for kind, python in ((Tuple, tuple), (ListValue, list), (DictValue, dict)):
        if isinstance(receiver, kind):
            plain = not (isinstance(receiver, Tuple) and receiver.fields is not None)
            return plain and getattr(receiver, "kind", "dict") == "dict" and not hasattr(python, name)
    return False


def _hasattr(call: Call) -> Value:
    receiver, name = call.bind("obj", "name")
    text = as_str(name)
    if isinstance(receiver, External) and text is not None:
        full = f"{receiver.name}.{text}"
        if is_there(call.interpreter, full) is False:
            return Const(False)
        return Const(True) if is_known(call.interpreter, full) else Unknown("not known to exist")
    if isinstance(receiver, Instance) and text is not None:
        if receiver.cls.intercepts or is_computed(class_attribute(receiver.cls, text)):
            # Python reads the attribute, and takes an AttributeError for no.
            found = call.interpreter.attribute(receiver, text, call.place)
            return Unknown("it may raise") if isinstance(found, Unknown) else Const(True)
        values = [receiver.attributes.get(text), class_attribute(receiver.cls, text)]
        if not may_change(receiver.cls, text) and any(
            one is not None and not isinstance(one, PerhapsMissing) for one in values
        ):
            return Const(True)
        if receiver.opaque or values != [None, None]:
            return Unknown("may be set elsewhere")
        with call.interpreter.forked():
            found = call.interpreter.attribute(receiver, text, call.place)
        return Const(False) if is_missing(found, receiver) else Unknown("may be set elsewhere")
    if receiver is not None and text is not None:
        if _lacks(receiver, text):
            return Const(False)
        if isinstance(receiver, LibraryObject) and receiver.kind in KEYS:
            return Const(True)
        if isinstance(receiver, Tuple) and receiver.fields is not None and text in receiver.fields:
            return Const(True)
        if (there := has_attribute(receiver, text)) is not None:
            return Const(there)
    return Unknown("hasattr of something unknown")


def _setattr(call: Call) -> Value:
    """``setattr(obj, name, value)``, and ``object.__setattr__``, which calls no method of the class."""
    receiver, name, value = call.bind("obj", "name", "value")
    text = as_str(name)
    if receiver is not None and value is not None:
        if text is None:
            forget(value)
            _set_any(call, receiver)
        else:
            plainly = call.name != "builtins.setattr"
            set_attribute(call.interpreter, receiver, text, value, plainly, call.place)
    return NONE


def _delattr(call: Call) -> Value:
    """``delattr(obj, name)``, and ``object.__delattr__``."""
    receiver, name = call.bind("obj", "name")
    text = as_str(name)
    if receiver is not None and text is not None:
        delete_attribute(call.interpreter, receiver, text, call.place, call.name != "builtins.delattr")
    elif receiver is not None:
        _set_any(call, receiver)
    return NONE


def _set_any(call: Call, receiver: Value) -> None:
    """Havoc an object: an attribute of unknown name is set, which may be any."""
    for option in options(receiver):
        if isinstance(option, ClassValue):
            blur(option)
        elif isinstance(option, ModuleValue):
            forget_variables(option)
        elif isinstance(option, External):
            set_library_name(call.interpreter, f"{option.name}.*")
        elif isinstance(option, Array | Devices):
            call.interpreter.change_in_place(option, None, call.place)
        else:
            forget(option)


def _new(call: Call) -> Value:
    """``object.__new__(cls)``."""
    cls = call.args[0] if call.args else None
    if isinstance(cls, ClassValue):
        return new_instance(
            call.interpreter, cls, call.place, call.args[1:], dict(call.kwargs.items()), call.opaque
        )
    return Unknown("an object of a class that is not known")


def _get_attribute(call: Call) -> Value:
    """``object.__getattribute__(obj, name)``."""
    receiver, name = call.bind("obj", "name")
    text = as_str(name)
    if not isinstance(receiver, Instance) or text is None:
        return Unknown("an attribute that is not known")
    return call.interpreter.plain_attribute(receiver, text, call.place)


def _type(call: Call) -> Value:
    """``type(obj)``."""
    value = call.args[0] if len(call.args) == 1 and not call.kwargs else None
    return (None if value is None else class_of(value)) or Unknown("type()")


def _super(call: Call) -> Value:
    method = call.interpreter.running_method()
    if len(call.args) == 2 and isinstance(call.args[0], ClassValue):
        method = call.args[0], call.args[1]
    if method is None or len(call.args) == 1:
        return Unknown("super()")
    cls, receiver = method
    return LibraryObject("builtins.super", {"cls": cls, "self": receiver})


#: Methods of `object` itself, by name.
_OF_OBJECT: dict[str, Callable[[Call], Value]] = {
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__getattribute__": _get_attribute,
}


def super_attribute(interpreter: Evaluator, value: LibraryObject, name: str, place: Place) -> Value:
    """Return ``super().name``: from the first class after the method's own, in the receiver's order, that has
    it."""
    cls, receiver = value.fields["cls"], value.fields["self"]
    assert isinstance(cls, ClassValue)
    owner = receiver.cls if isinstance(receiver, Instance) else receiver
    order = lineage(owner if isinstance(owner, ClassValue) else cls)
    after = order[order.index(cls) + 1 :] if cls in order else lineage(cls)[1:]
    found = attribute_along(after, name)
    if found is not None:
        if isinstance(found, LibraryObject | Instance) and isinstance(receiver, Instance):
            return read(interpreter, found, name, receiver, receiver.cls, place)
        return method_of(found, receiver, owner if isinstance(owner, ClassValue) else cls)
    if name == "__new__":
        return Native("super().__new__", _new)
    if name in _OF_OBJECT and all(isinstance(base, ClassValue | External) for base in after):
        return Bound(Native(f"builtins.object.{name}", _OF_OBJECT[name]), receiver)
    if isinstance(receiver, Instance):
        libraries = (base.name for base in after if isinstance(base, External))
        inherited = (instance_attribute(library, receiver, name) for library in libraries)
        found = next((method for method in inherited if method is not None), None)
    if found is None and name in ("__init__", "__post_init__", "setup", "__init_subclass__"):
        return Native(f"super().{name}", lambda call: NONE)
    return found or Unknown(f"super().{name}")


def _descriptor(kind: str) -> Callable[[Call], Value]:
    def wrap(call: Call) -> Value:
        return LibraryObject(kind, {"function": call.args[0] if call.args else Unknown(kind)})

    return wrap


def _callable(call: Call) -> Value:
    (value,) = call.bind("obj")
    return Const(True) if isinstance(value, Function | Native | ClassValue) else Unknown("callable()")


TABLE: dict[str, Callable[[Call], Value]] = {
    "builtins.isinstance": _isinstance,
    "builtins.getattr": _getattr,
    "builtins.hasattr": _hasattr,
    "builtins.setattr": _setattr,
    "builtins.delattr": _delattr,
    "builtins.object.__new__": _new,
    **{f"builtins.object.{name}": function for name, function in _OF_OBJECT.items()},
    "builtins.type.__setattr__": _setattr,
    "builtins.type.__delattr__": _delattr,
    "builtins.type": _type,
    "builtins.super": _super,
    "builtins.staticmethod": _descriptor("builtins.staticmethod"),
    "builtins.classmethod": _descriptor("builtins.classmethod"),
    "builtins.callable": _callable,
}
READERS = {"builtins.super": super_attribute}
