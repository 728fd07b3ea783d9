"""Members of a value as written: the attribute after a dot, and the index in brackets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.values import NONE, Slice, Tuple, Value
from shardlint.inference.evaluation.context import meant
from shardlint.inference.facts.comment_facts import dotted
from shardlint.inference.facts.descriptions import sized
from shardlint.inference.recording.editor_uses import TELLING, note_read
from shardlint.inference.semantics.attributes import get_attribute
from shardlint.inference.syntax.node_fields import is_next
from shardlint.laws.core.values import Unknown

if TYPE_CHECKING:
    from shardlint.inference.machine.machine import Machine


def attribute_of(interpreter: Machine, node: cst.Attribute, receiver: Value) -> Value:
    """Return the attribute of the value before the dot."""
    name = node.attr.value
    if name[:2] == "__":
        name = meant(interpreter.scope, name)
    value = get_attribute(interpreter, receiver, name, interpreter.place(node))
    if type(value) in TELLING and interpreter.settings.editing:
        note_read(interpreter, node, value)
    if interpreter.settings.dims and (path := dotted(node)) is not None:
        return sized(interpreter, path, value)
    return value


def evaluate_index(interpreter: Machine, elements: Sequence[cst.SubscriptElement]) -> Value:
    """Evaluate the index in brackets: one value, or a tuple."""
    parts = [_index_part(interpreter, element.slice) for element in elements]
    single = len(parts) == 1 and isinstance(elements[0].comma, cst.MaybeSentinel)
    return parts[0] if single else Tuple(tuple(parts))


def _index_part(interpreter: Machine, node: cst.BaseSlice) -> Value:
    if type(node) is cst.Slice:
        start, stop, step = (
            NONE if part is None else interpreter.evaluate(part)
            for part in (node.lower, node.upper, node.step)
        )
        return Slice(start, stop, step, node.step is None and is_next(node.lower, node.upper))
    assert isinstance(node, cst.Index)
    return Unknown("a starred index") if node.star else interpreter.evaluate(node.value)
