"""Defaults as values of the program, and functions called with them."""

from __future__ import annotations

from shardlint.inference.domain.classes import all_fields
from shardlint.inference.domain.values import (
    ClassValue,
    Const,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.registry import Transfer, merged
from shardlint.laws.core.values import Unknown
from shardlint.model.origins import Default, origins_of, remembering
from shardlint.model.spans import Place

#: The class whose objects may be asked for defaults, without the command line.
PARSER = "argparse.ArgumentParser"
#: The switch that tells that a program has defaults for what it is run with.
ASKED = "asks for defaults"
#: What the names of functions begin with that return variables of the environment.
_ENVIRONMENT = "os."
#: How deep configurations are nested, at most.
_DEEPEST = 4


def default_transfer(interpreter: Evaluator, name: str) -> Transfer | None:
    """Return the function that evaluates calls of a library's name with the program's defaults, if these are
    assumed; None for any other.
    """
    found: Transfer | None = merged("DEFAULTS").get(name)
    if found is None:
        return None
    if not name.startswith(_ENVIRONMENT):
        interpreter.switches.add(ASKED)
    return found if interpreter.settings.defaults or name == PARSER else None


def asks_environment(name: str, count: int) -> bool:
    """Return whether a call of a library's name with so many arguments asks for a variable of the environment
    for which the program has a default."""
    return count > 1 and name.startswith(_ENVIRONMENT) and name in merged("DEFAULTS")


def by_default(name: str, value: Value, place: Place) -> Value:
    """Return the default of an option (``--rows``) or variable, whose numbers and texts remember it."""
    if isinstance(value, Const) and isinstance(value.value, int | float | str):
        if origins_of(value.value):
            return value
        text = f"{name}={value.value}" if value.value != "" else f"{name}=''"
        return Const(remembering(value.value, (Default(text, place),)), value.origin)
    if isinstance(value, Tuple):
        return Tuple(
            tuple(_item(name, value, item, place) for item in value.items), value.origin, value.fields
        )
    if isinstance(value, ListValue) and value.items is not None and value.kind == "list":
        return ListValue([_item(name, value, item, place) for item in value.items], value.origin, value.path)
    return value


def _item(name: str, whole: Tuple | ListValue, item: Value, place: Place) -> Value:
    if isinstance(item, Tuple):
        # ``[("data", 8)]``: each part remembers all of it.
        return Tuple(tuple(_item(name, item, part, place) for part in item.items), item.origin, item.fields)
    if not isinstance(item, Const) or not isinstance(item.value, int | float | str):
        return item
    written = ",".join(str(one.value) if isinstance(one, Const) else "…" for one in whole.items or ())
    return Const(remembering(item.value, (Default(f"{name}={written}", place),)), item.origin)


def call_with_defaults(call: Call, function: Value, option: str = "--") -> Value:
    """Call a function, or make an object of a class, with its own defaults and nothing else."""
    i = call.interpreter
    if isinstance(function, Function):
        names = (*i.parameter_names(function), *function.defaults)
        given = {name: function.defaults.get(name) for name in dict.fromkeys(names)}
        kwargs = {name: _given(f"{option}{name}", value, call.place) for name, value in given.items()}
        return i.call(function, [], kwargs, call.place)
    if isinstance(function, ClassValue) and function.dataclass:
        required = {
            name: _given(name, None, call.place)
            for name, value in all_fields(function).items()
            if value is None
        }
        return marked(i.call(function, [], required, call.place), option, call.place)
    return Unknown("run with what is not known")


def _given(name: str, value: Value | None, place: Place) -> Value:
    return Unknown(f"`{name}` has no default") if value is None else by_default(name, value, place)


def marked(value: Value, prefix: str, place: Place, deepest: int = _DEEPEST) -> Value:
    """Let what a new configuration holds remember that it is a default; return the configuration."""
    if isinstance(value, Instance) and deepest:
        for name, held in value.attributes.items():
            if isinstance(held, Instance):
                marked(held, f"{prefix}{name}.", place, deepest - 1)
            elif not isinstance(held, LibraryObject):
                value.attributes[name] = by_default(f"{prefix}{name}", held, place)
    return value
