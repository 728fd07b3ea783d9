"""Dataclasses of Python, Flax, chex and attrs: fields, defaults, copies with changes, pytree nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from shardlint.inference.domain.classes import all_fields, has_unknown_base, lineage
from shardlint.inference.domain.unhashable_values import HASH_OF_FIELDS
from shardlint.inference.domain.values import (
    NONE,
    ClassValue,
    Const,
    DictValue,
    External,
    Instance,
    LibraryObject,
    ListValue,
    Partial,
    Tuple,
    Value,
    as_bool,
    as_items,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call, CannotBind
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.evaluation.evaluator import Evaluator

_FIELD, _INIT_ONLY = "dataclasses.field", "dataclasses.InitVar"
#: Types of what is no field of objects.
_PSEUDO = frozenset({_INIT_ONLY, "typing.ClassVar", "dataclasses.KW_ONLY"})
_ATTRS = ("attr.dataclass", "attrs.define", "attrs.frozen", "attrs.mutable")
#: Decorators that make a class a dataclass; those among them that add methods count as bases.
_ADDING_METHODS = frozenset({"flax.struct.dataclass", "chex.dataclass"})
_MAKING = _ADDING_METHODS | {"dataclasses.dataclass", "flax.nnx.dataclass", *_ATTRS}
_REGISTER = "jax.tree_util.register_dataclass"
_NODES = "flax.struct.PyTreeNode"


# -- classes ----------------------------------------------------------------------------------------


def decorator_of(decorator: Value) -> tuple[str, dict[str, Value]] | None:
    """Return the name and arguments of a decorator that makes dataclasses or pytree nodes of them, or
    None."""
    arguments: dict[str, Value] = {}
    if isinstance(decorator, Partial):
        arguments, decorator = dict(decorator.kwargs), decorator.function
    if isinstance(decorator, LibraryObject) and decorator.kind == "dataclass":
        name = as_str(decorator.fields["name"])
        return None if name is None else (name, decorator.fields)
    known = isinstance(decorator, External) and decorator.name in (_MAKING | {_REGISTER})
    return (decorator.name, arguments) if known and isinstance(decorator, External) else None


def declare_fields(cls: ClassValue, annotated: dict[str, str]) -> None:
    """Record the names that a class body annotates; those that only the constructor takes are marked."""
    for name, annotation in annotated.items():
        default = cls.attributes.get(name)
        if "InitVar" in annotation:
            cls.fields[name] = LibraryObject(_INIT_ONLY, {} if default is None else {"default": default})
        elif "ClassVar" not in annotation and "KW_ONLY" not in annotation:
            cls.fields[name] = default
            cls.annotations[name] = annotation


def make_dataclass(cls: ClassValue, decorator: str, arguments: dict[str, Value]) -> None:
    """Apply a dataclass decorator to a class."""
    if decorator == _REGISTER:
        cls.nodes = _registered(cls, arguments)
        return
    cls.dataclass = True
    if decorator == "dataclasses.dataclass" and "__hash__" not in cls.attributes:
        _decide_hash(cls, arguments)
    if decorator in _ADDING_METHODS:
        cls.bases, cls.lineage = (*cls.bases, External(decorator)), ()
    if decorator == "flax.struct.dataclass":
        _make_nodes(cls, "pytree_node", False)
    elif decorator == "chex.dataclass":
        cls.nodes = Unknown("in which order chex holds fields is not followed")
    for name, default in cls.fields.items():
        if isinstance(default, LibraryObject) and default.kind == _FIELD:
            # The class itself has a field's default as its attribute, and nothing else.
            cls.attributes.pop(name, None)
            if "default" in default.fields:
                cls.attributes[name] = default.fields["default"]


def _decide_hash(cls: ClassValue, arguments: dict[str, Value]) -> None:
    """Leave a class without a hash, as Python does if it adds ``__eq__``, and the class is not frozen."""
    eq, frozen, asked = (
        as_bool(arguments.get(name, Const(default)))
        for name, default in (("eq", True), ("frozen", False), ("unsafe_hash", False))
    )
    if None in (eq, frozen, asked):
        cls.attributes["__hash__"] = Unknown("options decide whether the class has a hash")
    elif eq and not frozen and not asked:
        cls.attributes["__hash__"] = NONE
    elif eq or asked:
        cls.attributes["__hash__"] = HASH_OF_FIELDS


def _make_nodes(cls: ClassValue, mark: str, leaf: bool) -> None:
    """Make all fields children of a pytree node, but for those that are marked otherwise."""
    names: list[str] = []
    for name, default in all_fields(cls).items():
        marked = default.fields.get(mark) if isinstance(default, LibraryObject) else None
        decided = True if marked is None else as_bool(marked)
        if decided is None:
            cls.nodes = Unknown("whether a field holds children is not known")
            return
        if decided is not leaf:
            names.append(name)
    cls.nodes = tuple(names)


def _registered(cls: ClassValue, arguments: dict[str, Value]) -> tuple[str, ...] | Unknown:
    """Return the fields that `register_dataclass` makes children."""
    if "data_fields" in arguments:
        given = [as_str(item) for item in as_items(arguments["data_fields"]) or (NONE,)]
        names = [name for name in given if name is not None]
        return tuple(names) if len(names) == len(given) else Unknown("which fields are children is not known")
    found: list[str] = []
    for name, default in all_fields(cls).items():
        own = default.fields if isinstance(default, LibraryObject) and default.kind == _FIELD else {}
        metadata = own.get("metadata")
        static = False
        if metadata is not None:
            known = isinstance(metadata, DictValue) and metadata.items is not None
            static = as_bool((metadata.items or {}).get("static", Const(False))) if known else None  # type: ignore[union-attr,assignment]
        if static is None or as_bool(own.get("init", Const(True))) is not True:
            return Unknown("which fields are children is not known")
        if not static:
            found.append(name)
    return tuple(found)


def _register(call: Call) -> Value:
    """``register_dataclass(cls, data_fields, meta_fields)``: a plain call, or a decorator with arguments."""
    cls, data, _ = call.bind("nodetype", data_fields=None, meta_fields=None)
    if isinstance(cls, ClassValue):
        cls.nodes = _registered(cls, {} if data is None else {"data_fields": data})
    return cls or NONE


def _register_unseen(call: Call) -> Value:
    """Register a class with functions that make its children."""
    cls = call.args[0] if call.args else None
    if isinstance(cls, ClassValue):
        cls.nodes = Unknown(f"the children of `{cls.name}` are not followed")
    return cls or NONE


def _dataclass(call: Call) -> Value:
    """``@dataclass(...)`` with arguments; a class definition handles ``@dataclass`` without them."""
    if call.args and isinstance(call.args[0], ClassValue):
        make_dataclass(call.args[0], call.name, dict(call.kwargs))
        return call.args[0]
    return LibraryObject("dataclass", {**call.kwargs, "name": Const(call.name)})


def _made(call: Call) -> Value:
    """``make_dataclass("Layer", ["spec", ("size", int, 8)])``: a class of fields with types and defaults."""
    options = ("repr", "eq", "order", "unsafe_hash", "frozen", "match_args", "kw_only", "slots", "module")
    name, given, bases, namespace, init, *_ = call.bind(
        "cls_name", "fields", bases=Tuple(()), namespace=NONE, init=Const(True), **dict.fromkeys(options)
    )
    text, above, items = as_str(name), as_items(bases), as_items(given)
    known = {} if is_none(namespace) else namespace.items if isinstance(namespace, DictValue) else None
    if text is None or above is None or items is None or known is None or as_bool(init) is not True:
        raise CannotBind(call.name)
    attributes = {str(key): value for key, value in known.items()}
    cls = ClassValue(text, tuple(above), attributes, origin=call.place, path=call.interpreter.path)
    for item in items:
        label, kind, default = [*(as_items(item) or (item,)), None, None][:3]
        field, special = as_str(label), isinstance(kind, LibraryObject | Unknown)
        if field is None or special or (isinstance(kind, External) and kind.name in _PSEUDO):
            raise CannotBind(call.name)
        cls.fields[field], cls.annotations[field] = default, ""
        if default is not None:
            attributes[field] = default
    make_dataclass(cls, "dataclasses.dataclass", dict(call.kwargs))
    return cls


# -- fields -----------------------------------------------------------------------------------------


def _field(call: Call) -> Value:
    found = dict(call.kwargs)
    if "factory" in found:
        found["default_factory"] = found.pop("factory")
    if call.name == "flax.struct.field" and call.args:
        found["pytree_node"] = call.args[0]
    elif call.args:
        found["default"] = call.args[0]
    return LibraryObject(_FIELD, found)


def positional_fields(fields: dict[str, Value | None]) -> list[str]:
    """Return the fields that the constructor takes by position."""
    return [name for name, default in fields.items() if not _is_excluded(default)]


def _is_excluded(default: Value | None) -> bool:
    if not isinstance(default, LibraryObject) or default.kind != _FIELD:
        return False
    keyword_only = default.fields.get("kw_only")
    return not _in_init(default) or (keyword_only is not None and as_bool(keyword_only) is not False)


def _in_init(default: Value | None) -> bool:
    """Return whether the constructor takes a field."""
    if not isinstance(default, LibraryObject) or default.kind != _FIELD:
        return True
    return as_bool(default.fields.get("init", Const(True))) is True


def is_init_only(default: Value | None) -> bool:
    """Return whether a field is an argument of the constructor that only ``__post_init__`` receives."""
    return isinstance(default, LibraryObject) and default.kind == _INIT_ONLY


def field_default(interpreter: Evaluator, default: Value, place: Place) -> Value:
    """Return the value of a field that no argument sets."""
    if isinstance(default, LibraryObject) and default.kind in (_FIELD, _INIT_ONLY):
        if "default" in default.fields:
            return default.fields["default"]
        if "default_factory" in default.fields:
            return interpreter.call(default.fields["default_factory"], [], {}, place)
        return Unknown("a field without a default")
    return default


def instance_fields(cls: ClassValue) -> list[str]:
    """Return the fields that instances have."""
    return [name for name, default in all_fields(cls).items() if not is_init_only(default)]


# -- instances --------------------------------------------------------------------------------------


def _replace(call: Call) -> Value:
    """`dataclasses.replace(obj, **changes)`: a new object, made from the fields that the constructor
    takes."""
    receiver = call.args[0] if call.args else None
    if not isinstance(receiver, Instance) or call.opaque or receiver.forgotten:
        return Unknown("dataclasses.replace")
    given = {
        name: receiver.attributes.get(name) or Unknown(f"`{name}` is not known")
        for name, default in all_fields(receiver.cls).items()
        if _in_init(default) and not is_init_only(default)
    }
    return call.interpreter.call(receiver.cls, [], {**given, **call.kwargs}, call.place)


def _parts(call: Call, receiver: Value | None) -> dict[str, Value] | None:
    """Return the fields of a dataclass's instance with their values, or None if they are unknown."""
    if not isinstance(receiver, Instance) or receiver.forgotten or not _is_dataclass(receiver.cls):
        return None
    found = {name: receiver.attributes.get(name) for name in instance_fields(receiver.cls)}
    known = {name: value for name, value in found.items() if value is not None}
    return known if len(known) == len(found) else None


def _is_dataclass(cls: ClassValue) -> bool:
    return any(isinstance(base, ClassValue) and base.dataclass for base in lineage(cls))


def _plain(call: Call, value: Value, pack: Callable[[dict[str, Value]], Value]) -> Value:
    """Return a value as `asdict` copies it: dataclasses packed, containers copied."""
    path = call.interpreter.path
    if isinstance(value, Instance):
        parts = _parts(call, value)
        if parts is None:
            return value
        return pack({name: _plain(call, part, pack) for name, part in parts.items()})
    if isinstance(value, Tuple):
        items = tuple(_plain(call, item, pack) for item in value.items)
        return Tuple(items, value.origin, value.fields, value.cls)
    if isinstance(value, ListValue):
        known = value.items
        return ListValue(None if known is None else [_plain(call, item, pack) for item in known], path=path)
    if isinstance(value, DictValue):
        held = value.items
        copied = None if held is None else {key: _plain(call, item, pack) for key, item in held.items()}
        return DictValue(copied, path=path, kind=value.kind, default=value.default)
    return value


def _asdict(call: Call) -> Value:
    receiver, factory = call.bind("obj", dict_factory=None)
    path, place = call.interpreter.path, call.place
    if receiver is None or _parts(call, receiver) is None or len(call.args) != 1:
        return DictValue(None)

    def pack(parts: dict[str, Value]) -> Value:
        if factory is None:
            return DictValue(dict(parts.items()), place, path)
        pairs: list[Value] = [Tuple((Const(name), value)) for name, value in parts.items()]
        return call.interpreter.call(factory, [ListValue(pairs, place, path)], {}, place)

    return _plain(call, receiver, pack)


def _astuple(call: Call) -> Value:
    receiver, factory = call.bind("obj", tuple_factory=None)
    path, place = call.interpreter.path, call.place
    if receiver is None or _parts(call, receiver) is None or len(call.args) != 1:
        return Unknown("dataclasses.astuple")

    def pack(parts: dict[str, Value]) -> Value:
        if factory is None:
            return Tuple(tuple(parts.values()), place)
        return call.interpreter.call(factory, [ListValue(list(parts.values()), place, path)], {}, place)

    return _plain(call, receiver, pack)


def _fields(call: Call) -> Value:
    (receiver,) = call.bind("class_or_instance")
    cls = receiver.cls if isinstance(receiver, Instance) else receiver
    if not isinstance(cls, ClassValue) or not _is_dataclass(cls):
        return Unknown("dataclasses.fields")
    return Tuple(tuple(map(_described, instance_fields(cls))))


def _described(name: str) -> Value:
    return LibraryObject("dataclasses.Field", {"name": Const(name)})


def fields_by_name(cls: ClassValue) -> Value | None:
    """Return ``__dataclass_fields__`` of a class or its instances, or None if it is no dataclass.

    Fields that only the constructor takes are included.
    """
    if not _is_dataclass(cls) or has_unknown_base(cls):
        return None
    return DictValue({name: _described(name) for name in all_fields(cls)})


def _item(call: Call) -> Value:
    """``state["w"]``: dataclasses of chex are mappings, too."""
    receiver, key = call.bind("self", "key")
    name = as_str(key)
    if receiver is None or name is None:
        return Unknown("an item of a dataclass")
    return call.interpreter.attribute(receiver, name, call.place)


TABLE: dict[str, Callable[[Call], Value]] = {
    **dict.fromkeys(sorted(_MAKING), _dataclass),
    **dict.fromkeys((_FIELD, "flax.struct.field", "attrs.field", "attr.ib", "attr.field"), _field),
    "dataclasses.make_dataclass": _made,
    "dataclasses.replace": _replace,
    "attrs.evolve": _replace,
    "dataclasses.asdict": _asdict,
    "attr.asdict": _asdict,
    "attrs.asdict": _asdict,
    "dataclasses.astuple": _astuple,
    "dataclasses.fields": _fields,
    _REGISTER: _register,
    **{
        f"jax.tree_util.register_{name}": _register_unseen
        for name in (
            "pytree_node", "pytree_node_class", "pytree_with_keys", "pytree_with_keys_class", "static",
        )
    },
}  # fmt: skip

ALIASES: dict[str, str] = {
    **{f"attr.{name}": f"attrs.{name}" for name in ("define", "frozen", "mutable", "evolve")},
}

METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {
    **{(base, "replace"): _replace for base in (*sorted(_ADDING_METHODS), _NODES)},
    ("chex.dataclass", "__getitem__"): _item,
}
