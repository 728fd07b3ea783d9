"""Numbers in a body of shard_map that are reduced to something else than is meant (`Trait`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shardlint.inference.domain.values import Array, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.overlays.jax.transforms.taint import is_following
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.transforms.varying import Trait, Variation, scaled

_TEXTS = {
    Trait.RATIO: "each device divides by its own part's sum over {axis}, and `{function}` adds up the "
    "ratios: another number wherever the divisors differ; reduce both first, and divide then",
    Trait.SCALED: "the gradient of a psum over {axis} is taken with check_vma=False, where JAX sums it once "
    "more: this `{function}` makes it as many times too large as there are devices; use jax.lax.pmean",
    Trait.PRODUCT: "each device multiplies its own part's means, or takes another function of them that is "
    "not linear, before this `{function}` over {axis}: the mean of products is no product of means; reduce "
    "the means first",
    Trait.BIASED: "each device adds a whole array to its part of a product or sum, and the sum over {axis} "
    "has it once for each device; add it after the `{function}`",
    Trait.AGAIN: "it was summed over {axis} before, each device added something of its own, and this "
    "`{function}` has the earlier sum once for each device; sum what the devices add only",
    Trait.OWN: "each device has the gradient of its own part of an argument, which is split over {axis}, and "
    "`{function}` combines those of different parts; reduce it over the other axes only",
}
_SPLIT = (
    "with check_vma=False the gradient of a psum over {axis} is summed over {axis} once more: that of "
    "`{name}`, which is split over it, is as many times too large as there are devices"
)


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
    """Return the variation of a gradient by an array, of a function with this value, without the check.

    It is recorded where the array is split over an axis by which the gradient is multiplied.
    """
    axes = scaled(value)
    split = array.variation.axes_of(Trait.SPLIT) & axes
    if split and not is_following(call.interpreter.context):
        text = _SPLIT.format(axis=f'"{min(split)}"', name=array.name or "an argument")
        record_of_value(call.interpreter, "jax.grad(psum)", Accepted(), call.place, silent=text)
    traits = frozenset((Trait.SCALED, axis) for axis in axes - split)
    return Variation(value.surely, traits=traits)


def note_misread(call: Call, function: str, trait: Trait, axis: str) -> None:
    """Record a reduction of values with a trait."""
    text = _TEXTS[trait].format(axis=f'"{axis}"', function=function)
    names = {
        Trait.RATIO: "jax.lax(ratio)",
        Trait.PRODUCT: "jax.lax(ratio)",
        Trait.BIASED: "jax.lax.psum(biased)",
        Trait.AGAIN: "jax.lax.psum(biased)",
        Trait.OWN: "jax.grad(own)",
    }
    name = names.get(trait, "jax.grad(psum)")
    record_of_value(call.interpreter, name, Accepted(), call.place, silent=text)
