"""Functions of the program: matching arguments with signatures, and running bodies."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.lattice import join_tagged, join_variables
from shardlint.inference.domain.values import (
    NONE,
    Bound,
    DictValue,
    Function,
    Generated,
    Native,
    Never,
    Partial,
    Tag,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.context import Frame, Scope
from shardlint.inference.evaluation.path_queries import is_called_again
from shardlint.inference.evaluation.release_queries import of_version
from shardlint.inference.facts.annotations import annotated, describe_parameters
from shardlint.inference.facts.comment_facts import about_function
from shardlint.inference.machine.code import Code
from shardlint.inference.machine.compiled_positions import Anew, made_anew
from shardlint.inference.machine.reading_positions import reading_positions
from shardlint.inference.overlays.jax.sharding.overlooked_meshes import note_skipped
from shardlint.inference.recording.editor_uses import note_parameters
from shardlint.inference.recording.skipped_constraints import note_without_mesh
from shardlint.inference.store.effect_log import changed
from shardlint.inference.syntax.node_fields import walk
from shardlint.inference.syntax.units import NodePlace
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine


def first_annotation(function: Value) -> Value | None:
    """Return the value that a function's first parameter is annotated with, where that is a name."""
    if not isinstance(function, Function) or not (params := function.code.parameters[0].params):
        return None
    annotation = params[0].annotation
    name = annotation.annotation if annotation is not None else None
    holder = function.scope.find(name.value) if isinstance(name, cst.Name) else None
    return holder.variables[name.value] if holder is not None and isinstance(name, cst.Name) else None


def names_by_position(function: Value) -> list[str]:
    """Return the positional parameters of a function of the program; none for other values."""
    if isinstance(function, Function):
        return list(function.code.parameters[1])
    if isinstance(function, Bound):
        return names_by_position(function.function)[1:]
    if isinstance(function, Partial):
        given = {name for name, _ in function.kwargs}
        rest = names_by_position(function.function)[len(function.args) :]
        # After the first one passed by keyword, no parameter takes a position.
        return list(itertools.takewhile(lambda name: name not in given, rest))
    if isinstance(function, Native) and function.wraps is not None:
        return names_by_position(function.wraps)
    return []


def bind_parameters(
    function: Function, args: Sequence[Value], kwargs: dict[str, Value], opaque: bool
) -> dict[str, Value] | None:
    """Match arguments with a signature; return None if they cannot fit (the call raises TypeError).

    With ``opaque`` (a starred argument of unknown length), missing arguments are unknown.
    """
    params, positional, keyword_only = function.code.parameters
    bound: dict[str, Value] = dict(zip(positional, args, strict=False))
    surplus = tuple(args[len(positional) :])
    if isinstance(params.star_arg, cst.Param):
        star = function.code.parameter_name(params.star_arg)
        bound[star] = Unknown("starred arguments") if opaque else Tuple(surplus)
    elif surplus:
        return None
    extra: dict[str, Value] = {}
    for key, value in kwargs.items():
        if key in bound and key in positional:
            return None
        if key in positional or key in keyword_only:
            bound[key] = value
        else:
            extra[key] = value
    if params.star_kwarg is not None:
        bound[function.code.parameter_name(params.star_kwarg)] = (
            Unknown("starred arguments") if opaque else DictValue(dict(extra.items()))
        )
    elif extra:
        return None
    for name in (*positional, *keyword_only):
        if name in bound:
            continue
        if opaque:
            bound[name] = Unknown("starred arguments")
        elif name in function.defaults:
            bound[name] = function.defaults[name]
        else:
            return None
    return bound


def run_function(
    interpreter: Machine, function: Function, bound: dict[str, Value], called_at: Place | None = None
) -> Value:
    """Evaluate a function's body with bound parameters, and return its result."""
    code: Code = function.code
    node = code.node
    interpreter.ran.add(code.key)
    interpreter.ran_uncached.add(code.key)
    scope = Scope(function.scope.module, function.scope, path=interpreter.path)
    scope.variables.update(bound)
    if function.owner is not None:
        scope.variables["__class__"] = function.owner
    path, assumed, read = interpreter.path, interpreter.assumed, interpreter.versions_read
    frame = Frame(
        scope, code.unit, path=path, function=code, generator=code.is_generator, called_at=called_at
    )
    frame.bound = bound
    interpreter.frames.append(frame)
    try:
        if interpreter.settings.editing:
            note_parameters(interpreter, code, bound)
        if isinstance(node, cst.Lambda):
            return interpreter.evaluate(node.body)
        # A generator's body runs later, in part or never.
        describe_parameters(interpreter, code)
        if code.unit.notes:
            # Each run applies the facts and requests in its comments.
            changed(0)
        described = about_function(interpreter, code) if code.unit.notes else nullcontext()
        with described, interpreter.forked(repeats=True) if code.is_generator else nullcontext():
            frame.inside = interpreter.path, interpreter.muted
            interpreter.bodies |= set(interpreter.path[len(path) :])
            falls_through = interpreter.execute_block(node.body.body)
        if falls_through:
            frame.returns.append(NONE)
            frame.conditions.append(interpreter.assumed)
        result = _joined(frame, assumed) if frame.returns else Never("never returns")
        if frame.returns:
            result = annotated(interpreter, node.returns, result)
        if frame.overlooked is not None:
            note_skipped(
                interpreter, frame, interpreter.frames[-2] if interpreter.frames[1:] else None, bound
            )
        elif interpreter.context.in_jit is True:
            note_without_mesh(interpreter, frame, bound)
    finally:
        interpreter.frames.pop()
        interpreter.path = path
    if frame.given and not code.is_generator:
        # What it does to its caller's variables is not part of a summary.
        changed(0)
        interpreter.donations += frame.given
    if frame.exits:
        # Inner functions see the joined variables of all exits.
        scope.variables = join_variables([*frame.exits, scope.variables] if falls_through else frame.exits)
    if code.is_generator:
        endless = not falls_through and not frame.exits
        uses_before = tuple(count for _, _, count in frame.yields)
        yields = tuple((value, context) for value, context, _ in frame.yields)
        return Generated(
            "a generator or coroutine", yields, not (frame.unsure or endless), endless, uses_before
        )
    return of_version(interpreter, result, read)


def _joined(frame: Frame, assumed: Tag) -> Value:
    """Return the join of what a function returned, each value under the conditions that it was returned in,
    beside those ``assumed`` when it was called."""
    conditions = (tag - assumed for tag in frame.conditions)
    return join_tagged(zip(frame.returns, conditions, strict=True))


#: Methods and functions of an item that leave it what it is.
_OF_ITEM = frozenset({"astype", "copy"})
_AROUND_ITEM = frozenset({"asarray", "array", "ascontiguousarray"})
_FIXED = (cst.SimpleStatementLine, cst.Return, cst.Assign, cst.Expr)


def returns_fixed_item(function: Value) -> bool:
    """Return whether a function of the program returns an item or slice of something, the same one whatever
    its first argument is: it does not read that, changes nothing, and calls nothing that may."""
    names, inner = names_by_position(function), function
    while isinstance(inner, Bound | Partial):
        inner = inner.function
    if not isinstance(inner, Function) or not names:
        return False
    node, assigned, results = (
        inner.code.node,
        dict[str, cst.BaseExpression](),
        list[cst.BaseExpression | None](),
    )
    if isinstance(node, cst.Lambda):
        results.append(node.body)
    for one in walk(node.body):
        if isinstance(one, cst.Name) and one.value == names[0]:
            return False
        if isinstance(one, cst.BaseStatement | cst.BaseSmallStatement) and not isinstance(one, _FIXED):
            return False
        if isinstance(one, cst.Call) and _called(one) not in _OF_ITEM | _AROUND_ITEM:
            return False
        if isinstance(one, cst.Return):
            results.append(one.value)
        if isinstance(one, cst.Assign):
            target = one.targets[0].target
            if not isinstance(target, cst.Name):
                return False
            assigned[target.value] = one.value
    return bool(results) and all(isinstance(_item(one, assigned), cst.Subscript) for one in results)


def _called(call: cst.Call) -> str | None:
    """Return the name of the method, or of a module's function, that is called."""
    return call.func.attr.value if isinstance(call.func, cst.Attribute) else None


def _item(
    node: cst.BaseExpression | None, assigned: dict[str, cst.BaseExpression]
) -> cst.BaseExpression | None:
    """Return the expression that a result is, inside of calls that leave it what it is."""
    for _ in range(8):
        if isinstance(node, cst.Name):
            node = assigned.get(node.value)
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func.value if _called(node) in _OF_ITEM else node.args[0].value if node.args else None
    return node


def only_reads(interpreter: Machine, place: Place, name: str) -> bool:
    """Return whether the running function only reads the vector that the expression at a place makes."""
    code = interpreter.frame.function
    if code is None or not isinstance(place, NodePlace):
        return False
    node = place.node
    if isinstance(node, cst.Call):
        # It may also be called by a function that it is passed to: `map(np.sort, rows)`.
        written = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        stands_for_it = isinstance(written, cst.Name) and written.value == name
    else:
        operations = (cst.BinaryOperation, cst.Comparison, cst.Subscript, cst.UnaryOperation)
        stands_for_it = not name and isinstance(node, operations)
    return stands_for_it and node in reading_positions(code.node)


def jits_anew(interpreter: Machine, place: Place, function: Value) -> bool:
    """Return whether `jax.jit`, called at a place, gets another function in each of several runs of the code
    around it, by the text of the running function or module."""
    if not interpreter.frames or not isinstance(place, NodePlace):
        return False
    frame = next(one for one in reversed(interpreter.frames) if not one.scope.is_comprehension)
    code = frame.unit.body if frame.function is None else (frame.function.node,)
    anew = made_anew(code, place.node, isinstance(function, Function))
    again = anew is Anew.EACH_PASS and bool(frame.loops) and not any(loop.first for loop in frame.loops)
    return again or (anew is not Anew.NEVER and is_called_again(interpreter))
