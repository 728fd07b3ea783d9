"""Expressions: `evaluate` computes a node's abstract value, using a table by node type."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from shardlint.inference.conditions.narrowing import refine
from shardlint.inference.conditions.truth_of_tracers import tested
from shardlint.inference.domain.builtin_bases import MAPPING, seen_as
from shardlint.inference.domain.havoc import forget, forget_contents
from shardlint.inference.domain.iteration import hashable, too_large
from shardlint.inference.domain.lattice import combined, join, join_tagged, join_variables, options, same_kind
from shardlint.inference.domain.truthiness import truth
from shardlint.inference.domain.unknown_choices import is_doubtful
from shardlint.inference.domain.values import (
    NONE,
    Const,
    DictValue,
    External,
    Function,
    ListValue,
    MeshValue,
    SetValue,
    SpecValue,
    Tag,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.context import meant
from shardlint.inference.evaluation.iterators import each_left, items_of
from shardlint.inference.facts.comment_facts import dotted, with_facts
from shardlint.inference.interpreter.assignment import give_away
from shardlint.inference.interpreter.call_dispatch import call_value
from shardlint.inference.interpreter.comprehensions import comprehension
from shardlint.inference.interpreter.members import attribute_of, evaluate_index
from shardlint.inference.machine.code import Code
from shardlint.inference.overlays.arrays.attributes import DEVICE
from shardlint.inference.overlays.python.builtins.strings import formatted
from shardlint.inference.overlays.python.stdlib.mocks import replace_written
from shardlint.inference.overlays.registry import transfer
from shardlint.inference.recording.editor_uses import TELLING, note_read
from shardlint.inference.recording.unread_arguments import note_unread_arguments
from shardlint.inference.semantics.generators import record_yield
from shardlint.inference.semantics.literals import float_literal, integer_literal, text_literal
from shardlint.inference.semantics.operators import binary_operation, compare, unary_operation
from shardlint.inference.semantics.subscripts import get_item
from shardlint.inference.semantics.variables import widened, write
from shardlint.inference.syntax.units import NodePlace
from shardlint.laws.core.values import Unknown
from shardlint.model.spans import LookedUp, Place

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine

#: Libraries in which only functions known to the overlays set a mesh.
_OF_JAX = ("jax.", "flax.", "optax.", "orbax.", "numpy.", "builtins.")
_TRUE = Const(True)
_Evaluator = Callable[["Machine", Any], Value]
_Arguments = tuple[list[Value], dict[str, Value], bool, dict["int | str", Place]]


def evaluate(interpreter: Machine, node: cst.BaseExpression) -> Value:
    """Return the abstract value of an expression."""
    handler = _HANDLERS.get(type(node))
    value = handler(interpreter, node) if handler else Unknown(f"{type(node).__name__} is not followed")
    # Hashing nodes is slow.
    facts = interpreter.stated_facts
    return with_facts(interpreter, node, value) if facts and node in facts else value


def _name(interpreter: Machine, node: cst.Name) -> Value:
    value = interpreter.lookup(node.value)
    if type(value) in TELLING and interpreter.settings.editing:
        note_read(interpreter, node, value)
    return value


def _attribute(interpreter: Machine, node: cst.Attribute) -> Value:
    return attribute_of(interpreter, node, evaluate(interpreter, node.value))


def _concatenated(interpreter: Machine, node: cst.ConcatenatedString) -> Value:
    left, right = evaluate(interpreter, node.left), evaluate(interpreter, node.right)
    if isinstance(left, Const) and isinstance(right, Const) and same_kind(left.value, right.value):
        return Const(left.value + right.value, interpreter.place(node))
    return Unknown("a formatted string")


def _formatted(interpreter: Machine, node: cst.FormattedString) -> Value:
    text = ""
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            text += part.value.replace("{{", "{").replace("}}", "}")
        elif isinstance(part, cst.FormattedStringExpression):
            made = _field(interpreter, part)
            if made is None:
                return Unknown("a formatted string")
            text += made
    return Unknown("a formatted string") if "\\" in text else Const(text, interpreter.place(node))


def _field(interpreter: Machine, part: cst.FormattedStringExpression) -> str | None:
    """Return the text of one field of an f-string; None if it is unknown."""
    value = evaluate(interpreter, part.expression)
    written = part.format_spec or ()
    spec = "".join(piece.value for piece in written if isinstance(piece, cst.FormattedStringText))
    known = all(isinstance(piece, cst.FormattedStringText) for piece in written) and part.equal is None
    return formatted(value, spec, part.conversion) if known else None


def _ellipsis(interpreter: Machine, node: cst.Ellipsis) -> Value:
    return Const(..., interpreter.place(node))


def evaluate_elements(interpreter: Machine, elements: Sequence[cst.BaseElement]) -> list[Value] | None:
    """Evaluate the items of a display; None if a starred one has unknown length.

    Too many items are not known either. Items of a display that is not known are out of sight.
    """
    known, kept = True, list[Value]()
    for item in elements:
        value = evaluate(interpreter, item.value)
        if type(item) is not cst.StarredElement:
            kept.append(value)
            continue
        starred = items_of(interpreter, value, interpreter.place(item.value))
        known = known and starred is not None
        kept += starred or ()
    if known and not too_large(kept):
        return kept
    forget(Tuple(tuple(kept)))
    return None


def _tuple(interpreter: Machine, node: cst.Tuple) -> Value:
    items = evaluate_elements(interpreter, node.elements)
    return (
        Unknown("a tuple of unknown length")
        if items is None
        else Tuple(tuple(items), interpreter.place(node))
    )


def _list(interpreter: Machine, node: cst.List) -> Value:
    items = evaluate_elements(interpreter, node.elements)
    return ListValue(items, interpreter.place(node), interpreter.path)


def _set(interpreter: Machine, node: cst.Set) -> Value:
    items = evaluate_elements(interpreter, node.elements)
    return _set_of(interpreter, items, interpreter.place(node))


def _set_of(interpreter: Machine, items: Sequence[Value] | None, place: NodePlace) -> Value:
    keys = [hashable(item) for item in items or ()]
    if items is None or not all(found for found, _ in keys):
        forget(Tuple(tuple(items or ())))
        return Unknown("a set that is not known")
    return SetValue(frozenset(key for _, key in keys), place, path=interpreter.path)


def _dict(interpreter: Machine, node: cst.Dict) -> Value:
    known, items = True, dict[Hashable, Value]()
    kept: list[Value] = []
    for entry in node.elements:
        value = evaluate(interpreter, entry.value)
        if isinstance(entry, cst.StarredDictElement):
            value = seen_as(value, *MAPPING)
            if isinstance(value, DictValue) and value.items is not None:
                items |= value.items
            else:
                known = False
                forget_contents(value)
            continue
        assert isinstance(entry, cst.DictElement)
        key = evaluate(interpreter, entry.key)
        found, hashed = hashable(key)
        known = known and found
        kept += [key, value]
        if found:
            items[hashed] = value
    if not known:
        forget(Tuple((*kept, *items.values())))
    return DictValue(items if known else None, interpreter.place(node), interpreter.path)


def _binary(interpreter: Machine, node: cst.BinaryOperation) -> Value:
    # A long chain of operators leans left: a loop walks it without recursion.
    chain = [node]
    while type(left := chain[-1].left) is cst.BinaryOperation:
        chain.append(left)
    value = evaluate(interpreter, left)
    for link in reversed(chain):
        right = evaluate(interpreter, link.right)
        name = type(link.operator).__name__
        value = binary_operation(interpreter, name, value, right, interpreter.place(link))
    return value


def _boolean(interpreter: Machine, node: cst.BooleanOperation) -> Value:
    left = tested(interpreter, node.left)
    stops = type(node.operator) is cst.Or
    outcome = truth(left)
    if outcome is stops:
        return left
    if outcome is not None:
        return evaluate(interpreter, node.right)
    scope, before = interpreter.scope, dict(interpreter.scope.variables)
    with interpreter.forked(doubtful=is_doubtful(left)):
        right = evaluate(interpreter, node.right)
    scope.variables = join_variables([before, scope.variables])
    # The values of the left side that decide the result.
    return join([*(v for v in options(left) if truth(v) is not (not stops)), right])


def _unary(interpreter: Machine, node: cst.UnaryOperation) -> Value:
    is_not = type(node.operator) is cst.Not
    value = (tested if is_not else evaluate)(interpreter, node.expression)
    return unary_operation(interpreter, type(node.operator).__name__, value, interpreter.place(node))


def _comparison(interpreter: Machine, node: cst.Comparison) -> Value:
    left = evaluate(interpreter, node.left)
    result: Value = _TRUE
    for number, target in enumerate(node.comparisons, 1):
        right = evaluate(interpreter, target.comparator)
        result = compare(interpreter, type(target.operator).__name__, left, right, interpreter.place(node))
        if truth(result) is False or len(node.comparisons) == 1:
            return result
        if truth(result) is None:
            # A later link may still be False, and its operands may not be evaluated.
            scope, before = interpreter.scope, dict(interpreter.scope.variables)
            with interpreter.forked(doubtful=is_doubtful(result)):
                for later in node.comparisons[number:]:
                    evaluate(interpreter, later.comparator)
            scope.variables = join_variables([before, scope.variables])
            return Unknown("undecided")
        left = right
    return result


def _conditional(interpreter: Machine, node: cst.IfExp) -> Value:
    test = tested(interpreter, node.test)
    outcome = truth(test)
    if outcome is not None:
        return evaluate(interpreter, node.body if outcome else node.orelse)
    scope, before = interpreter.scope, interpreter.scope.variables
    found: list[tuple[Value, Tag]] = []
    ends: list[dict[str, Value]] = []
    conditions = interpreter.tests.branches(interpreter, node.test)
    for branch, holds, condition in zip((node.body, node.orelse), (True, False), conditions, strict=True):
        scope.variables = state = dict(before)
        with (
            interpreter.forked(doubtful=is_doubtful(test)),
            interpreter.assuming(condition) as tag,
        ):
            if tag is not None and (learned := refine(interpreter, node.test, holds)) is not None:
                interpreter.assumed = combined(interpreter.assumed, learned) or interpreter.assumed
                found.append((evaluate(interpreter, branch), tag | learned))
        ends.append(widened(scope, before, state))
    scope.variables = join_variables(ends)
    return join_tagged(found)


def _lambda(interpreter: Machine, node: cst.Lambda) -> Value:
    code = Code("<lambda>", interpreter.frame.unit, node, None)
    code.within = interpreter.scope.within
    function = Function("<lambda>", code, interpreter.scope, origin=interpreter.place(node))
    for parameter in (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params):
        if parameter.default is not None:
            name = meant(interpreter.scope, parameter.name.value)
            function.defaults[name] = evaluate(interpreter, parameter.default)
    return function


def _call(interpreter: Machine, node: cst.Call) -> Value:
    function = evaluate(interpreter, node.func)
    args, kwargs, opaque, places = _arguments(interpreter, node.args)
    if type(function) is Unknown and function.reason == DEVICE:
        interpreter.project.reference(interpreter, "jax.Array.device()", interpreter.place(node), "TypeError")
    if type(function) is Function:
        note_unread_arguments(interpreter, node, function, args, kwargs, places)
    found = call_value(interpreter, function, args, kwargs, interpreter.place(node), opaque, places)
    if interpreter.donations:
        give_away(interpreter, node, args, kwargs)
    sets = type(node.func) is cst.Attribute and node.func.attr.value == "setattr"
    if sets and isinstance(function, Unknown) and args:
        replace_written(interpreter, args[0], interpreter.place(node))
    if interpreter.context.mesh is None and _may_set_mesh(function, node, args, kwargs):
        mesh = Unknown("a function that is not seen may set a mesh")
        interpreter.context = replace(interpreter.context, mesh=mesh)
    return found


def _arguments(interpreter: Machine, nodes: Sequence[cst.Arg]) -> _Arguments:
    """Evaluate the arguments of a call; the flag is set if a starred one hides how many there are."""
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    places: dict[int | str, Place] = {}
    opaque = False
    hidden: int | None = None
    unit = interpreter.frames[-1].unit
    for node in nodes:
        value = evaluate(interpreter, node.value)
        if node.star == "*":
            items = items_of(interpreter, value, interpreter.place(node.value))
            if items is None and hidden is None:
                # From here on positions are unknown.
                opaque, hidden = True, len(args)
            for item in items or ():
                # The place of the item itself, since the call shows only a name.
                origin = getattr(item, "origin", None)
                if origin is not None:
                    # An entry of a spec is as it should be there.
                    passed = isinstance(value, SpecValue)
                    places[len(args)] = LookedUp(origin, interpreter.place(node.value)) if passed else origin
                args.append(item)
        elif node.star == "**":
            value = seen_as(value, *MAPPING)
            known = isinstance(value, DictValue) and value.items is not None
            if known and isinstance(value, DictValue) and value.items is not None:
                kwargs.update({str(key): item for key, item in value.items.items()})
            else:
                forget_contents(value)
            opaque = opaque or not known
        elif node.keyword is not None:
            kwargs[node.keyword.value] = value
            places[node.keyword.value] = NodePlace(unit, node.value)
        else:
            places[len(args)] = NodePlace(unit, node.value)
            args.append(value)
    if hidden is not None:
        forget(Tuple(tuple(args[hidden:])))
    return args[:hidden], kwargs, opaque, places


def _may_set_mesh(function: Value, node: cst.Call, args: Sequence[Value], kwargs: dict[str, Value]) -> bool:
    """Return whether a call that is not followed takes or names a mesh, and so may set it globally."""
    if isinstance(function, External):
        if function.name.startswith(_OF_JAX) or transfer(function.name) is not None:
            return False
    elif not isinstance(function, Unknown):
        return False
    given = MeshValue in map(type, args) or MeshValue in map(type, kwargs.values())
    return given or "mesh" in (dotted(node.func) or "").lower()


def _subscript(interpreter: Machine, node: cst.Subscript) -> Value:
    receiver = evaluate(interpreter, node.value)
    return get_item(interpreter, receiver, evaluate_index(interpreter, node.slice), interpreter.place(node))


def _walrus(interpreter: Machine, node: cst.NamedExpr) -> Value:
    value = evaluate(interpreter, node.value)
    if type(node.target) is cst.Name:
        name = meant(interpreter.scope, node.target.value)
        write(interpreter, interpreter.scope.binding.target(name), name, value)
    return value


def _list_comprehension(interpreter: Machine, node: cst.ListComp | cst.SetComp) -> Value:
    place = interpreter.place(node)
    items = items_of(interpreter, comprehension(interpreter, node), place)
    if isinstance(node, cst.SetComp):
        return _set_of(interpreter, items, place)
    return ListValue(None if items is None else list(items), place, interpreter.path)


def _dict_comprehension(interpreter: Machine, node: cst.DictComp) -> Value:
    place = interpreter.place(node)
    pairs = items_of(interpreter, comprehension(interpreter, node), place)
    items: dict[Hashable, Value] | None = None if pairs is None else {}
    for pair in pairs or ():
        assert isinstance(pair, Tuple)
        found, key = hashable(pair.items[0])
        items = {**items, key: pair.items[1]} if found and items is not None else None
    if items is None:
        forget(Tuple(tuple(pairs or ())))
    return DictValue(items, place, interpreter.path)


def _await(interpreter: Machine, node: cst.Await) -> Value:
    evaluate(interpreter, node.expression)
    return Unknown("awaited")


def _yield(interpreter: Machine, node: cst.Yield) -> Value:
    frame = next(f for f in reversed(interpreter.frames) if not f.scope.is_comprehension)
    if isinstance(node.value, cst.From):
        place = interpreter.place(node)
        for drawn in each_left(interpreter, evaluate(interpreter, node.value.item), place):
            record_yield(interpreter, frame, drawn.item)
            frame.unsure = frame.unsure or not drawn.sure
    else:
        record_yield(interpreter, frame, NONE if node.value is None else evaluate(interpreter, node.value))
    return Unknown("sent to a generator")


_HANDLERS: dict[type, _Evaluator] = {
    cst.Name: _name,
    cst.Attribute: _attribute,
    cst.Integer: integer_literal,
    cst.Float: float_literal,
    cst.Imaginary: text_literal,
    cst.SimpleString: text_literal,
    cst.ConcatenatedString: _concatenated,
    cst.FormattedString: _formatted,
    cst.Ellipsis: _ellipsis,
    cst.Tuple: _tuple,
    cst.List: _list,
    cst.Set: _set,
    cst.Dict: _dict,
    cst.BinaryOperation: _binary,
    cst.BooleanOperation: _boolean,
    cst.UnaryOperation: _unary,
    cst.Comparison: _comparison,
    cst.IfExp: _conditional,
    cst.Lambda: _lambda,
    cst.Call: _call,
    cst.Subscript: _subscript,
    cst.NamedExpr: _walrus,
    cst.ListComp: _list_comprehension,
    cst.GeneratorExp: comprehension,
    cst.SetComp: _list_comprehension,
    cst.DictComp: _dict_comprehension,
    cst.Await: _await,
    cst.Yield: _yield,
}
