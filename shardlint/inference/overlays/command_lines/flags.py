"""`absl.flags`: the flags that a program defines, with their defaults."""

from __future__ import annotations

import json
from collections.abc import Callable

from shardlint.inference.domain.iteration import constant
from shardlint.inference.domain.values import Const, LibraryObject, ListValue, Value, as_items, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.command_lines.defaults import by_default
from shardlint.inference.overlays.command_lines.open_configurations import open_configuration
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

FLAGS, _HOLDER = "absl.flags.FLAGS", "absl.flags.FlagHolder"
#: The prefix of the switches that hold flags: a name and a default, as JSON.
_SWITCH = "flag "
#: The prefix of those that tell which flags are configurations.
_CONFIG = "configuration "
_KINDS = (
    "string", "integer", "float", "bool", "boolean", "enum", "list", "spaceseplist", "multi_integer",
    "multi_string", "multi_float",
)  # fmt: skip


def _define(call: Call) -> Value:
    """``DEFINE_integer(name, default, ...)``: a flag, which the program finds in FLAGS from then on."""
    name, default = as_str(call.argument(0, "name")), call.argument(1, "default")
    plain = _plain(default)
    if name is None or plain is None:
        return Unknown("a flag that is not known")
    (value,) = plain
    if isinstance(value, str) and call.name.endswith("list"):
        value = [part.strip() for part in (value.split(",") if "," in value else value.split())]
    elif "multi" in call.name and not isinstance(value, list | None):
        value = [value]
    call.interpreter.switches.add(_SWITCH + json.dumps([name, value]))
    return LibraryObject(_HOLDER, {"value": _value(name, value, call.place)}, call.place)


def _define_config(call: Call) -> Value:
    """``config_flags.DEFINE_config_file(name, default)``: a configuration that is not known. What the program
    takes where it has no such key is the default."""
    name = as_str(call.argument(0, "name"))
    if name is None:
        return Unknown("a flag that is not known")
    call.interpreter.switches.add(f"{_CONFIG}{name}")
    value = open_configuration(call.interpreter, f"--{name}.", call.place)
    return LibraryObject(_HOLDER, {"value": value}, call.place)


def _plain(value: Value | None) -> list[object] | None:
    """Return a constant or list of constants, wrapped in a list; None for what is not known."""
    items = None if value is None else as_items(value)
    if items is not None:
        known = [item.value for item in items if isinstance(item, Const)]
        return [known] if len(known) == len(items) and all(map(_is_plain, known)) else None
    return [value.value] if isinstance(value, Const) and _is_plain(value.value) else None


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _value(name: str, value: object, place: Place) -> Value:
    made = (
        ListValue([constant(item) for item in value], place) if isinstance(value, list) else constant(value)
    )
    return by_default(f"--{name}", made, place)


def flag(interpreter: Evaluator, name: str, place: Place) -> Value:
    """Return ``FLAGS.name`` by default."""
    for switch in sorted(interpreter.switches):
        if switch.startswith(_SWITCH):
            defined, value = json.loads(switch.removeprefix(_SWITCH))
            if defined == name:
                return _value(name, value, place)
    if f"{_CONFIG}{name}" in interpreter.switches:
        return open_configuration(interpreter, f"--{name}.", place)
    return Unknown(f"`FLAGS.{name}`")


def _run(call: Call) -> Value:
    """``app.run(main)`` calls it with the program's name and its other arguments, whatever the flags
    are."""
    main = call.argument(0, "main")
    if main is None:
        return Unknown("absl.app.run")
    return call.interpreter.call(main, [ListValue(None)], {}, call.place)


TABLE: dict[str, Callable[[Call], Value]] = {"absl.app.run": _run}

DEFAULTS: dict[str, Callable[[Call], Value]] = {
    **{f"absl.flags.DEFINE_{kind}": _define for kind in _KINDS},
    **{f"ml_collections.{path}DEFINE_config_file": _define_config for path in ("config_flags.", "")},
    "ml_collections.config_flags.config_flags.DEFINE_config_file": _define_config,
}
