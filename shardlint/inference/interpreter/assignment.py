"""Assignment targets: names, attributes, items, and unpacking."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.lattice import join_tagged, tagged
from shardlint.inference.domain.values import (
    Array,
    DictValue,
    ListValue,
    MeshValue,
    Tag,
    Tuple,
    Value,
)
from shardlint.inference.evaluation.context import Scope, meant
from shardlint.inference.evaluation.evaluator import Donation
from shardlint.inference.evaluation.iterators import items_of
from shardlint.inference.evaluation.mutation import delete_attribute, delete_item, set_attribute, set_item
from shardlint.inference.facts.comment_facts import with_facts
from shardlint.inference.interpreter.members import attribute_of, evaluate_index
from shardlint.inference.overlays.jax.transforms.given_away import marked_gone
from shardlint.inference.recording.editor_uses import note_assigned
from shardlint.inference.semantics.subscripts import get_item
from shardlint.inference.semantics.variables import write
from shardlint.inference.store.effect_log import changing
from shardlint.laws.core.values import Unknown
from shardlint.support.lazy_dataclass import replace

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine


def assign(interpreter: Machine, target: cst.BaseExpression, value: Value) -> None:
    """Bind a target to a value."""
    if interpreter.stated_facts and target in interpreter.stated_facts:
        value = with_facts(interpreter, target, value)
    # libcst's classes are abstract base classes, for which isinstance is slow.
    if type(target) is cst.Name:
        if interpreter.settings.editing:
            note_assigned(interpreter, target, value)
        bind(interpreter, target.value, value)
    elif isinstance(target, cst.Tuple | cst.List):
        _unpack(interpreter, target, value)
    elif isinstance(target, cst.Attribute):
        name = meant(interpreter.scope, target.attr.value)
        receiver = interpreter.evaluate(target.value)
        set_attribute(interpreter, receiver, name, value, place=interpreter.place(target))
    elif isinstance(target, cst.Subscript):
        _set_item(interpreter, target, value)
    elif isinstance(target, cst.StarredElement):
        assign(interpreter, target.value, value)


def held_by(interpreter: Machine, target: cst.BaseExpression) -> tuple[Value, Callable[[Value], None]]:
    """Return the value of a target and a function that rebinds it; each part of it is evaluated once."""
    noted = interpreter.stated_facts and target in interpreter.stated_facts
    place = interpreter.place(target)
    if isinstance(target, cst.Attribute) and not noted:
        name = meant(interpreter.scope, target.attr.value)
        receiver = interpreter.evaluate(target.value)
        held = attribute_of(interpreter, target, receiver)
        return held, lambda value: set_attribute(interpreter, receiver, name, value, place=place)
    if isinstance(target, cst.Subscript) and not noted:
        receiver = interpreter.evaluate(target.value)
        key = evaluate_index(interpreter, target.slice)
        held = get_item(interpreter, receiver, key, place)
        return held, lambda value: set_item(interpreter, receiver, key, value, place)
    return interpreter.evaluate(target), lambda value: assign(interpreter, target, value)


def bind(interpreter: Machine, name: str, value: Value) -> None:
    """Bind a name in the running scope; arrays and meshes record it as their name."""
    if isinstance(value, (MeshValue, Array)) and value.name is None:
        value = replace(value, name=name)
    name = meant(interpreter.scope, name)
    write(interpreter, interpreter.scope.target(name), name, value)


def give_away(interpreter: Machine, node: cst.Call, args: list[Value], kwargs: dict[str, Value]) -> None:
    """Mark the arrays that a call deleted, in the variables that it was given and those that are the same;
    ``args`` are its arguments by position.

    Where such a variable is a parameter, the function that runs gave its caller's array away.
    """
    donations = interpreter.donations[:]
    interpreter.donations.clear()
    if any(arg.star for arg in node.args):
        for donation in donations:
            _give_starred(interpreter, donation)
        return
    written = [arg.value for arg in node.args if arg.keyword is None]
    given = [*zip(written, args, strict=False)]
    given += [(arg.value, kwargs[arg.keyword.value]) for arg in node.args if arg.keyword is not None]
    for donation in donations:
        targets = [target for target, value in given if value is donation.value]
        if len(targets) == 1 and _is_variable(targets[0]):
            held, rebind = held_by(interpreter, targets[0])
            marked = marked_gone(interpreter, held, donation.lost, "") if held is donation.value else held
            if type(targets[0]) is cst.Name and held is donation.value:
                name = meant(interpreter.scope, targets[0].value)
                _mark_others(interpreter, name, donation, marked)
                if (holder := interpreter.scope.find(name)) is not None and marked is not held:
                    write(interpreter, holder, name, marked)
            elif marked is not held:
                rebind(marked)


def _mark_others(interpreter: Machine, name: str, donation: Donation, marked: Value) -> None:
    """Mark what is the same array as a variable: others, and the argument of the running function."""
    others = _aliases(interpreter.scope, name)
    for other in others:
        write(interpreter, interpreter.scope, other, marked)
    frame = interpreter.frame
    for one in (name, *others):
        if one in frame.bound and frame.held.get(one, frame.bound[one]) is donation.value:
            _give_on(interpreter, Donation(frame.bound[one], donation.lost))


def _give_starred(interpreter: Machine, donation: Donation) -> None:
    """Give away what ``*args`` or ``**kwargs`` of the running function hold, and it passed on."""
    variables, count = interpreter.scope.variables, 0
    for name, value in interpreter.frame.bound.items():
        items = value.items if isinstance(value, Tuple | DictValue) else None
        if items is not None and variables.get(name) is value:
            held = items.values() if isinstance(items, dict) else items
            count += sum(item is donation.value for item in held)
    if count == 1:
        _give_on(interpreter, donation)


def _give_on(interpreter: Machine, donation: Donation) -> None:
    """Tell the caller of the running function that it gave an argument away."""
    frame = interpreter.frame
    if interpreter.scope is not frame.scope:
        return
    doubtful = interpreter.path_since(frame.scope.path) or frame.returns or frame.exits
    frame.given.append(donation.doubted() if doubtful else donation)


def note_alias(interpreter: Machine, target: cst.BaseExpression, source: cst.BaseExpression) -> None:
    """Note that ``target = source``, of two names, makes both one array or tuple, deleted for both."""
    if type(target) is not cst.Name or type(source) is not cst.Name:
        return
    scope = interpreter.scope
    new, old = meant(scope, target.value), meant(scope, source.value)
    value = scope.variables.get(old)
    if not isinstance(value, Array | Tuple) or scope.target(new) is not scope or new == old:
        return
    # No other variable holds this object, unless it is assigned one of these.
    group = {old, *_aliases(scope, old)}
    frame, before, value = interpreter.frame, value, replace(value)
    for name in (*group, new):
        write(interpreter, scope, name, value)
        if name != new and frame.held.get(name, frame.bound.get(name)) is before:
            frame.held[name] = value
    scope.aliases |= {frozenset((new, name)) for name in group}


def _aliases(scope: Scope, name: str) -> list[str]:
    """Return the other variables of a scope that are the same array as this one."""
    pairs = [pair for pair in scope.aliases if name in pair]
    value = scope.variables.get(name)
    return [other for pair in pairs for other in pair - {name} if scope.variables.get(other) is value]


def _is_variable(node: cst.BaseExpression) -> bool:
    """Return whether an expression is a variable, or a part of one: it can be evaluated again."""
    while type(node) is cst.Attribute or (type(node) is cst.Subscript and _is_plain_index(node)):
        node = node.value
    return type(node) is cst.Name


def _is_plain_index(node: cst.Subscript) -> bool:
    """Return whether a subscript has one key, a name or a literal."""
    index = node.slice[0].slice if len(node.slice) == 1 else None
    key = index.value if type(index) is cst.Index else None
    if type(key) is cst.UnaryOperation:
        key = key.expression
    return isinstance(key, cst.Name | cst.Integer | cst.SimpleString)


def delete(interpreter: Machine, target: cst.BaseExpression) -> None:
    """Delete a name, an attribute or an item."""
    if isinstance(target, cst.Name):
        name = meant(interpreter.scope, target.value)
        holder = interpreter.scope.target(name)
        changing(holder)
        holder.variables.pop(name, None)
    elif isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            delete(interpreter, element.value)
    elif isinstance(target, cst.Attribute):
        name = meant(interpreter.scope, target.attr.value)
        delete_attribute(interpreter, interpreter.evaluate(target.value), name, interpreter.place(target))
    elif isinstance(target, cst.Subscript):
        receiver, key = interpreter.evaluate(target.value), evaluate_index(interpreter, target.slice)
        delete_item(interpreter, receiver, key, interpreter.place(target))


def _unpack(interpreter: Machine, target: cst.Tuple | cst.List, value: Value) -> None:
    elements = list(target.elements)
    count = len(elements)
    starred = [i for i, element in enumerate(elements) if isinstance(element, cst.StarredElement)]
    rows = tagged(value)
    columns = [items_of(interpreter, option, interpreter.place(target)) for option, _ in rows]
    tags = [tag for _, tag in rows]
    if starred and all(column is not None and len(column) >= count - 1 for column in columns):
        _unpack_starred(interpreter, elements, starred[0], [c for c in columns if c is not None], tags)
        return
    for i, element in enumerate(elements):
        found = [column[i] if column is not None and len(column) == count else None for column in columns]
        if any(item is None for item in found) or starred:
            assign(interpreter, element.value, Unknown("could not be unpacked"))
        else:
            items = zip((item for item in found if item is not None), tags, strict=True)
            assign(interpreter, element.value, join_tagged(items))


def _unpack_starred(
    interpreter: Machine,
    elements: list[cst.BaseElement],
    star: int,
    columns: list[tuple[Value, ...]],
    tags: list[Tag],
) -> None:
    after = len(elements) - star - 1
    for i, element in enumerate(elements):
        if i == star:
            middles = [ListValue(list(c[star : len(c) - after]), path=interpreter.path) for c in columns]
            assign(interpreter, element.value, join_tagged(zip(middles, tags, strict=True)))
        else:
            position = i if i < star else i - len(elements)
            items = zip((column[position] for column in columns), tags, strict=True)
            assign(interpreter, element.value, join_tagged(items))


def _set_item(interpreter: Machine, target: cst.Subscript, value: Value) -> None:
    receiver = interpreter.evaluate(target.value)
    key = evaluate_index(interpreter, target.slice)
    set_item(interpreter, receiver, key, value, interpreter.place(target))
