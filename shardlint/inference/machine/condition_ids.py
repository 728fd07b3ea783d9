"""Identities of tests: tests with the same identity have the same outcome."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.values import Const, Tag, Test, Value
from shardlint.inference.store.effect_log import born, depends
from shardlint.inference.syntax.node_fields import structure, walk

if TYPE_CHECKING:
    from shardlint.inference.evaluation.context import Scope
    from shardlint.inference.machine.machine import Machine

#: The identities of the values that a test reads, None for unbound names.
Read = tuple["int | None", ...]
#: The conditions of a test's branches: that it holds, and that it does not.
Branches = tuple[Tag, Tag]
#: Stands for the structure of a test that is new.
_NEW = ""
#: Calls that return the same each time.
_STEADY = frozenset({"isinstance", "hasattr", "len"})
#: Comparisons that tell whether two values are equal, and whether they hold where these are.
_EQUALITIES = {cst.Equal: True, cst.Is: True, cst.NotEqual: False, cst.IsNot: False}


class Tests:
    """The tests of one analysis."""

    def __init__(self) -> None:
        self._structures: dict[cst.BaseExpression, str | None] = {}
        #: The values that tests read, kept alive so that their identities are not reused.
        self._read: list[Value] = []
        #: By scope number: tests by their text and the values they read.
        self._met: dict[int, dict[tuple[str, Read], Test]] = {}

    def branches(self, interpreter: Machine, test: cst.BaseExpression) -> Branches:
        """Return the conditions of a test that was evaluated just now.

        What equals one constant equals no other: where it does, the condition has that constant too.
        """
        holds = True
        while type(test) is cst.UnaryOperation and type(test.operator) is cst.Not:
            test, holds = test.expression, not holds
        found = self.identity(interpreter, test)
        outcomes: dict[bool, Tag] = {outcome: frozenset(((found, outcome),)) for outcome in (True, False)}
        if type(test) is cst.Comparison and len(test.comparisons) == 1 and _is_steady(found):
            target = test.comparisons[0]
            alike = _EQUALITIES.get(type(target.operator))
            if alike is not None:
                outcomes[alike] |= self._equal(interpreter, test.left, target.comparator)
        return outcomes[holds], outcomes[not holds]

    def _equal(self, interpreter: Machine, left: cst.BaseExpression, right: cst.BaseExpression) -> Tag:
        """Return the condition that two expressions are equal, if one of them is a constant."""
        for subject, other in ((left, right), (right, left)):
            value = interpreter.evaluate(other) if _is_plain(other) else None
            if isinstance(value, Const) and isinstance(value.value, Hashable):
                scope, text, *read = self.identity(interpreter, subject)
                return frozenset((((scope, f"{text} equals", *read), value.value),))
        return frozenset()

    def identity(self, interpreter: Machine, test: cst.BaseExpression) -> Test:
        """Return the identity of a test, equal for tests with the same outcome in one run of a function.

        They have the same text and read the same values; one may be in a function inside the other's.
        """
        text = self._structures.get(test, _NEW)
        if text == _NEW:
            text = self._structures[test] = None if _may_vary(test) else structure(test)
        if text is None:
            return (born(),)
        identities: list[int | None] = []
        around: set[Scope | None] = set()
        for name in interpreter.names_in(test):
            holder = interpreter.find(name)
            around.add(holder)
            if holder is None:
                identities.append(None)
            else:
                value = holder.variables[name]
                self._read.append(value)
                identities.append(id(value))
        scope, read = interpreter.scope, tuple(identities)
        outer = around.pop() if len(around) == 1 else None
        if outer is not None and outer is not scope:
            known = self._met.get(outer.born, {}).get((text, read))
            if known is not None:
                # The behaviour of the inner function depends on the outer one.
                depends(outer.born)
                return known
        found = (scope.born, text, read)
        self._met.setdefault(scope.born, {})[text, read] = found
        return found

    def take_over(
        self, scope: Scope, other: Scope, again: Callable[[Test], Test], values: dict[int, int]
    ) -> None:
        """Copy the tests of a scope to another that replaces it, for the functions inside it.

        ``again`` maps the tests, and ``values`` the identities of the values in the old scope to those of the
        values that replace them.
        """
        found = self._met.get(other.born)
        if found is not None:
            self._met[scope.born] = {
                (text, tuple([one if one is None else values.get(one, one) for one in read])): again(test)
                for (text, read), test in found.items()
            }

    def forget_nodes(self) -> None:
        """Drop the nodes of the program, some of which no longer exist."""
        self._structures.clear()


def _is_steady(test: Test) -> bool:
    """Return whether a test has the same outcome each time that it is met."""
    return len(test) > 1


def _is_plain(node: cst.BaseExpression) -> bool:
    """Return whether an expression is a name or a literal."""
    if type(node) is cst.UnaryOperation:
        node = node.expression
    return type(node) in (cst.Name, cst.SimpleString, cst.Integer)


def _may_vary(test: cst.BaseExpression) -> bool:
    """Return whether a test calls something that may answer differently each time."""
    calls = (part.func for part in walk(test) if type(part) is cst.Call)
    return not all(type(called) is cst.Name and called.value in _STEADY for called in calls)
