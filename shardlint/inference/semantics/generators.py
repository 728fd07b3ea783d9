"""Generators: a call runs nothing; the body runs when an item is requested.

The evaluator runs the whole body once, when the first item is requested. The events before each item are held
back until the item is taken, so code behind items that are never taken has no effect. If the number of items
is unknown, all events occur at once, and an item is one of those seen. If a variable that the body read has
changed when a later item is requested, that item is unknown.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import libcst as cst

from shardlint.inference.domain.classes import class_attribute
from shardlint.inference.domain.iteration import MAX_UNROLLED
from shardlint.inference.domain.lattice import join
from shardlint.inference.domain.values import (
    Const,
    DictValue,
    Function,
    Generated,
    Instance,
    LibraryObject,
    Value,
    as_int,
)
from shardlint.inference.evaluation.budget import Exhausted
from shardlint.inference.evaluation.context import Frame, Scope
from shardlint.inference.evaluation.iterators import STEPS, Drawn, made
from shardlint.inference.machine.generator_body import GeneratorBody
from shardlint.inference.machine.recursion import goes_down
from shardlint.inference.machine.variable_reads import noting_reads, read_of
from shardlint.inference.store.effect_log import changed
from shardlint.inference.store.identity_set import Once
from shardlint.inference.syntax.node_fields import parts, walk
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import Place

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

KIND = "iterator.generator"
_UNKNOWN = Unknown("what is left in a generator")


def generator(
    interpreter: Machine, function: Function, bound: dict[str, Value], place: Place
) -> LibraryObject:
    """Return the generator that a call of a generator function creates."""
    arguments = DictValue(dict(bound.items()), path=interpreter.path)
    return made(interpreter, "generator", place, function=function, arguments=arguments, state=Const(0))


def _next(interpreter: Machine, iterator: LibraryObject) -> Drawn | None:
    """Draw the next item of a generator; its body runs now if it has not yet."""
    changed(iterator.born)
    begun, at = "begun" in iterator.fields, as_int(iterator.fields["state"])
    body = interpreter.generator_bodies.get(iterator.born) if begun else run(interpreter, iterator)
    if body is None:
        # It began in a call that is replayed.
        return Drawn(_UNKNOWN, sure=False)
    if begun and (body.key is None or body.key != _key(interpreter, iterator, body.reads)):
        body.release(interpreter)
        return Drawn(_UNKNOWN, sure=False)
    iterator.fields["begun"] = Const(True)
    interpreter.generator_bodies[iterator.born] = body
    if body.known is None or at is None:
        body.release(interpreter)
        if body.endless and not interpreter.is_silent:
            interpreter.generator_bodies[iterator.born] = replace(body, uses=body.uses[1:])
        return Drawn(body.one, sure=False, endless=body.endless)
    body.release(interpreter, at)
    if at >= len(body.known):
        return None
    iterator.fields["state"] = Const(at + 1)
    return Drawn(body.known[at])


def _key(interpreter: Machine, iterator: LibraryObject, reads: Iterable[tuple[Any, str]]) -> Hashable:
    """Return the key of a generator's arguments and the variables that its body read; None if too large."""
    function, arguments = iterator.fields["function"], iterator.fields["arguments"]
    assert isinstance(function, Function) and isinstance(arguments, DictValue)
    given = [
        one
        for name, argument in (arguments.items or {}).items()
        for one in _parts_read(function, str(name), argument)
    ]
    read = (read_of(anchor, name) if isinstance(anchor, Scope) else anchor for anchor, name in reads)
    return interpreter.memory.key_of(function.scope, [*given, *read])


def _parts_read(function: Function, name: str, argument: Value) -> list[Value]:
    """Return what a body reads of an argument: of an object that it only asks for attributes, and that has
    these itself, no others."""
    if not isinstance(argument, Instance) or argument.opaque or argument.forgotten or argument.cls.opaque:
        return [argument]
    names = _attributes_read(function.code.node, name)
    if names is None or not names <= argument.attributes.keys():
        return [argument]
    # A property or descriptor of that name would run code.
    if any(class_attribute(argument.cls, one) is not None for one in (*names, "__getattribute__")):
        return [argument]
    return [argument.attributes[one] for one in sorted(names)]


def _attributes_read(function: cst.FunctionDef | cst.Lambda, name: str) -> frozenset[str] | None:
    """Return the attributes that a body reads of a variable; None if it does anything else with it."""
    found: set[str] = set()
    waiting: list[cst.CSTNode] = [function.body]
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if isinstance(node, cst.Attribute):
            if isinstance(node.value, cst.Name) and node.value.value == name:
                found.add(node.attr.value)
            else:
                waiting.append(node.value)
        elif isinstance(node, cst.Name):
            if node.value == name:
                return None
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in _SEES_ALL:
            return None
        else:
            held = "name" if kind is cst.AsName else "target"
            target = getattr(node, held) if kind in _BINDING else None
            if target is not None and any(isinstance(o, cst.Name) and o.value == name for o in walk(target)):
                return None
            waiting += parts(node)
    return frozenset(found)


#: Functions that may read any variable or attribute.
_SEES_ALL = frozenset({"super", "vars", "locals", "eval", "exec"})
_BINDING = frozenset(
    {cst.AsName, cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Del, cst.For, cst.CompFor}
)


def record_yield(interpreter: Machine, frame: Frame, value: Value) -> None:
    """Record an item that a running generator yields, unless the pass only determines a loop's changes."""
    path, muted = frame.inside
    if interpreter.muted == muted:
        frame.yields.append((value, interpreter.context, len(interpreter.uses)))
        frame.unsure = frame.unsure or interpreter.path != path


def run(interpreter: Machine, iterator: LibraryObject) -> GeneratorBody:
    """Run the body of a generator, and return its items."""
    outer, interpreter.uses = interpreter.uses, Once()
    try:
        with noting_reads(interpreter) as read:
            produced = run_body(interpreter, iterator)
    finally:
        found, interpreter.uses = interpreter.uses, outer
    reads = tuple(read)
    key = _key(interpreter, iterator, reads)
    if not isinstance(produced, Generated) or not produced.yields:
        interpreter.uses.extend(found)
        return GeneratorBody(
            () if isinstance(produced, Generated) and produced.sure else None, reads=reads, key=key
        )
    items = [value for value, _ in produced.yields]
    bounds = [0, *produced.uses_before, len(found)]
    uses = [found[a:b] for a, b in itertools.pairwise(bounds)]
    if produced.sure and len(items) <= MAX_UNROLLED:
        return GeneratorBody(items, uses=uses, reads=reads, key=key)
    return GeneratorBody(None, join(items), produced.endless, uses, reads, key)


def run_body(interpreter: Machine, value: Value) -> Value:
    """Run the body of a generator with all its events; return a `Generated` if it could be followed."""
    fields = value.fields if isinstance(value, LibraryObject) and value.kind == KIND else {}
    function, arguments = fields.get("function"), fields.get("arguments")
    if not isinstance(function, Function) or not isinstance(arguments, DictValue) or arguments.items is None:
        return Unknown("no generator")
    nested = sum(not frame.scope.is_comprehension for frame in interpreter.frames)
    interpreter.reached.add(function.code.key)
    endless = interpreter.running(function.code) >= 2 and not goes_down(
        interpreter, function.code, [*arguments.items.values()]
    )
    if nested > interpreter.limit or endless:
        interpreter.cut = True
        return Unknown("a generator that is not followed")
    interpreter.deepest = max(interpreter.deepest, nested)
    bound = {str(name): argument for name, argument in arguments.items.items()}
    try:
        with interpreter.budget.shared():
            return interpreter.run_function(function, bound)
    except Exhausted:
        if not interpreter.budget.shares:
            raise
        return Unknown("a generator that takes too many steps")


STEPS[KIND] = lambda interpreter, iterator: _next(cast("Machine", interpreter), iterator)
