"""Arrays that were joined along a dimension which a `jax.shard_map` then splits over devices.

Each device has a piece of the whole: of q, k and v, one after the other, the first devices have q. A body
that takes its piece apart as if it held a part of each, at the places of the joints divided by the devices,
takes others' data for its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from shardlint.inference.domain.histories import Joints
from shardlint.inference.domain.values import (
    Array,
    Const,
    ListValue,
    Slice,
    Tuple,
    Value,
    as_int,
    as_items,
    is_none,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.explicit.auto_layouts import ELEMENTWISE
from shardlint.inference.overlays.jax.operations import rule_of
from shardlint.inference.overlays.jax.transforms.taint import is_following
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.values import Mesh, Spec, entry_axes
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.transforms.traits import Trait
from shardlint.model.spans import Place
from shardlint.model.uses import Fact

#: Functions that join arrays along a dimension, and the name of that argument.
_JOINING = {
    **{
        f"{library}.{name}": "axis"
        for library in ("jax.numpy", "numpy")
        for name in ("concatenate", "concat")
    },
    "jax.lax.concatenate": "dimension",
}
_SPLITTING = frozenset(f"jax.numpy.{name}" for name in ("split", "array_split"))


def joined(call: Call, result: Value) -> Value:
    """Return the result of a call, marked with its joints if it joins several arrays."""
    name = _JOINING.get(call.name)
    items = as_items(call.args[0]) if name is not None and call.args else None
    if name is None or not items or len(items) < 2 or not isinstance(result, Array) or not result.shape:
        return result
    at = as_int(call.argument(1, name) or Const(0))
    if at is None or not -len(result.shape) <= at < len(result.shape) or call.interpreter.context.bound_axes:
        return result
    at %= len(result.shape)
    sizes = [_size(one, at) for one in items]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return result
    return replace(result, joined=Joints(at, tuple(accumulate(known[:-1])), result.shape, call.place))


def _size(value: Value, at: int) -> int | None:
    shape = value.shape if isinstance(value, Array) else None
    size = shape[at] if shape is not None and at < len(shape) else None
    return size if isinstance(size, int) else None


def _is_joined(array: Array) -> bool:
    """Return whether an array has the shape that it was joined to."""
    return array.joined is not None and array.shape == array.joined.shape


def cut(array: Array, shard: Array, spec: Spec, mesh: Mesh) -> Array:
    """Return a shard of an array, marked with the joints that it would have if each device held its part of
    each of the joined arrays."""
    if not _is_joined(array) or array.joined is None or shard.shape is None:
        return shard
    at, joints = array.joined.dimension, array.joined.at
    entry = spec.entries[at] if at < len(spec.entries) else None
    axes, ways = tuple(entry_axes(entry)), 1
    for axis in axes:
        size = mesh.size_of(axis)
        ways *= size if isinstance(size, int) else 0
    if not axes:
        return replace(shard, joined=replace(array.joined, shape=shard.shape))
    if ways < 2 or any(joint % ways for joint in joints):
        return shard
    local = tuple(joint // ways for joint in joints)
    size = shard.shape[at]
    if not isinstance(size, int) or (len(joints) + 1 >= ways and not any(joint % size for joint in joints)):
        # Each device has whole arrays.
        return shard
    pieces = (frozenset(joint - size * device for joint in joints) for device in range(ways))
    if not frozenset.intersection(*pieces).isdisjoint(local):
        # All devices have a joint where they may take their piece apart.
        return shard
    traits = shard.traits | {(Trait.JOINED, axis) for axis in axes}
    return replace(shard, joined=replace(array.joined, at=local, shape=shard.shape), traits=traits)


def followed(call: Call, name: str, operands: Sequence[Value], result: Value, layout: Spec | None) -> Value:
    """Return the result of an operation, marked as the operand that was joined, if the dimension goes through
    it; ``layout`` is that of the result in a body. It is recorded where a device takes its piece apart."""
    found = [one for one in operands if type(one) is Array and one.joined is not None and _is_joined(one)]
    if not found:
        return result
    source = found[0]
    joints, axes = source.joined, source.variation.axes_of(Trait.JOINED)
    assert joints is not None
    if axes and not is_following(call.interpreter.context):
        _note_taken_apart(call.interpreter, name, operands, source, result, call.place)
    if not isinstance(result, Array) or source.shape is None or result.shape is None:
        return result
    if len(found) > 1 and any(one.joined != source.joined for one in found):
        return result
    if axes and layout is not None:
        places = [i for i, entry in enumerate(layout.entries) if axes <= set(entry_axes(entry))]
        if len(places) != 1 or result.shape[places[0]] != source.shape[joints.dimension]:
            return result
        return replace(result, joined=replace(joints, dimension=places[0], shape=result.shape))
    if rule_of(name) in ELEMENTWISE and result.shape == source.shape:
        return replace(result, joined=joints)
    return result


def _note_taken_apart(
    interpreter: Evaluator, name: str, operands: Sequence[Value], source: Array, result: Value, place: Place
) -> None:
    """Record a piece that is taken apart at the joints that it does not have."""
    if source.joined is None or source.shape is None or source.joined.place is None:
        return
    at, joints = source.joined.dimension, source.joined.at
    if name in _SPLITTING or name == "split":
        cuts = _cuts_of_parts(result, at, source.shape)
        if cuts != joints:
            return
    elif name == "[]" and len(operands) == 2:
        size = source.shape[at]
        cuts = tuple(sorted({*_ends(operands[1], at, len(source.shape))} - {0, size}))
        if not cuts or not set(cuts) <= set(joints):
            return
    else:
        return
    named = " and ".join(f'"{axis}"' for axis in sorted(source.variation.axes_of(Trait.JOINED)))
    where = ", ".join(map(str, cuts))
    silent = (
        f"{len(joints) + 1} arrays are joined along dimension {at}, which the devices along {named} split: "
        f"each has a piece of the whole, and takes it apart at {where}, as if it had its part of each array; "
        "join the parts of each device instead"
    )
    facts = [Fact("each device takes its piece apart here", place)]
    record_of_value(
        interpreter, "jax.shard_map(joined)", Accepted(), source.joined.place, facts=facts, silent=silent
    )


def _cuts_of_parts(result: Value, at: int, whole: Sequence[object]) -> tuple[int, ...] | None:
    """Return where an array of a shape was cut along a dimension; None if it was not, or along another."""
    items = result.items if isinstance(result, ListValue | Tuple) else None
    sizes = [_size(one, at) for one in items or ()]
    known = [size for size in sizes if size is not None]
    if len(known) < 2 or len(known) < len(sizes) or sum(known) != whole[at]:
        return None
    return tuple(accumulate(known[:-1]))


def _ends(key: Value, at: int, rank: int) -> list[int]:
    """Return the ends of the slice that a key takes along a dimension."""
    items = list(key.items) if isinstance(key, Tuple) else [key]
    dots = [i for i, one in enumerate(items) if isinstance(one, Const) and one.value is ...]
    if dots:
        full = Slice(Const(None), Const(None), Const(None))
        items[dots[0] : dots[0] + 1] = [full] * (rank - len(items) + 1)
    one = items[at] if at < len(items) and not any(map(is_none, items)) else None
    if not isinstance(one, Slice) or not (is_none(one.step) or as_int(one.step) == 1):
        return []
    ends = [as_int(end) for end in (one.start, one.stop) if not is_none(end)]
    return [end for end in ends if end is not None]
