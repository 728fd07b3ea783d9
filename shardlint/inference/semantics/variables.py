"""Setting variables: on undecided paths, from inner functions, and where an exception may interrupt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shardlint.inference.domain.havoc import CODE, HOLDING, forget
from shardlint.inference.domain.lattice import join
from shardlint.inference.domain.values import Tuple, Value
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.store.effect_log import born, changing, now
from shardlint.laws.core.values import Unknown

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: The values that a stretch of a program assigns to the variables of one scope.
Written = dict[str, list[Value]]


def write(interpreter: Machine, scope: Scope, name: str, value: Value) -> None:
    """Set a variable; an outer one may keep its value if the write is not certain."""
    if scope is not interpreter.scope:
        changing(scope)
        value = _from_inside(interpreter, scope, name, value)
        if any(frame.generator for frame in interpreter.frames):
            # A generator's body runs later, whenever its items are taken.
            scope.volatile.add(name)
        for frame in interpreter.frames:
            if name in frame.scope.narrowed and frame.scope is not scope:
                frame.scope.variables.pop(name, None)
    if name in scope.volatile or name in scope.exposed:
        forget(value)
    if scope.awaited and (type(value) in CODE or type(value) in HOLDING):
        for names, function in list(scope.awaited.values()):
            if name in names:
                interpreter.code.read_again(function)
    if scope.parent is None:
        if scope.variables.get(name, value) != value:
            scope.rebound[name] = now()
        if type(value) in CODE and name in scope.variables:
            scope.rebound_code = born()
    scope.variables[name] = value
    for watcher in scope.watchers:
        watcher.setdefault(name, []).append(value)


def _from_inside(interpreter: Machine, scope: Scope, name: str, value: Value) -> Value:
    """Return a variable's possible value after an inner function set it."""
    since = _path_since(interpreter, scope)
    if not since:
        return value
    before = scope.variables.get(name)
    if before is None or interpreter.loops_among(since):
        forget(Tuple((before or value, value)))
        return Unknown(f"`{name}` is set on some paths only")
    return join([before, value])


def _path_since(interpreter: Machine, scope: Scope) -> tuple[int, ...]:
    """Return the undecided branches between the code of an outer scope and the current path."""
    frames = interpreter.frames
    inner = next((frames[i + 1] for i in range(len(frames) - 1) if frames[i].scope is scope), None)
    return interpreter.path_since(scope.path if inner is None else inner.path)


def narrow(interpreter: Machine, name: str, value: Value) -> None:
    """Narrow a name by a test: an outer scope's variable only here, and until it changes."""
    scope = interpreter.scope
    if name not in scope.variables:
        scope.narrowed.add(name)
    scope.variables[name] = value


def widened(scope: Scope, before: dict[str, Value], after: dict[str, Value]) -> dict[str, Value]:
    """Return the variables after a branch, without what its test narrowed of an outer scope's."""
    if after.keys().isdisjoint(scope.narrowed):
        return after
    return {k: v for k, v in after.items() if k in before or k not in scope.narrowed}


@contextmanager
def watching(scope: Scope) -> Iterator[Written]:
    """Collect the writes to the variables of a scope meanwhile."""
    written: Written = {}
    scope.watchers.append(written)
    try:
        yield written
    finally:
        scope.watchers.pop()


def interrupted(before: dict[str, Value], written: Written) -> dict[str, Value]:
    """Return the variables if an exception may have occurred before or after each write."""
    return {**before, **{k: join([before[k], *v] if k in before else v) for k, v in written.items()}}
