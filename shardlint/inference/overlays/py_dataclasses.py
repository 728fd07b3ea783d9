"""Dataclasses: fields, defaults, and copies with changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from shardlint.inference.calls import Call
from shardlint.inference.classes import class_attribute
from shardlint.inference.values import DictValue, Instance, LibraryObject, Value, as_bool
from shardlint.laws.values import Unknown
from shardlint.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.evaluator import Evaluator


def _dataclass(call: Call) -> Value:
    """``@dataclass(...)`` with arguments; without, the class definition sees the name itself."""
    return LibraryObject("dataclass", {})


def _field(call: Call) -> Value:
    return LibraryObject("dataclasses.field", dict(call.kwargs))


def positional_fields(fields: dict[str, Value | None]) -> list[str]:
    """The fields that the constructor takes by position."""
    return [name for name, default in fields.items() if not _is_excluded(default)]


def _is_excluded(default: Value | None) -> bool:
    if not isinstance(default, LibraryObject) or default.kind != "dataclasses.field":
        return False
    init, keyword_only = default.fields.get("init"), default.fields.get("kw_only")
    return (init is not None and as_bool(init) is not True) or (
        keyword_only is not None and as_bool(keyword_only) is not False
    )


def field_default(interpreter: Evaluator, default: Value, place: Place) -> Value:
    """The value a field has when it is not given."""
    if isinstance(default, LibraryObject) and default.kind == "dataclasses.field":
        if "default" in default.fields:
            return default.fields["default"]
        if "default_factory" in default.fields:
            return interpreter.call(default.fields["default_factory"], [], {}, place)
        return Unknown("a field without a default")
    return default


def _replace(call: Call) -> Value:
    """`dataclasses.replace(obj, **changes)`."""
    receiver = call.args[0] if call.args else None
    if not isinstance(receiver, Instance) or call.opaque or receiver.forgotten:
        return Unknown("dataclasses.replace")
    if class_attribute(receiver.cls, "__post_init__") is not None:
        return Unknown("what `__post_init__` makes of a copy")
    attributes = {**receiver.attributes, **call.kwargs}
    return Instance(receiver.cls, attributes, receiver.opaque, call.place, call.interpreter.path)


def _asdict(call: Call) -> Value:
    receiver = call.args[0] if call.args else None
    if not isinstance(receiver, Instance) or receiver.opaque:
        return DictValue(None)
    return DictValue(dict(receiver.attributes.items()), call.place, call.interpreter.path)


TABLE: dict[str, Callable[[Call], Value]] = {
    "dataclasses.dataclass": _dataclass,
    "flax.struct.dataclass": _dataclass,
    "chex.dataclass": _dataclass,
    "dataclasses.field": _field,
    "flax.struct.field": _field,
    "dataclasses.replace": _replace,
    "dataclasses.asdict": _asdict,
}
