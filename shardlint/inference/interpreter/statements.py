"""Statements: each handler changes the scope and returns whether control may continue after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import libcst as cst

from shardlint.inference.conditions.ending_calls import never_returns
from shardlint.inference.conditions.exception_handlers import caught_by
from shardlint.inference.conditions.narrowing import learn_rank, refine
from shardlint.inference.conditions.truth_of_tracers import tested
from shardlint.inference.domain.havoc import forget
from shardlint.inference.domain.lattice import NO_TAG, combined, join_variables
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.unknown_choices import is_doubtful
from shardlint.inference.domain.values import NONE, ClassValue, Never, Value, as_items
from shardlint.inference.evaluation.context import meant
from shardlint.inference.evaluation.disjunction import met
from shardlint.inference.evaluation.mutation import augment
from shardlint.inference.evaluation.release_queries import is_of_version, of_version
from shardlint.inference.facts.annotations import annotated, description
from shardlint.inference.facts.comment_facts import with_notes
from shardlint.inference.interpreter.assignment import assign, bind, delete, held_by, note_alias
from shardlint.inference.interpreter.definitions import define_class, define_function
from shardlint.inference.interpreter.expressions import evaluate
from shardlint.inference.interpreter.import_statements import (
    import_from,
    import_names,
    of_failed_import,
    only_known_imports,
)
from shardlint.inference.interpreter.loops import pick, run_for, run_while
from shardlint.inference.interpreter.match_statements import takes
from shardlint.inference.interpreter.with_statements import enter_contexts
from shardlint.inference.machine.code import Code
from shardlint.inference.overlays.jax.explicit.unplaced_arguments import note_replaced
from shardlint.inference.overlays.jax.transforms.stacked_copies import note_drift
from shardlint.inference.recording.unread_variables import note_unread_variable
from shardlint.inference.semantics.discarded_results import note_discarded, note_unread
from shardlint.inference.semantics.operators import binary_operation
from shardlint.inference.semantics.variables import interrupted, watching, widened
from shardlint.inference.syntax.name_scopes import CATCHING
from shardlint.inference.syntax.node_fields import exception_names, is_dotted, leaves, may_raise, structure
from shardlint.laws.core.values import Unknown

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

Statement = cst.BaseStatement | cst.BaseSmallStatement
Handler = Callable[["Machine", Any], bool]


def execute_block(interpreter: Machine, body: Sequence[Statement]) -> bool:
    """Execute a block's statements in order; return whether control may reach what follows."""
    interpreter.budget.tick_block(len(body))
    for statement in body:  # noqa: SIM110 (a generator would be one more frame at each level)
        if not execute(interpreter, statement):
            return False
    return True


def execute(interpreter: Machine, node: Statement) -> bool:
    """Execute one statement; return whether control may reach what follows."""
    kind = type(node)
    run = _compound if kind in _COMPOUND else _HANDLERS[kind]
    if kind in _NOTED and interpreter.frames[-1].unit.notes:
        return with_notes(interpreter, node, lambda: run(interpreter, node))
    return run(interpreter, node)


def _compound(interpreter: Machine, node: Statement) -> bool:
    kind = type(node)
    path, left, forks = interpreter.path, _departures(interpreter), interpreter.forks
    doubts = interpreter.frames[-1].doubts
    falls_through = _HANDLERS[kind](interpreter, node)
    if kind in _LOOPS:
        interpreter.path = path
    undecided = falls_through or interpreter.forks != forks
    if undecided and interpreter.path == path and _departures(interpreter) != left:
        interpreter.diverge(interpreter.frames[-1].doubts != doubts)
    return falls_through


def _departures(interpreter: Machine) -> int:
    """Return the numbers of recorded exits from the function and its innermost loop."""
    frame = interpreter.frames[-1]
    if not frame.loops:
        return len(frame.exits)
    jumps = frame.loops[-1]
    return len(frame.exits) + len(jumps.breaks) + len(jumps.continues)


def execute_branch(interpreter: Machine, body: Sequence[Statement], doubtful: bool) -> dict[str, Any] | None:
    """Execute a block on a copy of the variables; return those at its end, or None if it never ends normally.

    A ``doubtful`` block may never run.
    """
    with interpreter.forked(doubtful=doubtful):
        falls_through = execute_block(interpreter, body)
    return interpreter.scope.variables if falls_through else None


def _simple_line(interpreter: Machine, node: cst.SimpleStatementLine | cst.SimpleStatementSuite) -> bool:
    frame = interpreter.frames[-1]
    frame.raised = None
    for statement in node.body:
        if not _HANDLERS[type(statement)](interpreter, statement) or frame.raised == interpreter.path:
            return False
    return True


def _expression(interpreter: Machine, node: cst.Expr) -> bool:
    recorded = len(interpreter.uses)
    value = evaluate(interpreter, node.value)
    if type(node.value) is cst.Call:
        note_discarded(interpreter, node.value, value, recorded, evaluate)
    return type(value) is not Never and not never_returns(interpreter, node.value)


def _dotted(node: cst.BaseExpression) -> str:
    """Return the text of a name with attributes."""
    if type(node) is cst.Attribute:
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if type(node) is cst.Name else ""


def _assign(interpreter: Machine, node: cst.Assign) -> bool:
    learn_rank(interpreter, node)
    read, recorded = interpreter.versions_read, len(interpreter.uses)
    value = of_version(interpreter, evaluate(interpreter, node.value), read)
    if interpreter.frames[-1].raised == interpreter.path:
        return False
    if type(node.value) is cst.Call:
        _note_replaced(interpreter, node.value, node.targets[0].target, value)
        note_unread(interpreter, node, value, recorded, evaluate)
    for target in node.targets:
        assign(interpreter, target.target, value)
        note_alias(interpreter, target.target, node.value)
    if len(node.targets) == 1:
        note_unread_variable(interpreter, node.targets[0].target, value)
    return type(value) is not Never


def _note_replaced(interpreter: Machine, call: cst.Call, target: cst.BaseExpression, value: Value) -> None:
    """Compare what a call was given with what takes its place: ``state, loss = step(state, batch)``."""
    targets, values = [target], [value]
    if type(target) is cst.Tuple:
        targets = [element.value for element in target.elements]
        values = list(as_items(value) or ())
    if len(targets) != len(values) or interpreter.context.in_jit is not False or interpreter.context.test:
        return
    names = {_dotted(arg.value): arg.value for arg in call.args if is_dotted(arg.value)}
    for one, new in zip(targets, values, strict=True):
        if is_dotted(one) and (given := names.get(name := _dotted(one))) is not None:
            before, place = evaluate(interpreter, given), interpreter.place(call)
            note_drift(interpreter, before, new, name, place)
            if interpreter.frame.loops or type(one) is cst.Attribute:
                note_replaced(interpreter, before, new, name, place)


def _annotated(interpreter: Machine, node: cst.AnnAssign) -> bool:
    scope = interpreter.scope
    if scope.is_class and isinstance(node.target, cst.Name):
        written = structure(node.annotation.annotation)
        name = meant(scope, node.target.value)
        interpreter.annotated.setdefault(scope.born, {})[name] = written
        owner, found = scope.variables.get("__class__"), description(interpreter, node.annotation)
        if isinstance(owner, ClassValue) and found is not None and "ClassVar" not in written:
            owner.types[name] = (found, interpreter.place(node.annotation.annotation))
    if node.value is not None:
        value = evaluate(interpreter, node.value)
        assign(interpreter, node.target, annotated(interpreter, node.annotation, value))
    return True


def _augmented(interpreter: Machine, node: cst.AugAssign) -> bool:
    operator = type(node.operator).__name__.removesuffix("Assign")
    left, rebind = held_by(interpreter, node.target)
    right = evaluate(interpreter, node.value)
    value = augment(interpreter, operator, left, right, interpreter.place(node))
    if value is None:
        value = binary_operation(interpreter, operator, left, right, interpreter.place(node))
    rebind(value)
    return True


def _delete(interpreter: Machine, node: cst.Del) -> bool:
    delete(interpreter, node.target)
    return True


def _return(interpreter: Machine, node: cst.Return) -> bool:
    frame = interpreter.frame
    value = NONE if node.value is None else evaluate(interpreter, node.value)
    if frame.raised == interpreter.path:
        return False
    frame.returns.append(value)
    frame.conditions.append(interpreter.assumed)
    frame.exits.append(dict(interpreter.scope.variables))
    return False


def _raise(interpreter: Machine, node: cst.Raise) -> bool:
    if node.exc is not None:
        # A handler finds it, whose variable is not known.
        forget(evaluate(interpreter, node.exc))
    return False


def _break(interpreter: Machine, _: cst.Break) -> bool:
    if interpreter.frame.loops:
        interpreter.frame.loops[-1].breaks.append(dict(interpreter.scope.variables))
    return False


def _continue(interpreter: Machine, _: cst.Continue) -> bool:
    if interpreter.frame.loops:
        interpreter.frame.loops[-1].continues.append(dict(interpreter.scope.variables))
    return False


def _pass(_: Machine, __: cst.CSTNode) -> bool:
    return True


def _declared(interpreter: Machine, node: cst.Global | cst.Nonlocal) -> set[str]:
    return {meant(interpreter.scope, item.name.value) for item in node.names}


def _global(interpreter: Machine, node: cst.Global) -> bool:
    interpreter.scope.declared_global |= _declared(interpreter, node)
    return True


def _nonlocal(interpreter: Machine, node: cst.Nonlocal) -> bool:
    interpreter.scope.declared_nonlocal |= _declared(interpreter, node)
    return True


def _assert(interpreter: Machine, node: cst.Assert) -> bool:
    outcome = truth(tested(interpreter, node.test))
    if outcome is None:
        refine(interpreter, node.test, True)
    return outcome is not False


def _if(interpreter: Machine, node: cst.If) -> bool:
    read = interpreter.versions_read
    test = tested(interpreter, node.test)
    outcome = truth(test)
    otherwise: Sequence[Statement] = ()
    if type(node.orelse) is cst.If:
        otherwise = (node.orelse,)
    elif node.orelse is not None:
        otherwise = node.orelse.body.body
    if outcome is not None:
        return execute_block(interpreter, node.body.body if outcome else otherwise)
    guards = _asks_version(interpreter, node.test, test, read)
    return _fork(interpreter, node.test, node.body.body, otherwise, is_doubtful(test), guards)


def _asks_version(interpreter: Machine, test: cst.BaseExpression, value: Value, read: int) -> bool:
    """Return whether an undecided test depends on the version of JAX."""
    if interpreter.versions_read != read or is_of_version(value):
        return True
    holders = ((name, interpreter.find(name)) for name in interpreter.names_in(test))
    return any(scope is not None and is_of_version(scope.variables[name]) for name, scope in holders)


def _fork(
    interpreter: Machine,
    test: cst.BaseExpression,
    then: Sequence[Statement],
    other: Sequence[Statement],
    doubtful: bool,
    guards: bool,
) -> bool:
    """Follow both branches of an undecided test, and join where they meet.

    One that ``guards`` tests the version of JAX: if one branch ends, the following code is for other
    releases.
    """
    left = _departures(interpreter)
    scope, before, context = interpreter.scope, interpreter.scope.variables, interpreter.context
    outer = interpreter.variants, interpreter.picked
    ends, contexts, tags = [], [], []
    pick(interpreter, test)
    conditions = interpreter.tests.branches(interpreter, test)
    for body, outcome, condition in zip((then, other), (True, False), conditions, strict=True):
        scope.variables = dict(before)
        interpreter.context = context
        with interpreter.assuming(condition) as tag:
            if tag is None or (learned := refine(interpreter, test, outcome)) is None:
                continue
            interpreter.assumed = combined(interpreter.assumed, learned) or interpreter.assumed
            if (end := execute_branch(interpreter, body, doubtful)) is not None:
                ends.append(widened(scope, before, end))
                contexts.append(interpreter.context)
                tags.append(tag | learned)
    if len(ends) != 1:
        interpreter.variants, interpreter.picked = outer
    if not ends:
        scope.variables, interpreter.context = before, context
        return False
    scope.variables = join_variables(ends, tags)
    interpreter.context = met(context, contexts, "set on one branch only")
    if guards and (len(ends) == 1 or _departures(interpreter) != left):
        interpreter.diverge(doubtful, guards=True)
    return True


def _try(interpreter: Machine, node: cst.Try) -> bool:
    scope, before = interpreter.scope, dict(interpreter.scope.variables)
    if (handler := of_failed_import(interpreter, node)) is not None:
        if handler.name is not None:
            assign(interpreter, handler.name.name, Unknown("an exception"))
        return execute_block(interpreter, handler.body.body)
    # A `finally` that leaves the block swallows what is raised in it.
    swallows = node.finalbody is not None and leaves(node.finalbody.body)
    every = interpreter.context.caught | ({"BaseException"} if swallows else set())
    names = caught_by(node)
    handled = bool(node.handlers) and not only_known_imports(interpreter, node)
    interruptible = handled or (swallows and may_raise(node.body))
    kept = {id(found) for found in _snapshots(interpreter)}
    left = interpreter.frame.departures()
    with interpreter.within(caught=every | names), watching(scope) as written:
        body_ends = _uncertain_block(interpreter, node.body.body, interruptible)
    start = interrupted(before, written)
    with interpreter.within(caught=every), watching(scope) as later:
        if body_ends and node.orelse is not None:
            body_ends = _uncertain_block(interpreter, node.orelse.body.body, interruptible)
        ends = [scope.variables] if body_ends else []
        for handler in node.handlers if handled else ():
            scope.variables = dict(start)
            if handler.name is not None:
                assign(interpreter, handler.name.name, Unknown("an exception"))
            known = interpreter.context.deprecation_known or not CATCHING.isdisjoint(
                exception_names(handler.type)
            )
            with interpreter.within(deprecation_known=known):
                end = execute_branch(interpreter, handler.body.body, doubtful=True)
            if end is not None:
                ends.append(end)
    states = list(ends)
    if swallows:
        # It goes on from where the block was left, or failed.
        states += [found for found in _snapshots(interpreter) if id(found) not in kept]
        states += [interrupted(start, later)] if interruptible or later else []
    scope.variables = join_variables(states) if states else start
    if node.finalbody is not None:
        above = interpreter.frame.departures()
        with watching(scope) as written:
            if interpreter.context.caught and not swallows:
                # Its effects while an exception propagates are seen by the handler that catches it.
                normal, scope.variables = scope.variables, dict(start)
                with interpreter.silent(), interpreter.forked(guards=False):
                    execute_block(interpreter, node.finalbody.body.body)
                scope.variables = normal
            falls_through = execute_block(interpreter, node.finalbody.body.body)
        if not falls_through:
            interpreter.frame.stay(left, above)
            return False
        # It also runs on the way out of a `return`, `break` or `continue` above.
        for found in _snapshots(interpreter):
            if id(found) not in kept:
                found.update({name: Unknown("set by `finally`") for name in written})
    return bool(ends)


def _uncertain_block(interpreter: Machine, body: Sequence[Statement], interruptible: bool) -> bool:
    """Execute a block that an exception may leave early, without leaving the code around it."""
    if not interruptible:
        return execute_block(interpreter, body)
    with interpreter.forked(guards=False):
        return execute_block(interpreter, body)


def _snapshots(interpreter: Machine) -> list[dict[str, Any]]:
    """Return the variables saved at the exits of the function and its innermost loop so far."""
    frame = interpreter.frame
    jumps = frame.loops[-1] if frame.loops else None
    return [*frame.exits, *((*jumps.breaks, *jumps.continues) if jumps else ())]


def _with(interpreter: Machine, node: cst.With) -> bool:
    scope = interpreter.scope
    with enter_contexts(interpreter, node.items) as swallows, watching(scope) as written:
        before = dict(scope.variables)
        falls_through = _uncertain_block(interpreter, node.body.body, swallows)
        if swallows:
            scope.variables = interrupted(before, written)
    # Under `pytest.raises` control continues after the block because something in it raised.
    return falls_through or swallows


def _function(interpreter: Machine, node: cst.FunctionDef) -> bool:
    define_function(interpreter, Code(node.name.value, interpreter.frame.unit, node, None))
    return True


def _class(interpreter: Machine, node: cst.ClassDef) -> bool:
    def body() -> None:
        execute_block(interpreter, node.body.body)

    define_class(interpreter, node, interpreter.frame.unit, body)
    return True


def _match(interpreter: Machine, node: cst.Match) -> bool:
    """Follow the cases that may be the first to match the subject."""
    subject = evaluate(interpreter, node.subject)
    scope, before = interpreter.scope, interpreter.scope.variables
    ends, tags = [], []
    first, may_fall_through = True, True
    for case in node.cases:
        scope.variables = dict(before)
        bound: dict[str, Any] = {}
        taken = takes(interpreter, case.pattern, subject, bound)
        if taken is False:
            continue
        for name, value in bound.items():
            bind(interpreter, name, value)
        if case.guard is not None:
            guard = truth(evaluate(interpreter, case.guard))
            taken = False if guard is False else taken if guard else None
        if taken is False:
            continue
        if taken is True and first:
            # No earlier case can have matched the subject.
            return execute_block(interpreter, case.body.body)
        first = False
        condition = interpreter.tests.among(interpreter, node.subject, case.pattern)
        with interpreter.assuming(condition) as tag:
            end = None if tag is None else execute_branch(interpreter, case.body.body, is_doubtful(subject))
        if end is not None:
            ends.append(end)
            tags.append(condition)
        may_fall_through = may_fall_through and taken is None
        if taken is True:
            break
    if may_fall_through:
        ends.append(dict(before))
        tags.append(NO_TAG)
    scope.variables = join_variables(ends, tags) if ends else before
    return bool(ends)


def _import(interpreter: Machine, node: cst.Import) -> bool:
    import_names(interpreter, node)
    return True


def _import_from(interpreter: Machine, node: cst.ImportFrom) -> bool:
    import_from(interpreter, node)
    return True


_HANDLERS: dict[type, Handler] = {
    cst.SimpleStatementLine: _simple_line,
    cst.SimpleStatementSuite: _simple_line,
    cst.Expr: _expression,
    cst.Assign: _assign,
    cst.AnnAssign: _annotated,
    cst.AugAssign: _augmented,
    cst.Del: _delete,
    cst.Return: _return,
    cst.Raise: _raise,
    cst.Break: _break,
    cst.Continue: _continue,
    cst.Pass: _pass,
    cst.TypeAlias: _pass,
    cst.Global: _global,
    cst.Nonlocal: _nonlocal,
    cst.Assert: _assert,
    cst.If: _if,
    cst.For: run_for,
    cst.While: run_while,
    cst.Try: _try,
    cst.TryStar: _try,
    cst.With: _with,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
    cst.Match: _match,
    cst.Import: _import,
    cst.ImportFrom: _import_from,
}
_LOOPS = frozenset({cst.For, cst.While})
_COMPOUND = _LOOPS | {cst.If, cst.Try, cst.TryStar, cst.With, cst.Match}
#: Statements to which comments on their lines apply.
_NOTED = _COMPOUND | {cst.SimpleStatementLine}
