"""Identities of tests: tests with the same identity have the same outcome."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.builtin_bases import mixed_in_value
from shardlint.inference.domain.classes import class_attribute
from shardlint.inference.domain.lattice import NO_TAG, Reading
from shardlint.inference.domain.values import (
    ClassValue,
    Const,
    External,
    Instance,
    ModuleValue,
    Native,
    Tag,
    Test,
    Value,
)
from shardlint.inference.machine.read_paths import Path, paths_read
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
#: What a comparison compares, and the constants that it compares it with.
Compared = tuple[cst.BaseExpression, frozenset[Hashable]]
_NONE: frozenset[Hashable] = frozenset((None,))
#: Values that are the same whatever else the program does not tell.
_KNOWN = (ClassValue, Const, ModuleValue, Native)
#: Functions whose answers tell nothing of each other.
_DRAWING = ("random.", "numpy.random.")
#: Calls that return the same each time.
_STEADY = frozenset({"isinstance", "hasattr", "len"})
#: Comparisons that hold where another does not, and that one.
_OPPOSITES: dict[type, type] = {cst.NotEqual: cst.Equal, cst.IsNot: cst.Is, cst.NotIn: cst.In}


class Tests:
    """The tests of one analysis."""

    def __init__(self) -> None:
        self._structures: dict[cst.BaseExpression, str | None] = {}
        #: By test: the paths that it reads; and the texts of what tests compare with constants.
        self._paths: dict[cst.BaseExpression, tuple[Path, ...]] = {}
        self._compared: dict[cst.BaseExpression, str] = {}
        #: The values that tests read, kept alive so that their identities are not reused.
        self._read: list[Value | None] = []
        #: By scope number: tests by their text and the values they read.
        self._met: dict[int, dict[tuple[str, Read], Test]] = {}

    def branches(self, interpreter: Machine, test: cst.BaseExpression) -> Branches:
        """Return the conditions of a test that was evaluated just now.

        What equals one constant equals no other: where it does, the condition has that constant too.
        """
        holds = True
        while type(test) is cst.UnaryOperation and type(test.operator) is cst.Not:
            test, holds = test.expression, not holds
        compared = _compared(test)
        if compared is not None and compared[1] in _OPPOSITES:
            holds = not holds
        alike = None if compared is None else _alike(interpreter, *compared)
        reading = self._reading(interpreter, test, None if alike is None else alike[0])
        if alike is not None and alike[1] == _NONE and reading.compared:
            # That something is not None tells nothing of its parts.
            reading = reading._replace(paths=frozenset())
        found = self._identity(interpreter, test, reading)
        yes: Tag = frozenset(((found, True),))
        no: Tag = frozenset(((found, False),))
        if alike is not None:
            yes |= self._one_of(interpreter, *alike)
        return (yes, no) if holds else (no, yes)

    def among(self, interpreter: Machine, subject: cst.BaseExpression, pattern: cst.MatchPattern) -> Tag:
        """Return the condition that a subject matches a pattern of constants; nothing for other patterns."""
        values = _constants(interpreter, pattern)
        return NO_TAG if values is None else self._one_of(interpreter, subject, values)

    def _one_of(self, interpreter: Machine, subject: cst.BaseExpression, values: frozenset[Hashable]) -> Tag:
        compared = self._text_of(subject)
        if not compared:
            return NO_TAG
        found = self._identity(interpreter, subject, self._reading(interpreter, subject, subject))
        scope, text, reading, *read = found
        # It may be known from a test of its truth.
        reading = reading._replace(compared=compared)
        return frozenset((((scope, f"{text} is one of", reading, *read), values),))

    def _identity(self, interpreter: Machine, test: cst.BaseExpression, reading: Reading) -> Test:
        """Return the identity of a test, equal for tests with the same outcome in one run of a function.

        They have the same text and read the same values; one may be in a function inside the other's.
        """
        text = self._structures.get(test, _NEW)
        if text == _NEW:
            text = self._structures[test] = None if _may_vary(test) else _text(test)
        if text is None:
            return (born(), "", reading)
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
        found = (scope.born, text, reading, read)
        self._met.setdefault(scope.born, {})[text, read] = found
        return found

    def _reading(
        self, interpreter: Machine, test: cst.BaseExpression, subject: cst.BaseExpression | None
    ) -> Reading:
        """Return what a test reads, of which ``subject`` is compared with constants."""
        if test not in self._paths:
            self._paths[test] = tuple(paths_read(test))
        paths = [self._path(interpreter, path) for path in self._paths[test]]
        compared = "" if subject is None else self._text_of(subject)
        return Reading(interpreter.scope.born, frozenset(filter(None, paths)), compared)

    def _text_of(self, subject: cst.BaseExpression) -> str:
        """Return the text of what is compared with constants; empty if it may differ each time."""
        if subject not in self._compared:
            self._compared[subject] = "" if _may_vary(subject) else structure(subject)
        return self._compared[subject]

    def _path(self, interpreter: Machine, path: Path) -> str:
        """Return a text for a path from the value that its name has now; empty if that is known."""
        holder = interpreter.find(path.name)
        value = None if holder is None else holder.variables[path.name]
        if not path.calls and (value is None or isinstance(value, _KNOWN)):
            return ""
        if isinstance(value, External) and f"{value.name}{path.steps}".startswith(_DRAWING):
            return ""
        self._read.append(value)
        return f"{id(value)} {path.name}{path.steps}"

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
        for known in (self._structures, self._paths, self._compared):
            known.clear()


def _alike(
    interpreter: Machine, left: cst.BaseExpression, operator: type, right: cst.BaseExpression
) -> Compared | None:
    """Return what a comparison, or its opposite, compares with constants, and these."""
    operator = _OPPOSITES.get(operator, operator)
    if operator in (cst.Equal, cst.Is):
        for subject, other in ((left, right), (right, left)):
            if (value := _constant(interpreter, other)) is not None:
                return subject, value
    shown = operator is cst.In and type(right) in (cst.Tuple, cst.List, cst.Set)
    values = _constants(interpreter, right) if shown else None
    return None if values is None else (left, values)


def _text(test: cst.BaseExpression) -> str:
    """Return a text that is equal for tests that hold together, and for a comparison and its opposite."""
    if (compared := _compared(test)) is None:
        return structure(test)
    left, operator, right = compared
    return f"{structure(left)} {_OPPOSITES.get(operator, operator).__name__} {structure(right)}"


def _compared(test: cst.BaseExpression) -> tuple[cst.BaseExpression, type, cst.BaseExpression] | None:
    """Return the sides of a single comparison, and its operator between them."""
    if type(test) is not cst.Comparison or len(test.comparisons) != 1:
        return None
    target = test.comparisons[0]
    return test.left, type(target.operator), target.comparator


def _constants(interpreter: Machine, node: cst.CSTNode) -> frozenset[Hashable] | None:
    """Return the constants in a display, or in a pattern; None if there is anything else."""
    if isinstance(node, cst.MatchOr):
        found = [_constants(interpreter, element.pattern) for element in node.patterns]
    elif isinstance(node, cst.Tuple | cst.List | cst.Set):
        elements = [element.value if type(element) is cst.Element else element for element in node.elements]
        found = [_constant(interpreter, element) for element in elements]
    elif isinstance(node, cst.MatchValue | cst.MatchSingleton):
        found = [_constant(interpreter, node.value)]
    else:
        return None
    known = [values for values in found if values is not None]
    return frozenset().union(*known) if len(known) == len(found) else None


def _constant(interpreter: Machine, node: cst.CSTNode) -> frozenset[Hashable] | None:
    """Return what an expression is that is a constant, or a member of an enumeration, alone in a set."""
    literal = node.expression if isinstance(node, cst.UnaryOperation) else node
    value: Value | None = None
    if not isinstance(node, cst.BaseExpression):
        return None
    if isinstance(literal, cst.Name | cst.SimpleString | cst.Integer | cst.Float):
        value = interpreter.evaluate(node)
    elif isinstance(literal, cst.BinaryOperation):
        if None not in (_constant(interpreter, literal.left), _constant(interpreter, literal.right)):
            value = interpreter.evaluate(node)
    elif isinstance(literal, cst.Attribute) and isinstance(literal.value, cst.Name):
        owner = interpreter.evaluate(literal.value)
        if isinstance(owner, ClassValue) and owner.members is not None:
            value = owner.members.get(literal.attr.value)
    if isinstance(value, Instance):
        mixed = mixed_in_value(value)
        plain = value.cls.members is not None and class_attribute(value.cls, "__eq__") is None
        if mixed is None and plain and isinstance(name := value.attributes.get("name"), Const):
            return frozenset(((value.cls.name, name.value),))
        value = mixed
    if isinstance(value, Const) and isinstance(value.value, Hashable):
        return frozenset((value.value,))
    return None


def _may_vary(test: cst.BaseExpression) -> bool:
    """Return whether a test calls something that may answer differently each time."""
    calls = (part.func for part in walk(test) if type(part) is cst.Call)
    return not all(type(called) is cst.Name and called.value in _STEADY for called in calls)
