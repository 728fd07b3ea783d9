"""The dimensions of a shard that are split over mesh axes, followed through a body of `jax.shard_map`.

A shard has, as its layout (`Array.laid`), the spec that it was cut by, on a mesh of the Manual axes.
Operations carry it as they carry shardings on Explicit axes: the same rules are asked. What they refuse has
no layout.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import (
    Array,
    ListValue,
    MeshValue,
    ShardingValue,
    SpecValue,
    Tuple,
    Value,
    as_int,
    as_str,
)
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.explicit.auto_layouts import LAYERS, spec_of_result
from shardlint.inference.overlays.jax.explicit.primitives import Open
from shardlint.inference.overlays.jax.explicit.rules import einsum
from shardlint.inference.overlays.jax.operations import rule_of
from shardlint.inference.overlays.jax.shard_map.varying import variation_of
from shardlint.inference.overlays.jax.transforms.taint import is_following
from shardlint.laws.core.array_types import TypeSharding
from shardlint.laws.core.dims import equal
from shardlint.laws.core.values import AxisType, Entry, Mesh, Spec, entry_axes
from shardlint.laws.core.verdicts import Cause, Rejected
from shardlint.laws.transforms.traits import Trait
from shardlint.laws.transforms.varying import NO_AXES, Axes
from shardlint.model.spans import Place

_REDUCTIONS = frozenset("sum mean var std nansum nanmean".split())
_SPREADS = frozenset("var std nanvar nanstd".split())


def cut(names: Sequence[str], spec: Spec, rank: int) -> ShardingValue:
    """Return the layout of a shard of an array that a spec splits over Manual axes."""
    entries = (*spec.entries, *(None,) * (rank - len(spec.entries)))[:rank]
    mesh = Mesh(tuple(names), (1,) * len(names), (AxisType.EXPLICIT,) * len(names))
    return ShardingValue(MeshValue(mesh), SpecValue(Spec(entries)))


def axes_along(array: Array, dimension: int) -> Axes:
    """Return the axes that are known to split a dimension of a shard, not counted from the end."""
    spec = split_of(array)
    return NO_AXES if spec is None else frozenset(entry_axes(spec.entries[dimension]))


def without_dimension(array: Array, dimension: int) -> ShardingValue | None:
    """Return the layout of what lies along a dimension of a shard, one of them; None if it is not known."""
    spec, home = split_of(array), array.laid
    if spec is None or home is None:
        return None
    return replace(home, spec=SpecValue(Spec(spec.entries[:dimension] + spec.entries[dimension + 1 :])))


def followed(call: Call, name: str, result: Value) -> Value:
    """Return the result of an operation with its layout, and what it computed of this device's part only."""
    following = is_following(call.interpreter.context)
    if isinstance(result, Tuple):
        return replace(result, items=tuple(followed(call, name, item) for item in result.items))
    if isinstance(result, ListValue) and result.items is not None and rule_of(name) is not None:
        result.items[:] = [followed(call, name, item) for item in result.items]
    if not isinstance(result, Array) or result.shape is None or following or name.startswith("at[]"):
        return result
    result = _of_own_data(call, name, result)
    known = [(one, spec) for one in arrays_of(call) if (spec := split_of(one)) is not None]
    rule, method = rule_of(name), name.rpartition(".")[2]
    if not known:
        # Nothing is known of the dimensions of what pmap hands to each device.
        return _marked(result, Trait.SPREAD, _split_over(call)) if method in _SPREADS else result
    if rule is None and name.startswith(LAYERS):
        return _of_layer(call, known[0][0], known[0][1], result)
    mesh = mesh_of(known[0][0])
    if rule is None or mesh is None:
        return result
    found = asked(call, name, mesh, result)
    if isinstance(found, Rejected) and found.cause is Cause.AMBIGUOUS and len(known) == 2:
        common = frozenset.intersection(*[_axes(spec) for _, spec in known])
        found = asked(call, name, mesh, result, common) if common else None
        if isinstance(found, Spec):
            result = replace(result, traits=result.traits | {(Trait.PARTIAL, axis) for axis in common})
    if not isinstance(found, Spec) and name == "jax.numpy.take_along_axis":
        # What is picked from a part is no part of that dimension.
        found = asked(call, name, mesh, result, _picked_axes(call))
    if not isinstance(found, Spec):
        return _of_joint_product(call, result) if rule is einsum.einsum else result
    if method in _REDUCTIONS and len(known) == 1:
        gone = _axes(known[0][1]) - _axes(found)
        result = _marked(result, Trait.LOCAL, gone)
        if method in ("mean", "nanmean"):
            result = _marked(result, Trait.MEAN, gone)
        if method in _SPREADS:
            result = _marked(result, Trait.SPREAD, gone)
    if method == "logsumexp" and len(known) == 1:
        # The logarithm of a sum is as little linear as that of a mean.
        result = _marked(result, Trait.PRODUCT, _axes(known[0][1]) - _axes(found))
    home = ShardingValue(MeshValue(mesh), SpecValue(found))
    return replace(result, laid=home)


def _of_own_data(call: Call, name: str, result: Array) -> Array:
    """Return the result of an operation, marked if it is the mean of all that one device of a `pmap` has."""
    devices = call.interpreter.context.device_axes
    first = call.args[0] if devices and call.args else None
    if (
        result.shape != ()
        or not isinstance(first, Array)
        or name.rpartition(".")[2] not in ("mean", "nanmean")
    ):
        return result
    return _marked(result, Trait.MEAN, _split_over(call) & devices) if first.shape != () else result


def _marked(result: Array, trait: Trait, axes: Axes) -> Array:
    return replace(result, traits=result.traits | {(trait, axis) for axis in axes}) if axes else result


def _split_over(call: Call) -> Axes:
    """Return the axes along which each device has another part of the data that a reduction takes."""
    first = call.args[0] if call.args else None
    return first.variation.axes_of(Trait.SPLIT) if isinstance(first, Array) else frozenset()


def _of_joint_product(call: Call, result: Array) -> Array:
    """Return the result of an einsum of three operands or more, marked as a part of a product along the axes
    that split a dimension which it sums over, in several operands."""
    subscripts = as_str(call.args[0])
    operands = [one for one in call.args[1:] if isinstance(one, Array) and one.shape is not None]
    if subscripts is None or call.kwargs or len(operands) < 3 or len(operands) != len(call.args) - 1:
        return result
    try:
        terms, output = einsum.written_out(subscripts, [len(one.shape or ()) for one in operands])
    except Open:
        return result
    split = Counter(
        (letter, axis)
        for term, one in zip(terms, operands, strict=True)
        for letter, entry in zip(term, (split_of(one) or Spec()).entries, strict=False)
        if letter not in output
        for axis in entry_axes(entry)
    )
    axes = {axis for (_, axis), times in split.items() if times > 1}
    return replace(result, traits=result.traits | {(Trait.PARTIAL, axis) for axis in axes})


def operated(interpreter: Evaluator, symbol: str, x: Value, y: Value, result: Value, place: Place) -> Value:
    """Return the result of a binary operator in a body, with what is followed through it."""
    call = Call(interpreter, symbol, [x, y], {}, place)
    made = followed(call, f"2 {symbol}", result)
    if not isinstance(made, Array) or is_following(interpreter.context):
        return made
    kept = frozenset(
        trait
        for one, other in ((x, y), (y, x))
        if isinstance(one, Array)
        for trait in one.traits
        if trait[0] in SCALES and (symbol in "+-" or symbol in SCALES[trait[0]])
        # The distance of a mean from that of all devices.
        if symbol != "-" or trait[0] is not Trait.MEAN or trait[1] not in variation_of(other).equal
    )
    added = frozenset(
        (Trait.BIASED, axis)
        for one, other in ((x, y), (y, x))
        if symbol in "+-" and isinstance(one, Array) and isinstance(other, Array) and not other.numpy
        for axis in _summed_later(one, other)
        if other.variation.never(axis) and (Trait.DIVIDED, axis) not in other.traits
    )
    if symbol == "+":
        added |= {
            (Trait.AGAIN, axis)
            for one, other in ((x, y), (y, x))
            if isinstance(one, Array) and isinstance(other, Array)
            for axis in one.variation.surely & other.variation.axes_of(Trait.TOTAL)
            if other.variation.never(axis) and (Trait.DIVIDED, axis) not in other.traits
        }
    if symbol in "*/" and any(not isinstance(one, Array) or one.shape == () for one in (x, y)):
        bound = interpreter.context.bound_axes
        names = [name for name, _ in bound] if isinstance(bound, tuple) else []
        sums = made.variation.axes_of(Trait.LOCAL)
        added |= {(Trait.DIVIDED, n) for n in names if n in sums or made.variation.never(n)}
    at = next((one.drawn_at for one in (x, y) if isinstance(one, Array) and one.traits & kept), made.drawn_at)
    return replace(made, traits=made.traits | kept | added, drawn_at=at) if kept or added else made


def _summed_later(part: Array, whole: Array) -> Axes:
    """Return the axes over which one operand is a part of a product or a sum, to be summed, beside another
    that is whole: an array, or a number that is computed from the program's data."""
    of_product = part.variation.axes_of(Trait.PARTIAL) if whole.shape else frozenset()
    apart = part.variation.axes_of(Trait.MEAN) | part.variation.axes_of(Trait.DIVIDED)
    return of_product | ((part.variation.axes_of(Trait.LOCAL) & whole.equal) - apart)


#: Traits that sums keep, with the other operators that do.
SCALES = {
    Trait.SCALED: "",
    Trait.TIMES: "",
    Trait.MEAN: "",
    Trait.MEANS: "",
    Trait.GRADIENT: "",
    Trait.AVERAGED: "",
    Trait.OWN: "*/",
    Trait.APART: "*/",
    Trait.TOTAL: "",
    Trait.AGAIN: "",
    Trait.SPREAD: "",
    Trait.EXTREME: "",
}


def _of_layer(call: Call, array: Array, spec: Spec, result: Array) -> Array:
    """Return the result of a layer that computes row by row, with the same rows split."""
    rows = spec.entries if call.name.endswith("Embed") else spec.entries[:-1]
    whole = len(spec.entries) == len(rows) or not entry_axes(spec.entries[-1])
    kept = (
        result.shape is not None
        and array.shape is not None
        and result.shape[: len(rows)] == array.shape[: len(rows)]
    )
    if not whole or not kept or result.may_vary != array.may_vary or array.laid is None:
        return result
    entries = (*rows, *(None,) * (len(result.shape or ()) - len(rows)))
    return replace(result, laid=replace(array.laid, spec=SpecValue(Spec(entries))))


def own_parts(interpreter: Evaluator, argument: Array, gradient: Array) -> Array:
    """Return a gradient, marked if its argument is a shard: with the same dimensions split, of which each
    device has its own part. One element on each device may be a copy for it. So is one by weights of which
    each device has others."""
    apart = argument.variation.axes_of(Trait.REPLICA)
    if apart:
        traits = gradient.traits | {(Trait.APART, axis) for axis in large(interpreter, sorted(apart))}
        return replace(gradient, traits=traits, drawn_at=argument.drawn_at)
    spec = split_of(argument)
    if spec is None or argument.shape is None:
        return gradient
    sizes = zip(spec.entries, argument.shape, strict=True)
    axes = [axis for entry, size in sizes if equal(size, 1) is False for axis in entry_axes(entry)]
    traits = gradient.traits | {(Trait.OWN, axis) for axis in large(interpreter, axes)}
    return replace(gradient, laid=argument.laid, traits=traits)


def split_of(array: Array) -> Spec | None:
    """Return the spec of the dimensions of an array in a body; None if it is not known."""
    home = array.laid
    if home is not None and isinstance(home.mesh, MeshValue) and isinstance(home.spec, SpecValue):
        spec, shape = home.spec.spec, array.shape
        own = AxisType.EXPLICIT in home.mesh.mesh.types
        return spec if own and shape is not None and len(shape) == len(spec.entries) else None
    return None


def asked(
    call: Call, name: str, mesh: Mesh, result: Array, without: Axes = NO_AXES
) -> Spec | Rejected | None:
    """Return the spec of a result as on Explicit axes, or their refusal, with some axes left out; None if
    neither is known. The operation has a rule."""
    rule = rule_of(name)
    assert rule is not None
    return spec_of_result(call, rule, mesh, result, lambda value: _typed(value, mesh, without))


def _typed(value: Value, mesh: Mesh, without: Axes) -> Value:
    """Return an operand whose type has its layout."""
    if isinstance(value, Tuple):
        return replace(value, items=tuple(_typed(item, mesh, without) for item in value.items))
    if isinstance(value, ListValue) and value.items is not None:
        return Tuple(tuple(_typed(item, mesh, without) for item in value.items))
    if not isinstance(value, Array) or value.shape is None:
        return value
    spec = split_of(value)
    if spec is None and (not value.shape or value.may_vary == frozenset()):
        spec = Spec((None,) * len(value.shape))
    if spec is None:
        return replace(value, typed=None)
    entries = tuple(_without(entry, without) for entry in spec.entries)
    return replace(value, typed=TypeSharding(mesh, Spec(entries)), numpy=False)


def _without(entry: Entry, axes: Axes) -> Entry:
    kept = tuple(axis for axis in entry_axes(entry) if axis not in axes)
    return kept if len(kept) > 1 else kept[0] if kept else None


def _picked_axes(call: Call) -> Axes:
    """Return the axes over which the dimension is split along which `take_along_axis` picks."""
    array, given = call.args[0], call.argument(2, "axis")
    spec = split_of(array) if isinstance(array, Array) else None
    axis = -1 if given is None else as_int(given)
    if spec is None or axis is None or not -len(spec.entries) <= axis < len(spec.entries):
        return frozenset()
    return frozenset(entry_axes(spec.entries[axis]))


def large(interpreter: Evaluator, axes: Sequence[str]) -> list[str]:
    """Return the axes that have more than one device, or may have."""
    bound = interpreter.context.bound_axes
    sizes = dict(bound) if isinstance(bound, tuple) else {}
    return [axis for axis in axes if equal(sizes.get(axis, 1), 1) is not True]


def arrays_of(call: Call) -> Iterator[Array]:
    """Yield the arrays that a call is given, by themselves or in a list or tuple."""
    for value in (*call.args, *call.kwargs.values()):
        items = value.items if isinstance(value, Tuple | ListValue) else None
        for one in items or (value,):
            if isinstance(one, Array):
                yield one


def mesh_of(array: Array) -> Mesh | None:
    """Return the mesh of the axes that split an array in a body, if its layout is known."""
    home = array.laid
    return home.mesh.mesh if home is not None and isinstance(home.mesh, MeshValue) else None


def _axes(spec: Spec) -> Axes:
    return frozenset(axis for entry in spec.entries for axis in entry_axes(entry))
