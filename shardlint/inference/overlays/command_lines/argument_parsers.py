"""`argparse`: parsers with the arguments that the program adds, and what they return with none given.

What ``parse_args([])`` returns is certain: it does not look at the command line.
"""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import (
    NONE,
    ClassValue,
    Const,
    External,
    Instance,
    LibraryObject,
    ListValue,
    Tuple,
    Value,
    as_bool,
    as_items,
    as_str,
    integer,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.mutation import set_attribute
from shardlint.inference.overlays.command_lines.defaults import PARSER, by_default, call_with_defaults
from shardlint.inference.overlays.python.stdlib.records import NAMESPACE
from shardlint.laws.core.dims import fresh
from shardlint.laws.core.values import Unknown
from shardlint.model.origins import plain

_PARSER = PARSER
_PARSERS = ClassValue("ArgumentParser", (External(_PARSER),), {})
#: The attribute of a parser that is set once it has unknown arguments, and the prefix of the known ones.
_OPEN, _PREFIX = "has others", "argument "
#: Actions by what they store if the option is not given.
_STORED: dict[str, Value] = {"store_true": Const(False), "store_false": Const(True), "count": NONE}
_NO_VALUE = ("help", "version")


#: Keywords of parsers and groups that change no default.
_TEXTS = (
    "prog usage description epilog formatter_class prefix_chars fromfile_prefix_chars add_help allow_abbrev "
    "exit_on_error conflict_handler suggest_on_error color title required"
).split()


def _parser(call: Call) -> Value:
    call.ignore(*_TEXTS)
    others = {_OPEN: Const(True)} if call.opaque or "parents" in call.kwargs else {}
    return Instance(_PARSERS, dict(others), False, call.place, call.interpreter.path)


def _add_argument(call: Call) -> Value:
    parser, *given = call.args
    names = [as_str(name) for name in given]
    known = [name for name in names if name is not None]
    destination = as_str(call.kwargs.get("dest"))
    if isinstance(parser, Instance):
        if call.opaque or len(known) < len(names) or not known:
            set_attribute(call.interpreter, parser, _OPEN, Const(True))
        elif as_str(call.kwargs.get("action")) not in _NO_VALUE:
            option = next((name for name in known if name.startswith("--")), known[0])
            target = destination or option.lstrip("-").replace("-", "_")
            fields = {**call.kwargs, "option": Const(option)}
            argument = LibraryObject("argparse.argument", fields, call.place)
            set_attribute(call.interpreter, parser, _PREFIX + target, argument)
    return Unknown("an argument")


def _add_dataclass(call: Call) -> Value:
    """``add_arguments(cls, dest=...)`` of `simple_parsing`: an option for each field of a dataclass."""
    parser, target, dest, _, default = call.bind("self", "dataclass", "dest", prefix=Const(""), default=None)
    name = as_str(dest)
    if isinstance(parser, Instance):
        if name is None or target is None:
            set_attribute(call.interpreter, parser, _OPEN, Const(True))
        else:
            made = Unknown("options") if default is not None else call_with_defaults(call, target)
            set_attribute(call.interpreter, parser, _PREFIX + name, made)
    return NONE


def _set_defaults(call: Call) -> Value:
    parser = call.args[0]
    if isinstance(parser, Instance):
        for name, value in call.kwargs.items():
            fields = {"option": Const(f"--{name}"), "default": value}
            argument = LibraryObject("argparse.argument", fields, call.place)
            set_attribute(call.interpreter, parser, _PREFIX + name, argument)
    return NONE


def _group(call: Call) -> Value:
    """Return the parser itself: what is added to a group is added to it."""
    call.ignore(*_TEXTS)
    return call.args[0]


def _commands(call: Call) -> Value:
    if isinstance(call.args[0], Instance):
        set_attribute(call.interpreter, call.args[0], _OPEN, Const(True))
    return Unknown("commands, of which any may be given")


def _stored(call: Call, argument: LibraryObject, certain: bool) -> Value:
    """Return what a parser stores for an argument that is not given, perhaps for certain."""
    fields = argument.fields
    option, action = as_str(fields["option"]) or "", as_str(fields.get("action", Const("store")))
    default = fields.get("default", _STORED.get(action or "", NONE))
    optional = option.startswith("-") or as_str(fields.get("nargs")) in ("?", "*")
    if not optional or as_bool(fields.get("required", Const(False))) is not False:
        return Unknown(f"`{option}`, which has to be given")
    if not option.startswith("-") and as_str(fields.get("nargs")) == "*" and is_none(default):
        return ListValue([], path=call.interpreter.path)
    convert = fields.get("type")
    if as_str(default) is not None and convert is not None and not is_none(convert):
        default = call.interpreter.call(convert, [default], {}, argument.origin or call.place)
    return default if certain else by_default(option, default, argument.origin or call.place)


def _given(held: LibraryObject) -> Value:
    """Return what a parser stores for an argument that may be given: some integer, if it is of ``type=int``
    and has to be given, or has an integer as its default."""
    fields = held.fields
    option, kind, default = as_str(fields["option"]) or "", fields.get("type"), fields.get("default")
    single = fields.keys().isdisjoint({"action", "nargs", "choices"})
    whole = isinstance(kind, External) and kind.name == "builtins.int"
    is_set = isinstance(default, Const) and type(plain(default.value)) is int
    needed = not option.startswith("-") or as_bool(fields.get("required", Const(False))) is True
    if single and whole and (is_set or needed):
        return integer(fresh(None))
    return Unknown(f"what is given for `{option}`")


def _parse(call: Call) -> Value:
    """``parser.parse_args()`` with nothing on the command line, or, without the program's defaults, with
    something that is not known."""
    parser = call.args[0]
    given = call.argument(1, "args")
    items = None if given is None or is_none(given) else as_items(given)
    certain = items is not None and not items
    if not isinstance(parser, Instance) or items or call.argument(2, "namespace") is not None:
        return Unknown("arguments that are given")
    if given is not None and not is_none(given) and items is None:
        return Unknown("arguments that are not known")
    known = certain or call.interpreter.settings.defaults
    attributes: dict[str, Value] = {}
    for name, held in parser.attributes.items():
        if name.startswith(_PREFIX) and isinstance(held, LibraryObject):
            stored = _stored(call, held, certain) if known else _given(held)
            attributes[name.removeprefix(_PREFIX)] = stored
        elif name.startswith(_PREFIX):
            attributes[name.removeprefix(_PREFIX)] = held if known else Unknown("what is given")
    open_ = parser.forgotten or parser.opaque or _OPEN in parser.attributes
    return Instance(NAMESPACE, attributes, open_, call.place, call.interpreter.path)


def _parse_known(call: Call) -> Value:
    return Tuple((_parse(call), ListValue(None)), call.place)


DEFAULTS: dict[str, Callable[[Call], Value]] = {_PARSER: _parser}

ALIASES: dict[str, str] = {"simple_parsing.ArgumentParser": _PARSER}
METHODS: dict[tuple[str, str], Callable[[Call], Value]] = {
    (_PARSER, "add_argument"): _add_argument,
    (_PARSER, "add_arguments"): _add_dataclass,
    (_PARSER, "set_defaults"): _set_defaults,
    (_PARSER, "add_argument_group"): _group,
    (_PARSER, "add_mutually_exclusive_group"): _group,
    (_PARSER, "add_subparsers"): _commands,
    (_PARSER, "parse_args"): _parse,
    (_PARSER, "parse_known_args"): _parse_known,
}
