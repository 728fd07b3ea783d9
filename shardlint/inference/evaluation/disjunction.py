"""Evaluation once for each alternative; the uses recorded are variants of one use."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from shardlint.inference.domain.lattice import combined, join_tagged, tagged
from shardlint.inference.domain.values import MAX_ALTERNATIVES, Alternatives, MeshValue, SomeMesh, Tag, Value
from shardlint.inference.evaluation.context import Context
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.laws.core.values import Unknown

T = TypeVar("T")


def each(
    interpreter: Evaluator,
    rows: Sequence[tuple[T, Tag]],
    act: Callable[[T], Value],
    guards: bool = False,
    limit: int = MAX_ALTERNATIVES,
) -> Value:
    """Evaluate once for each alternative, recording variants.

    With ``guards``, a version check may have selected the alternative.
    """
    if not 0 < len(rows) <= limit:
        return Unknown("too many possible values")
    variants, assumed, context = interpreter.variants, interpreter.assumed, interpreter.context
    results: list[tuple[Value, Tag]] = []
    after: list[Context] = []
    try:
        for i, (value, tag) in enumerate(rows):
            interpreter.variants = (variants[0] * len(rows) + i, variants[1] * len(rows))
            interpreter.assumed = combined(assumed, tag) or assumed
            interpreter.context = context
            given = len(interpreter.donations)
            with interpreter.forked(guards=guards):
                results.append((act(value), tag))
            if len(rows) > 1:
                made = interpreter.donations[given:]
                interpreter.donations[given:] = [donation.doubted() for donation in made]
            after.append(interpreter.context)
        context = met(context, after, "set for one of several possible values")
    finally:
        interpreter.variants, interpreter.assumed, interpreter.context = variants, assumed, context
    return join_tagged(results)


def each_option(interpreter: Evaluator, value: Value, change: Callable[[Value], Value]) -> Value:
    """Evaluate once for each alternative of a value."""
    if not isinstance(value, Alternatives):
        return change(value)
    rows = [row for row in tagged(value) if combined(interpreter.assumed, row[1]) is not None]
    return each(interpreter, rows, change, guards=True)


def each_pair(interpreter: Evaluator, a: Value, b: Value, combine: Callable[[Value, Value], Value]) -> Value:
    """Combine every pair of alternatives."""
    if not isinstance(a, Alternatives) and not isinstance(b, Alternatives):
        return combine(a, b)
    pairs = itertools.product(tagged(a), tagged(b))
    meeting = (((x, y), combined(interpreter.assumed, s, t)) for (x, s), (y, t) in pairs)
    rows = [(pair, tag) for pair, tag in meeting if tag is not None]
    return each(interpreter, rows, lambda pair: combine(*pair), limit=MAX_ALTERNATIVES**2)


def met(before: Context, ends: Sequence[Context], reason: str) -> Context:
    """Return the context where paths meet; fields that they do not share are unknown."""
    first, *others = ends
    if all(end is first for end in others):
        return first
    merged = first
    if any(end.mesh != first.mesh for end in ends):
        unknown = SomeMesh if all(_has_axes(end.mesh) for end in ends) else Unknown
        merged = replace(before, mesh=unknown(reason))
    if any(end.legacy_mesh != first.legacy_mesh for end in ends):
        merged = replace(merged, legacy_mesh=Unknown(reason))
    if any(end.logical_rules is not first.logical_rules for end in ends):
        merged = replace(merged, logical_rules=Unknown(reason))
    return merged


def _has_axes(mesh: MeshValue | Unknown | None) -> bool:
    return isinstance(mesh, SomeMesh) or (isinstance(mesh, MeshValue) and bool(mesh.mesh.names))
