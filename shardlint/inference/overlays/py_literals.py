"""Texts that hold values: `json.loads` and `ast.literal_eval` of a text that is known."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from typing import Any

from shardlint.inference.calls import Call
from shardlint.inference.iteration import constant
from shardlint.inference.values import Const, DictValue, ListValue, SetValue, Tuple, Value
from shardlint.laws.values import Unknown

#: Longest text that is read: Python's own parsers recurse, and so much cannot nest too deep for them.
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


def _value(found: Any, call: Call) -> Value:
    if isinstance(found, list):
        return ListValue([_value(one, call) for one in found], call.place, call.interpreter.path)
    if isinstance(found, tuple):
        return Tuple(tuple(_value(one, call) for one in found), call.place)
    if isinstance(found, dict):
        items = {key: _value(value, call) for key, value in found.items()}
        return DictValue(items, call.place, call.interpreter.path)
    if isinstance(found, set):
        return SetValue(frozenset(found), call.place)
    return constant(found)


TABLE: dict[str, Callable[[Call], Value]] = {
    "json.loads": _reading(json.loads, "s"),
    "ast.literal_eval": _reading(ast.literal_eval, "node_or_string"),
}
