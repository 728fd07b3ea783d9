"""Narrowing of variables by a test, on the branch where it holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.lattice import NO_TAG, Perhaps, combined, join_tagged, tagged
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.values import Alternatives, Array, Tag, Value, as_int
from shardlint.inference.semantics.variables import narrow
from shardlint.inference.syntax.node_fields import parts
from shardlint.laws.core import dims
from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.size_syntax import configured
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: A possible value of a variable, and its condition.
Row = tuple[Value, Tag]


def refine(interpreter: Machine, test: cst.BaseExpression, outcome: bool) -> Tag | None:
    """Narrow variables to values under which the test has this outcome; return None if there are none.

    Otherwise return the branches that must have been taken before. A variable with alternatives keeps those
    under which the test may have this outcome. A name whose truth is undecided becomes the constant that it
    must be.
    """
    # libcst's classes are abstract base classes, for which isinstance is slow.
    if type(test) is cst.UnaryOperation and type(test.operator) is cst.Not:
        return refine(interpreter, test.expression, not outcome)
    if type(test) is cst.BooleanOperation and (type(test.operator) is cst.And) == outcome:
        # Both sides have this outcome; the right one is evaluated after the left one.
        learned = NO_TAG
        for side in (test.left, test.right):
            found = refine(interpreter, side, outcome) if _can_be(interpreter, side, outcome) else None
            if found is None:
                return None
            learned |= found
        return learned
    learned = NO_TAG
    for name in interpreter.names_in(test):
        holder = interpreter.find(name)
        value = None if holder is None or holder.may_change(name) else holder.variables[name]
        if isinstance(value, Alternatives):
            kept = _possible(interpreter, test, name, tagged(value), outcome)
            if not kept:
                return None
            narrow(interpreter, name, join_tagged(kept))
        elif isinstance(value, Perhaps):
            rows = tuple(zip(value.constants, value.tags[1:], strict=True))
            kept = [(value, value.tags[0]), *_possible(interpreter, test, name, rows, outcome)]
        else:
            continue
        condition = frozenset.intersection(*(tag for _, tag in kept))
        learned |= condition
        _leave_out(interpreter, condition)
    if type(test) is cst.Comparison and outcome:
        _learn_rank(interpreter, test)
    return learned


def _can_be(interpreter: Machine, test: cst.BaseExpression, outcome: bool) -> bool:
    """Return whether a test may have this outcome, given the present variables."""
    scope, before = interpreter.scope, interpreter.scope.variables
    scope.variables = dict(before)
    with interpreter.silent(), interpreter.forked():
        decided = truth(interpreter.evaluate(test))
    scope.variables = before
    return decided is None or decided is outcome


def _possible(
    interpreter: Machine, test: cst.BaseExpression, name: str, rows: Iterable[Row], outcome: bool
) -> list[Row]:
    """Return the values of a name under which a test may have this outcome, with their conditions."""
    kept: list[Row] = []
    scope, before = interpreter.scope, interpreter.scope.variables
    for option, tag in rows:
        scope.variables = {**before, name: option}
        with interpreter.silent(), interpreter.forked():
            decided = truth(interpreter.evaluate(test))
        if decided is None or decided is outcome:
            kept.append((option, tag))
    scope.variables = before
    return kept


def _leave_out(interpreter: Machine, taken: Tag) -> None:
    """Remove alternatives of the function's other variables that exclude these branches."""
    if not taken:
        return
    for name, value in interpreter.scope.variables.items():
        if isinstance(value, Alternatives) and any(value.tags):
            rows = [(option, tag) for option, tag in tagged(value) if combined(taken, tag) is not None]
            if 0 < len(rows) < len(value.options):
                narrow(interpreter, name, join_tagged(rows))


def _learn_rank(interpreter: Machine, test: cst.Comparison) -> None:
    """Narrow an array of unknown rank by ``x.ndim == 2`` or ``len(x.shape) == 2``."""
    if len(test.comparisons) != 1 or not isinstance(test.comparisons[0].operator, cst.Equal):
        return
    name = _ranked_name(test.left)
    rank = as_int(interpreter.evaluate(test.comparisons[0].comparator)) if name else None
    if name is None or rank is None or not 0 <= rank <= 16:
        return
    learn_shape(interpreter, name, tuple(dims.fresh() for _ in range(rank)), interpreter.place(test))


def learn_rank(interpreter: Machine, node: cst.Assign) -> None:
    """Narrow an array of unknown rank by ``b, t, d = x.shape``, and name its dimensions."""
    source, target = node.value, node.targets[0].target
    if type(target) is not cst.Tuple or type(source) is not cst.Attribute or source.attr.value != "shape":
        return
    names = [e.value.value if isinstance(e.value, cst.Name) else None for e in target.elements]
    starred = any(isinstance(e, cst.StarredElement) for e in target.elements)
    if starred or not isinstance(source.value, cst.Name):
        return
    sizes = tuple(dims.fresh() if n in (None, "_") else _size(interpreter, str(n)) for n in names)
    learn_shape(interpreter, source.value.value, sizes, interpreter.place(node))


def learn_shape(interpreter: Machine, name: str, shape: Shape, place: Place) -> None:
    """Narrow a variable that may be anything, or an array of any rank, to an array of this shape."""
    holder = interpreter.find(name)
    value = holder.variables[name] if holder else None
    if isinstance(value, Unknown) or (isinstance(value, Array) and value.shape is None):
        dtype = value.dtype if isinstance(value, Array) else None
        narrow(interpreter, name, Array(shape, dtype, origin=place, name=name))


def _size(interpreter: Machine, name: str) -> Dim:
    """Return the size for a name: the configured one, else a new symbol."""
    found = configured(interpreter.settings.dims, name)
    return dims.distinct(name) if found is None else found


def _ranked_name(node: cst.BaseExpression) -> str | None:
    """Return the ``x`` of ``x.ndim`` or ``len(x.shape)``."""
    if isinstance(node, cst.Attribute) and node.attr.value == "ndim" and isinstance(node.value, cst.Name):
        return node.value.value
    if (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and node.func.value == "len"
        and node.args
    ):
        argument = node.args[0].value
        if isinstance(argument, cst.Attribute) and argument.attr.value == "shape":
            return argument.value.value if isinstance(argument.value, cst.Name) else None
    return None


def names_in(test: cst.BaseExpression) -> tuple[str, ...]:
    """Return the names that a test reads, outside of functions defined in it and attributes."""
    found: dict[str, None] = {}
    waiting: list[cst.CSTNode] = [test]
    while waiting:
        node = waiting.pop()
        if type(node) is cst.Name:
            found[node.value] = None
        elif type(node) is cst.Attribute:
            waiting.append(node.value)
        elif type(node) is not cst.Lambda:
            waiting.extend(parts(node))
    return tuple(found)
