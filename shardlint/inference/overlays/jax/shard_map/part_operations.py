"""Operations in a body of shard_map that work along a split dimension, and so see one device's part only.

What works along a dimension is what JAX refuses on Explicit axes (a running sum, a sort), and what is listed
here. A product of all pairs has those within one part only, where one axis splits both of its dimensions.
These are no mistake in a body that moves data along the axis, or asks for the device's place on it
(`settled`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from shardlint.inference.domain.values import Array, Value, as_int, as_items, is_none
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.arrays.dtypes import is_inexact
from shardlint.inference.overlays.jax.lax.convolution import WINDOWED, overlapping
from shardlint.inference.overlays.jax.operations import rule_of
from shardlint.inference.overlays.jax.shard_map.split_dimensions import (
    arrays_of,
    asked,
    axes_along,
    large,
    mesh_of,
    split_of,
)
from shardlint.inference.overlays.jax.transforms.taint import is_following
from shardlint.laws.core.dims import equal, product
from shardlint.laws.core.values import Spec, entry_axes
from shardlint.laws.core.verdicts import Accepted, Cause, Rejected
from shardlint.laws.propagation.primitives import is_axis_twice
from shardlint.laws.transforms.traits import Trait
from shardlint.laws.transforms.varying import NO_AXES, Axes
from shardlint.model.spans import Place
from shardlint.model.uses import CollectiveUse, Fact, PartUse, Use
from shardlint.support.lazy_dataclass import dataclass

#: Functions that normalise along a dimension: with the position of its number.
_NORMALISING = {
    **{f"jax.nn.{name}": 1 for name in ("softmax", "log_softmax", "standardize")},
    "optax.softmax_cross_entropy": None,
    "optax.softmax_cross_entropy_with_integer_labels": None,
}
#: Collectives after which each device has the same, so that they move no part to another's.
_REDUCTIONS = frozenset({"psum", "pmean", "pmax", "pmin", "axis_size", "pvary", "pcast", "pbroadcast"})


@dataclass(frozen=True, slots=True)
class Along:
    """The argument that says along which dimensions a function works: its position and name, and its default:
    a dimension, or None for all. ``rows`` tells that it may work along the first one of several, that of
    examples, on purpose; ``moves`` that it moves elements to other places, also integers."""

    position: int | None
    keyword: str = "axis"
    default: int | None = -1
    rows: bool = False
    moves: bool = False


_ALONG = {
    **{f"jax.numpy.fft.{name}": Along(2) for name in "fft ifft rfft irfft hfft ihfft".split()},
    **{f"jax.numpy.fft.{name}": Along(2, "axes", None) for name in "fftn ifftn rfftn irfftn".split()},
    "jax.lax.associative_scan": Along(3, default=0),
    "jax.numpy.diff": Along(2),
    "jax.numpy.roll": Along(2, default=None, rows=True, moves=True),
    "jax.numpy.flip": Along(1, default=None, rows=True),
    "jax.lax.rev": Along(1, "dimensions", None, rows=True),
}
#: Attention, along the third dimension from the end of queries and of keys.
_ATTENTION = frozenset(
    f"{owner}.dot_product_attention" for owner in ("jax.nn", "flax.linen", "flax.linen.attention", "flax.nnx")
)


def note_operation(call: Call, name: str, result: Value) -> None:
    """Record a call if it takes a device's part of a dimension for the whole."""
    if is_following(call.interpreter.context) or name.startswith("at[]"):
        return
    operands = [one for one in arrays_of(call) if split_of(one) is not None]
    shown = f"`{name.rpartition('.')[2].removeprefix('2 ')}`"
    # Indices, and elements that are chosen by them, are put beside those of the other devices afterwards.
    chosen = rule_of(name) is not None and not (isinstance(result, Array) and is_inexact(result.dtype))
    for at, axes in () if chosen and not _moves(name) else _dimensions(call, name, operands):
        record_part(call.interpreter, _of_part(shown, at), axes, call.place, alone=True)
        return
    data = call.argument(0, "logits" if name.startswith("optax.") else "x")
    if name in _NORMALISING and isinstance(data, Array) and split_of(data) is not None:
        given = call.argument(_NORMALISING[name], "axis")
        axis = -1 if given is None else as_int(given)
        rank = len(data.shape or ())
        if axis is not None and -rank <= axis < rank:
            axes = axes_along(data, axis % rank)
            record_part(call.interpreter, _of_part(shown, axis % rank), axes, call.place, alone=False)
    # What a `pmap` pairs is recorded where labels tell that all pairs are meant (`note_own_rows`).
    elif axes := _paired(call, name, operands, result) - call.interpreter.context.device_axes:
        text = f"{shown} pairs what this device has only, with nothing of the other devices along {{axes}}"
        record_part(call.interpreter, text, axes, call.place, alone=True)


def transformed(call: Call, name: str, result: Value) -> Value:
    """Return the result of a Fourier transform along dimensions that are whole, with the others split as they
    were."""
    array = call.args[0] if call.args and name.startswith("jax.numpy.fft.") and name in _ALONG else None
    if not isinstance(array, Array) or not isinstance(result, Array) or split_of(array) is None:
        return result
    numbers = _numbers(call, _ALONG[name], len(array.shape or ()))
    return result if any(axes_along(array, at) for at in numbers) else replace(result, laid=array.laid)


def normalised(
    interpreter: Evaluator, symbol: str, whole: Value, part: Value, result: Value, place: Place
) -> Value:
    """Return the result of an operator; record data that is normalised, along a split dimension, by a
    reduction of this device's part of it."""
    if not isinstance(whole, Array) or not isinstance(part, Array) or part.shape is None:
        return result
    spec, local = split_of(whole), part.variation.axes_of(Trait.LOCAL)
    if spec is None or not local or is_following(interpreter.context):
        return result
    lacking = len(spec.entries) - len(part.shape)
    for dimension, entry in enumerate(spec.entries):
        at = dimension - lacking
        # Along the first dimension, examples are often normalised device by device on purpose; not so what
        # is one part of a gradient on each.
        if at < 0 or equal(part.shape[at], 1) is True:
            own = whole.variation.axes_of(Trait.OWN)
            axes = [axis for axis in entry_axes(entry) if axis in local and (dimension > 0 or axis in own)]
            if large(interpreter, axes):
                record_part(interpreter, _of_part("the reduction", dimension), axes, place, alone=False)
                return result
    if equal(product(part.shape), 1) is True and isinstance(result, Array):
        split = local.intersection(axis for entry in spec.entries for axis in entry_axes(entry))
        return _by_number(interpreter, symbol, whole, part, result, split, place)
    return result


def _by_number(
    interpreter: Evaluator, symbol: str, whole: Array, part: Array, result: Array, axes: Axes, place: Place
) -> Array:
    """Return a part less its mean, marked; record one that is scaled by another number of it afterwards, or
    by its deviation."""
    mean = axes & part.variation.axes_of(Trait.MEAN)
    if symbol == "-":
        if not mean or result.drawn_at is not None:
            return result
        traits = result.traits | {(Trait.CENTRED, axis) for axis in mean}
        return replace(result, traits=traits, drawn_at=place)
    centred = axes & whole.variation.axes_of(Trait.CENTRED)
    scaled = centred or (axes & part.variation.axes_of(Trait.SPREAD) if symbol == "/" else NO_AXES)
    at = whole.drawn_at if centred and whole.drawn_at is not None else place
    what = "the mean and deviation" if centred else "the deviation"
    text = f"these numbers are split over {{axes}}, and normalised with {what} of this device's part only"
    facts = (Fact("they are scaled here", place),) if at is not place else ()
    record_part(interpreter, text, scaled, at, alone=True, facts=facts)
    return result


def note_fans(interpreter: Evaluator, array: Array, spec: Spec) -> None:
    """Record a result of a body that was drawn for the size of a dimension of which it is a part."""
    shape = array.shape or ()
    for at, fan in ((len(shape) - 2, Trait.FAN_IN), (len(shape) - 1, Trait.FAN_OUT)):
        axes = array.variation.axes_of(fan)
        entry = spec.entries[at] if 0 <= at < len(spec.entries) else None
        drawn = axes.intersection(entry_axes(entry))
        if drawn and array.drawn_at is not None and equal(shape[at], 1) is False:
            text = (
                f"numbers are drawn with the deviation for the size of this device's part of dimension {at}, "
                "which is split over {axes}"
            )
            record_part(interpreter, text, drawn, array.drawn_at, alone=False)


def settled(uses: Sequence[Use], *, known: bool) -> list[Use]:
    """Return the uses of a body, without operations on parts that it knows to be such; without any if it is
    not ``known`` what the body returns, or JAX rejects it."""
    moved = {
        axis
        for use in uses
        if isinstance(use, CollectiveUse) and use.function not in _REDUCTIONS
        for axis in use.axes
    }
    return [
        use
        for use in uses
        if not isinstance(use, PartUse) or not use.alone or (known and moved.isdisjoint(use.axes))
    ]


def _of_part(what: str, dimension: int) -> str:
    return f"{what} takes this device's part of dimension {dimension} only, which is split over {{axes}}"


def record_part(
    interpreter: Evaluator,
    text: str,
    axes: Iterable[str],
    place: Place,
    *,
    alone: bool,
    kind: str = "part",
    facts: tuple[Fact, ...] = (),
) -> None:
    """Record an operation, unless the axes have one device; the text names these where it says ``{axes}``."""
    along = tuple(large(interpreter, sorted(axes)))
    if along:
        named = " and ".join(f'"{axis}"' for axis in along)
        interpreter.record(
            PartUse(
                place=place,
                environment=interpreter.environment(),
                verdict=Accepted(),
                facts=facts,
                function=f"jax.shard_map({kind})",
                silent=text.format(axes=named),
                axes=along,
                alone=alone,
            )
        )


def _dimensions(call: Call, name: str, operands: Sequence[Array]) -> Iterator[tuple[int, Axes]]:
    """Yield the split dimensions of numbers, not integers, along which a call works, with their axes."""
    along, windowed = _ALONG.get(name), name in WINDOWED
    for one in operands[:1] if windowed else operands:
        if not is_inexact(one.dtype) and not _moves(name):
            continue
        rank = len(one.shape or ())
        numbers = _numbers(call, along, rank) if along else overlapping(call) if windowed else range(rank)
        for at in numbers:
            axes = axes_along(one, at)
            if axes and (along is not None or windowed or _refused(call, name, one, at)):
                yield at, axes


def _moves(name: str) -> bool:
    """Return whether a function moves elements to other places, whatever they are."""
    along = _ALONG.get(name)
    return along is not None and along.moves


def _numbers(call: Call, along: Along, rank: int) -> list[int]:
    """Return the dimensions along which a listed function works, not counted from the end."""
    given = call.argument(along.position, along.keyword)
    numbers: list[int | None] = [along.default] if along.default is not None else [*range(rank)]
    if given is not None and not is_none(given):
        items = as_items(given)
        numbers = [as_int(given)] if items is None else [*map(as_int, items)]
    found = [number % rank for number in numbers if number is not None and -rank <= number < rank]
    return [at for at in found if at > 0 or rank == 1 or not along.rows]


def _refused(call: Call, name: str, array: Array, dimension: int) -> bool:
    """Return whether JAX refuses a call on Explicit axes since it works along a split dimension."""
    mesh, rule = mesh_of(array), rule_of(name)
    if mesh is None or rule is None:
        return False
    found = asked(call, name, mesh, array)
    return isinstance(found, Rejected) and found.cause is Cause.UNSUPPORTED and found.dimension == dimension


def _paired(call: Call, name: str, operands: Sequence[Array], result: Value) -> Axes:
    """Return the axes that split two dimensions of a result of numbers, one of each of two operands."""
    if name in _ATTENTION and len(operands) > 1:
        query, key = operands[:2]
        if len(query.shape or ()) > 2 and len(key.shape or ()) > 2:
            return axes_along(query, len(query.shape or ()) - 3) & axes_along(key, len(key.shape or ()) - 3)
    if (
        len(operands) < 2
        or not isinstance(result, Array)
        or not all(is_inexact(one.dtype) for one in (*operands, result))
    ):
        return frozenset()
    mesh = mesh_of(operands[0])
    if mesh is None or rule_of(name) is None or split_of(result) is not None:
        return frozenset()
    found = asked(call, name, mesh, result)
    if not isinstance(found, Rejected) or not is_axis_twice(found):
        return frozenset()
    return frozenset({str(found.axis)})
