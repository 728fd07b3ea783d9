"""Taint of a value through a function: the values that certainly depend on it.

It is marked as varying over an axis that nothing else has, and the function evaluated once more without
recording anything: what varies over the mark afterwards was computed from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from shardlint.inference.domain.values import Array, MeshValue, ShardingValue, SpecValue, Value
from shardlint.inference.evaluation.context import Context
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.pytrees.prefixes import arrays_in, map_arrays
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import Mesh, Spec, Unknown
from shardlint.laws.transforms.varying import Variation
from shardlint.model.spans import Place

#: The axis of the mark, which no program can name.
MARK = "\0followed"
#: Arrays from outside a jitted function that are alike: their shape, dtype, mesh and spec.
Captured = tuple[Shape, str | None, Mesh, Spec]


def is_following(context: Context) -> bool:
    """Return whether a taint is being followed here."""
    return not isinstance(context.bound_axes, Unknown) and context.bound_axes[:1] == ((MARK, 1),)


def marked(tree: Value, path: str | None = None) -> Value:
    """Return the tree with its arrays marked, or only the one at a path."""

    def mark(array: Array, at: str) -> Array:
        return replace(array, varying=frozenset({MARK}), numpy=False) if path in (None, at) else array

    return map_arrays(tree, mark)


class Loops(list[Any]):
    """Notes taken while arrays are followed (`Context.watched`): `LoopEnd`, for a loop that they end."""


class LoopEnd(NamedTuple):
    """The place of a loop."""

    place: Place


def note_end(context: Context, ends: Iterable[Value], place: Place | None) -> None:
    """Note a loop, if its end in some round depends on the arrays that are followed for loops."""
    if not isinstance(context.watched, Loops) or place is None:
        return
    if any(isinstance(end, Array) and is_marked(end) for end in ends):
        context.watched.append(LoopEnd(place))


def made_from_marked(array: Array) -> Array:
    """Return the array as if it depended on a marked one."""
    return array.vary(array.variation.over(frozenset({MARK})))


def captured(array: Array) -> Captured | None:
    """Return the kind of an array inside jit that comes from outside, where the program placed it on a mesh:
    a tracer is not committed."""
    home = array.committed
    if not isinstance(home, ShardingValue) or array.numpy or array.struct or not array.shape:
        return None
    if not isinstance(home.mesh, MeshValue) or not isinstance(home.spec, SpecValue):
        return None
    return array.shape, array.dtype, home.mesh.mesh, home.spec.spec


def with_captured_marked(context: Context, operands: Iterable[Value]) -> tuple[Value, ...]:
    """Return operands with arrays from outside marked, if such are followed."""
    kind = context.captured

    def mark(array: Array, _: str) -> Array:
        return made_from_marked(array) if array.committed is not None and captured(array) == kind else array

    return tuple(operands if kind is None else (map_arrays(one, mark, keeps=True) for one in operands))


def followed(context: Context, place: Place, result: Value) -> Value:
    """Return the result of a call, with its arrays marked if that call is followed."""
    if context.marking != place:
        return result
    return map_arrays(result, lambda array, _: made_from_marked(array), keeps=True)


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
def following(interpreter: Evaluator, inside: bool = False, **context: object) -> Iterator[None]:
    """Evaluate as inside jit, with the mark bound, and discard effects on the program's objects; ``inside``
    tells that the axes of an enclosing shard_map are still bound."""
    around = interpreter.context.bound_axes if inside else ()
    bound = ((MARK, 1), *(() if isinstance(around, Unknown) else around))
    interpreter.muted += 1
    try:
        with (
            interpreter.within(in_jit=True, bound_axes=bound, check_vma=False, **context),
            interpreter.forked(),
        ):
            yield
    finally:
        interpreter.muted -= 1
