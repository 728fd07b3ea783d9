"""``with`` statements: meshes, expected exceptions, and unknown context managers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.classes import class_attribute, operator_method
from shardlint.inference.domain.lattice import join, options
from shardlint.inference.domain.values import (
    NONE,
    DictValue,
    External,
    Function,
    Generated,
    Instance,
    LibraryObject,
    ListValue,
    MeshValue,
    Partial,
    Reader,
    SetValue,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.context import Context, Frame, Scope, assumed_rules
from shardlint.inference.facts.annotations import describe_parameters
from shardlint.inference.interpreter.assignment import assign
from shardlint.inference.machine.code import has_yield
from shardlint.inference.machine.code_reads import look_at
from shardlint.inference.overlays.python.stdlib.environment import EXIT_STACK, IGNORING
from shardlint.inference.overlays.python.stdlib.foreign_objects import Foreign
from shardlint.inference.overlays.testing.jax_test_util import ENTERED_INSIDE
from shardlint.inference.semantics.generators import run_body
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: Context managers of libraries that leave sharding alone.
_HARMLESS = (
    "builtins.",
    "contextlib.",
    "jax.default_",
    "jax.named_scope",
    "jax.profiler.",
    "warnings.",
    "time.",
)

#: Values that set no mesh: a container stands for what shows the progress of a loop over it.
_SETTING_NOTHING = (Reader, Foreign, Tuple, ListValue, DictValue)

_Block = Sequence[cst.BaseStatement | cst.BaseSmallStatement]

#: Context managers of pytest, unittest and absl that expect an exception.
EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "assertRaisesWithLiteralMatch"})


@contextmanager
def enter_contexts(interpreter: Machine, items: Sequence[cst.WithItem]) -> Iterator[bool]:
    """Enter context managers in order and leave them after the block.

    Yields whether one of them may swallow exceptions, so that the block may end anywhere.
    """
    swallows = False
    with ExitStack() as stack:
        for item in items:
            manager = interpreter.evaluate(item.item)
            found = options(manager)
            if isinstance(item.item, cst.Call) and last_name(item.item.func) in EXPECTING:
                found = (LibraryObject("expected", {}),)
            one = found[0] if len(found) == 1 else Unknown("several")
            value = stack.enter_context(entered(interpreter, one, interpreter.place(item.item)))
            if item.asname is not None:
                assign(interpreter, item.asname.name, value)
            swallows = swallows or any(_swallows(interpreter, option) for option in found)
        yield swallows


#: Library objects that a block binds as they are.
_THEMSELVES = frozenset({"orbax.checkpoint.Checkpointer", "concurrent.futures.ThreadPoolExecutor"})


def _swallows(interpreter: Machine, manager: Value) -> bool:
    """Return whether leaving a block through a context manager may suppress an exception."""
    if isinstance(manager, Instance):
        leave = class_attribute(manager.cls, "__exit__")
        return not isinstance(leave, Function) or "return" in look_at(interpreter, leave.code)
    return isinstance(manager, LibraryObject) and (
        manager.kind in ("expected", "caught") or "swallows" in manager.fields
    )


def last_name(node: cst.BaseExpression) -> str:
    """Return the last part of a dotted name: ``assertRaises`` of any test case."""
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


def _run_generator(
    interpreter: Machine, manager: LibraryObject, place: Place
) -> tuple[Value, Context, Context]:
    """Return what a ``@contextmanager`` function yields, the context at the yield, and the context at its
    end.

    All of it runs before the block, including the code after its ``yield``: that counts as a path that may
    not be taken, so objects and variables that it changes are unknown afterwards.
    """
    before = interpreter.context
    arguments = manager.fields["arguments"]
    assert isinstance(arguments, Partial)
    made = run_body(interpreter, interpreter.call(arguments, [], {}, place))
    after = interpreter.context
    given = made.yields if isinstance(made, Generated) else ()
    contexts = [context for _, context in given]
    unknown = Unknown("an unknown context manager may set the mesh")
    if not contexts or any(context != contexts[0] for context in contexts):
        return (
            Unknown("what a context manager gives"),
            replace(before, mesh=unknown, legacy_mesh=unknown, logical_rules=unknown),
            after,
        )
    if contexts[0].caught != before.caught:
        changing(manager)
        manager.fields["swallows"] = NONE
    return join(value for value, _ in given), contexts[0], after


def _in_parts(
    interpreter: Machine, manager: Value, place: Place
) -> tuple[Function, dict[str, Value], _Block] | None:
    """Return the function of a ``@contextmanager``, its arguments and its body, if it is known that the body
    yields once, and where: what is before it runs before the block, and the rest afterwards."""
    arguments = manager.fields.get("arguments") if isinstance(manager, LibraryObject) else None
    if not isinstance(arguments, Partial) or not isinstance(manager, LibraryObject):
        return None
    if manager.kind != "contextlib.generator" or not isinstance(arguments.function, Function):
        return None
    code = arguments.function.code
    if not code.yields or interpreter.running(code) >= 2 or len(interpreter.frames) > interpreter.limit:
        return None
    body = code.node.body.body
    if not _yields_once(body):
        return None
    made = interpreter.call(arguments, [], {}, place)
    fields = made.fields if isinstance(made, LibraryObject) else {}
    function, bound = fields.get("function"), fields.get("arguments")
    if not isinstance(function, Function) or not isinstance(bound, DictValue) or bound.items is None:
        return None
    return function, {str(name): value for name, value in bound.items.items()}, body


def _yields_once(body: _Block) -> bool:
    """Return whether a block yields once, by a statement of its own or of a `with` or `try: finally:`."""
    yielding = [one for one in body if not isinstance(one, cst.FunctionDef) and has_yield(one)]
    if len(yielding) != 1:
        return False
    statement = yielding[0]
    if isinstance(statement, cst.Try) and (statement.handlers or statement.orelse):
        return False
    if isinstance(statement, cst.Try | cst.With):
        return _yields_once(statement.body.body)
    return _yielded(statement) is not None


def _yielded(statement: cst.CSTNode) -> cst.Yield | None:
    """Return the `yield` that is all of a statement."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None
    small = statement.body[0]
    found = small.value if isinstance(small, cst.Expr) else None
    return found if isinstance(found, cst.Yield) and not isinstance(found.value, cst.From) else None


@contextmanager
def _around(
    interpreter: Machine,
    function: Function,
    bound: dict[str, Value],
    body: _Block,
    place: Place,
) -> Iterator[Value]:
    """Run the body of a ``@contextmanager`` up to its `yield`, and the rest after the block."""
    code, path = function.code, interpreter.path
    for seen in (interpreter.reached, interpreter.ran, interpreter.ran_uncached):
        seen.add(code.key)
    scope = Scope(function.scope.module, function.scope, path=path)
    scope.variables.update(bound)
    frame = Frame(scope, code.unit, path=path, function=code, called_at=place)
    interpreter.frames.append(frame)
    try:
        describe_parameters(interpreter, code)
        frame.inside = path, interpreter.muted
        with _up_to_yield(interpreter, body) as value:
            interpreter.frames.pop()
            interpreter.path = path
            try:
                yield value
            finally:
                path = interpreter.path
                interpreter.frames.append(frame)
    finally:
        interpreter.frames.pop()
        interpreter.path = path


@contextmanager
def _up_to_yield(interpreter: Machine, body: _Block) -> Iterator[Value]:
    """Execute a block that yields once up to there, and its rest afterwards."""
    at = next(i for i, one in enumerate(body) if not isinstance(one, cst.FunctionDef) and has_yield(one))
    statement = body[at]
    goes_on = interpreter.execute_block(body[:at])
    # Where it never yields, the block does not run.
    with nullcontext() if goes_on else interpreter.silent():
        if isinstance(statement, cst.With):
            with (
                enter_contexts(interpreter, statement.items),
                _up_to_yield(interpreter, statement.body.body) as value,
            ):
                yield value
        elif isinstance(statement, cst.Try):
            with _up_to_yield(interpreter, statement.body.body) as value:
                yield value
            if statement.finalbody is not None:
                interpreter.execute_block(statement.finalbody.body.body)
        else:
            found = _yielded(statement)
            given = None if found is None else found.value
            yield interpreter.evaluate(given) if isinstance(given, cst.BaseExpression) else NONE
    if goes_on:
        interpreter.execute_block(body[at + 1 :])


def enter(interpreter: Machine, manager: Value, place: Place) -> Value:
    """Enter a context manager for good: nobody leaves it while the caller runs."""
    return _enter(interpreter, manager, place)[0]


def _enter(interpreter: Machine, manager: Value, place: Place) -> tuple[Value, Context]:
    """Enter a context manager; return the value that ``as`` binds, and the context to restore at its end."""
    before = interpreter.context
    entered: Value = Unknown("what a context manager gives")
    if isinstance(manager, MeshValue):
        if not manager.mesh.abstract:
            interpreter.project.reference(interpreter, "jax.sharding.Mesh.__enter__", place)
        from shardlint.inference.overlays.jax.sharding.mesh_contexts import enter_mesh

        interpreter.context = enter_mesh(interpreter, manager, place)
        entered = manager
    elif isinstance(manager, LibraryObject) and manager.kind == ENTERED_INSIDE:
        from shardlint.inference.overlays.jax.sharding.mesh_contexts import enter_mesh

        mesh = manager.fields["mesh"]
        assert isinstance(mesh, MeshValue)
        interpreter.context = enter_mesh(interpreter, mesh, place)
        entered = NONE
    elif isinstance(manager, LibraryObject) and manager.kind == "jax.set_mesh":
        # The call has already set the mesh; leaving the block restores the previous one.
        previous = manager.fields.get("previous")
        before = replace(before, mesh=previous if isinstance(previous, MeshValue | Unknown) else None)
        mesh = manager.fields["mesh"]
        interpreter.context = replace(before, mesh=mesh if isinstance(mesh, MeshValue | Unknown) else None)
        entered = NONE
    elif isinstance(manager, LibraryObject) and manager.kind == "jax.sharding.use_abstract_mesh":
        from shardlint.inference.overlays.jax.sharding.mesh_contexts import enter_abstract_mesh

        interpreter.context = enter_abstract_mesh(interpreter, manager, place)
        entered = NONE
    elif isinstance(manager, LibraryObject) and manager.kind == "jax.sharding.no_collectives":
        from shardlint.inference.overlays.jax.explicit.forbidden_collectives import forbidden_axes

        interpreter.context = replace(before, forbidden=forbidden_axes(manager))
        entered = NONE
    elif isinstance(manager, LibraryObject) and manager.kind == "jax.config option":
        from shardlint.inference.overlays.jax.configuration import options_in

        interpreter.context = replace(before, options=options_in(interpreter, manager))
        entered = NONE
    elif isinstance(manager, LibraryObject) and manager.kind == "flax.logical_axis_rules":
        interpreter.context = replace(before, logical_rules=manager.fields["rules"])
    elif isinstance(manager, LibraryObject) and manager.kind == "expected":
        interpreter.context = replace(before, expected=True)
    elif isinstance(manager, LibraryObject) and manager.kind == "caught":
        names = manager.fields["names"]
        caught = (names.items if isinstance(names, SetValue) else None) or frozenset({"BaseException"})
        interpreter.context = replace(before, caught=before.caught | frozenset(caught))
    elif isinstance(manager, LibraryObject) and manager.kind == IGNORING:
        interpreter.context = replace(before, deprecation_known=True)
        entered = NONE
    elif isinstance(manager, LibraryObject) and manager.kind == "harmless":
        entered = manager.fields.get("entered", entered)
    elif isinstance(manager, LibraryObject) and manager.kind == "contextlib.generator":
        entered, interpreter.context, before = _run_generator(interpreter, manager, place)
    elif isinstance(manager, LibraryObject) and manager.kind == EXIT_STACK:
        entered, before = _enter_stack(interpreter, manager, place)
    elif isinstance(manager, Instance):
        if _swallows(interpreter, manager):
            interpreter.context = replace(before, caught=before.caught | {"BaseException"})
        enter = operator_method(interpreter, manager, "__enter__", place)
        entered = interpreter.call(enter, [], {}, place)
    elif isinstance(manager, _SETTING_NOTHING) or (
        isinstance(manager, LibraryObject) and manager.kind in _THEMSELVES
    ):
        entered = manager
    elif not (isinstance(manager, External) and manager.name.startswith(_HARMLESS)):
        # It may set a mesh; the mesh in context is unknown from here on.
        unknown = Unknown("an unknown context manager may set the mesh")
        assumed = before.logical_rules is assumed_rules(interpreter.settings, unknown)
        rules = before.logical_rules if assumed else unknown
        interpreter.context = replace(before, mesh=unknown, legacy_mesh=unknown, logical_rules=rules)
    return entered, before


def _enter_stack(interpreter: Machine, stack: LibraryObject, place: Place) -> tuple[Value, Context]:
    """Enter an `ExitStack`, in whose block is in force what it has entered so far."""
    before, managers = interpreter.context, stack.fields["managers"]
    items = managers.items if isinstance(managers, ListValue) else None
    if items == []:
        return stack, before
    # It was in force already: how it was before is not known.
    unknown = Unknown("what an ExitStack enters ends here")
    before = replace(before, mesh=unknown, legacy_mesh=unknown, logical_rules=unknown)
    interpreter.muted += 1
    try:
        for manager in items or ():
            _enter(interpreter, manager, place)
    finally:
        interpreter.muted -= 1
    if items is None:
        interpreter.context = before
    return stack, before


@contextmanager
def entered(interpreter: Machine, manager: Value, place: Place) -> Iterator[Value]:
    """Enter one context manager around a block; yield the value that ``as`` binds."""
    if (parts := _in_parts(interpreter, manager, place)) is not None:
        with _around(interpreter, *parts, place) as value:
            yield value
        return
    value, before = _enter(interpreter, manager, place)
    inside = interpreter.context
    try:
        yield value
        if isinstance(manager, Instance):
            leave = operator_method(interpreter, manager, "__exit__", place)
            interpreter.call(leave, [Unknown("an exception, or None")] * 3, {}, place)
        elif isinstance(manager, LibraryObject) and "leave" in manager.fields:
            interpreter.call(manager.fields["leave"], [], {}, place)
    finally:
        if interpreter.context is inside:
            interpreter.context = before
        else:
            # Code in the block set a mesh or rules globally.
            ending = ("flax.logical_axis_rules", EXIT_STACK)
            keeps = not (isinstance(manager, LibraryObject) and manager.kind in ending)
            interpreter.context = replace(
                interpreter.context,
                legacy_mesh=before.legacy_mesh,
                caught=before.caught,
                expected=before.expected,
                deprecation_known=before.deprecation_known,
                forbidden=before.forbidden,
                options=before.options,
                mesh=before.mesh if isinstance(manager, LibraryObject) else interpreter.context.mesh,
                logical_rules=interpreter.context.logical_rules if keeps else before.logical_rules,
            )
