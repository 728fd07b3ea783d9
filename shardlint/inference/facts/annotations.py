"""Annotations that describe arrays: used only where nothing is known, since they need not be checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from shardlint.inference.domain.classes import lineage
from shardlint.inference.domain.values import Array, ClassValue, Instance, Value
from shardlint.inference.facts.descriptions import Description, fit
from shardlint.inference.overlays.jaxtyping import pattern_of
from shardlint.laws.core.dims import Dim
from shardlint.laws.core.values import Unknown

if TYPE_CHECKING:
    from shardlint.inference.machine.code import Code
    from shardlint.inference.machine.machine import Machine


def describe_parameters(interpreter: Machine, code: Code) -> None:
    """Fill in what is unknown of the parameters of a function that begins to run."""
    if ":" not in code.unit.text or not isinstance(code.node, cst.FunctionDef):
        return
    variables = interpreter.scope.variables
    described = [(name, found) for name, found in _described(code.node) if name in variables]
    # Known sizes bind names before anything is filled in.
    described.sort(key=lambda pair: isinstance(variables[pair[0]], Unknown))
    if any(_is_open(variables[name]) for name, _ in described):
        for name, annotation in described:
            variables[name] = annotated(interpreter, annotation, variables[name], name)


def annotated(
    interpreter: Machine, annotation: cst.Annotation | None, value: Value, name: str | None = None
) -> Value:
    """Return a value completed by its annotation."""
    if annotation is None or not _may_describe(annotation.annotation):
        return value
    found = description(interpreter, annotation)
    if found is None:
        return value
    pattern = pattern_of(found)
    assert pattern is not None
    place = interpreter.place(annotation.annotation)
    return fit(interpreter, Description(pattern, place, name, annotation=True), value).value


def description(interpreter: Machine, annotation: cst.Annotation) -> Value | None:
    """Return the value of an annotation that describes an array; None for any other."""
    if not _may_describe(annotation.annotation):
        return None
    with interpreter.silent():
        found = interpreter.evaluate(annotation.annotation)
    return found if pattern_of(found) is not None else None


def describe_fields(interpreter: Machine, instance: Instance) -> None:
    """Fill in the fields of an instance of which only the class is known."""
    names: dict[str, Dim] = {}
    for base in lineage(instance.cls):
        if not isinstance(base, ClassValue):
            continue
        for field, (found, place) in base.types.items():
            pattern = pattern_of(found)
            if pattern is not None and isinstance(value := instance.attributes.get(field), Unknown):
                description = Description(pattern, place, f"self.{field}", annotation=True, names=names)
                instance.attributes[field] = fit(interpreter, description, value).value


def _described(node: cst.FunctionDef) -> Iterator[tuple[str, cst.Annotation]]:
    params = node.params
    for param in (*params.posonly_params, *params.params, *params.kwonly_params):
        if param.annotation is not None and _may_describe(param.annotation.annotation):
            yield param.name.value, param.annotation


def _may_describe(node: cst.BaseExpression) -> bool:
    """Return whether an annotation looks like ``Float[Array, "b d"]``, or an alias of one."""
    # libcst's classes are abstract base classes, for which isinstance is slow.
    if type(node) is cst.Name:
        return True
    if type(node) is not cst.Subscript or len(node.slice) != 2:
        return False
    last = node.slice[1].slice
    return isinstance(last, cst.Index) and isinstance(last.value, cst.SimpleString | cst.ConcatenatedString)


def _is_open(value: Value) -> bool:
    return isinstance(value, Unknown) or (isinstance(value, Array) and value.shape is None)
