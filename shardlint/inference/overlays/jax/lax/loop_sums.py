"""Sums over devices in each round of a loop, of which a variable only collects the total.

In the first round each leaf of the carry perhaps varies over an axis of its own, which no mesh has: what
certainly varies over none of these is computed from nothing that the loop changes. A leaf that comes back as
itself and such sums could collect what is to be summed, and be summed once after the loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from shardlint.inference.domain.values import Array, Value
from shardlint.inference.evaluation.call import Call
from shardlint.inference.evaluation.evaluator import Evaluator
from shardlint.inference.overlays.jax.shard_map.reduced_values import SAME_VALUES
from shardlint.inference.overlays.jax.shard_map.split_dimensions import large
from shardlint.inference.overlays.jax.shard_map.varying import variation_of
from shardlint.inference.overlays.pytrees.trees import leaves, tree_map
from shardlint.inference.overlays.recording import record_of_value
from shardlint.laws.core.verdicts import Accepted
from shardlint.laws.transforms.traits import Trait
from shardlint.laws.transforms.varying import Variation
from shardlint.model.uses import Fact

#: The axis of what may be computed from any leaf of a carry; the leaves have this with their numbers.
_LOOP = "_loop"
#: The axis of what is computed from sums over devices.
_SUM = "_loop sum"
_OWN = frozenset({Trait.STEADY, Trait.CARRIED, Trait.REDUCED, Trait.ADDED})
_SYMBOLS = {
    f"jax.{module}.{name}": symbol
    for symbol, names in {
        "+": "add",
        "-": "subtract sub",
        "*": "multiply mul",
        "/": "divide true_divide div",
    }.items()
    for name in names.split()
    for module in ("numpy", "lax")
}


def begun(carry: Value) -> Value | None:
    """Return the carry of a first round, its leaves told apart; None if one of them is not known."""
    found = leaves(carry)
    if not all(_is_known(leaf) for leaf in found):
        return None
    numbers = iter(range(len(found)))

    def mark(leaf: Value) -> Value:
        assert isinstance(leaf, Array) and leaf.may_vary is not None
        number = next(numbers)
        perhaps = leaf.may_vary | {f"{_LOOP}{number}"}
        traits = leaf.traits | {(Trait.CARRIED, f"{_LOOP}{number}")}
        return replace(leaf, may_vary=perhaps, traits=traits)

    return tree_map(mark, carry)


def _is_known(leaf: Value) -> bool:
    return isinstance(leaf, Array) and not leaf.numpy and leaf.may_vary is not None


def ended(tree: Value) -> Value:
    """Return what a first round returns, as without marks."""

    def unmark(leaf: Value) -> Value:
        if not isinstance(leaf, Array):
            return leaf
        axes, traits = leaf.may_vary, frozenset(trait for trait in leaf.traits if trait[0] not in _OWN)
        perhaps = axes if axes is None else frozenset(one for one in axes if not one.startswith(_LOOP))
        same = perhaps == axes and traits == leaf.traits
        return leaf if same else replace(leaf, may_vary=perhaps, traits=traits)

    return tree_map(unmark, tree)


def is_steady(value: Value, *, summed: bool = False) -> bool:
    """Return whether a value is certainly computed from nothing that the loop changes, nor from a sum over
    the devices, unless it may be ``summed``."""
    if isinstance(value, Array) and (Trait.STEADY, _LOOP) in value.traits:
        return True
    return _never(variation_of(value), summed)


def _never(variation: Variation, summed: bool) -> bool:
    axes = variation.perhaps
    known = frozenset({_SUM}) if summed else frozenset[str]()
    return axes is not None and not any(axis.startswith(_LOOP) for axis in axes - known)


def gradient(interpreter: Evaluator, value: Variation, array: Array, result: Array) -> Array:
    """Return a gradient by an array of a function with this value, marked if the loop changes neither."""
    if not interpreter.context.looping or not _never(value, False) or not is_steady(array):
        return result
    return replace(result, traits=result.traits | {(Trait.STEADY, _LOOP)})


def reduced(interpreter: Evaluator, function: str, axes: Iterable[str], array: Array, result: Array) -> Array:
    """Return the result of a collective on an array, marked if it sums what the loop does not change."""
    if not interpreter.context.looping or result.may_vary is None:
        return result
    if function not in ("psum", "pmean") or not is_steady(array):
        return replace(result, may_vary=result.may_vary | {_LOOP, _SUM})
    sums = {(Trait.REDUCED, axis) for axis in axes}
    return replace(result, may_vary=result.may_vary | {_SUM}, traits=result.traits | sums)


def followed(call: Call, result: Value) -> Value:
    """Return the result of a call, as `added` if it is one of an operator, or has the same values."""
    if not call.interpreter.context.looping or not call.args:
        return result
    if call.name in _SYMBOLS and len(call.args) == 2:
        return added(call.interpreter, _SYMBOLS[call.name], call.args[0], call.args[1], result)
    first = call.args[0]
    if call.name not in SAME_VALUES or not isinstance(first, Array) or not isinstance(result, Array):
        return result
    kept, at = frozenset(trait for trait in first.traits if trait[0] in _OWN), first.drawn_at or first.origin
    return replace(result, traits=result.traits | kept, drawn_at=at) if kept else result


def added(interpreter: Evaluator, symbol: str, x: Value, y: Value, result: Value) -> Value:
    """Return the result of an operator: a leaf of the carry with what was added to it, or sums over devices
    that are added up, or multiplied by the same number on each."""
    if not interpreter.context.looping or symbol not in ("+", "-", "*", "/") or not isinstance(result, Array):
        return result
    traits, at = result.traits, result.drawn_at
    if is_steady(x) and is_steady(y):
        traits |= {(Trait.STEADY, _LOOP)}
    for one, other in ((x, y), (y, x)) if symbol in "+*" else ((x, y),):
        if not isinstance(one, Array):
            continue
        sums, leaf = one.variation.axes_of(Trait.REDUCED), _of(one, Trait.CARRIED)
        if symbol in "*/":
            own = variation_of(other)
            kept = {(Trait.REDUCED, axis) for axis in sums if own.never(axis) and is_steady(other)}
            traits, at = traits | kept, (one.drawn_at or one.origin) if kept else at
        elif leaf and is_steady(other, summed=True):
            more = other.variation.axes_of(Trait.REDUCED) if isinstance(other, Array) else frozenset[str]()
            traits |= leaf | _of(one, Trait.ADDED) | {(Trait.ADDED, axis) for axis in more}
            at = (other.drawn_at or other.origin) if more and isinstance(other, Array) else one.drawn_at
        elif isinstance(other, Array) and sums:
            traits |= {(Trait.REDUCED, axis) for axis in sums & other.variation.axes_of(Trait.REDUCED)}
            at = one.drawn_at or one.origin
    return result if traits == result.traits else replace(result, traits=traits, drawn_at=at)


def _of(array: Array, kind: Trait) -> frozenset[tuple[Trait, str]]:
    return frozenset(trait for trait in array.traits if trait[0] is kind)


def note(call: Call, after: Value, answer: Value) -> None:
    """Record a leaf of a carry of several numbers that comes back with sums over devices added to it, where
    nothing else in the loop reads it, or one of these sums."""
    found = leaves(after)
    own = [(Trait.CARRIED, f"{_LOOP}{number}") for number in range(len(found))]
    added = [
        isinstance(leaf, Array) and trait in leaf.traits and bool(_of(leaf, Trait.ADDED))
        for leaf, trait in zip(found, own, strict=True)
    ]
    others = [leaf for leaf, is_added in zip(found, added, strict=True) if not is_added] + leaves(answer)
    for number, leaf in enumerate(found):
        if not added[number] or not isinstance(leaf, Array) or not leaf.shape:
            continue
        axes = large(call.interpreter, sorted(leaf.variation.axes_of(Trait.ADDED)))
        if not axes:
            continue
        kept = (_SUM, _LOOP, f"{_LOOP}{number}")
        if not all(variation_of(one).never(axis) for one in others for axis in kept):
            continue
        named = " and ".join(f'"{axis}"' for axis in axes)
        silent = (
            f"each round of `{call.name.rpartition('.')[2]}` sums over {named}, and the loop only adds up "
            "what comes of it: add up what each device has, and sum once after the loop"
        )
        at, facts = leaf.drawn_at or call.place, (Fact("the loop is here", call.place),)
        name = "jax.lax(each round)"
        record_of_value(call.interpreter, name, Accepted(), at, facts=facts, silent=silent)
        return
