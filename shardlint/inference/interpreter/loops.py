"""Loops: unrolled if their items are known, otherwise run until the state is stable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import libcst as cst

from shardlint.inference.conditions.narrowing import refine
from shardlint.inference.conditions.truth_of_tracers import tested
from shardlint.inference.domain.havoc import lose_position
from shardlint.inference.domain.iteration import MAX_UNROLLED
from shardlint.inference.domain.lattice import join_variables, widen
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.values import DictValue, Instance, LibraryObject, ListValue, Tuple, Value
from shardlint.inference.evaluation.context import LoopState
from shardlint.inference.evaluation.iterators import Drawn, at_most, draw, each_left, iterator_of
from shardlint.inference.interpreter.assignment import assign
from shardlint.inference.machine.compiled_positions import set_in
from shardlint.inference.semantics.variables import watching, widened
from shardlint.laws.core.values import Unknown

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: The most iterations of a ``while`` with a known test that are followed.
_MAX_PASSES = 16
#: The most passes in which the variables of a loop of unknown length become stable.
_MAX_SILENT = 2
_MADE_ANEW = frozenset({Tuple, DictValue, ListValue, Instance})


def run_for(interpreter: Machine, node: cst.For) -> bool:
    """Execute a ``for`` statement: one pass for each certain item, then any number of passes."""
    place = interpreter.place(node.iter)
    iterator = iterator_of(interpreter, interpreter.evaluate(node.iter), place)
    scope, state = interpreter.scope, LoopState(items=iterator)
    outer = interpreter.variants, interpreter.picked
    running, count = True, 0
    for number, drawn in enumerate(each_left(interpreter, iterator, place)):
        if not drawn.sure:
            return _leave(interpreter, state, _run_rest(interpreter, node, iterator, drawn))
        count = max(count or _count(iterator), number + 1)
        if count > MAX_UNROLLED and state.breaks:
            # The loop is long, and may have ended.
            lose_position(iterator)
        state.continues.clear()
        state.earlier |= state.written.keys()
        interpreter.frame.loops.append(state)
        try:
            with watching(scope) as state.written:
                state.at, state.first = (number, count), number == 0
                assign(interpreter, node.target, drawn.item)
                running = interpreter.execute_block(node.body.body)
        finally:
            interpreter.frame.loops.pop()
            interpreter.variants, interpreter.picked = outer
        ends = [scope.variables, *state.continues] if running else state.continues
        running = bool(ends)
        if not ends:
            break
        scope.variables = join_variables(ends)
    if running and node.orelse is not None:
        running = interpreter.execute_block(node.orelse.body.body)
    return _leave(interpreter, state, running)


def _count(iterator: Value) -> int:
    """Return the most items of an iterator of which one was drawn; many if that is unknown."""
    left = at_most(iterator)
    return MAX_UNROLLED + 1 if left is None else left + 1


def _run_rest(interpreter: Machine, node: cst.For, iterator: LibraryObject | Instance, drawn: Drawn) -> bool:
    """Execute a ``for`` statement for items of unknown number."""
    if drawn.endless:
        # Side effects occur before each item.
        with interpreter.forked(repeats=True):
            draw(interpreter, iterator, interpreter.place(node.iter))
    return _run_unknown(
        interpreter,
        node.body.body,
        lambda: assign(interpreter, node.target, drawn.item),
        _else(node.orelse),
        counters=partial(_counters, node),
    )


def _counters(node: cst.For) -> frozenset[str]:
    """Return the variable that counts the passes of a loop over `range` or `enumerate`, by its text, if
    nothing else sets it."""
    called = node.iter.func if isinstance(node.iter, cst.Call) else None
    function = called.value if isinstance(called, cst.Name) else ""
    target: cst.BaseExpression = node.target
    if function == "enumerate" and isinstance(target, cst.Tuple) and target.elements:
        target = target.elements[0].value
    elif function != "range":
        return frozenset()
    return frozenset({target.value}) - set_in(node.body) if isinstance(target, cst.Name) else frozenset()


def pick(interpreter: Machine, test: cst.BaseExpression) -> None:
    """Let an undecided test select items of the enclosing loops for the rest of this pass.

    Events for a single item need then not occur: the test may be there to exclude it.
    """
    names = interpreter.names_in(test)
    for state in interpreter.frame.loops:
        number, count = state.at
        known = count < 2 or id(state) in interpreter.picked
        if not known and any(name in state.written for name in names):
            variant, variants = interpreter.variants
            interpreter.variants = variant * count + number, variants * count
            interpreter.picked |= {id(state)}


def run_while(interpreter: Machine, node: cst.While) -> bool:
    """Execute a ``while`` statement: its test may hold any number of times."""

    def enter() -> None:
        interpreter.evaluate(node.test)
        refine(interpreter, node.test, True)

    endless = isinstance(node.test, cst.Name | cst.Integer) and node.test.value in ("True", "1")
    state = LoopState()
    for number in range(0 if endless else _MAX_PASSES):
        state.first = number == 0
        state.earlier |= state.written.keys()
        outcome = truth(tested(interpreter, node.test))
        if outcome is False:
            otherwise = _else(node.orelse)
            return _leave(interpreter, state, _run_otherwise(interpreter, state, otherwise))
        if outcome is None or state.breaks:
            break
        scope = interpreter.scope
        with watching(scope) as state.written:
            scope.variables = _one_pass(interpreter, node.body.body, lambda: None, scope.variables, state)
        if state.ended:
            return _leave(interpreter, state, False)
        state.continues.clear()
    running = _run_unknown(interpreter, node.body.body, enter, _else(node.orelse), endless)
    return _leave(interpreter, state, running)


def _run_otherwise(interpreter: Machine, state: LoopState, otherwise: Sequence[Any]) -> bool:
    """Execute a loop's ``else``, which runs unless a `break` left the loop."""
    if not otherwise:
        return True
    with interpreter.forked(guards=False) if state.breaks else nullcontext():
        return interpreter.execute_block(otherwise)


def _run_unknown(
    interpreter: Machine,
    body: Sequence[Any],
    enter: Callable[[], None],
    otherwise: Sequence[Any],
    endless: bool = False,
    counters: Callable[[], frozenset[str]] = frozenset,
) -> bool:
    """Execute a body that runs an unknown number of times.

    The variables it changes are widened, in passes that record nothing, until a pass changes nothing more. If
    nothing is recorded anyway, that pass is the last.
    """

    scope = interpreter.scope
    before = scope.variables
    earlier: frozenset[str] = frozenset()
    done = unstable = False
    for number in range(_MAX_SILENT + 1):
        state = LoopState(unstable=number == _MAX_SILENT, counters=counters)
        with interpreter.silent(), interpreter.forked(repeats=state), watching(scope) as written:
            after = _one_pass(interpreter, body, enter, dict(before), state)
        changed = _changes(before, after)
        earlier |= written.keys()
        if not changed and not state.changes:
            done = interpreter.is_silent and not interpreter.frame.generator
            break
        before = {**before, **changed}
    else:
        unstable = True
        before = {**before, **{name: Unknown("changes in a loop") for name in written if name in before}}
    if not done:
        state = LoopState(unstable=unstable, earlier=earlier, counters=counters)
        with interpreter.forked(repeats=state), watching(scope) as state.written:
            after = _one_pass(interpreter, body, enter, dict(before), state)
    after = _settled(before, widened(scope, before, after))
    state.breaks[:] = [_settled(before, widened(scope, before, found)) for found in state.breaks]
    scope.variables = join_variables([before, after]) if not endless else after
    return _leave(interpreter, state, not endless and _run_otherwise(interpreter, state, otherwise))


def _changes(before: dict[str, Value], after: dict[str, Value]) -> dict[str, Value]:
    """Return the variables that a pass changes, widened."""
    pairs = ((name, widen(before[name], value)) for name, value in after.items() if name in before)
    return {name: value for name, value in pairs if value is not before[name]}


def _settled(before: dict[str, Value], after: dict[str, Value]) -> dict[str, Value]:
    """Return the variables after a pass; the one before stands for an object that each pass makes anew."""
    return {
        name: widen(before[name], value)
        if name in before and type(value) in _MADE_ANEW and type(before[name]) is type(value)
        else value
        for name, value in after.items()
    }


def _one_pass(
    interpreter: Machine,
    body: Sequence[Any],
    enter: Callable[[], None],
    variables: dict[str, Value],
    state: LoopState,
) -> dict[str, Value]:
    """Execute a body once and return the variables at the start of the next iteration."""
    scope = interpreter.scope
    scope.variables = variables
    interpreter.frame.loops.append(state)
    try:
        enter()
        running = interpreter.execute_block(body)
    finally:
        interpreter.frame.loops.pop()
    ends = [scope.variables, *state.continues] if running else state.continues
    state.ended = not ends
    return join_variables(ends) if ends else variables


def _leave(interpreter: Machine, state: LoopState, running: bool) -> bool:
    ends = [*state.breaks, interpreter.scope.variables] if running else state.breaks
    if ends:
        interpreter.scope.variables = join_variables(ends)
    return bool(ends)


def _else(node: cst.Else | None) -> Sequence[Any]:
    return () if node is None else node.body.body
