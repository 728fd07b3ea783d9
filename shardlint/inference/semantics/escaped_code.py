"""Functions and classes out of sight: unseen code may call them at any time from then on.

`havoc.forget` notes what goes out of sight. What a function out of sight names is as reachable, so its
changes are those of all that it names, and so on. Only variables of modules and enclosing functions, their
objects and attributes of classes count. Most functions change none, which their texts tell.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Set
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from shardlint.inference.domain.classes import lineage
from shardlint.inference.domain.havoc import HOLDING, forget
from shardlint.inference.domain.lattice import options
from shardlint.inference.domain.values import ClassValue, DictValue, Function, ListValue, Value
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.semantics.unseen_changes import (
    Change,
    ChangesObject,
    DirectChanges,
    FunctionReader,
    Rebinds,
    SetsOfClass,
    code_of,
    step_to,
)
from shardlint.inference.store.effect_log import EFFECTS, changed_for_all, changing, depends

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine


class _Node(NamedTuple):
    """A function or class whose reach is being followed: its own changes, and what is left to follow."""

    key: Hashable
    state: Hashable
    direct: DirectChanges
    left: Iterator[Function | ClassValue]


class EscapedCode:
    """The functions and classes out of sight, and what they may change."""

    def __init__(self, interpreter: Machine) -> None:
        self._interpreter = interpreter
        #: By function or class: what it changes itself, and with all that it reaches. Both are valid until
        #: its module binds another function or class, or its text changes.
        self._direct: dict[Hashable, tuple[DirectChanges, Hashable]] = {}
        self._all: dict[Hashable, tuple[DirectChanges, Hashable]] = {}

    def settle(self) -> None:
        """Take what may change for changed, if functions and classes have gone out of sight."""
        while EFFECTS.lost:
            lost, EFFECTS.lost = EFFECTS.lost, []
            for value in lost:
                for one in code_of(value):
                    self._note(one)

    def drop_noted(self) -> None:
        """Leave to be settled only what has not been noted yet: repeating changes loses the same again."""
        escaped = self._interpreter.escaped
        EFFECTS.lost = [
            value for value in EFFECTS.lost if any(_key(one) not in escaped for one in code_of(value))
        ]

    def _note(self, one: Function | ClassValue) -> None:
        key = _key(one)
        if key not in self._interpreter.escaped:
            self._interpreter.escaped[key] = one
            known = self._known(one, key) or self.changes_of(one)
            if known.changes:
                self.apply(known.changes)

    def read_again(self, one: Function) -> None:
        """Read a function out of sight once more, since a name that it reads is bound."""
        key = _key(one)
        self._direct.pop(key, None)
        self._all.clear()
        self._interpreter.escaped.pop(key, None)
        EFFECTS.lost.append(one)

    def note_changed(self, cls: ClassValue) -> None:
        """Read a class once more, if it is out of sight, since it gets another method."""
        key = _key(cls)
        if key in self._all:
            self._all.clear()
        if self._interpreter.escaped.pop(key, None) is not None:
            EFFECTS.lost.append(cls)

    def may_change(self, function: Function) -> Set[Change] | None:
        """Return what a function and all that it reaches may change; None if nothing has asked for it."""
        key = _key(function)
        if key not in self._direct:
            return None
        return (self._known(function, key) or self.changes_of(function)).changes

    def apply(self, changes: Set[Change]) -> None:
        """Take changes for possible at any time from now on."""
        self._interpreter.unseen_changes |= changes
        for change in changes:
            if isinstance(change, ChangesObject):
                forget(change.value)
                continue
            if isinstance(change, SetsOfClass):
                if change.name not in change.cls.volatile:
                    changed_for_all(change.cls)
                    change.cls.volatile.add(change.name)
                continue
            scope, name = change.scope, change.name
            if scope.parent is not None:
                # Another call of the enclosing function has other variables.
                depends(scope.born)
            if isinstance(change, Rebinds):
                if name not in scope.volatile:
                    changing(scope)
                    scope.volatile.add(name)
            else:
                if name not in scope.exposed:
                    changing(scope)
                    scope.exposed.add(name)
                for value in _resolved(scope, change.name, change.path):
                    forget(value)

    def changes_of(self, one: Function | ClassValue) -> DirectChanges:
        """Return what a function or class may change with all that it reaches.

        Those that reach each other share the result (Tarjan's algorithm).
        """
        order: dict[Hashable, int] = {}
        lowest: dict[Hashable, int] = {}
        path: list[Hashable] = []
        found: dict[Hashable, DirectChanges] = {}
        states: dict[Hashable, Hashable] = {}
        stack = [self._node(one)]
        while stack:
            node = stack[-1]
            if node.key not in order:
                order[node.key] = lowest[node.key] = len(order)
                path.append(node.key)
                states[node.key] = node.state
                found[node.key] = DirectChanges(set(node.direct.changes))
            for reached in node.left:
                key = _key(reached)
                if key in order:
                    if key in found:
                        lowest[node.key] = min(lowest[node.key], order[key])
                    continue
                known = self._known(reached, key)
                if known is None:
                    stack.append(self._node(reached))
                    break
                found[node.key].add(known)
            else:
                stack.pop()
                if lowest[node.key] == order[node.key]:
                    self._close(node.key, path, found, states)
                if stack:
                    above = stack[-1].key
                    if node.key in found:
                        lowest[above] = min(lowest[above], lowest[node.key])
                        found[above].add(found[node.key])
                    else:
                        found[above].add(self._all[node.key][0])
        return self._all[_key(one)][0]

    def _close(
        self,
        first: Hashable,
        path: list[Hashable],
        found: dict[Hashable, DirectChanges],
        states: dict[Hashable, Hashable],
    ) -> None:
        """Store the result of functions and classes that reach each other."""
        every = found[first]
        while True:
            key = path.pop()
            every.add(found.pop(key))
            self._all[key] = every, states[key]
            if key == first:
                return

    def _known(self, one: Function | ClassValue, key: Hashable) -> DirectChanges | None:
        """Return a stored result that is still valid."""
        known = self._all.get(key)
        return known[0] if known is not None and known[1] == _state(one) else None

    def _node(self, one: Function | ClassValue) -> _Node:
        key = _key(one)
        direct, state = self._direct.get(key, (None, None))
        if direct is None or state != _state(one):
            direct = self._read(one)
            self._direct[key] = direct, _state(one)
        return _Node(key, _state(one), direct, iter(direct.reached))

    def _read(self, one: Function | ClassValue) -> DirectChanges:
        if isinstance(one, Function):
            scope = one.scope.of_functions
            if scope.parent is None:
                return FunctionReader(one, [scope]).direct
            # What it finds in its module is the same for each call of the enclosing function.
            key = one.code.key, scope.root.born
            whole, state = self._direct.get(key, (None, None))
            if whole is None or state != (scope.root.rebound_code, one.code.unit.text):
                whole = self._node(replace(one, scope=scope.root, defaults={})).direct
            inner = FunctionReader(
                one, [around for around in scope.chain if around.parent is not None]
            ).direct
            return DirectChanges(whole.changes | inner.changes, whole.reached + inner.reached)
        found = DirectChanges()
        for base in lineage(one):
            if isinstance(base, ClassValue):
                for value in (*base.attributes.values(), *base.fields.values()):
                    found.reached += code_of(value)
                    if type(value) in (ListValue, DictValue) and isinstance(value, ListValue | DictValue):
                        found.changes.add(ChangesObject(value))
        return found


def _state(one: Function | ClassValue) -> Hashable:
    """Return what differs if a function or class may have come to reach something else.

    Names that are not bound are awaited.
    """
    if isinstance(one, ClassValue):
        return len(one.attributes)
    scope = one.scope.of_functions
    held: list[int] = []
    while scope.parent is not None:
        held += map(id, scope.variables.values())
        scope = scope.parent
    return (scope.rebound_code, one.code.unit.text, *held)


def _key(one: Function | ClassValue) -> Hashable:
    return one.born if isinstance(one, ClassValue) else (one.code.key, one.scope.born)


def _resolved(scope: Scope, name: str, path: tuple[str, ...]) -> list[Value]:
    """Return the objects that may change where a variable, or what its attributes lead to, is changed."""
    found = list(options(scope.variables[name])) if name in scope.variables else []
    for step in path:
        found = [part for one in found for part in step_to(one, step)]
    return [one for one in found if type(one) in HOLDING]
