"""Literal data in known texts: JSON, YAML, TOML and Python's literals."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

from shardlint.inference.domain.iteration import constant
from shardlint.inference.domain.values import Const, DictValue, External, ListValue, SetValue, Tuple, Value
from shardlint.inference.evaluation.call import Call
from shardlint.laws.core.values import Unknown

#: Longest text that is parsed: Python's own parsers recurse, and a text this short cannot nest too deep.
_MAX_LENGTH = 2_000


def _reading(read: Callable[[Any], Any], parameter: str) -> Callable[[Call], Value]:
    def apply(call: Call) -> Value:
        (given,) = call.bind(parameter)
        text = given.value if isinstance(given, Const) else None
        if not isinstance(text, str) or len(text) > _MAX_LENGTH:
            return Unknown("a text that is not known, or too much")
        try:
            return _value(read(text), call)
        except (ValueError, SyntaxError, SystemError, TypeError, MemoryError, RecursionError):
            return Unknown("raises in Python")

    return apply


#: YAML anchors and aliases; a repeated part can multiply without bound.
_ANCHOR = re.compile(r"(?:^|[\s\[{,:-])[&*]\w", re.MULTILINE)


def _yaml(text: str) -> Any:
    """Return what PyYAML's safe loaders read, if JSON could express it, too."""
    import yaml

    if _ANCHOR.search(text):
        raise ValueError("its parts are used again")
    try:
        return yaml.load(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise ValueError("no YAML") from error


def _yaml_with_loader(call: Call) -> Value:
    """`yaml.load(text, Loader)`: the loaders create different objects for tags."""
    stream, loader = call.bind("stream", "Loader")
    if not isinstance(loader, External) or not loader.name.endswith(_LOADERS):
        return Unknown("a loader that is not known")
    inner = Call(call.interpreter, call.name, [] if stream is None else [stream], {}, call.place)
    return _reading(_yaml, "stream")(inner)


_LOADERS = ("SafeLoader", "FullLoader", "UnsafeLoader", "yaml.Loader")


def _value(found: Any, call: Call) -> Value:
    if isinstance(found, list):
        return ListValue([_value(one, call) for one in found], call.place, call.interpreter.path)
    if isinstance(found, tuple):
        return Tuple(tuple(_value(one, call) for one in found), call.place)
    if isinstance(found, dict):
        items = {key: _value(value, call) for key, value in found.items()}
        return DictValue(items, call.place, call.interpreter.path)
    if isinstance(found, set):
        return SetValue(frozenset(found), call.place, path=call.interpreter.path)
    # YAML and TOML have dates.
    return constant(found) if isinstance(found, _PLAIN) else Unknown("no plain value")


_PLAIN = (str, bytes, bool, int, float, complex, type(None), type(...))

TABLE: dict[str, Callable[[Call], Value]] = {
    "json.loads": _reading(json.loads, "s"),
    "ast.literal_eval": _reading(ast.literal_eval, "node_or_string"),
    "tomllib.loads": _reading(tomllib.loads, "s"),
    "yaml.load": _yaml_with_loader,
    **{f"yaml.{name}": _reading(_yaml, "stream") for name in ("safe_load", "full_load", "unsafe_load")},
}
