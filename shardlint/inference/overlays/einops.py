"""`einops`: functions that rearrange, reduce and repeat arrays by a pattern of axes (checked with einops
0.8)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from shardlint.inference.domain.values import Array, Const, Value, as_size, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.arrays.contractions import einsum
from shardlint.inference.overlays.arrays.operands import operand, reject, table, unresolved
from shardlint.laws.core.dims import Dim, Shape, divisible, equal, floordiv, fresh, product
from shardlint.support.lazy_dataclass import dataclass

_TOKEN = re.compile(r"\.\.\.|…|[()]|[^\W\d]\w*|\d+")
_DOTS = "..."
#: Reductions that keep any dtype.
_KEEPING = frozenset({"max", "min"})


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a pattern: a group of axes for each dimension."""

    groups: tuple[tuple[str, ...], ...]

    @property
    def axes(self) -> list[str]:
        """Return the names of the axes, in order."""
        return [axis for group in self.groups for axis in group if not axis.isdigit()]


def _parse(text: str) -> _Side:
    """Parse ``b (h d) ...``. A number is an axis of that size; 1 adds nothing to a group."""
    groups: list[tuple[str, ...]] = []
    inside: list[str] | None = None
    if _TOKEN.sub("", text).strip():
        reject(f"{text!r} is no side of a pattern")
    for token in _TOKEN.findall(text):
        axis = _DOTS if token == "…" else token
        if axis == "(" and inside is None:
            inside = []
        elif axis == ")" and inside is not None:
            groups.append(tuple(inside))
            inside = None
        elif axis in "()":
            reject("brackets that do not match")
        elif inside is not None:
            inside.append(axis)
        else:
            groups.append((axis,))
    side = _Side(tuple(groups))
    if inside is not None or len(set(side.axes)) != len(side.axes):
        reject("brackets that do not match, or an axis that is named twice")
    return side


def _sides(pattern: str) -> tuple[_Side, _Side]:
    before, arrow, after = pattern.partition("->")
    if not arrow:
        reject("a pattern without an arrow")
    return _parse(before), _parse(after)


def _lengths(call: Call, own: frozenset[str]) -> dict[str, Dim]:
    """Return the sizes of axes in keywords; unknown ones are fresh."""
    given = {name: as_size(value) for name, value in call.kwargs.items() if name not in own}
    return {name: fresh() if size is None else size for name, size in given.items()}


def _measure(
    side: _Side, shape: Shape | None, lengths: dict[str, Dim]
) -> tuple[dict[str, Dim], Shape | None]:
    """Return the size of each axis of the left side, and the dimensions that its ellipsis covers."""
    dotted = [group for group in side.groups if _DOTS in group]
    if any(len(group) > 1 for group in dotted):
        reject("an ellipsis in brackets on the left")
    sizes: dict[str, Dim] = {}
    if shape is None:
        for group in side.groups:
            sizes |= {axis: lengths.get(axis, fresh()) for axis in group}
        return sizes, None
    count = len(shape) - len(side.groups) + len(dotted)
    if count < 0 or (not dotted and count):
        reject(f"a pattern of {len(side.groups)} dimensions for an array of rank {len(shape)}")
    at = 0
    rest: Shape = ()
    for group in side.groups:
        if _DOTS in group:
            rest = shape[at : at + count]
            at += count
            continue
        sizes |= _split(group, shape[at], lengths)
        at += 1
    return sizes, rest


def _split(group: Sequence[str], size: Dim, lengths: dict[str, Dim]) -> dict[str, Dim]:
    """Return the sizes of the axes that form one dimension; at most one is found by division."""
    known = {
        axis: int(axis) if axis.isdigit() else lengths[axis]
        for axis in group
        if axis.isdigit() or axis in lengths
    }
    open_axes = [axis for axis in group if axis not in known]
    total = product(int(axis) if axis.isdigit() else lengths[axis] for axis in group if axis in known)
    if len(open_axes) > 1:
        reject(f"the sizes of {' and '.join(open_axes)} cannot both be inferred")
    if not open_axes:
        if equal(total, size) is False:
            reject(f"a dimension of {size} is not {total}")
        return known
    if total == 0 or divisible(size, total) is False:
        reject(f"a dimension of {size} does not divide by {total}")
    return {**known, open_axes[0]: floordiv(size, total)}


def _compose(side: _Side, sizes: dict[str, Dim], rest: Shape | None) -> Shape | None:
    """Return the shape of the right side, or None if an ellipsis covers unknown dimensions."""
    made: list[Dim] = []
    for group in side.groups:
        if group == (_DOTS,):
            if rest is None:
                return None
            made.extend(rest)
            continue
        parts = [int(axis) if axis.isdigit() else sizes[axis] for axis in group if axis != _DOTS]
        if _DOTS in group:
            parts.append(fresh() if rest is None else product(rest))
        made.append(product(parts))
    return tuple(made)


def _pattern(call: Call, position: int) -> str:
    text = as_str(call.argument(position, "pattern"))
    if call.opaque or text is None:
        unresolved("the pattern is not known")
    return text


def _tensor(call: Call) -> Array:
    return operand(call.argument(0, "tensor"), numpy=True)


def _made(call: Call, x: Array, shape: Shape | None, dtype: str | None) -> Array:
    return Array(shape, dtype, numpy=x.numpy, origin=call.place).vary(x.variation, x.summed)


def _rewritten(
    call: Call, before: _Side, after: _Side, lengths: dict[str, Dim]
) -> tuple[Array, Shape | None]:
    """Return the array, and its shape by the right side."""
    x = _tensor(call)
    if not set(lengths) <= {*before.axes, *after.axes}:
        reject("a size for an axis that is not there")
    if _DOTS in after.axes and _DOTS not in before.axes:
        reject("an ellipsis on the right alone")
    sizes, rest = _measure(before, x.shape, lengths)
    if x.shape is None and _DOTS not in before.axes:
        call.learn(0, "tensor", tuple(fresh() for _ in before.groups))
    return x, _compose(after, {**lengths, **sizes}, rest)


def _rearrange(call: Call) -> Value:
    """`rearrange(tensor, pattern, **axes_lengths)`: both sides have the same axes."""
    before, after = _sides(_pattern(call, 1))
    if set(before.axes) != set(after.axes):
        reject("the two sides have other axes")
    x, shape = _rewritten(call, before, after, _lengths(call, frozenset({"tensor", "pattern"})))
    return _made(call, x, shape, x.dtype)


def _reduce(call: Call) -> Value:
    """`reduce(tensor, pattern, reduction, **axes_lengths)`: reduces the axes that the right side lacks."""
    before, after = _sides(_pattern(call, 1))
    if not set(after.axes) <= set(before.axes):
        reject("an axis that is not there is kept")
    own = frozenset({"tensor", "pattern", "reduction"})
    x, shape = _rewritten(call, before, after, _lengths(call, own))
    how = as_str(call.argument(2, "reduction"))
    keeps = how in _KEEPING or (x.dtype is not None and "float" in x.dtype and how is not None)
    return _made(call, x, shape, x.dtype if keeps else None)


def _repeat(call: Call) -> Value:
    """`repeat(tensor, pattern, **axes_lengths)`: axes on the right side only are new."""
    before, after = _sides(_pattern(call, 1))
    lengths = _lengths(call, frozenset({"tensor", "pattern"}))
    if not set(before.axes) <= set(after.axes) or not set(after.axes) <= {*before.axes, *lengths}:
        reject("an axis is lost, or a new one has no size")
    x, shape = _rewritten(call, before, after, lengths)
    return _made(call, x, shape, x.dtype)


def _einsum(call: Call) -> Value:
    """`einsum(*tensors, pattern)`: names of axes are words."""
    if call.opaque or len(call.args) < 2:
        unresolved("the pattern is not known")
    text = as_str(call.args[-1])
    if text is None:
        unresolved("the pattern is not known")
    words = dict.fromkeys(re.findall(r"[^\W\d]\w*", text))
    letters = dict(zip(words, map(chr, range(ord("A"), ord("A") + len(words))), strict=True))
    subscripts = re.sub(r"[^\W\d]\w*", lambda word: letters[word[0]], text).replace(" ", "")
    numpy = all(operand(x, numpy=True).numpy for x in call.args[:-1])
    name = "numpy.einsum" if numpy else "jax.numpy.einsum"
    return einsum(replace(call, name=name, args=[Const(subscripts), *call.args[:-1]], arg_places={}))


TABLE = table("einops.", {"rearrange": _rearrange, "reduce": _reduce, "repeat": _repeat, "einsum": _einsum})
