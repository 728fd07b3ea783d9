"""Values of literals: numbers, strings and bytes."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.values import Const, Value
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Written

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine


def integer_literal(interpreter: Machine, node: cst.Integer) -> Value:
    """Return the number; unknown if it has a thousand digits or more."""
    digits = node.value
    # `int()` refuses more than 4,300 digits, and no size has as many.
    return Const(int(digits, 0), interpreter.place(node)) if len(digits) < 1_000 else Unknown("a huge number")


def float_literal(interpreter: Machine, node: cst.Float) -> Value:
    """Return the number."""
    return Const(float(node.value), interpreter.place(node))


#: The value of a string or an imaginary number, cached, since the same few recur. Raises ValueError,
#: SyntaxError.
_literal_value = lru_cache(maxsize=4_096)(ast.literal_eval)


def text_literal(interpreter: Machine, node: cst.SimpleString | cst.Imaginary) -> Value:
    """Return the string, the bytes or the number; an editor also gets the place of a string."""
    try:
        value, place = _literal_value(node.value), interpreter.place(node)
    except (ValueError, SyntaxError):
        return Unknown("a literal Python refuses")
    written = interpreter.settings.editing and isinstance(value, str)
    return Const(Written(value, place) if written else value, place)
