"""Taint of a value through a function: the values that certainly depend on it.

It is marked as varying over an axis that nothing else has, and the function evaluated once more without
recording anything: what varies over the mark afterwards was computed from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from shardlint.inference.domain.values import Array, Value
from shardlint.inference.evaluation.context import Context
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.pytrees.prefixes import arrays_in, map_arrays
from shardlint.laws.core.values import Unknown
from shardlint.laws.transforms.varying import Variation

#: The axis of the mark, which no program can name.
MARK = "\0followed"


def is_following(context: Context) -> bool:
    """Return whether a taint is being followed here."""
    return not isinstance(context.bound_axes, Unknown) and context.bound_axes[:1] == ((MARK, 1),)


def marked(tree: Value, path: str | None = None) -> Value:
    """Return the tree with its arrays marked, or only the one at a path."""

    def mark(array: Array, at: str) -> Array:
        return replace(array, varying=frozenset({MARK}), numpy=False) if path in (None, at) else array

    return map_arrays(tree, mark)


def made_from_marked(array: Array) -> Array:
    """Return the array as if it depended on a marked one."""
    return array.vary(array.variation.over(frozenset({MARK})))


def unmarked(variation: Variation) -> Variation:
    """Return a variation as it is in JAX's types, without the mark."""
    return replace(variation, surely=variation.surely - {MARK})


def is_marked(array: Array) -> bool:
    """Return whether an array depends on a marked one."""
    return MARK in array.varying


def holds_marked(tree: Value) -> bool:
    """Return whether some array in a tree depends on a marked one."""
    return any(map(is_marked, arrays_in(tree)))


@contextmanager
def following(interpreter: Evaluator, **context: object) -> Iterator[None]:
    """Evaluate as inside jit, with the mark bound, and discard effects on the program's objects."""
    bound = ((MARK, 1),)
    interpreter.muted += 1
    try:
        with (
            interpreter.within(in_jit=True, bound_axes=bound, check_vma=False, **context),
            interpreter.forked(),
        ):
            yield
    finally:
        interpreter.muted -= 1
