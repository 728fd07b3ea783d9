"""Canonical keys: two values have the same key if evaluation cannot tell them apart.

Immutable values always have the same key. Mutable objects are described by their contents and numbered in the
order of their first occurrence, so that two trees have the same key if they are equal and share objects in
the same places. Sizes equal to no other are numbered likewise. A function defined around the called one is
identified by its distance outwards, since the code around may have run again. The reason why a value is
unknown is not part of its key.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import fields
from operator import attrgetter
from typing import Any

from shardlint.inference.domain.kinds import CHANGING, FROZEN, kind_name, parts_of, reader_of
from shardlint.inference.domain.lattice import Perhaps, have_common_reads
from shardlint.inference.domain.name_links import places_in
from shardlint.inference.domain.values import (
    Alternatives,
    ClassValue,
    Const,
    Function,
    ModuleValue,
    Native,
    Tag,
    Test,
)
from shardlint.inference.evaluation.context import Context, Scope, Shard
from shardlint.inference.store.effect_log import EFFECTS
from shardlint.inference.syntax.units import NodePlace
from shardlint.laws.core.dims import Expr, Symbol, described
from shardlint.laws.core.values import Mesh, Spec, Unknown
from shardlint.model.origins import REMEMBERING, origins_in

#: The most values in one key; a larger tree has none.
_MAX_VALUES = 2_000

_DESCRIBED = frozenset({*CHANGING, *FROZEN, Function})
#: Kinds of values whose key does not depend on their position.
_VALUES = _DESCRIBED | {ClassValue, ModuleValue, Native}


#: Tags are numbered (see `Keys.of_tag`).
_PARTS = {kind: reader_of([name for name in parts_of(kind) if name != "tags"]) for kind in _DESCRIBED}
#: Kinds that are their own key.
_PLAIN = frozenset({type(None), str, int, bool, NodePlace})


class TooLarge(Exception):
    """Raised for a tree with too many values for a key."""


class Keys:
    """Computes keys, small integers, for one analysis.

    During a computation, ``objects`` are the mutable objects met so far, ``symbols`` the sizes equal to no
    other, and ``tests`` the tests whose outcome selects between values, each in order of occurrence.
    """

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.symbols: dict[Symbol, int] = {}
        self.tests: dict[Test, int] = {}
        self._numbers: dict[int, int] = {}
        self._depths: dict[int, int] = {}
        self._met = 0
        self._left = _MAX_VALUES
        self._interned: dict[Hashable, int] = {}
        #: All unknown values share one key: the reason makes no difference, and there are many of them.
        self._unknown = self._interned.setdefault(Unknown, len(self._interned))
        #: The keys of immutable values, by identity; and the values, to keep them alive.
        self._known: dict[int, int] = {}
        self._constants: list[Any] = []

    def start(self, scope: Scope) -> None:
        """Begin a new tree, for the call of a function from this scope."""
        self.resume(scope, [], {}, {})

    def resume(
        self, scope: Scope, objects: list[Any], symbols: dict[Symbol, int], tests: dict[Test, int]
    ) -> None:
        """Continue a tree in which these were met."""
        self._depths = {id(one): depth for depth, one in enumerate(enclosing_scopes(scope))}
        self.objects, self.symbols, self.tests = list(objects), dict(symbols), dict(tests)
        self._numbers = {id(one): number for number, one in enumerate(objects)}
        self._left = _MAX_VALUES

    def mark(self) -> tuple[int, int, int]:
        """Return a mark of the current state, for `rewind`."""
        return len(self.objects), len(self.symbols), len(self.tests)

    def rewind(self, mark: tuple[int, int, int]) -> None:
        """Drop everything met since a mark."""
        for one in self.objects[mark[0] :]:
            del self._numbers[id(one)]
        del self.objects[mark[0] :]
        while len(self.symbols) > mark[1]:
            self.symbols.popitem()
        while len(self.tests) > mark[2]:
            self.tests.popitem()
        self._left = _MAX_VALUES

    def of(self, value: Any) -> int:
        """Return the key of a value, as the next one in the tree. Raises TooLarge."""
        known = self._known.get(id(value))
        if known is not None:
            return known
        if type(value) is Unknown:
            return self._unknown
        self._left -= 1
        if self._left < 0:
            raise TooLarge
        numbers = self._met
        kind = type(value)
        # Classes, modules, library functions and things that are no values are identified by themselves.
        found = self._described(kind, value) if kind in _DESCRIBED else id(value)
        if kind is ClassValue and value.born in EFFECTS.lone:
            # Its key changes with it.
            self._met += 1
            found = value.born, EFFECTS.lone[value.born]
        key = self._interned.setdefault((kind, found), len(self._interned))
        if numbers == self._met:
            self._know(value, key)
        return key

    def of_all(self, values: Iterable[Any]) -> tuple[Hashable, ...]:
        """Return the keys of values, as the next ones in the tree. Raises TooLarge."""
        return self._parts(values)

    def _know(self, value: Any, key: int) -> None:
        self._known[id(value)] = key
        self._constants.append(value)

    def is_constant(self, value: Any) -> bool:
        """Return whether a value that has a key is immutable."""
        return id(value) in self._known or type(value) is Unknown

    def is_fixed(self, value: Any) -> bool:
        """Return whether a value is immutable, leaving the tree unchanged. Raises TooLarge."""
        if self.is_constant(value):
            return True
        if type(value) in CHANGING:
            return False
        mark = self.mark()
        self.of(value)
        self.rewind(mark)
        return self.is_constant(value)

    def of_context(self, context: Context) -> int:
        """Return the key of a dynamic context."""
        known = self._known.get(id(context))
        if known is not None:
            return known
        numbers = self._met
        found = self._parts(_CONTEXT(context))
        key = self._interned.setdefault((Context, found), len(self._interned))
        if numbers == self._met:
            self._know(context, key)
        return key

    def _described(self, kind: type, value: Any) -> Hashable:
        number: Hashable = None
        if kind in CHANGING:
            self._met += 1
            number = self._numbers.get(id(value))
            if number is not None:
                return number
            number = self._numbers[id(value)] = len(self.objects)
            self.objects.append(value)
        elif (kind is Alternatives or kind is Perhaps) and any(value.tags):
            # As for sizes: in another tree the same tests may have other numbers.
            self._met += 1
            number = tuple(map(self.of_tag, value.tags))
        elif kind is Function:
            depth = self._depths.get(id(value.scope))
            number = value.code.key, value.scope if depth is None else depth
            # Its key depends on the scope of the call.
            self._met += value.scope.parent is not None
        elif kind is Const:
            # 1 == True == 1.0 in Python, but they are different values here.
            number = kind_name(value)
        return (number, self._parts(_PARTS[kind](value)))

    def of_tag(self, tag: Tag) -> Hashable:
        """Return a condition with its tests numbered; tests first met together are numbered by age.

        New ones have the numbers of those before that they read something in common with.
        """
        new = [test for test, _ in tag if test not in self.tests]
        if len(new) > 1:
            new.sort(key=_age)
        common = {}
        for test in new:
            common[test] = [number for other, number in self.tests.items() if have_common_reads(test, other)]
            self.tests[test] = len(self.tests)
        return frozenset(
            (self.tests[test], outcome, test[1:2], *common.get(test, ())) for test, outcome in tag
        )

    def of_known(self, tag: Tag) -> Hashable:
        """Return the part of a condition whose tests have been met."""
        return frozenset((self.tests[test], outcome) for test, outcome in tag if test in self.tests)

    def _parts(self, parts: Iterable[Any]) -> tuple[Hashable, ...]:
        # Most parts are plain, immutable with a known key, or unknown: these need no call.
        known, unknown, one = self._known.get, self._unknown, self._part
        return tuple([
            part if (kind := type(part)) in _PLAIN
            else unknown if kind is Unknown
            else constant if (constant := known(id(part))) is not None
            else one(part)
            for part in parts
        ])  # fmt: skip

    def _part(self, part: Any) -> Hashable:
        kind = type(part)
        if kind in _PLAIN:
            return part
        if kind in _VALUES:
            return self.of(part)
        if kind is tuple or kind is list:
            return self._parts(part)
        if kind is Expr:
            found = described(part, self.symbols)
            # A part with sizes equal to no other has another key elsewhere in a tree.
            self._met += bool(self.symbols)
            return found
        if kind is Shard:
            return (part.name, self._part(part.shape), self._part(part.whole))
        if kind is dict:
            names = tuple(part)
            if not _TEXT.issuperset(map(type, names)):
                names = tuple([key if type(key) is str else _named(key) for key in part])
            return names, self._parts(part.values())
        return self.of(part) if part.__hash__ is None else _hashed(self, part)


def enclosing_scopes(scope: Scope) -> list[Scope]:
    """Return a scope and its enclosing scopes from the inside out, without the module's."""
    found, one = [], scope
    while one.parent is not None:
        found.append(one)
        one = one.parent
    return found


def _age(test: Test) -> tuple[int, str]:
    """Return the sort key of a test: the scope of the test, then its text."""
    return test[0], str(test[1:2])


def _named(key: Any) -> Hashable:
    """Return the key of a dict key other than plain text: equality by Python's rules is not enough."""
    return type(key), key, places_in(key)


def _hashed(keys: Keys, part: Any) -> Hashable:
    """Return the key of an object that compares by content or by identity."""
    try:
        hash(part)
    except TypeError:
        return keys.of(part)
    if type(part) in _HOLDS_NAMES:
        # Texts written at two places are distinguished where the name links ask for it.
        return part, places_in(part), origins_in(part)
    return (part, part.of) if type(part) in REMEMBERING else part


_TEXT = frozenset({str})
_HOLDS_NAMES = frozenset({Mesh, Spec, frozenset})

#: The body being evaluated matters only to the code of that body (see `CallCache`), and the parameters of a
#: test only to what is said of its uses (see `CallSummary.uses_at`).
_CONTEXT = attrgetter(*[one.name for one in fields(Context) if one.name not in ("body", "entry")])
