"""Instantiation of a cached result: objects that the call created are copied, older ones are shared."""

from __future__ import annotations

from copy import copy
from dataclasses import fields
from operator import is_
from typing import Any

from shardlint.inference.domain.kinds import CHANGING, FROZEN, parts_of, reader_of
from shardlint.inference.domain.lattice import Perhaps, Reading
from shardlint.inference.domain.unknown_choices import Choice
from shardlint.inference.domain.values import (
    Array,
    ClassValue,
    Function,
    Instance,
    Integer,
    Native,
    Sized,
    Tag,
    Test,
)
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.machine.condition_ids import Tests
from shardlint.inference.store.effect_log import born
from shardlint.inference.syntax.units import NodePlace
from shardlint.laws.core.array_types import TypeSharding
from shardlint.laws.core.dims import Expr, Quotient, Remainder, Symbol, renewed
from shardlint.laws.core.values import Mesh, Unknown
from shardlint.support.lazy_dataclass import replace

#: Kinds of parts that no run creates; most parts are of these.
_PLAIN = frozenset({type(None), str, int, bool, frozenset, NodePlace})
#: The names of the fields that make up a value, and a function that reads them.
_PARTS = {kind: (parts_of(kind), reader_of(parts_of(kind))) for kind in FROZEN}
_SLOTS = {kind: (names := [one.name for one in fields(kind)], reader_of(names)) for kind in CHANGING}


#: Values that may differ each time a program runs: tests identify such values by identity.
_OPEN = frozenset({Array, Choice, Integer, Perhaps, Sized, Unknown})

#: Fields that hold the path of a branch.
_BRANCHES = frozenset({"path", "drawn"})


class NotInstantiable(Exception):
    """Raised for a result with a part that belongs to one run and cannot be shared."""


class Instantiation:
    """Instantiates the result of a run that began at allocation number ``start`` on the path ``old``, for
    ``new``.

    Symbols with numbers above ``symbols`` were created by the run. ``same`` maps the run's input objects, by
    identity, to those of the new call, ``sizes`` its symbols, and ``tests`` its tests. Without them the
    result is only copied, for the same run.
    """

    def __init__(
        self,
        start: int,
        symbols: int,
        old: tuple[int, ...],
        new: tuple[int, ...],
        same: dict[int, Any] | None = None,
        sizes: dict[Symbol, Symbol] | None = None,
        tests: dict[Test, Test] | None = None,
    ) -> None:
        self._start, self._symbols, self._old, self._new = start, symbols, old, new
        self._same: dict[int, Any] = same or {}
        self._sizes: dict[Symbol, Symbol] = sizes or {}
        self._again = same is not None
        self._tests: dict[Test, Test] = tests or {}
        #: By the number of a scope that the run created, that of the scope in its place.
        self._runs: dict[int, int] = {}
        #: The program's functions in the result.
        self.functions: list[Function] = []
        #: Pairs of a scope of the run that these see, and its copy.
        self._scopes: list[tuple[Scope, Scope]] = []

    def of(self, part: Any) -> Any:
        """Return a value, or a part of one, instantiated. Raises NotInstantiable."""
        kind = type(part)
        if kind in _PLAIN:
            return part
        if kind in _SLOTS:
            return self._object(part)
        if kind in _PARTS:
            return self._frozen(part)
        if kind is tuple:
            items = tuple(map(self.of, part))
            return part if all(map(is_, items, part)) else items
        if kind is list:
            return list(map(self.of, part))
        if kind is dict:
            return {key: self.of(item) for key, item in part.items()}
        if kind is Expr:
            size = renewed(part, self._symbols, self._sizes) if self._again else part
            return part if size == part else size
        if kind is Function:
            return self._function(part)
        if kind is Native or kind is ClassValue:
            self._need(part.born < self._start)
        elif kind is Mesh:
            self._need(not any(map(self._is_own, part.sizes)))
        elif kind is TypeSharding:
            self.of(part.mesh)
        return part

    def _frozen(self, value: Any) -> Any:
        if self._again and type(value) in _OPEN:
            renamed = self._same.get(id(value))
            if renamed is None:
                renamed = self._same[id(value)] = replace(value, **self._changes(value))
            return renamed
        changes = self._changes(value)
        return replace(value, **changes) if changes else value

    def _changes(self, value: Any) -> dict[str, Any]:
        """Return the fields of a value that differ after instantiation."""
        changes = {}
        names, read = _PARTS[type(value)]
        for name, part in zip(names, read(value), strict=True):
            if type(part) in _PLAIN:
                continue
            renamed = tuple(map(self._tag, part)) if name == "tags" else self.of(part)
            if renamed is not part and (name != "tags" or renamed != part):
                changes[name] = renamed
        return changes

    def _object(self, value: Any) -> Any:
        found = self._same.get(id(value))
        if found is not None:
            return found
        if value.born < self._start:
            return value
        copy = object.__new__(type(value))
        self._same[id(value)] = copy
        names, read = _SLOTS[type(value)]
        for name, part in zip(names, read(value), strict=True):
            if name == "born":
                part = born()
            elif name in _BRANCHES and part is not None:
                part = (*self._new, *part[len(self._old) :])
            elif type(part) not in _PLAIN:
                part = self.of(part)
            setattr(copy, name, part)
        if isinstance(value, Instance):
            self._need(value.cls.born < self._start)
        return copy

    def _function(self, value: Function) -> Function:
        made = self._same.get(id(value))
        if made is None:
            made = value
            if value.scope.born >= self._start:
                made = self._same[id(value)] = copy(value)
                self._need(value.owner is None or value.owner.born < self._start)
                made.scope, made.defaults = self._scope(value.scope), self.of(value.defaults)
            self.functions.append(made)
        assert isinstance(made, Function)
        return made

    def _scope(self, scope: Scope | None) -> Scope:
        """Return a copy of a scope that the run created, or the scope itself; raise for a module's."""
        if scope is None:
            raise NotInstantiable
        if scope.born < self._start:
            return scope
        copy = self._same.get(id(scope))
        if copy is None:
            self._need(not scope.is_class and not scope.watchers)
            copy = self._same[id(scope)] = scope.renewed((*self._new, *scope.path[len(self._old) :]))
            copy.parent = self._scope(scope.parent)
            copy.variables = self.of(scope.variables)
            self._scopes.append((scope, copy))
        assert isinstance(copy, Scope)
        return copy

    def take_over(self, tests: Tests) -> None:
        """Register the tests of copied functions' scopes under the copies."""
        for scope, scope_copy in self._scopes:
            before = map(id, scope.variables.values())
            after = map(id, scope_copy.variables.values())
            tests.take_over(scope_copy, scope, self._test, dict(zip(before, after, strict=True)))

    def fill(self, instance: Instance, made: Instance) -> None:
        """Fill an instance with the contents of the object that the run created, and map that object to
        it."""
        self._same[id(made)] = instance
        instance.attributes = self.of(made.attributes)
        instance.opaque, instance.forgotten = made.opaque, made.forgotten

    def _tag(self, tag: Tag) -> Tag:
        """Return a condition in which tests that the run created are replaced by fresh ones."""
        return frozenset((self._test(test), outcome) for test, outcome in tag)

    def _test(self, test: Test) -> Test:
        if test not in self._tests:
            own = self._again and test[0] >= self._start
            self._tests[test] = (born(), *test[1:2], *map(self._reading, test[2:3])) if own else test
        return self._tests[test]

    def _reading(self, reading: Reading) -> Reading:
        """Return what a test reads, in the run that replaces its own."""
        if reading.scope < self._start:
            return reading
        return reading._replace(scope=self._runs.setdefault(reading.scope, born()))

    def _is_own(self, size: Any) -> bool:
        """Return whether a size contains symbols that the run created."""
        if isinstance(size, Expr):
            return any(self._is_own(atom) for product, _ in size.terms for atom in product)
        if isinstance(size, Quotient | Remainder):
            return self._is_own(size.numerator) or self._is_own(size.denominator)
        return isinstance(size, Symbol) and size.number > self._symbols

    def _need(self, holds: bool) -> None:
        if not holds:
            raise NotInstantiable
