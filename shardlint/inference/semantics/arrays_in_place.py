"""Arrays of numpy that get another shape or dtype in place: ``a.shape = (2, 3)``, ``a.resize(4)``.

Arrays are values without identity here: assigning one copies it. So when one changes in place, each array in
reach that may be the same object has an unknown shape from then on, wherever the program holds it. Only
the variable that the statement itself names gets the new shape.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from shardlint.inference.domain.values import (
    Alternatives,
    Array,
    Bound,
    ClassValue,
    Devices,
    DictValue,
    Function,
    Instance,
    LibraryObject,
    ListValue,
    ModuleValue,
    Native,
    Partial,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.context import Scope, meant
from shardlint.inference.store.effect_log import changed, changed_for_all, changed_function, changing
from shardlint.inference.syntax.units import NodePlace
from shardlint.laws.core.dims import Shape, product
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine


def change_in_place(interpreter: Machine, array: Value, shape: Shape | None, place: Place | None) -> None:
    """Change the shape or dtype of a numpy array, or of a value that may be one, at a statement that does so.

    ``shape`` is the new one, None where it is not known or something else changes.
    """
    # What else is the same array is not known to the caller of any function: no call of it is cached.
    changed(0)
    named = None if shape is None else _named(interpreter, array, place)
    loss = _Loss(array)
    loss.add(scope for frame in interpreter.frames for scope in frame.scope.chain)
    loss.add(run.scope for run in interpreter.project.modules.values())
    for frame in interpreter.frames:
        loss.add(loop.items for loop in frame.loops if loop.items is not None)
        frame.returns[:] = map(loss.without, frame.returns)
        frame.yields[:] = [(loss.without(value), context, count) for value, context, count in frame.yields]
    loss.run()
    new = None if shape is None else _shaped(array, shape)
    if named is not None and new is not None:
        interpreter.set_variable(interpreter.scope, named, new)


def _named(interpreter: Machine, array: Value, place: Place | None) -> str | None:
    """Return the local variable that a statement changes: the ``a`` of ``a.shape = ...``."""
    if not isinstance(place, NodePlace) or any(frame.generator for frame in interpreter.frames):
        # A generator's body runs later, whenever its items are taken.
        return None
    node = place.node.func if isinstance(place.node, cst.Call) else place.node
    if not isinstance(node, cst.Attribute) or not isinstance(node.value, cst.Name):
        return None
    scope = interpreter.scope
    name = meant(scope, node.value.value)
    return name if scope.target(name) is scope and scope.variables.get(name) == array else None


def _shaped(array: Value, shape: Shape) -> Value | None:
    """Return an array with another shape, of which one size may be -1."""
    size = getattr(array, "shape", None)
    if -1 in shape:
        rest = -product(shape)
        whole = None if size is None else product(size)
        if shape.count(-1) > 1 or not isinstance(whole, int) or not isinstance(rest, int) or rest <= 0:
            return None
        shape = tuple(whole // rest if dim == -1 else dim for dim in shape)
    if isinstance(array, Devices):
        return replace(array, shape=shape) if product(shape) == product(array.shape) else None
    return replace(array, shape=shape) if isinstance(array, Array) else None


class _Loss:
    """One loss of shapes: of all arrays that may be the same object as one that changes."""

    def __init__(self, array: Value) -> None:
        self._array = array
        self._waiting: list[Any] = []
        self._seen: set[int] = set()

    def add(self, holders: Iterable[Any]) -> None:
        """Look through these scopes, objects and containers, too."""
        for holder in holders:
            if id(holder) not in self._seen:
                self._seen.add(id(holder))
                self._waiting.append(holder)

    def run(self) -> None:
        """Make the shapes unknown in all that was added, and in what that leads to."""
        while self._waiting:
            holder = self._waiting.pop()
            if isinstance(holder, Scope):
                self.add(holder.chain)
                self._lose_of_scope(holder)
            elif isinstance(holder, ModuleValue):
                self.add((holder.run.scope,))
            elif isinstance(holder, Function):
                self.add((holder.scope,))
                self.add(() if holder.wrapped is None else (holder.wrapped,))
                for name, value in self._lost(holder.defaults).items():
                    changed_function(holder.scope.born)
                    holder.defaults[name] = value
            elif isinstance(holder, ListValue):
                items = [self.without(item) for item in holder.items or ()]
                if any(a is not b for a, b in zip(items, holder.items or (), strict=True)):
                    changing(holder)
                    holder.items = items
            elif isinstance(holder, DictValue):
                self._lose_of(holder, holder.items or {})
                self.add(() if holder.default is None else (holder.default,))
            elif isinstance(holder, LibraryObject):
                self._lose_of(holder, holder.fields)
            elif isinstance(holder, Instance):
                self.add((holder.cls,))
                self._lose_of(holder, holder.attributes)
            elif isinstance(holder, ClassValue):
                self.add(base for base in holder.bases if isinstance(base, ClassValue))
                self._lose_of(holder, holder.attributes)
            elif isinstance(holder, Native):
                self.add(() if holder.wraps is None else (holder.wraps,))
                self._lose_of(holder, holder.attributes)

    def without(self, value: Value) -> Value:
        """Return a value without the shapes of such arrays; what is mutable in it is looked through later."""
        if isinstance(value, Array):
            return self._of_array(value)
        if isinstance(value, Devices):
            lost = value.numpy and isinstance(self._array, Devices | Unknown)
            return Unknown("an array that changes in place") if lost else value
        if isinstance(value, Tuple):
            items = self._each(value.items)
            return value if items is value.items else replace(value, items=items)
        if isinstance(value, Alternatives):
            options = self._each(value.options)
            return value if options is value.options else replace(value, options=options)
        if isinstance(value, Bound):
            receiver = self.without(value.receiver)
            self.add((value.function,))
            return value if receiver is value.receiver else replace(value, receiver=receiver)
        if isinstance(value, Partial):
            self.add((value.function,))
            names = tuple(name for name, _ in value.kwargs)
            given = tuple(one for _, one in value.kwargs)
            args, kwargs = self._each(value.args), self._each(given)
            if args is value.args and kwargs is given:
                return value
            return replace(value, args=args, kwargs=tuple(zip(names, kwargs, strict=True)))
        if type(value) in _HOLDERS:
            self.add((value,))
        return value

    def _each(self, items: tuple[Value, ...]) -> tuple[Value, ...]:
        new = tuple(map(self.without, items))
        return items if all(map(_is, new, items)) else new

    def _of_array(self, value: Array) -> Array:
        changed_one = self._array
        if value.shape is None and value.dtype is None:
            return value
        if isinstance(changed_one, Array):
            typed = None not in (value.dtype, changed_one.dtype)
            another = (
                (changed_one.numpy and not value.numpy)
                or (typed and value.dtype != changed_one.dtype)
                or _differ(value.shape, changed_one.shape)
            )
        else:
            another = not isinstance(changed_one, Unknown) or not value.numpy
        if another:
            return value
        return Array(None, None, numpy=value.numpy, origin=value.origin, name=value.name)

    def _lost(self, held: dict[Any, Value]) -> dict[Any, Value]:
        """Return what changes of some named values."""
        found = {name: self.without(value) for name, value in held.items()}
        return {name: value for name, value in found.items() if value is not held[name]}

    def _lose_of(self, holder: Any, held: dict[Any, Value]) -> None:
        lost = self._lost(held)
        if lost:
            (changed_for_all if isinstance(holder, ClassValue | Native) else changing)(holder)
            held.update(lost)

    def _lose_of_scope(self, scope: Scope) -> None:
        lost = self._lost(scope.variables)
        if lost:
            changing(scope)
            scope.variables.update(lost)
            for watcher in scope.watchers:
                for name, value in lost.items():
                    watcher.setdefault(name, []).append(value)


_HOLDERS = frozenset({
    ClassValue, DictValue, Function, Instance, LibraryObject, ListValue, ModuleValue, Native,
})  # fmt: skip


def _is(a: Any, b: Any) -> bool:
    return a is b


def _differ(a: Shape | None, b: Shape | None) -> bool:
    """Return whether two shapes are surely not the same."""
    if a is None or b is None:
        return False
    known = (isinstance(x, int) and isinstance(y, int) and x != y for x, y in zip(a, b, strict=False))
    return len(a) != len(b) or any(known)
