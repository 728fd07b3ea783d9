"""Libraries that make a command line of a function or a dataclass: click, typer, fire, tyro, draccus, …"""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import (
    NONE,
    ClassValue,
    Const,
    Function,
    LibraryObject,
    Native,
    Tuple,
    Value,
    as_bool,
    as_items,
    as_str,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.command_lines.defaults import by_default, call_with_defaults
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.values import Unknown

_TYPER = "typer.Typer"
_PARSER = "transformers.HfArgumentParser"

# -- click ------------------------------------------------------------------------------------------


def _decorator(change: Callable[[Call, Value], Value]) -> Native:
    def decorate(call: Call) -> Value:
        return change(call, call.args[0]) if len(call.args) == 1 else Unknown("a decorator")

    return Native("a decorator of a command", decorate)


def _command(function: Value, options: dict[str, Value], call: Call) -> Native:
    """Return a function that is called with the defaults of its options."""

    def run(inner: Call) -> Value:
        names = set(inner.interpreter.parameter_names(function)) | set(options)
        given = {name: value for name, value in inner.kwargs.items() if name in names}
        missing = {name: Unknown(f"`{name}` has to be given") for name in names if name not in options}
        kwargs = {**missing, **options, **given}
        for name in inner.interpreter.parameter_names(function)[: len(inner.args)]:
            kwargs.pop(name, None)
        return inner.interpreter.call(function, inner.args, kwargs, inner.place, inner.opaque)

    return Native("a command", run, function, call.place, dict(options))


def _click_command(call: Call) -> Value:
    if len(call.args) == 1 and isinstance(call.args[0], Function | Native):
        return _with_options(call, call.args[0], {})
    return _decorator(lambda inner, function: _with_options(inner, function, {}))


def _with_options(call: Call, function: Value, options: dict[str, Value]) -> Value:
    if isinstance(function, Native) and function.wraps is not None and function.description == "a command":
        return _command(function.wraps, {**options, **function.attributes}, call)
    return _command(function, options, call) if isinstance(function, Function) else Unknown("a command")


def _click_option(call: Call) -> Value:
    names = [as_str(name) for name in call.args]
    known = [name for name in names if name is not None]
    if call.opaque or not known or len(known) < len(names):
        return Unknown("an option that is not known")
    option = max(known, key=lambda name: (name.startswith("--"), len(name))).partition("/")[0]
    plain = [name for name in known if not name.startswith("-")]
    name = (plain[0] if plain else option.lstrip("-")).replace("-", "_").lower()
    default = call.kwargs.get("default", Const(False) if as_bool(call.kwargs.get("is_flag")) else NONE)
    required = as_bool(call.kwargs.get("required", Const(False))) is not False or call.name.endswith(
        "argument"
    )
    if required and "default" not in call.kwargs:
        return _decorator(lambda inner, function: _with_options(inner, function, {}))
    convert = call.kwargs.get("type")
    if convert is not None and as_str(default) is not None:
        default = call.interpreter.call(convert, [default], {}, call.place)
    value = by_default(option, default, call.place)
    return _decorator(lambda inner, function: _with_options(inner, function, {name: value}))


# -- functions and dataclasses ----------------------------------------------------------------------


def _run(call: Call) -> Value:
    """Call the function, or make the dataclass, that is the first argument."""
    target = call.args[0] if call.args else next(iter(call.kwargs.values()), NONE)
    return call_with_defaults(call, target)


def _typer_option(call: Call) -> Value:
    default = call.argument(0, "default")
    return Unknown("an option without a default") if default is None or default == Const(...) else default


def _typer(call: Call) -> Value:
    return LibraryObject(_TYPER, {}, call.place, call.interpreter.path)


def _typer_command(call: Call) -> Value:
    app = call.args[0]

    def add(inner: Call, function: Value) -> Value:
        if isinstance(app, LibraryObject):
            changing(app)
            app.fields[f"command {len(app.fields)}"] = function
        return function

    return _decorator(add)


def _run_typer(call: Call) -> Value:
    app = call.args[0]
    commands = list(app.fields.values()) if isinstance(app, LibraryObject) else []
    # Of several commands one has to be named.
    return call_with_defaults(call, commands[0]) if len(commands) == 1 else Unknown("commands")


def _wrap(call: Call) -> Value:
    """``@draccus.wrap()``: the first parameter is a configuration of the annotated class."""

    def run(inner: Call) -> Value:
        function = inner.args[0]
        config = inner.interpreter.first_annotation(function)
        if not isinstance(config, ClassValue) or not isinstance(function, Function):
            return Unknown("a configuration that is not known")

        def main(outer: Call) -> Value:
            args = outer.args or [call_with_defaults(outer, config)]
            return outer.interpreter.call(function, args, outer.kwargs, outer.place)

        return Native("a command", main, function, inner.place)

    return Native("a decorator", run)


def _configured(call: Call) -> Value:
    """``chz.nested_entrypoint(main)``: calls it with a configuration of the annotated class."""
    function = call.args[0] if call.args else NONE
    config = call.interpreter.first_annotation(function)
    made = call_with_defaults(call, config) if config is not None else Unknown("a configuration")
    return call.interpreter.call(function, [made], {}, call.place)


def _transformers_parser(call: Call) -> Value:
    return LibraryObject(_PARSER, {"classes": call.args[0] if call.args else NONE}, call.place)


def _parse_into(call: Call) -> Value:
    parser = call.args[0]
    held = parser.fields["classes"] if isinstance(parser, LibraryObject) else NONE
    items = as_items(held)
    classes = (held,) if items is None else items
    return Tuple(tuple(call_with_defaults(call, cls) for cls in classes), call.place)


DEFAULTS: dict[str, Callable[[Call], Value]] = {
    "click.command": _click_command,
    "click.option": _click_option,
    "click.argument": _click_option,
    "typer.run": _run,
    "typer.Option": _typer_option,
    "typer.Argument": _typer_option,
    _TYPER: _typer,
    "fire.Fire": _run,
    "tyro.cli": _run,
    "jsonargparse.CLI": _run,
    "jsonargparse.auto_cli": _run,
    "draccus.parse": _run,
    "pyrallis.parse": _run,
    "simple_parsing.parse": _run,
    "chz.entrypoint": _run,
    "chz.nested_entrypoint": _configured,
    "draccus.wrap": _wrap,
    "pyrallis.wrap": _wrap,
    _PARSER: _transformers_parser,
}

METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {
    (_TYPER, "command"): _typer_command,
    (_PARSER, "parse_args_into_dataclasses"): _parse_into,
}

CALLS: dict[str, Callable[[Call], Value]] = {_TYPER: _run_typer}
