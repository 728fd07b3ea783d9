"""Code that is not seen: effects of executed text, and of methods that may run at any time."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shardlint.inference.domain.classes import may_change
from shardlint.inference.domain.havoc import blur, forget, lose_code
from shardlint.inference.domain.lattice import options
from shardlint.inference.domain.values import (
    Bound,
    ClassValue,
    External,
    Function,
    ModuleValue,
    Partial,
    Value,
)
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.evaluation.monkeypatches import set_library_name
from shardlint.inference.interpreter.call_dispatch import unfollowed
from shardlint.inference.machine.code_reads import look_at
from shardlint.inference.semantics.special_methods import ReachedChanges, special_methods
from shardlint.inference.semantics.variables import write
from shardlint.inference.store.effect_log import changed_for_all, changing
from shardlint.inference.syntax.names_in_text import names_in
from shardlint.laws.core.values import Unknown
from shardlint.source.lexing import words_in

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: Words by which an executed text may reach variables that it does not name.
_REACHING = frozenset(
    "__builtins__ __dict__ __import__ builtins compile delattr eval exec globals import importlib locals "
    "setattr sys vars".split()
)


class Unseen:
    """The effects of code that the analysis does not follow."""

    def __init__(self, interpreter: Machine) -> None:
        self._interpreter = interpreter

    def call(
        self, function: Function, args: Sequence[Value], kwargs: dict[str, Value], reason: str
    ) -> Unknown:
        """Call a function of the program without following it: everything that it names may change."""
        return unfollowed(self._interpreter, function, args, kwargs, reason)

    def run(self, text: str | None) -> None:
        """Execute a text that is not followed, as by ``exec``: the variables that it names become unknown.

        An unknown text may name all variables, except that modules and names imported from libraries are
        assumed to stay.
        """
        scope = self._interpreter.scope
        seen, words = scope.seen(), frozenset(words_in(text or ""))
        names = words & seen.keys()
        if text is None or words & _REACHING:
            names |= {name for name, value in seen.items() if not isinstance(value, ModuleValue | External)}
        # In a class body, names are bound in that class.
        holders = (scope.root, scope) if scope.is_class else (scope.root,)
        for name in sorted(names):
            for option in options(seen[name]):
                self._lose_sight(option)
            for holder in holders:
                if name in holder.variables:
                    self._set(holder, name)
        for name in sorted(_bound_by(text) - names):
            if hasattr(builtins, name):
                self._set(scope.root, name)

    @staticmethod
    def _may_change(holder: Scope, name: str) -> None:
        if name not in holder.volatile:
            changing(holder)
            holder.volatile.add(name)

    def _set(self, holder: Scope, name: str) -> None:
        write(self._interpreter, holder, name, Unknown(f"`{name}` is set by code that is not followed"))

    def note_changed(self, cls: ClassValue) -> None:
        """Record that a class gets another method, which unseen code may call too if it has the class."""
        self._interpreter.code.note_changed(cls)

    def hand(self, value: Value) -> None:
        """Pass a value to unseen code: a callable may run now and at any time from now on."""
        while isinstance(value, Bound | Partial):
            values = [value.receiver] if isinstance(value, Bound) else [*value.args]
            values += [one for _, one in value.kwargs] if isinstance(value, Partial) else []
            for one in values:
                forget(one)
            value = value.function
        if isinstance(value, Function):
            declared, _ = names_in(look_at(self._interpreter, value.code, names_only=True))
            self.call(value, [], {}, "called unseen")
            for name, holder in value.scope.of_functions.find_all(declared):
                self._may_change(holder, name)

    def note_special_methods(self, cls: ClassValue, held: dict[str, Value]) -> None:
        """Havoc what an object's special methods may change where Python calls them implicitly.

        They may run at any time from now on. ``held`` are the known attributes of the object.
        """
        methods = special_methods(cls)
        if not methods:
            return
        lose_code(*methods, *held.values())
        reached = ReachedChanges(self._interpreter, cls, held, methods)
        for name, holder in list(reached.variables()):
            self._may_change(holder, name)
            for option in options(holder.variables[name]) if name in holder.variables else ():
                self._lose_sight(option)
        for value in reached.defaults:
            forget(value)
        for owner, names in reached.attributes().items():
            if not names <= owner.volatile:
                changed_for_all(owner)
                owner.volatile |= names
        for name, value in held.items():
            if may_change(cls, name):
                forget(value)

    def _lose_sight(self, value: Value) -> None:
        """Treat a value as used in any way: its contents, and what calling it changes, become unknown."""
        if isinstance(value, ClassValue):
            blur(value)
        elif isinstance(value, External):
            set_library_name(self._interpreter, f"{value.name}.*")
        elif isinstance(value, Function):
            unfollowed(self._interpreter, value, [], {}, "called unseen")
        else:
            forget(value)


def _bound_by(text: str | None) -> set[str]:
    """Return the names that a text binds."""
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
