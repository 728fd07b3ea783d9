"""Places in the whole of a dimension that are taken for places in one device's part of it.

Integers of an argument that are the same on all devices along an axis (`Trait.GIVEN`), such as labels and
token ids, pick other elements on each device from a dimension that is split over the axis: `table[ids]`,
`take_along_axis(logits, labels)`. A sum over the axis adds those up (`Trait.ROWS`, `Trait.PICKED`), unless a
mask that differs between the devices chooses among them first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import Array, Const, Slice, Tuple, Value, as_int, as_str
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.explicit.primitives import Open
from shardlint.inference.overlays.jax.explicit.rules import contractions, einsum, elementwise
from shardlint.inference.overlays.jax.operations import rule_of
from shardlint.inference.overlays.jax.shard_map.reduced_values import SAME_VALUES
from shardlint.inference.overlays.jax.shard_map.split_dimensions import large, split_of
from shardlint.inference.overlays.jax.shard_map.varying import variation_of
from shardlint.inference.overlays.jax.transforms.taint import is_following
from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import entry_axes
from shardlint.laws.transforms.traits import Trait, Traits
from shardlint.laws.transforms.varying import NO_AXES, Axes

#: The traits that are followed here.
_FOLLOWED = (Trait.GIVEN, Trait.ONE_HOT, Trait.ROWS, Trait.PICKED)
_SYMBOLS = {
    f"jax.numpy.{name}": symbol
    for symbol, names in {
        "+": "add", "-": "subtract", "*": "multiply", "/": "divide true_divide", "==": "equal", "@": "matmul",
    }.items()
    for name in names.split()
}  # fmt: skip
#: The traits of one operand that the result of an operator has too.
_KEPT = {
    "+": (Trait.GIVEN, Trait.ROWS, Trait.PICKED),
    "-": (Trait.GIVEN, Trait.ROWS, Trait.PICKED),
    "*": (Trait.GIVEN, Trait.ROWS, Trait.PICKED),
    "/": (Trait.ROWS, Trait.PICKED),
}
_ALONG = frozenset({"jax.numpy.take_along_axis"})
_TAKING = frozenset({"jax.numpy.take", "jax.Array.take"})
_CHOOSING = (elementwise.where, elementwise.select)
_SUMS = frozenset(f"{owner}.{name}" for owner in ("jax.numpy", "jax.Array") for name in ("sum", "mean"))


def indexed(call: Call, name: str, result: Value) -> Value:
    """Return the result of a call or an operator, marked if it is made of such places."""
    operands = (*call.args, *call.kwargs.values())
    if not isinstance(result, Array) or not any(map(_is_followed, operands)):
        return result
    if is_following(call.interpreter.context):
        return result
    symbol = _SYMBOLS.get(name, name.rpartition(" ")[2] if name[:2] in ("1 ", "2 ") else "")
    picked = _picked(call, name, symbol, result)
    found = {(kind, axis) for kind, axes in picked for axis in large(call.interpreter, sorted(axes))}
    place = call.place if found else None
    found |= _kept(call, name, symbol, result)
    if not found:
        return result
    if place is None:
        place = next((one.drawn_at for one in operands if _is_followed(one) and one.drawn_at), None)  # type: ignore[union-attr]
    return replace(result, traits=result.traits | found, drawn_at=place or result.drawn_at)


def _is_followed(value: Value) -> bool:
    if isinstance(value, Tuple):
        return any(map(_is_followed, value.items))
    return isinstance(value, Array) and any(kind in _FOLLOWED for kind, _ in value.traits)


def _axes(value: Value, *kinds: Trait) -> Axes:
    if not isinstance(value, Array):
        return NO_AXES
    return NO_AXES.union(*[value.variation.axes_of(kind) for kind in kinds])


def _given(value: Value) -> Axes:
    """Return the axes along which all devices certainly hold the same integers of an argument."""
    return _axes(value, Trait.GIVEN) - _axes(value, Trait.SPLIT)


def _is_equal(value: Value, axis: str) -> bool:
    """Return whether a value is certainly the same on all devices along an axis."""
    return variation_of(value).never(axis) or axis in _axes(value, Trait.ONE_HOT) or axis in _given(value)


def _kept(call: Call, name: str, symbol: str, result: Array) -> Traits:
    """Return those traits that operands hand on to a result."""
    args = call.args
    if symbol in _KEPT and len(args) == 2:
        pairs = ((args[0], args[1]), (args[1], args[0]))
        return frozenset(
            (kind, axis)
            for one, other in pairs[: 1 if symbol == "/" else 2]
            if isinstance(one, Array)
            for kind, axis in one.traits
            if kind in _KEPT[symbol]
            and (_is_equal(other, axis) or axis in _axes(other, Trait.ROWS, Trait.PICKED))
        )
    if rule_of(name) in _CHOOSING and len(args) == 3:
        return frozenset(
            (kind, axis)
            for one, other in ((args[1], args[2]), (args[2], args[1]))
            if isinstance(one, Array)
            for kind, axis in one.traits
            if kind in _FOLLOWED and _is_equal(args[0], axis) and _is_equal(other, axis)
        )
    first = args[0] if args else None
    if not isinstance(first, Array):
        return frozenset()
    if name in _SUMS:
        return frozenset(trait for trait in first.traits if trait[0] is Trait.PICKED)
    kinds: Sequence[Trait] = ()
    if name.rpartition(".")[2] in SAME_VALUES or symbol == "-" or rule_of(name) is elementwise.cast:
        same = (first.shape or ())[-1:] == (result.shape or ())[-1:]
        kinds = _FOLLOWED if same else (Trait.GIVEN, Trait.ROWS, Trait.PICKED)
    elif name == "[]":
        kinds = (Trait.GIVEN, Trait.ROWS, Trait.PICKED) if result.shape else (Trait.ROWS, Trait.PICKED)
    rest = args[1:]
    return frozenset(
        (kind, axis)
        for kind, axis in first.traits
        if kind in kinds and all(_is_equal(other, axis) for other in rest)
    )


def _picked(call: Call, name: str, symbol: str, result: Array) -> Iterator[tuple[Trait, Axes]]:
    """Yield the traits that a result gets here, each with its axes."""
    args = call.args
    if name == "[]":
        yield from _by_brackets(args[0], args[1])
    elif name in _TAKING or name in _ALONG:
        axis = as_int(call.argument(2, "axis"))
        if axis is None and name in _ALONG and call.argument(2, "axis") is None:
            axis = -1
        if axis is not None and len(args) > 1:
            yield from _along(args[0], axis, args[1], name in _ALONG)
    elif name == "jax.nn.one_hot" and args:
        at = call.argument(3, "axis")
        if at is None or as_int(at) == -1:
            yield Trait.ONE_HOT, _given(args[0])
    elif symbol == "==" and len(args) == 2:
        for ids, counted in ((args[0], args[1]), (args[1], args[0])):
            if _last(ids) in (1, None) and _last(counted) == _last(result):
                yield Trait.ONE_HOT, _given(ids) & _axes(counted, Trait.NUMBERED)
    elif rule_of(name) in _CHOOSING and len(args) == 3:
        for one, other in ((args[1], args[2]), (args[2], args[1])):
            if not isinstance(other, Array) or not other.shape:
                yield Trait.PICKED, _axes(args[0], Trait.ONE_HOT) & _split(one, -1)
    elif len(args) == 2:
        for one, other in ((args[0], args[1]), (args[1], args[0])):
            if symbol == "*" and _last(one) is not None and _last(one) == _last(other):
                yield Trait.PICKED, _axes(one, Trait.ONE_HOT) & _split(other, -1)
        if symbol == "@" or rule_of(name) is contractions.dot:
            rank = len(args[1].shape or ()) if isinstance(args[1], Array) else 0
            yield Trait.PICKED, _axes(args[0], Trait.ONE_HOT) & _split(args[1], -2 if rank > 1 else -1)
    elif rule_of(name) is einsum.einsum and len(args) == 3:
        yield from _by_einsum(args)


def _by_brackets(array: Value, key: Value) -> Iterator[tuple[Trait, Axes]]:
    """Yield what is picked by an index in brackets."""
    for at, part in parts_of_key(array, key):
        if isinstance(part, Array):
            yield from _along(array, at, part, False)


def parts_of_key(array: Value, key: Value) -> Iterator[tuple[int, Value]]:
    """Yield the parts of an index that take a dimension, each with that dimension, if all are known."""
    parts = key.items if isinstance(key, Tuple) else (key,)
    if not isinstance(array, Array) or array.shape is None:
        return
    used = [_consumed(part) for part in parts]
    if None in used or used.count(-1) > 1:
        return
    lacking = len(array.shape) - sum(n for n in used if n is not None and n > 0)
    at = 0
    for part, n in zip(parts, used, strict=True):
        if n == 1:
            yield at, part
        at += lacking if n == -1 else n or 0


def _consumed(part: Value) -> int | None:
    """Return how many dimensions a part of an index takes; -1 for an ellipsis, None if it is not known."""
    if isinstance(part, Const) and part.value is None:
        return 0
    if isinstance(part, Const) and part.value is Ellipsis:
        return -1
    if isinstance(part, Array):
        exact = part.dtype is not None and part.dtype.startswith(("int", "uint"))
        return 1 if exact and part.shape is not None else None
    return 1 if isinstance(part, Slice) or as_int(part) is not None else None


def _along(array: Value, axis: int, key: Value, each: bool) -> Iterator[tuple[Trait, Axes]]:
    """Yield what indices along a dimension pick, for ``each`` row perhaps."""
    if not isinstance(array, Array) or array.shape is None or not isinstance(key, Array) or not key.shape:
        return
    if -len(array.shape) <= axis < len(array.shape):
        first = axis % len(array.shape) == 0
        yield (Trait.ROWS if first else Trait.PICKED), _given(key) & _split(array, axis)


def _by_einsum(args: Sequence[Value]) -> Iterator[tuple[Trait, Axes]]:
    """Yield what an einsum of one-hot vectors picks along their last dimension."""
    subscripts = as_str(args[0])
    operands = [one for one in args[1:] if isinstance(one, Array) and one.shape is not None]
    if subscripts is None or len(operands) != 2:
        return
    try:
        terms, _ = einsum.written_out(subscripts, [len(one.shape or ()) for one in operands])
    except Open:
        return
    for i, (one, other) in enumerate(zip(operands, reversed(operands), strict=True)):
        letter = terms[i][-1:]
        if letter and letter in terms[1 - i]:
            yield Trait.PICKED, _axes(one, Trait.ONE_HOT) & _split(other, terms[1 - i].index(letter))


def _split(value: Value, dimension: int) -> Axes:
    """Return the axes over which a dimension of an array is split."""
    spec = split_of(value) if isinstance(value, Array) else None
    if spec is None or not -len(spec.entries) <= dimension < len(spec.entries):
        return NO_AXES
    return frozenset(entry_axes(spec.entries[dimension]))


def _last(value: Value) -> object:
    """Return the last size of an array; None if it has none."""
    shape = value.shape if isinstance(value, Array) else None
    if not shape:
        return None
    return 1 if equal(shape[-1], 1) is True else shape[-1]
