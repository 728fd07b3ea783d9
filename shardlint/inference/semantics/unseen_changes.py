"""Changes that one function may make outside of itself, and the code that it reaches by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import NamedTuple

from shardlint.inference.domain.classes import ANY, class_attribute, lineage
from shardlint.inference.domain.havoc import CODE, HOLDING
from shardlint.inference.domain.lattice import options
from shardlint.inference.domain.values import (
    Array,
    Bound,
    ClassValue,
    Const,
    DictValue,
    External,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    MeshValue,
    ModuleValue,
    Native,
    Partial,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.evaluation.iterators import is_iterator
from shardlint.inference.semantics.argument_changes import ArgumentChanges, record_values
from shardlint.inference.semantics.special_methods import REACHING_ALL
from shardlint.inference.store.effect_log import EFFECTS
from shardlint.inference.syntax.body_changes import READING_METHODS
from shardlint.inference.syntax.leaks import ATTRIBUTE, COPY, PART, RESULT, Outer, Parameter, leaks
from shardlint.inference.syntax.names_in_text import names_in
from shardlint.inference.syntax.node_fields import Slot
from shardlint.inference.syntax.units import BrokenText
from shardlint.laws.core.values import Unknown
from shardlint.support.lazy_dataclass import dataclass

#: Containers, whose items are looked through for functions.
_CONTAINERS = (Tuple, ListValue, DictValue)
#: Functions that set an attribute or item of their first argument.
_SETTING = frozenset({"setattr", "delattr", "__setattr__", "__delattr__", "setitem", "delitem"})
#: Words that lead to the class of a method's object.
_CLASSES = frozenset({"__class__", "type", "cls"})
#: Values that lead to nothing else.
_ENDS = frozenset({Const, External, Array, MeshValue, SpecValue, ShardingValue, Unknown})
#: Words of functions that may set variables or attributes under computed names.
_COMPUTED = frozenset({*REACHING_ALL, "setattr", "delattr"})
#: How many values are looked through for functions in a container.
_MOST = 200


class Rebinds(NamedTuple):
    """A variable that unseen code may rebind."""

    scope: Scope
    name: str


class Changes(NamedTuple):
    """A variable whose object, or what its attributes lead to, unseen code may change."""

    scope: Scope
    name: str
    path: tuple[str, ...] = ()


class SetsOfClass(NamedTuple):
    """An attribute of a class that unseen code may set."""

    cls: ClassValue
    name: str


@dataclass(slots=True, eq=False)
class ChangesObject:
    """An object that unseen code may change: a default value, or what a class holds."""

    value: Value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChangesObject) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


Change = Rebinds | Changes | SetsOfClass | ChangesObject


@dataclass(slots=True)
class DirectChanges:
    """The changes that one function or class makes itself, and the functions and classes that it reaches."""

    changes: set[Change] = field(default_factory=set)
    reached: list[Function | ClassValue] = field(default_factory=list)

    def add(self, other: DirectChanges) -> None:
        """Add what another one changes."""
        if other is not self:
            self.changes |= other.changes


def code_of(value: Value | None) -> Iterator[Function | ClassValue]:
    """Yield the program's functions and classes that a value is, wraps or has as its class."""
    waiting: list[Value | None] = [value]
    count = 0
    while waiting and count < _MOST:
        count += 1
        one = waiting.pop()
        if isinstance(one, Function | ClassValue):
            yield one
        elif isinstance(one, Native):
            waiting.append(one.wraps)
        elif isinstance(one, Bound):
            waiting += (one.function, one.receiver)
        elif isinstance(one, Partial):
            waiting += (one.function, *one.args, *(held for _, held in one.kwargs))
        elif isinstance(one, Instance):
            yield one.cls
        elif isinstance(one, LibraryObject):
            waiting += [held for held in one.fields.values() if type(held) in CODE]
        elif isinstance(one, _CONTAINERS) and one.items is not None:
            waiting += one.items.values() if isinstance(one, DictValue) else one.items
            if isinstance(one, Tuple):
                waiting.append(one.cls)
        elif type(one) not in (Const, External):
            waiting += () if one is None or options(one) == (one,) else options(one)


def step_to(value: Value, step: str) -> Iterable[Value]:
    """Return what an attribute, an item or a call of a method of an object may lead to."""
    if step in (COPY, RESULT) and isinstance(value, _CONTAINERS):
        items = value.items.values() if isinstance(value, DictValue) and value.items else value.items or ()
        return (value,) if any(type(one) in HOLDING for one in items) else ()
    if isinstance(value, Instance):
        if step == ATTRIBUTE:
            held_by = record_values(value)
            return (value,) if held_by is None else held_by
        held = value.attributes.get(step) or class_attribute(value.cls, step)
        if held is not None and not (isinstance(held, LibraryObject) and held.kind == "builtins.property"):
            return options(held)
        # What a property or method returns may be part of the object; so may what is not known.
        return (value,) if step in (PART, RESULT) or isinstance(held, LibraryObject) else ()
    if isinstance(value, ModuleValue):
        held = value.run.scope.variables.get(step)
        return () if held is None else options(held)
    if isinstance(value, ClassValue):
        held = class_attribute(value, step)
        return () if held is None else options(held)
    if isinstance(value, Tuple) and value.fields is not None and step in value.fields:
        return options(value.items[value.fields.index(step)])
    return (value,) if type(value) in HOLDING else ()


class FunctionReader:
    """Reads one function: what it may change, and what it reaches."""

    def __init__(self, function: Function, scopes: Sequence[Scope]) -> None:
        self._function = function
        self.direct = DirectChanges()
        self._scope = function.scope.of_functions
        self._arguments = ArgumentChanges()
        text = function.code.unit.text
        declared, words = names_in(text)
        self._words = words
        #: The variables whose objects can be changed, or lead to such, with their scopes.
        self._held: dict[str, Scope] = {}
        bound = []
        for name, holder in [(name, one) for one in scopes for name in words & one.variables.keys()]:
            value = holder.variables[name]
            if type(value) in _ENDS:
                pass
            elif self._reach_all(options(value)) or (type(value) is ClassValue and f"{name}." in text):
                self._held[name] = holder
            if not _is_open(value):
                bound.append(name)
        if not EFFECTS.entered:
            # They may be bound later.
            awaited = words.difference(bound), function
            for one in scopes:
                if not one.is_class:
                    one.awaited[function.code.key] = awaited
        kept = any(type(value) in HOLDING for value in function.defaults.values())
        owned = function.owner is not None and not words.isdisjoint(_CLASSES)
        if declared or self._held or kept or owned or not words.isdisjoint(_COMPUTED):
            self._read()

    def _reach_all(self, values: Iterable[Value]) -> bool:
        """Add the functions that values lead to; return whether one of them may be changed."""
        waiting, seen, changeable = list(values), set(), False
        for value in waiting:
            if not isinstance(value, ModuleValue):
                changeable |= self._reach(value)
            elif value.run not in seen:
                # Modules import each other.
                seen.add(value.run)
                members = value.run.scope.variables
                held = [one for name in self._words & members.keys() for one in options(members[name])]
                waiting += [one for one in held if type(one) not in _ENDS]
        return changeable

    def _reach(self, value: Value) -> bool:
        """Add the functions that a named value leads to; return whether it may be changed."""
        kind = type(value)
        if kind in CODE:
            self.direct.reached += code_of(value)
            return False
        if kind not in HOLDING:
            return False
        if isinstance(value, Instance):
            for base in lineage(value.cls):
                if isinstance(base, ClassValue):
                    for name, method in base.attributes.items():
                        if name in self._words or name[:2] == "__":
                            self.direct.reached += code_of(method)
            for name in self._words & value.attributes.keys():
                if type(value.attributes[name]) in CODE or isinstance(value.attributes[name], Instance):
                    self.direct.reached += code_of(value.attributes[name])
        else:
            self.direct.reached += code_of(value)
        return True

    def _read(self) -> None:
        function, scope, held = self._function, self._scope, self._held
        try:
            found = leaks(function.code.node)
        except BrokenText:
            for name, holder in scope.find_all(self._words):
                self.direct.changes |= {Rebinds(holder, name), Changes(holder, name)}
            return
        for name in found.bound:
            self.direct.changes.add(Rebinds(scope.find(name) or scope.root, name))
        for outer in found.changed:
            if outer.name in held:
                self._change(outer)
        for outer, name in found.assigned:
            if outer.name in held or isinstance(self._module(outer.name), ModuleValue):
                self._set(outer, name)
        for outer, name in found.called:
            if outer.name in held:
                self._call(outer, name)
        for callee, given in found.given.items():
            if callee in _COMPUTED or any(type(one) is Outer and one.name in held for _, one in given):
                self._give(callee, given)
        if function.owner is not None:
            self.direct.changes |= {SetsOfClass(function.owner, name) for name in found.own_class}
        for name in {one.name for one in found.parameters} & function.defaults.keys():
            default = function.defaults[name]
            if type(default) not in _ENDS:
                self.direct.changes.add(ChangesObject(default))
        for name, holder in held.items():
            if any(map(is_iterator, options(holder.variables[name]))):
                self.direct.changes.add(Changes(holder, name))

    def _module(self, name: str) -> Value | None:
        holder = self._scope.find(name)
        return None if holder is None else holder.variables[name]

    def _values(self, outer: Outer) -> list[Value]:
        """Return what an outer variable and attributes lead to."""
        holder = self._scope.find(outer.name)
        found = [] if holder is None else list(options(holder.variables[outer.name]))
        for step in outer.path:
            found = [part for one in found for part in step_to(one, step)]
        return found

    def _change(self, outer: Outer, path: tuple[str, ...] = ()) -> None:
        """Note that an object, or what a path leads to from there, may be changed, unless it cannot be."""
        outer = Outer(outer.name, outer.path + path)
        if outer.name in self._held and any(map(_may_change, self._values(outer))):
            self.direct.changes.add(Changes(self._held[outer.name], outer.name, outer.path))

    def _set(self, outer: Outer, name: str) -> None:
        """Note that an attribute or item is set."""
        for one in self._values(outer):
            if isinstance(one, ClassValue):
                self.direct.changes.add(SetsOfClass(one, name))
            elif isinstance(one, ModuleValue):
                self.direct.changes.add(Rebinds(one.run.scope, name))
        self._change(outer)

    def _call(self, outer: Outer, method: str) -> None:
        """Note that a method of an object may change it."""
        for one in self._values(outer):
            if type(one) not in HOLDING:
                continue
            if isinstance(one, Instance):
                functions = [
                    found
                    for base in lineage(one.cls)
                    if isinstance(base, ClassValue)
                    for found in code_of(base.attributes.get(method))
                ]
                if functions:
                    for path in {path for found in functions for path in self._arguments.of_self(found)}:
                        self._change(outer, path)
                    continue
            elif method in READING_METHODS and not is_iterator(one):
                continue
            self._change(outer)

    def _give(self, callee: str, given: set[tuple[Slot, Outer | Parameter]]) -> None:
        """Note what a called function may do to outer objects that it gets."""
        if callee in REACHING_ALL and self._scope.find(callee) is None:
            self.direct.changes |= {
                Rebinds(self._scope.root, name)
                for name, value in self._scope.root.variables.items()
                if not isinstance(value, Function | ClassValue | ModuleValue | External | Native)
            }
        sets = callee.rpartition(".")[2] in _SETTING
        for slot, outer in given:
            if isinstance(outer, Outer):
                changed = self._arguments.of_argument(self._scope, callee, slot)
                if sets and changed:
                    self._set(outer, ANY)
                for steps in changed:
                    self._change(outer, steps)


def _may_change(value: Value) -> bool:
    """Return whether an object, or one that it holds, can be changed."""
    if isinstance(value, Tuple) and value.cls is None:
        return any(_may_change(option) for item in value.items for option in options(item))
    return type(value) in HOLDING


def _is_open(value: Value) -> bool:
    """Return whether an object may take the place of a value that is not one, or not known."""
    return isinstance(value, Unknown) or (isinstance(value, Const) and value.value is None)
