"""Code that is not seen: what a text does that is executed, or a method that runs at any time."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from shardlint.files.lexing import words_in
from shardlint.inference.calling import names_in, unfollowed
from shardlint.inference.effects import changing
from shardlint.inference.forgetting import blur, forget
from shardlint.inference.functions import look_at
from shardlint.inference.joins import options
from shardlint.inference.values import ClassValue, External, Function, Instance, ModuleValue, Value
from shardlint.inference.variables import write
from shardlint.laws.values import Unknown

if TYPE_CHECKING:
    from shardlint.inference.interpreter import Interpreter

#: Words of a text that runs by which it may reach what it does not name.
_REACHING = frozenset(
    "__builtins__ __dict__ __import__ builtins compile delattr eval exec globals import importlib locals "
    "setattr sys vars".split()
)


def run_unseen(interpreter: Interpreter, text: str | None) -> None:
    """A text runs here that is not followed, as by ``exec``: nothing is known of what it names.

    Of one that is not known, it may name all variables; those that hold modules, and what is imported of
    libraries, are taken to stay.
    """
    scope = interpreter.scope
    seen = scope.seen()
    words = frozenset() if text is None else frozenset(words_in(text))
    if text is None or words & _REACHING:
        names = {
            name for name, value in seen.items() if not isinstance(value, ModuleValue | External)
        } | words
    else:
        names = set(words)
    root = scope.root
    for name in names & seen.keys():
        for option in options(seen[name]):
            lose_sight(interpreter, option)
        for holder in {root, scope} if scope.is_class else {root}:
            if name in holder.variables:
                write(interpreter, holder, name, Unknown(f"`{name}` is set by code that is not followed"))
    for name in _bound_by(text) - (names & seen.keys()):
        if hasattr(builtins, name):
            write(interpreter, root, name, Unknown(f"`{name}` is set by code that is not followed"))


def _bound_by(text: str | None) -> set[str]:
    """The names that a text binds."""
    try:
        tree = ast.parse(text or "")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
    return found


def finalized_unseen(interpreter: Interpreter, function: Function, instance: Instance) -> None:
    """An object's ``__del__`` may run at any time from now on: what it names may change at any time."""
    declared, names = names_in(look_at(interpreter, function.code, names_only=True))
    for name, holder in function.scope.find_all(names | declared):
        if name in declared:
            changing(holder)
            holder.volatile.add(name)
        for option in options(holder.variables[name]):
            lose_sight(interpreter, option)
    for name in names & instance.contents.keys():
        forget(instance.contents[name])
    interpreter.unfollowed(function, [], {}, "called at any time")


def lose_sight(interpreter: Interpreter, value: Value) -> None:
    """Anything may be done with a value: what it holds, and what calling it changes, is not known."""
    if isinstance(value, ClassValue):
        blur(value)
    elif isinstance(value, Function):
        unfollowed(interpreter, value, [], {}, "called unseen")
    else:
        forget(value)
