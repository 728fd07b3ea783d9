"""Numbers in a body of shard_map that are reduced to something else than is meant (`Trait`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import isclose, prod

from shardlint.inference.domain.values import Array, Const, Value, as_int
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.transforms.taint import is_following
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.dims import Dim, product
from shardlint.laws.core.values import Unknown
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.transforms.traits import Trait
from shardlint.laws.transforms.varying import NO_AXES, Variation, scaled
from shardlint.model.uses import Fact

_ELSEWHERE = (
    "indices that are the same on all devices pick from a dimension that is split over {axis}: another "
    "element of each part, and this `{function}` adds those up; subtract jax.lax.axis_index({axis}) * the "
    "part's size, and mask what is not in the part"
)
_TEXTS = {
    Trait.RATIO: "each device divides by its own part's sum over {axis}, and `{function}` adds up the "
    "ratios: another number wherever the divisors differ; reduce both first, and divide then",
    Trait.PRODUCT: "each device multiplies its own part's means, or takes another function of them, or of "
    "its part's sum, that is not linear, before this `{function}` over {axis}: the mean of products is no "
    "product of means; reduce the means, or sums, first",
    Trait.CLIPPED: "each device clips the gradient of its own part of the data before this `{function}` "
    "over {axis}: the mean of clipped gradients is not the clipped mean; reduce first, and clip then",
    Trait.BIASED: "each device adds a whole array to its part of a product or sum, and the sum over {axis} "
    "has it once for each device; add it after the `{function}`",
    Trait.CURVED: "each device applies a function that is not linear to its part of a product, before this "
    "`{function}` over {axis} adds up the parts; sum first",
    Trait.AGAIN: "it was summed over {axis} before, each device added something of its own, and this "
    "`{function}` has the earlier sum once for each device; sum what the devices add only",
    Trait.OWN: "each device has the gradient of its own part of an argument, which is split over {axis}, and "
    "`{function}` combines those of different parts; reduce it over the other axes only",
    Trait.ROWS: _ELSEWHERE,
    Trait.PICKED: _ELSEWHERE,
    Trait.SPREAD: "each device takes the variance of its own part of the data, and `{function}` over {axis} "
    "leaves out how far the parts' means lie apart; average the squared distances from the mean of all",
    Trait.EXTREME: "each device has the index of the extreme element of its own part, and `{function}` over "
    "{axis} picks an index whatever the elements are; compare these, and mask the indices of the others",
    Trait.APART: "each device draws weights with another of these keys, and `{function}` over {axis} "
    "combines the gradients by them: all get the same update, and stay different; draw weights with one key",
}


def divided(result: Value, x: Value, y: Value) -> Value:
    """Return the quotient of two numbers, marked if both are of another part of the data on each device."""
    if not isinstance(result, Array) or not isinstance(x, Array) or not isinstance(y, Array):
        return result
    if x.shape != () or y.shape != ():
        return result
    axes = x.variation.axes_of(Trait.SPLIT) & y.variation.axes_of(Trait.SPLIT)
    return replace(result, traits=result.traits | {(Trait.RATIO, axis) for axis in axes}) if axes else result


#: Functions that are not linear, as far as they are often computed from a mean.
_CURVED = frozenset(
    f"jax.numpy.{name}" for name in "sqrt exp exp2 expm1 log log2 log10 log1p square power reciprocal".split()
)


#: Activations that are not linear.
_ACTIVATIONS = frozenset(
    f"jax.nn.{name}"
    for name in (
        "relu relu6 gelu silu swish sigmoid hard_sigmoid hard_silu hard_swish hard_tanh softplus "
        "soft_sign elu celu selu leaky_relu log_sigmoid squareplus mish softmax log_softmax tanh"
    ).split()
) | {"jax.numpy.tanh", "jax.lax.tanh", "jax.lax.logistic"}  # fmt: skip


def activated(name: str, result: Value, operands: Sequence[Value]) -> Value:
    """Return the result of an activation, marked if it is of a part of a product."""
    first = operands[0] if operands and name in _ACTIVATIONS else None
    if not isinstance(first, Array) or not isinstance(result, Array):
        return result
    axes = first.variation.axes_of(Trait.PARTIAL)
    return replace(result, traits=result.traits | {(Trait.CURVED, axis) for axis in axes}) if axes else result


def multiplied(name: str, result: Value, operands: Sequence[Value]) -> Value:
    """Return the product of two means, or another function of one that is not linear, marked if they are
    those of another part of the data on each device."""
    if not isinstance(result, Array):
        return result
    means = [one.variation.axes_of(Trait.MEAN) if isinstance(one, Array) else frozenset() for one in operands]
    if name == "*" and len(means) == 2:
        axes = means[0] & means[1]
    elif (name in _CURVED or name == "**") and means:
        axes = means[0]
    else:
        return result
    return (
        replace(result, traits=result.traits | {(Trait.PRODUCT, axis) for axis in axes}) if axes else result
    )


def scaled_gradient(call: Call, array: Array, value: Variation) -> Variation:
    """Return the variation of a gradient by an array, of a function with this value, without the check."""
    axes = NO_AXES if is_following(call.interpreter.context) else scaled(value)
    split = array.variation.axes_of(Trait.SPLIT) & axes
    traits = {(Trait.TIMES if axis in split else Trait.SCALED, axis) for axis in axes}
    whole = value.axes_of(Trait.MEAN) - array.variation.axes_of(Trait.SPLIT)
    traits |= {(Trait.AVERAGED, axis) for axis in whole}
    return Variation(value.surely, traits=frozenset(traits))


def rescaled(interpreter: Evaluator, symbol: str, x: Value, y: Value, result: Value) -> Value:
    """Return a product or quotient. A sum over the devices that is perhaps divided by their number is a mean,
    and a gradient that came multiplied by it is perhaps right."""
    if symbol not in "*/" or not isinstance(result, Array):
        return result
    traits = result.traits
    for one, factor in ((x, y), (y, x)) if symbol == "*" else ((x, y),):
        if not isinstance(one, Array):
            continue
        for trait, axis in one.traits:
            if trait is Trait.SUMMED and _is_perhaps_devices(interpreter, symbol, factor, axis, False):
                traits -= {(trait, axis)}
            if trait in _MULTIPLIED and not _is_perhaps_devices(interpreter, symbol, factor, axis, True):
                traits |= {(trait, axis)}
                result = replace(result, drawn_at=one.drawn_at)
            scales = trait in _OF_MEANS and symbol == "*"
            if scales and not _is_perhaps_devices(interpreter, symbol, factor, axis, False):
                traits |= {(trait, axis)}
                result = replace(result, drawn_at=one.drawn_at)
    return result if traits == result.traits else replace(result, traits=traits)


_MULTIPLIED = (Trait.SCALED, Trait.TIMES)
_OF_MEANS = (Trait.GRADIENT, Trait.AVERAGED)


def _is_perhaps_devices(
    interpreter: Evaluator, symbol: str, factor: Value, axis: str, multiples: bool
) -> bool:
    """Return whether an operation with a factor divides, perhaps, by the number of devices along an axis,
    and along others; or also by a multiple of it."""
    if isinstance(factor, Array):
        return not factor.variation.is_data
    number = as_int(factor)
    known = factor.value if isinstance(factor, Const) and isinstance(factor.value, float) else number
    bound = interpreter.context.bound_axes
    sizes = {} if isinstance(bound, Unknown) else dict(bound)
    ways = sizes.pop(axis, None)
    if not known or not isinstance(ways, int):
        return True
    divisor = known if symbol == "/" else 1 / known
    if symbol == "/" and multiples:
        return divisor % ways == 0
    others = [size for size in sizes.values() if isinstance(size, int)]
    counts = (ways * prod(some) for n in range(len(others) + 1) for some in combinations(others, n))
    return any(isclose(divisor, count, rel_tol=1e-6) for count in counts)


#: Functions whose result has the values of their first argument.
SAME_VALUES = frozenset(
    prefix + name
    for prefix in ("", "jax.numpy.")
    for name in "astype reshape ravel transpose squeeze expand_dims swapaxes".split()
)


def with_same_values(call: Call, result: Value) -> Value:
    """Return the result of a call, marked as its first argument if it has the same values."""
    first = call.args[0] if call.args and call.name in SAME_VALUES else None
    if not isinstance(first, Array) or not isinstance(result, Array):
        return result
    kept = frozenset(trait for trait in first.traits if trait[0] in (*_MULTIPLIED, *_OF_MEANS))
    return replace(result, traits=result.traits | kept, drawn_at=first.drawn_at) if kept else result


def note_multiplied(call: Call, array: Array, axes: Iterable[str], name: str, where: str) -> None:
    """Record a result of a body that is computed from gradients that come multiplied; ``axes`` have several
    devices."""
    found = array.variation.axes_of(Trait.TIMES)
    multiplied = [axis for axis in axes if axis in found]
    if multiplied and not is_following(call.interpreter.context):
        named = " and ".join(f'"{axis}"' for axis in multiplied)
        silent = (
            f"{name} is computed from the gradient of a psum over {named}, which JAX sums once more {where}: "
            "it is as many times too large as there are devices"
        )
        record_of_value(
            call.interpreter, "jax.grad(psum)", Accepted(), array.drawn_at or call.place, silent=silent
        )


def note_means(
    call: Call, array: Array, kinds: Sequence[Trait], sizes: Mapping[str, Dim], name: str, api: str
) -> None:
    """Record a result of a body that is the sum of the devices' means, or of their gradients, and not
    divided; ``sizes`` are those of axes that have several devices."""
    for kind in kinds:
        axes = [axis for axis in sizes if axis in array.variation.axes_of(kind)]
        if axes:
            times = product(sizes[axis] for axis in axes)
            often = f"{times} times" if isinstance(times, int) else "as many times as there are devices"
            named = " and ".join(f'"{axis}"' for axis in axes)
            what = "means" if kind is Trait.MEANS else "gradients of means"
            silent = f"{name} is computed from the sum of the devices' {what} over {named}: {often} the mean"
            facts = [Fact("the result is computed here", array.origin)] if array.origin is not None else []
            place = array.drawn_at if api == "jax.pmap" and array.drawn_at is not None else call.place
            record_of_value(call.interpreter, f"{api}(means)", Accepted(), place, facts=facts, silent=silent)


def note_misread(call: Call, array: Array, function: str, trait: Trait, axis: str) -> None:
    """Record a reduction of values with a trait."""
    text = _TEXTS[trait].format(axis=f'"{axis}"', function=function)
    names = {
        Trait.RATIO: "jax.lax(ratio)",
        Trait.PRODUCT: "jax.lax(ratio)",
        Trait.CLIPPED: "jax.lax(ratio)",
        Trait.BIASED: "jax.lax.psum(biased)",
        Trait.CURVED: "jax.lax.psum(biased)",
        Trait.AGAIN: "jax.lax.psum(biased)",
        Trait.OWN: "jax.grad(own)",
        Trait.ROWS: "jax.shard_map(index)",
        Trait.PICKED: "jax.shard_map(index)",
        Trait.SPREAD: "jax.lax(ratio)",
        Trait.EXTREME: "jax.shard_map(index)",
        Trait.APART: "jax.pmap(replicas)",
    }
    place, facts = call.place, []
    if trait in (Trait.ROWS, Trait.PICKED) and array.drawn_at is not None:
        facts = [Fact("they are picked here", array.drawn_at)]
    if trait is Trait.APART and array.drawn_at is not None:
        place, facts = array.drawn_at, [Fact("the gradients are combined here", call.place)]
    record_of_value(call.interpreter, names[trait], Accepted(), place, facts=facts, silent=text)
