"""Structural equality of two results of one call, up to the objects, sizes and tests that each run created.

Mutable values are compared by their contents, sizes equal to no other by position, and functions by their
code and by the variables of the run that they can read.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import libcst as cst

from shardlint.inference.domain.kinds import CHANGING
from shardlint.inference.domain.name_links import place_of
from shardlint.inference.domain.values import Function, Native
from shardlint.inference.evaluation.context import Scope
from shardlint.inference.machine.trace import Note, Trace
from shardlint.inference.syntax.node_fields import walk
from shardlint.laws.core.dims import Expr, Symbol, described
from shardlint.model.uses import Use

#: Fields of a trace that are compared for equality; uses and notes are compared structurally.
_COUNTS = ("turns", "asks_mesh", "views", "questions", "pairs", "problems")


class _Numbers(dict[Symbol, Any]):
    """Numbers of symbols greater than ``oldest``, in order of occurrence.

    Older ones existed before the run: they stand for themselves.
    """

    def __init__(self, oldest: int) -> None:
        super().__init__()
        self._oldest = oldest

    def setdefault(self, symbol: Symbol, default: Any = None) -> Any:
        return symbol if symbol.number <= self._oldest else super().setdefault(symbol, default)


class Equivalence:
    """Compares two runs, each given as its first allocation number and its first symbol number."""

    def __init__(self, one: tuple[int, int], other: tuple[int, int]) -> None:
        self._start, self._other_start = one[0], other[0]
        self._numbers, self._others = _Numbers(one[1]), _Numbers(other[1])
        #: Pairs that are equal, or are being compared and assumed equal.
        self._pairs: set[tuple[int, int]] = set()

    def have_equal_traces(self, one: Trace, other: Trace) -> bool:
        """Return whether two traces are equal. Functions that a run both defined and called do not count."""
        if any(getattr(one, name) != getattr(other, name) for name in _COUNTS):
            return False
        inside, again = _codes(one.notes), _codes(other.notes)
        wrapped, others = _wrappers(one.notes), _wrappers(other.notes)
        return (
            one.ran - inside == other.ran - again
            and one.reached - inside == other.reached - again
            and one.handed.keys() == other.handed.keys()
            and one.called_wrappers - wrapped == other.called_wrappers - others
            and self._are_uses(one.uses, other.uses)
            and self._are_noted(_unused(one), _unused(other))
        )

    def _are_uses(self, one: list[Use], other: list[Use]) -> bool:
        """Return whether uses are equal, each by itself: those of replayed calls have older sizes."""
        one_start, other_start = (self._start, 0), (self._other_start, 0)
        return len(one) == len(other) and all(
            use is again or Equivalence(one_start, other_start).are(use, again)
            for use, again in zip(one, other, strict=True)
        )

    def are(self, one: Any, other: Any) -> bool:
        """Return whether two parts are equal: values, uses, or tuples, lists and dicts of them."""
        if one is other:
            return True
        kind = type(one)
        if kind is not type(other):
            return False
        if kind is Expr:
            return described(one, self._numbers) == described(other, self._others)
        if kind is tuple or kind is list:
            return len(one) == len(other) and all(map(self.are, one, other))
        if kind is dict:
            return self.are(list(one.items()), list(other.items()))
        if kind is Function:
            return self._are_functions(one, other)
        if kind in CHANGING:
            return self._is_known(one, other) or (
                self._is_new_pair(one, other) and self._parts_are(one, other)
            )
        if isinstance(one, str):
            return one == other and place_of(one) == place_of(other)
        if is_dataclass(kind) and kind.__eq__ is not object.__eq__ and not issubclass(kind, cst.CSTNode):
            return self._parts_are(one, other)
        return bool(one == other)

    def _is_known(self, one: Any, other: Any) -> bool:
        """Return whether a pair is equal already or is being compared; add it to the pairs."""
        pair = (id(one), id(other))
        known = pair in self._pairs
        self._pairs.add(pair)
        return known

    def _parts_are(self, one: Any, other: Any) -> bool:
        return all(self.are(getattr(one, name), getattr(other, name)) for name in _parts(type(one)))  # type: ignore[arg-type]

    def _is_new_pair(self, one: Any, other: Any) -> bool:
        """Return whether each object was created by its run: an older object is equal only to itself."""
        return one.born > self._start and other.born > self._other_start and len(one.path) == len(other.path)

    def _are_functions(self, one: Function, other: Function) -> bool:
        if one.code.key != other.code.key or one.owner is not other.owner or one.origin != other.origin:
            return False
        return self._is_known(one, other) or (
            self.are(one.defaults, other.defaults)
            and self._are_scopes(_names(one.code.node), one.scope, other.scope)
        )

    def _are_scopes(self, names: Iterable[str], one: Scope | None, other: Scope | None) -> bool:
        """Return whether these names have equal values in two scopes."""
        while one is not other:
            if one is None or other is None or not self._is_new_pair(one, other):
                return False
            if any(
                one.may_change(name) or other.may_change(name) or name in one.narrowed | other.narrowed
                for name in names
            ):
                return False
            if any(not self._is_bound_alike(name, one.variables, other.variables) for name in names):
                return False
            if one.declared_global != other.declared_global or one.is_class != other.is_class:
                return False
            one, other = one.parent, other.parent
        return True

    def _is_bound_alike(self, name: str, one: dict[str, Any], other: dict[str, Any]) -> bool:
        return self.are(one[name], other[name]) if name in one and name in other else name not in one | other

    def _are_noted(self, one: list[Note], other: list[Note]) -> bool:
        return len(one) == len(other) and all(
            self.are(made, again) and self.are(context, around)
            for (made, context), (again, around) in zip(one, other, strict=True)
        )


def _codes(notes: list[Note]) -> set[Hashable]:
    return {made.code.key for made, _ in notes if isinstance(made, Function)}


def _wrappers(notes: list[Note]) -> set[int]:
    return {id(made) for made, _ in notes if isinstance(made, Native)}


def _unused(trace: Trace) -> list[Note]:
    """Return the functions and wrappers that were created and never called: they may become entry points."""
    return [
        (made, context)
        for made, context in trace.notes
        if (
            id(made) not in trace.called_wrappers
            if isinstance(made, Native)
            else made.code.key not in trace.reached
        )
    ]


def _names(node: cst.CSTNode) -> frozenset[str]:
    """Return all names in a function."""
    return frozenset(one.value for one in walk(node) if isinstance(one, cst.Name))


@cache
def _parts(kind: Any) -> tuple[str, ...]:
    """Return the fields by which values of a class are compared."""
    return tuple(one.name for one in fields(kind) if one.name not in ("born", "path"))
