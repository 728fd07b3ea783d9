"""Reads of older variables and objects, recorded as dependencies of the running call (`call_cache`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shardlint.inference.domain.kinds import CHANGING
from shardlint.inference.domain.values import LibraryObject, Value
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.store.effect_log import born
from shardlint.laws.core.values import Unknown

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: Immutable wrappers of methods.
_DESCRIPTORS = frozenset({"builtins.property", "builtins.staticmethod", "builtins.classmethod"})
#: A variable, by the scope of the look-up and its name; or an object that a class held.
Reads = dict[tuple[Any, str], None]


def note_variable(interpreter: Machine, scope: Scope, name: str, holder: Scope | None) -> None:
    """Record the look-up of a variable from a scope, found in another one or nowhere."""
    reads, start = interpreter.reads, interpreter.start
    if reads is None or (holder is not None and holder.born > start):
        return
    outer = outside(scope, name, start)
    if outer is not None:
        reads[outer, name] = None


def outside(scope: Scope, name: str, start: int) -> Scope | None:
    """Return the enclosing scope from which a run that began at ``start`` looks a name up outside itself.

    Functions do not see the variables of enclosing classes.
    """
    outer: Scope | None = scope
    while outer is not None and (outer.born > start or outer.is_class):
        if name in outer.declared_global:
            return outer.root
        outer = outer.parent
    return outer


def note_attribute(interpreter: Machine, value: Value | None) -> Value | None:
    """Record the read of a class attribute, if its value is mutable."""
    reads = interpreter.reads
    if reads is None or not isinstance(value, CHANGING) or value.born >= interpreter.start:
        return value
    if not isinstance(value, LibraryObject) or value.kind not in _DESCRIPTORS:
        reads.setdefault((value, ""))
    return value


#: The scope of the environment's variables, which are not known: each asked for is read here, and absent.
ENVIRONMENT = Scope(None)
_VOLATILE = Unknown("may change")


def holder_of(scope: Scope, name: str) -> Scope | None:
    """Return the scope that holds a name, for code in a scope inside this one."""
    outer: Scope | None = scope
    while outer is not None:
        if outer.declared_global and name in outer.declared_global:
            return outer.root if name in outer.root.variables else None
        if name in outer.variables and not outer.is_class:
            return outer
        outer = outer.parent
    return None


def read_of(scope: Scope, name: str) -> Value | None:
    """Return the value of a name, for code in a scope inside this one."""
    holder = holder_of(scope, name)
    if holder is None:
        return None
    return _VOLATILE if holder.may_change(name) else holder.variables[name]


def note_read(interpreter: Machine, anchor: Any, name: str) -> None:
    """Record an inner run's read for the run around it."""
    if not isinstance(anchor, Scope):
        note_attribute(interpreter, anchor)
    elif interpreter.reads is not None and anchor.born <= interpreter.start and not anchor.is_class:
        # The variable is older than that run, as are all scopes around it.
        interpreter.reads[anchor, name] = None
    else:
        note_variable(interpreter, anchor, name, holder_of(anchor, name))


@contextmanager
def noting_reads(interpreter: Machine) -> Iterator[Reads]:
    """Collect the older variables that are read meanwhile, and pass them on to what runs around it."""
    around, interpreter.reads, interpreter.start = (interpreter.reads, interpreter.start), {}, born()
    reads = interpreter.reads
    try:
        yield reads
    finally:
        interpreter.reads, interpreter.start = around
        if interpreter.reads is not None:
            for anchor, name in reads:
                note_read(interpreter, anchor, name)
