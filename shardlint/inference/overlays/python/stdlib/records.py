"""Records: namedtuples, namespaces, and `ml_collections.ConfigDict` of known values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from shardlint.inference.domain.classes import all_fields
from shardlint.inference.domain.values import (
    NONE,
    ClassValue,
    Const,
    DictValue,
    External,
    Instance,
    LibraryObject,
    ListValue,
    Native,
    Tuple,
    Value,
    as_items,
    as_str,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.iterators import items_of
from shardlint.inference.evaluation.mutation import set_attribute
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.values import Unknown

_NAMED, _CONFIG = "typing.NamedTuple", "ml_collections.ConfigDict"

# -- namedtuples ------------------------------------------------------------------------------------


def _namedtuple(call: Call) -> Value:
    """``namedtuple(name, fields, defaults=...)``: a class of the program."""
    name, given, rename, defaults, _ = call.bind(
        "typename", "field_names", rename=Const(False), defaults=NONE, module=None
    )
    text, names = as_str(name), _field_names(given)
    values = () if is_none(defaults) else as_items(defaults)
    if text is None or names is None or values is None or rename != Const(False):
        return Unknown("a namedtuple whose fields are not known")
    fields: dict[str, Value | None] = dict.fromkeys(names)
    fields.update(zip(names[len(names) - len(values) :], values, strict=False))
    return ClassValue(text, (External(_NAMED),), {}, fields, origin=call.place, path=call.interpreter.path)


def _field_names(given: Value | None) -> list[str] | None:
    text = as_str(given)
    if text is not None:
        return text.replace(",", " ").split()
    items = as_items(given)
    names = [as_str(item) for item in items or ()]
    known = [name for name in names if name is not None]
    return known if items is not None and len(known) == len(names) else None


def _typed_namedtuple(call: Call) -> Value:
    """``NamedTuple(name, [(field, type), ...])``."""
    name, given = call.bind("typename", "fields")
    rows = [as_items(row) for row in as_items(given) or (NONE,)]
    names = [as_str(row[0]) for row in rows if row]
    text = as_str(name)
    if text is None or len(names) < len(rows) or any(n is None for n in names):
        return Unknown("a namedtuple whose fields are not known")
    fields: dict[str, Value | None] = dict.fromkeys(n for n in names if n is not None)
    return ClassValue(text, (External(_NAMED),), {}, fields, origin=call.place, path=call.interpreter.path)


def named_tuple_class_attribute(cls: ClassValue, name: str) -> Value:
    """Return ``Point._fields`` or ``Point._make``."""
    if name == "_fields":
        return Tuple(tuple(map(Const, all_fields(cls))))

    def make(call: Call) -> Value:
        items = items_of(call.interpreter, call.args[0], call.place) if len(call.args) == 1 else None
        if items is None:
            return Unknown("a namedtuple whose items are not known")
        return call.interpreter.call(cls, list(items), {}, call.place)

    return Native("_make", make)


def named_tuple_method(value: Tuple, name: str) -> Value | None:
    """Return a method that every namedtuple has, or None."""
    names = value.fields or ()
    if name == "_fields":
        return Tuple(tuple(map(Const, names)))
    if name == "_asdict":
        return Native(
            name,
            lambda call: DictValue(
                dict(zip(names, value.items, strict=True)), call.place, call.interpreter.path
            ),
        )
    if name == "_replace":

        def changed(call: Call) -> Value:
            if call.args or call.opaque or call.kwargs.keys() - set(names):
                return Unknown("_replace")
            fields = dict(zip(names, value.items, strict=True)) | call.kwargs
            return Tuple(tuple(fields.values()), call.place, value.fields, value.cls)

        return Native(name, changed)
    return None


# -- namespaces -------------------------------------------------------------------------------------

#: The class of namespaces.
NAMESPACE = ClassValue("SimpleNamespace", (), {})


def _namespace(call: Call) -> Value:
    """``SimpleNamespace(**kwargs)`` and argparse's ``Namespace``: objects with these attributes."""
    given = dict(call.kwargs)
    opaque = call.opaque or len(call.args) > 1
    if len(call.args) == 1:
        known = call.args[0]
        if isinstance(known, DictValue) and known.items is not None:
            given = {str(key): value for key, value in known.items.items()} | given
        else:
            opaque = True
    return Instance(NAMESPACE, given, opaque, call.place, call.interpreter.path)


# -- ml_collections ---------------------------------------------------------------------------------

_CONFIGS = ClassValue("ConfigDict", (External(_CONFIG),), {})


def _config(call: Call) -> Value:
    """``ConfigDict(initial)``; dicts inside become ConfigDicts."""
    given = call.args[0] if call.args else call.kwargs.get("initial_dictionary", DictValue({}))
    if call.kwargs.keys() - {"initial_dictionary", "type_safe", "convert_dict"} or call.opaque:
        return Unknown("a configuration that is not known")
    if call.kwargs.get("convert_dict", Const(True)) != Const(True):
        return Unknown("a configuration that keeps dicts")
    return NONE if is_none(given) else _made(call, given)


def _created(call: Call) -> Value:
    """``config_dict.create(**kwargs)``."""
    return _made(call, DictValue(None if call.args or call.opaque else dict(call.kwargs.items())))


def _made(call: Call, given: Value) -> Value:
    fields: dict[str, Value]
    if isinstance(given, Instance) and given.cls is _CONFIGS and not given.forgotten:
        fields = dict(given.attributes)
    elif isinstance(given, DictValue) and given.items is not None:
        fields = {str(key): value for key, value in given.items.items()}
    else:
        return Unknown("a configuration that is not known")
    nested = {name: _nested(call, value) for name, value in fields.items()}
    return Instance(_CONFIGS, nested, False, call.place, call.interpreter.path)


def _nested(call: Call, value: Value) -> Value:
    is_config = isinstance(value, Instance) and value.cls is _CONFIGS
    return _made(call, value) if is_config or isinstance(value, DictValue) else value


def _held(call: Call) -> Instance | None:
    receiver = call.args[0] if call.args else None
    known = isinstance(receiver, Instance) and not receiver.forgotten and not call.opaque
    return receiver if known and isinstance(receiver, Instance) else None


def _get(call: Call) -> Value:
    _, key, default = call.bind("self", "key", default=NONE)
    receiver, name = _held(call), as_str(key)
    if receiver is None or name is None or default is None:
        return Unknown("an item of a configuration")
    return receiver.attributes.get(name, default)


def _item(call: Call) -> Value:
    receiver, name = _held(call), as_str(call.args[1]) if len(call.args) == 2 else None
    if receiver is None or name is None:
        return Unknown("an item of a configuration")
    return receiver.attributes.get(name, Unknown(f"no key {name!r}"))


def _set_item(call: Call) -> Value:
    receiver, key, value = call.bind("self", "key", "value")
    name = as_str(key)
    if isinstance(receiver, Instance) and value is not None:
        if name is None:
            changing(receiver)
            receiver.attributes.clear()
            receiver.forgotten = receiver.opaque = True
        else:
            set_attribute(call.interpreter, receiver, name, _nested(call, value))
    return NONE


def _contains(call: Call) -> Value:
    receiver, name = _held(call), as_str(call.args[1]) if len(call.args) == 2 else None
    unknown = receiver is None or name is None
    return Unknown("a key of a configuration") if unknown else Const(name in receiver.attributes)  # type: ignore[union-attr]


def _update(call: Call) -> Value:
    receiver = call.args[0]
    other = call.args[1] if len(call.args) == 2 else DictValue({})
    if not isinstance(receiver, Instance):
        return NONE
    if isinstance(other, Instance) and other.cls is _CONFIGS and not other.forgotten:
        other = DictValue(dict(other.attributes.items()))
    rows: dict[Hashable, Value] | None = None
    if isinstance(other, DictValue) and other.items is not None and not call.opaque:
        rows = dict(other.items)
        rows.update(call.kwargs.items())
    if rows is None or any(isinstance(v, DictValue | Instance) for v in rows.values()):
        # Nested configurations are merged.
        changing(receiver)
        receiver.attributes.clear()
        receiver.forgotten = receiver.opaque = True
        return NONE
    for key, value in rows.items():
        set_attribute(call.interpreter, receiver, str(key), value)
    return NONE


def _view(pick: Callable[[str, Value], Value]) -> Callable[[Call], Value]:
    def view(call: Call) -> Value:
        receiver = _held(call)
        if receiver is None or len(call.args) > 1:
            return ListValue(None)
        rows: Iterable[tuple[str, Value]] = receiver.attributes.items()
        return ListValue([pick(name, value) for name, value in rows], path=call.interpreter.path)

    return view


def _to_dict(call: Call) -> Value:
    receiver = _held(call)
    if receiver is None:
        return DictValue(None)

    def plain(value: Value) -> Value:
        if isinstance(value, Instance) and value.cls is _CONFIGS:
            items = {name: plain(item) for name, item in value.attributes.items()}
            return DictValue(None if value.forgotten else items, path=call.interpreter.path)  # type: ignore[arg-type]
        return value

    return plain(receiver)


def _copied(call: Call) -> Value:
    receiver = _held(call)
    return Unknown("a configuration") if receiver is None else _made(call, receiver)


def _itself(call: Call) -> Value:
    return LibraryObject("harmless", {})


def _nothing(call: Call) -> Value:
    return NONE


_CONFIG_METHODS: dict[str, Callable[[Call], Value]] = {
    "get": _get,
    "__getitem__": _item,
    "__setitem__": _set_item,
    "__contains__": _contains,
    "update": _update,
    "items": _view(lambda name, value: Tuple((Const(name), value))),
    "keys": _view(lambda name, value: Const(name)),
    "values": _view(lambda name, value: value),
    "to_dict": _to_dict,
    "copy_and_resolve_references": _copied,
    "lock": _nothing,
    "unlock": _nothing,
    "unlocked": _itself,
}

TABLE: dict[str, Callable[[Call], Value]] = {
    "collections.namedtuple": _namedtuple,
    _NAMED: _typed_namedtuple,
    "types.SimpleNamespace": _namespace,
    "argparse.Namespace": _namespace,
    _CONFIG: _config,
    "ml_collections.FrozenConfigDict": _config,
    "ml_collections.config_dict.create": _created,
}

METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {
    (_CONFIG, name): method for name, method in _CONFIG_METHODS.items()
}

ALIASES: dict[str, str] = {
    f"ml_collections.{path}{name}": f"ml_collections.{name}"
    for path in ("config_dict.", "config_dict.config_dict.")
    for name in ("ConfigDict", "FrozenConfigDict")
}
