"""Functions that call themselves for the parts of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shardlint.inference.domain.values import DictValue, ListValue, Value
from shardlint.inference.machine.code import Code

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine


def goes_down(interpreter: Machine, code: Code, args: Sequence[Value]) -> bool:
    """Return whether a running function is called for a part of the dict or list it was given: these end."""
    frame = next(frame for frame in reversed(interpreter.frames) if frame.function is code)
    trees = [frame.scope.variables.get(name) for name in code.parameters[1]]
    dicts = [list(tree.items.values()) for tree in trees if isinstance(tree, DictValue) and tree.items]
    lists = [tree.items for tree in trees if isinstance(tree, ListValue) and tree.items]
    parts = {id(part) for items in (*dicts, *lists) for part in items}
    inner = [arg for arg in args if isinstance(arg, DictValue | ListValue)]
    return any(id(arg) in parts for arg in inner or args)
