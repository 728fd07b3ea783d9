"""Comprehensions and generator expressions, as iterators that compute their items one by one.

A generator expression is evaluated as its items are consumed; only the first iterable is evaluated at once.
Other comprehensions are consumed completely.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, cast

import libcst as cst

from shardlint.inference.conditions.truth_of_tracers import tested
from shardlint.inference.domain.lattice import join
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.unknown_choices import is_doubtful
from shardlint.inference.domain.values import Const, Function, Instance, LibraryObject, Tuple, Value
from shardlint.inference.evaluation.context import Frame, Scope
from shardlint.inference.evaluation.iterators import ENDED, STEPS, Drawn, draw, iterator_of, made
from shardlint.inference.interpreter.assignment import assign
from shardlint.inference.machine.code import Code
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

Comprehension = cst.ListComp | cst.GeneratorExp | cst.SetComp | cst.DictComp
_Open = LibraryObject | Instance


def comprehension(interpreter: Machine, node: Comprehension) -> LibraryObject:
    """Return the iterator of a comprehension's items; for a dict comprehension, of pairs."""
    place = interpreter.place(node)
    first = iterator_of(interpreter, interpreter.evaluate(node.for_in.iter), place)
    outer = interpreter.frame
    scope = Scope(outer.scope.module, outer.scope, path=interpreter.path, is_comprehension=True)
    function = Function("<comprehension>", Code("<comprehension>", outer.unit, node, None), scope)
    nested = node.for_in.inner_for_in is not None
    kind = "nested comprehension" if nested else "comprehension"
    return made(interpreter, kind, place, function=function, parts=Tuple((first,)), state=Const(0))


class _Running:
    """A comprehension while its next item is computed."""

    def __init__(self, interpreter: Machine, iterator: LibraryObject) -> None:
        function, parts = iterator.fields["function"], iterator.fields["parts"]
        assert isinstance(function, Function) and isinstance(parts, Tuple)
        self._interpreter, self._iterator, self._function = interpreter, iterator, function
        self._node = cast(Comprehension, function.code.node)
        #: The iterators of the clauses entered so far, outermost first.
        self._open = [cast(_Open, part) for part in parts.items]
        self._clauses = [self._node.for_in]
        while (inner := self._clauses[-1].inner_for_in) is not None:
            self._clauses.append(inner)
        self._place: Place = interpreter.place(self._node)
        #: Whether a test of the last item is undecided for another reason than a choice.
        self._doubtful = False

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Run in the comprehension's own scope."""
        i, function = self._interpreter, self._function
        i.frames.append(Frame(function.scope, function.code.unit, path=i.path))
        try:
            yield
        finally:
            i.frames.pop()

    def next(self) -> Drawn | None:
        """Return the next item."""
        with self._inside():
            try:
                return self._next()
            finally:
                self._iterator.fields["parts"] = Tuple(tuple(self._open))

    def _next(self) -> Drawn | None:
        while self._iterator.fields["state"] != ENDED:
            depth = len(self._open) - 1
            drawn = draw(self._interpreter, self._open[-1], self._place)
            if drawn is None and depth:
                self._open.pop()
                continue
            if drawn is None:
                self._iterator.fields["state"] = ENDED
                return None
            self._doubtful = False
            takes = self._take(depth, drawn.item) if drawn.sure or drawn.endless else None
            if takes is False and drawn.sure:
                continue
            if takes and depth == len(self._clauses) - 1:
                return drawn._replace(item=self._element())
            if takes and drawn.sure:
                self._open.append(self._inner(depth))
                continue
            return self._rest(depth, drawn, takes)
        return None

    def _take(self, depth: int, item: Value) -> bool | None:
        """Bind an item of a clause and return whether it passes the tests."""
        self._interpreter.tick()
        clause = self._clauses[depth]
        assign(self._interpreter, clause.target, item)
        passes: bool | None = True
        for test in clause.ifs:
            with self._forked() if passes is None else nullcontext():
                value = tested(self._interpreter, test.test)
            outcome = truth(value)
            if outcome is False:
                return False
            self._doubtful = self._doubtful or (outcome is None and is_doubtful(value))
            passes = passes and outcome
        return passes

    def _forked(self) -> AbstractContextManager[None]:
        """Evaluate code that runs only if an undecided item passes."""
        return self._interpreter.forked(doubtful=self._doubtful)

    def _element(self) -> Value:
        if isinstance(self._node, cst.DictComp):
            key = self._interpreter.evaluate(self._node.key)
            return Tuple((key, self._interpreter.evaluate(self._node.value)))
        return self._interpreter.evaluate(self._node.elt)

    def _inner(self, depth: int) -> _Open:
        """Return the iterator of the clause inside one whose item was bound."""
        inner = self._clauses[depth + 1].iter
        return iterator_of(self._interpreter, self._interpreter.evaluate(inner), self._place)

    def _rest(self, depth: int, drawn: Drawn, takes: bool | None) -> Drawn:
        """Return all remaining items as one, since it is undecided whether an item passes or how many there
        are."""
        found: list[Value] = []
        if drawn.sure:
            with self._forked():
                self._each(depth, found)
        else:
            with self._interpreter.forked(repeats=True):
                if takes is not False and (takes is not None or self._take(depth, drawn.item) is not False):
                    with self._forked():
                        self._each(depth, found)
        # An item that is not certain stands for all remaining items of its iterator.
        for level in range(depth if drawn.sure else depth - 1, -1, -1):
            self._left(level, self._open[level], found)
        return Drawn(join(found) if found else Unknown("an item that may be left out"), sure=False)

    def _each(self, depth: int, found: list[Value]) -> None:
        """Collect the elements that a bound item may produce."""
        if depth == len(self._clauses) - 1:
            found.append(self._element())
        else:
            self._left(depth + 1, self._inner(depth), found)

    def _left(self, depth: int, iterator: _Open, found: list[Value]) -> None:
        """Collect the elements that the remaining items of a clause may produce."""
        while (drawn := draw(self._interpreter, iterator, self._place)) is not None:
            self._doubtful = False
            with self._interpreter.forked(repeats=not drawn.sure):
                if self._take(depth, drawn.item) is not False:
                    with self._forked():
                        self._each(depth, found)
            if not drawn.sure:
                break


STEPS |= dict.fromkeys(
    ("iterator.comprehension", "iterator.nested comprehension"),
    lambda interpreter, iterator: _Running(cast("Machine", interpreter), iterator).next(),
)
