"""Calls that end the program, or the test that they are in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.values import External

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: Functions that raise instead of returning, by last name; the method is `unittest.TestCase`'s.
_ENDINGS = {
    "skipTest": (),
    "exit": ("sys.exit", "builtins.exit", "pytest.exit"),
    "quit": ("builtins.quit",),
    "_exit": ("os._exit",),
    "skip": ("pytest.skip",),
    "fail": ("pytest.fail",),
    "xfail": ("pytest.xfail",),
}


def never_returns(interpreter: Machine, node: cst.BaseExpression) -> bool:
    """Return whether a call, as a statement, ends the program or the test that it is in."""
    if type(node) is not cst.Call:
        return False
    function = node.func
    name = function.attr if type(function) is cst.Attribute else function
    if type(name) is not cst.Name or name.value not in _ENDINGS:
        return False
    if name.value == "skipTest":
        return type(function) is cst.Attribute
    found = interpreter.evaluate(function)
    return isinstance(found, External) and found.name in _ENDINGS[name.value]
